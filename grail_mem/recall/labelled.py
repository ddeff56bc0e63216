"""Labelled questions: what a person would ask of their store, and which observations answer it.

One JSON object a line: `{"question": "…", "answers": ["<id>", …]}`, with no answer where the store has none, and
optionally `asked_at`. Everything wrong with all lines is said at once. Knows nothing of what is learnt from them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from grail_mem.errors import InputError, NotFoundError
from grail_mem.model.problem import Gather
from grail_mem.model.refusal import refused
from grail_mem.model.times import parse_when
from grail_mem.model.ulid import is_id
from grail_mem.recall.wish import MAX_QUESTION_CHARS

Questions = str | Path | Iterable[Mapping[str, Any]]
"""The path of a file of JSON lines, or the objects themselves."""
MAX_QUESTIONS: Final = 10_000
MAX_ANSWERS: Final = 1_000
MAX_BYTES: Final = 50_000_000
_KEYS: Final = ("question", "answers", "asked_at")


@dataclass(frozen=True, slots=True)
class LabelledQuestion:
    """One question with its answers.

    Attributes:
        text: What is asked.
        answers: Ids of the observations that answer it; empty when the store has no answer.
        asked_at: When it is asked.
    """

    text: str
    answers: frozenset[str]
    asked_at: datetime


def read_questions(
    questions: Questions, *, known: Callable[[frozenset[str]], Collection[str]], now: datetime, zone: str
) -> tuple[LabelledQuestion, ...]:
    """Labelled questions from a file or from objects, in order.

    Args:
        questions: The path of the file, or the objects.
        known: A function that returns which of some ids are of observations that may be returned.
        now: When a question is asked that says nothing about it.
        zone: IANA zone in which `asked_at` is read.

    Raises:
        NotFoundError: There is no such file.
        StoreError: It cannot be read.
        InputError: A line cannot be used; `problems` lists everything, by line.
    """
    gather = Gather()
    read: dict[str, LabelledQuestion] = {}
    for where, value in _lines(questions, gather) if isinstance(questions, str | Path) else _objects(questions):
        made = gather.read(where, value, lambda v: _question(v, now, zone), None)
        if made is not None:
            read[where] = made
    there = known(frozenset().union(*(q.answers for q in read.values())))
    first: dict[tuple[str, datetime], str] = {}
    for where, made in read.items():
        for id_ in sorted(made.answers.difference(there)):
            gather.found.append(f"{where}: there is no observation {id_}, or it is hidden.")
        same = first.setdefault((" ".join(made.text.casefold().split()), made.asked_at), where)
        if same != where:
            gather.found.append(f"{where}: asks the same as {same}.")
    if not read and not gather.found:
        gather.found.append("There is no question.")
    gather.stop("The questions cannot be used.")
    return tuple(read.values())


def _objects(questions: Any) -> Iterator[tuple[str, Any]]:
    if not isinstance(questions, Iterable) or isinstance(questions, Mapping | bytes):
        raise InputError(f"questions must be the path of a file or a list of mappings, not {type(questions).__name__}.")
    for number, value in enumerate(questions, start=1):
        if number > MAX_QUESTIONS:
            raise InputError(f"At most {MAX_QUESTIONS} questions can be used at once.")
        yield f"question {number}", () if value is None else value


def _lines(path: str | Path, gather: Gather) -> Iterator[tuple[str, Any]]:
    """The objects of a file's lines that are JSON; the problems of others are kept."""
    lines = _bytes(Path(path).expanduser()).removeprefix(b"\xef\xbb\xbf").split(b"\n")
    n_said = 0
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        n_said += 1
        if n_said > MAX_QUESTIONS:
            gather.found.append(f"line {number}: at most {MAX_QUESTIONS} questions can be used at once.")
            return
        value = gather.read(f"line {number}", line, _json, None)
        if value is not None:
            yield f"line {number}", value


def _bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError as error:
        raise NotFoundError(f"There is no file {str(path)!r}.") from error
    except OSError as error:
        raise refused(error, "read the questions", path) from error
    except ValueError as error:
        raise InputError(f"{str(path)!r} is no path of a file.") from error
    if len(data) > MAX_BYTES:
        raise InputError(f"{str(path)!r} is larger than {MAX_BYTES} bytes.")
    return data


def _json(line: bytes) -> Any:
    try:
        return json.loads(line.decode(), object_pairs_hook=_unique)
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8 text (byte {error.start}).") from error
    except json.JSONDecodeError as error:
        raise InputError(f"not JSON: {error.msg} at column {error.colno}.") from error
    except InputError:
        raise
    except (ValueError, RecursionError) as error:
        raise InputError("not JSON that can be read: too deep, or a number too long.") from error


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise InputError("a key stands there twice.")
    return made


def _question(value: Any, now: datetime, zone: str) -> LabelledQuestion:
    if not isinstance(value, Mapping):
        raise InputError('must be an object such as {"question": "…", "answers": ["…"]}.')
    gather = Gather()
    gather.found += [f"there is no key {key!r}; the keys are {', '.join(_KEYS)}." for key in value if key not in _KEYS]
    gather.found += [f"{key} is missing." for key in _KEYS[:2] if value.get(key) is None]
    made = LabelledQuestion(
        gather.read("question", value.get("question"), _text, ""),
        gather.read("answers", value.get("answers"), _answers, frozenset()),
        gather.read("asked_at", value.get("asked_at"), lambda v: parse_when(v, now=now, zone=zone), now),
    )
    gather.stop("")
    return made


def _text(value: Any) -> str:
    if not isinstance(value, str) or not any(map(str.isalnum, value)):
        raise InputError(f"must be a question in words, not {str(value)[:40]!r}.")
    if len(value) > MAX_QUESTION_CHARS:
        raise InputError(f"is {len(value)} characters long; at most {MAX_QUESTION_CHARS} can be asked.")
    return value.encode("utf-8", "replace").decode()


def _answers(value: Any) -> frozenset[str]:
    if not isinstance(value, list | tuple) or not all(isinstance(id_, str) for id_ in value):
        raise InputError("must be a list of ids, empty when the store has no answer.")
    if len(value) > MAX_ANSWERS:
        raise InputError(f"holds {len(value)} ids; at most {MAX_ANSWERS} can be given.")
    ids = [id_.strip().upper() for id_ in value]
    problems = [f"{id_[:40]!r} is no id." for id_ in value if not is_id(id_.strip().upper())]
    problems += [f"holds {id_} {n} times." for id_, n in Counter(filter(is_id, ids)).items() if n > 1]
    if problems:
        raise InputError(" ".join(problems), problems=problems)
    return frozenset(ids)

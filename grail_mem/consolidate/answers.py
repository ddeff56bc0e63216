"""What a model said of pairs of statements, kept so that each pair is asked once.

Derived, so it may be deleted at any time. No words are kept: two ids, the scores, and 16 bits that tell whether the two still
say what they said. Knows nothing of the model and of why a pair is asked.
"""

from __future__ import annotations

import json
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

from grail_mem.store.files import replace_file

FOLDER: Final = "judged"
"""Where it lies, below what is derived."""
Side = tuple[str, str]
"""A statement: its id, and the digest of its words."""
Scores = tuple[float, ...]
"""Of the newer text after the older, and of the other way round where that was asked."""
_LONGEST: Final = 2
MOST_KEPT: Final = 300_000
"""Answers that are kept: three for each statement of a store of a hundred thousand, some 25 MB."""


class Answers:
    """The answers of one model.

    Args:
        folder: Where they lie; None keeps them for this run only.
        model: The model's name; another model has answers of its own.
    """

    def __init__(self, folder: Path | None, model: str) -> None:
        name = blake2b(model.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
        self._path = None if folder is None else folder / f"{name}.json"
        self._model = model
        self._said = _read(self._path, model)
        self._used: set[str] = set()
        self._is_new = False

    def of(self, older: Side, newer: Side) -> Scores | None:
        """What the model said of two statements as they are now; None when it was not asked."""
        key = _key(older, newer)
        found = self._said.get(key)
        if found is None or found[0] != _check(older, newer):
            return None
        self._used.add(key)
        return tuple(found[1:])

    def put(self, older: Side, newer: Side, scores: Scores) -> None:
        """Keep what the model said."""
        key = _key(older, newer)
        self._said[key] = [_check(older, newer), *scores]
        self._used.add(key)
        self._is_new = True

    def write(self) -> None:
        """Write down what is new; of what was not asked for in this run, the oldest goes when there is too much."""
        if self._path is None or not self._is_new:
            return
        kept = sorted(self._said, key=lambda key: (key in self._used, key))[-MOST_KEPT:]
        said = {"model": self._model, "answers": {key: self._said[key] for key in sorted(kept)}}
        replace_file(self._path, json.dumps(said).encode() + b"\n")


def _key(older: Side, newer: Side) -> str:
    return f"{older[0]} {newer[0]}"


def _check(older: Side, newer: Side) -> int:
    return int.from_bytes(blake2b(f"{older[1]} {newer[1]}".encode(), digest_size=2).digest(), "little")


def _read(path: Path | None, model: str) -> dict[str, list[Any]]:
    """The answers in a file; none when it is not there or cannot be read as such."""
    try:
        said = json.loads(path.read_bytes()) if path is not None else {}
        if said.get("model") != model:
            return {}
        return {key: answer for key, answer in said["answers"].items() if _is_answer(answer)}
    except (OSError, ValueError, AttributeError, KeyError):
        return {}


def _is_answer(answer: Any) -> bool:
    if not isinstance(answer, list) or not 1 <= len(answer) - 1 <= _LONGEST or not isinstance(answer[0], int):
        return False
    return all(isinstance(score, int | float) and 0 <= score <= 1 for score in answer[1:])

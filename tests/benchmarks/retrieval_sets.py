"""The question sets that ranked recall is measured on: LoCoMo, LongMemEval, MuSiQue, HotpotQA, as stores to write and questions.

The files are given by path and are never part of this project. Each set is one or more stores; a question belongs to one
of them and names its gold observations by their `source`.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from grail_mem import Memory

SETS = ("locomo", "longmemeval", "musique", "hotpotqa")


@dataclass(frozen=True, slots=True)
class Asked:
    """One question.

    Attributes:
        text: The question.
        gold: Sources of the observations that answer it; empty when it cannot be answered.
        gold_sessions: Sessions that answer it.
        category: The set's own kind of question.
        at: When it is asked.
    """

    text: str
    gold: frozenset[str]
    gold_sessions: frozenset[str]
    category: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Store:
    """One store to write and the questions asked there.

    Attributes:
        set: Name of the set.
        name: Name of the store.
        drafts: Arguments of `add_observation`; `source` tells each.
        questions: Questions with gold observations.
        unanswerable: Questions about the same things that nothing here answers.
    """

    set: str
    name: str
    drafts: list[dict[str, Any]]
    questions: list[Asked]
    unanswerable: list[Asked] = field(default_factory=list)


def write(memory: Memory, store: Store, vectors: Path | None) -> None:
    """Put a store into an empty one and index it.

    Args:
        memory: The empty one.
        store: What is written.
        vectors: Folder of vectors made before, which saves time.
    """
    memory.add_observations(store.drafts)
    memory.compact()
    if vectors is not None:
        (memory.root / "output").mkdir(exist_ok=True)
        (memory.root / "output/vectors").symlink_to(vectors)
    memory.index()


def load(name: str, path: Path, corpus: Path | None = None) -> list[Store]:
    """The stores of a set.

    Args:
        name: One of `SETS`.
        path: The file of questions; of LoCoMo and LongMemEval with the conversations.
        corpus: The passages of MuSiQue or HotpotQA.
    """
    if name == "locomo":
        return list(_locomo(_read(path)))
    if name == "longmemeval":
        return list(_longmemeval(_read(path)))
    if corpus is None:
        raise SystemExit(f"{name} needs a corpus: {name}=QUESTIONS,CORPUS")
    return [_multihop(name, _read(path), _read(corpus))]


def _read(path: Path) -> Any:
    data = path.read_bytes()
    return json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)


def _locomo(items: list[dict[str, Any]]) -> Iterator[Store]:
    for item in items:
        talk = item["conversation"]
        keys = sorted((key for key in talk if re.fullmatch(r"session_\d+", key)), key=lambda key: int(key[8:]))
        drafts: list[dict[str, Any]] = []
        session_of: dict[str, str] = {}
        last = datetime(2000, 1, 1, tzinfo=UTC)
        for key in keys:
            begins = datetime.strptime(talk[f"{key}_date_time"].strip(), "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
            last = max(last, begins)
            for number, turn in enumerate(talk[key]):
                caption = f" [{turn['blip_caption']}]" if turn.get("blip_caption") else ""
                session_of[turn["dia_id"]] = key
                drafts.append({
                    "content": turn["text"] + caption, "category": f"locomo/{item['sample_id']}", "source": turn["dia_id"],
                    "session": key, "turn": number, "speaker": turn["speaker"],
                    "observed_at": begins + timedelta(seconds=number),
                })  # fmt: skip
        made: dict[bool, list[Asked]] = {True: [], False: []}
        for question in item["qa"]:
            named = {
                f"D{a}:{int(b)}"
                for text in question.get("evidence", ())
                for a, b in re.findall(r"D:?(\d+):(\d+)", text)
            }
            gold = frozenset(named & session_of.keys())
            can = question["category"] != 5
            if can and not gold:
                continue
            sessions = frozenset(session_of[turn] for turn in gold)
            made[can].append(
                Asked(question["question"], gold, sessions, str(question["category"]), last + timedelta(days=1))
            )
        yield Store("locomo", str(item["sample_id"]), drafts, made[True], made[False])


def _longmemeval(items: list[dict[str, Any]]) -> Iterator[Store]:
    for item in items:
        drafts: list[dict[str, Any]] = []
        gold: set[str] = set()
        seen: set[str] = set()
        order = sorted(range(len(item["haystack_sessions"])), key=lambda i: item["haystack_dates"][i])
        for i in order:
            session = item["haystack_session_ids"][i]
            if session in seen:
                continue
            seen.add(session)
            begins = _lme_time(item["haystack_dates"][i])
            for number, turn in enumerate(item["haystack_sessions"][i]):
                source = f"{session}#{number}"
                if turn.get("has_answer"):
                    gold.add(source)
                if turn["content"].strip():
                    drafts.append({
                        "content": turn["content"], "category": "chats", "source": source, "session": session, "turn": number,
                        "speaker": turn["role"], "observed_at": begins + timedelta(seconds=number),
                    })  # fmt: skip
        asked = Asked(
            item["question"], frozenset(gold), frozenset(item["answer_session_ids"]), item["question_type"],
            _lme_time(item["question_date"]),
        )  # fmt: skip
        can = "_abs" not in item["question_id"]
        yield Store("longmemeval", item["question_id"], drafts, [asked] if can and gold else [], [] if can else [asked])


def _lme_time(text: str) -> datetime:
    return datetime.strptime(re.sub(r" \(\w+\)", "", text), "%Y/%m/%d %H:%M").replace(tzinfo=UTC)


def _multihop(name: str, items: list[dict[str, Any]], corpus: Any) -> Store:
    pairs: Sequence[tuple[str, str]] = (
        [(title, "".join(lines)) for title, lines in corpus.items()]
        if isinstance(corpus, dict)
        else [(item["title"], item["text"]) for item in corpus]
    )
    number: dict[tuple[str, str], str] = {}
    first: dict[str, str] = {}
    drafts: list[dict[str, Any]] = []
    at = datetime(2024, 1, 1, tzinfo=UTC)
    for i, (title, text) in enumerate(pairs):
        number.setdefault((title, text), str(i))
        first.setdefault(title, str(i))
        drafts.append({"title": title, "content": text, "category": name, "source": str(i), "observed_at": at})
    questions: list[Asked] = []
    for item in items:
        if name == "musique":
            parts = [(p["title"], p["paragraph_text"]) for p in item["paragraphs"] if p["is_supporting"]]
            gold = frozenset(number[part] for part in parts)
            category = f"{len(gold)} hops"
        else:
            gold = frozenset(first[fact[0]] for fact in item["supporting_facts"])
            category = item["type"]
        questions.append(Asked(item["question"], gold, frozenset(), category, at))
    return Store(name, name, drafts, questions)

"""LoCoMo as a store: every turn written through the public API, then recalled and counted against the JSON itself.

`python tests/benchmarks/locomo.py PATH [--root DIR]`, where PATH is a file of LoCoMo conversations. One category for each
conversation and session, speakers as entities, the session's date, the turn id as source. Prints a table; exits with 1
when any count differs.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from grail_mem import Memory

WORDS = ("support group", "Camping", "the", "birthday", "?", "100%", "I’m")
ALL = 100_000


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of one conversation."""

    category: str
    speaker: str
    at: datetime
    number: int
    turn_id: str
    text: str


def session_time(text: str) -> datetime:
    """The instant in a session's date such as `1:56 pm on 8 May, 2023`."""
    return datetime.strptime(text.strip(), "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)


def turns(path: Path) -> Iterator[Turn]:
    """Every turn of a LoCoMo file, in order."""
    for item in json.loads(path.read_bytes()):
        talk = item["conversation"]
        sessions = sorted((key for key in talk if re.fullmatch(r"session_\d+", key)), key=lambda key: int(key[8:]))
        for session in sessions:
            at = session_time(talk[f"{session}_date_time"])
            for number, turn in enumerate(talk[session]):
                yield Turn(
                    f"locomo/{item['sample_id']}/{session.replace('_', '-')}", turn["speaker"], at, number,
                    turn["dia_id"], turn["text"],
                )  # fmt: skip


def draft(turn: Turn) -> dict[str, Any]:
    """The observation of a turn; turns of a session are a second apart, so that they keep their order."""
    return {
        "title": f"{turn.speaker} in {turn.turn_id}", "content": turn.text, "category": turn.category,
        "observed_at": turn.at + timedelta(seconds=turn.number), "entities": [{"name": turn.speaker, "type": "PERSON"}],
        "source": turn.turn_id, "kind": "episodic",
    }  # fmt: skip


def write(memory: Memory, said: list[Turn]) -> int:
    """Write every turn, a session at a time; returns how many observations were made."""
    sessions: dict[str, list[Turn]] = {}
    for turn in said:
        sessions.setdefault(turn.category, []).append(turn)
    return sum(written.created for part in sessions.values() for written in memory.add_observations(map(draft, part)))


def checks(memory: Memory, said: list[Turn]) -> Iterator[tuple[str, int, int]]:
    """What was asked, how many came back, and how many the JSON holds; contents are compared as well."""

    def asked(name: str, expected: list[Turn], **conditions: Any) -> tuple[str, int, int]:
        found = memory.recall(limit=ALL, **conditions).observations
        same = Counter((o.category, o.source, o.content) for o in found) == Counter(
            (turn.category, turn.turn_id, stored(turn.text)) for turn in expected
        )
        return name, len(found) if same else -1, len(expected)

    yield asked("all", said)
    for speaker in sorted({turn.speaker for turn in said}):
        yield asked(f"speaker {speaker}", [t for t in said if t.speaker == speaker], entity_names=[speaker.upper()])
    for talk in sorted({turn.category.rpartition("/")[0] for turn in said}):
        yield asked(
            f"category {talk}/**", [t for t in said if t.category.startswith(f"{talk}/")], category=f"{talk}/**"
        )
    session = said[0].category
    yield asked(f"category {session}", [t for t in said if t.category == session], category=session)
    months = sorted({(turn.at.year, turn.at.month) for turn in said})
    for year, month in months:
        begin = datetime(year, month, 1, tzinfo=UTC)
        end = datetime(year + month // 12, month % 12 + 1, 1, tzinfo=UTC)
        yield asked(f"month {begin:%Y-%m}", [t for t in said if begin <= t.at < end], since=begin, before=end)
    for word in WORDS:
        expected = [t for t in said if word.casefold() in f"{draft(t)['title']}\n{t.text}".casefold()]
        yield asked(f"text {word!r}", expected, text=word)
    first = said[0]
    both = [t for t in said if t.speaker == first.speaker and t.at >= first.at and "you" in t.text.casefold()]
    yield asked(
        f"{first.speaker}, since {first.at:%Y-%m-%d}, text 'you'", both, entity_names=[first.speaker], since=first.at,
        text="you",
    )  # fmt: skip


def stored(text: str) -> str:
    """The text as an observation gives it back: every line ends in LF."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def main() -> int:
    """Write, recall, compare; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path, help="a file of LoCoMo conversations")
    parser.add_argument("--root", type=Path, help="where to make the store; a temporary folder when left out")
    chosen = parser.parse_args()
    said = list(turns(chosen.path))
    with tempfile.TemporaryDirectory(prefix="grail-locomo-") as folder:
        root = chosen.root or Path(folder)
        begin = time.perf_counter()
        with Memory(root) as memory:
            made = write(memory, said)
        print(f"{len(said)} turns, {made} observations made in {time.perf_counter() - begin:.1f} s\n")
        wrong = 0
        for state in ("as written", "after rebuild"):
            with Memory(root) as memory:  # another opening of the store, as another process has
                if state == "after rebuild":
                    memory.rebuild()
                print(f"{state + ':':44} {'recalled':>9} {'in JSON':>9}")
                for name, found, expected in checks(memory, said):
                    wrong += found != expected
                    print(f"{name:44} {found:9} {expected:9}{'' if found == expected else '  WRONG'}")
                print()
    print("every count is right" if not wrong else f"{wrong} counts are wrong (-1: other contents)")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

"""Questions within small talk, as people ask them: is what is asked still answered, by the public API, plain and with talk.

`python tests/benchmarks/talk.py locomo=FILE longmemeval=FILE musique=QUESTIONS,CORPUS hotpotqa=QUESTIONS,CORPUS
[--embedder none] [--every N]`. Every question is asked as it stands and with one of twelve sentences of talk before or behind it,
chosen by its number. Prints how many are answered rather than met with silence, and the mean reciprocal rank of the first gold among
what came back. With `--off-topic` also how often questions of the other sets are met with silence, plain and with talk.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parent)]

from retrieval_sets import Asked, Store, load, write

from grail_mem import Memory

TALK = (
    "Sorry to bother you again, I have had far too much coffee this morning.",
    "I was just cleaning up my desk and it crossed my mind.",
    "Hope your day is going well so far!",
    "It has been raining here since breakfast and I am a little bored.",
    "No rush at all, I am still waiting for my bus.",
    "My sister asked me at dinner yesterday and I went completely blank.",
    "I keep forgetting these things lately, it must be the heat.",
    "Thanks a lot for all your help with this, it really makes my week easier.",
    "I want to write it into my notebook before the meeting starts.",
    "We had a funny argument about it at the office.",
    "I looked through my old emails and gave up after half an hour.",
    "Let me know when you have a minute, I am on the train with bad reception.",
)
LIMIT = 50
_OFF_TOPIC = 60
"""Questions of each other set that are asked of a store."""


def with_talk(text: str, number: int) -> str:
    """A question with a sentence of talk before or behind it."""
    said = TALK[number % len(TALK)]
    return f"{said} {text}" if number // len(TALK) % 2 == 0 else f"{text} {said}"


def told(memory: Memory, asked: Asked, text: str) -> tuple[bool, float]:
    """Whether a question is answered, and the reciprocal rank of the first gold in what came back."""
    found = memory.recall(text, mode="cascade", limit=LIMIT, asked_at=asked.at)
    at = next((n for n, hit in enumerate(found.observations, start=1) if hit.source in asked.gold), None)
    return found.abstention is None, 1 / at if at is not None else 0.0


def measured(
    store: Store, others: Sequence[Asked], embedder: str, every: int, vectors: Path | None
) -> Iterator[tuple[str, str, bool, float]]:
    """Of each question of a store, and of others that are off its topic: of what kind it is, how it is asked, and `told`."""
    with tempfile.TemporaryDirectory() as folder, Memory(folder, embedder=embedder) as memory:
        write(memory, store, vectors)
        for kind, questions in (("answerable", store.questions[::every]), ("off-topic", others)):
            for number, asked in enumerate(questions):
                for how, text in (("plain", asked.text), ("with talk", with_talk(asked.text, number))):
                    yield kind, how, *told(memory, asked, text)


def main() -> None:
    """Ask everything and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="+", metavar="NAME=FILE[,CORPUS]")
    parser.add_argument("--embedder", default="local")
    parser.add_argument("--every", type=int, default=1, help="each so-manieth question of a store")
    parser.add_argument("--vectors", type=Path, help="folder of vectors made before, which saves time")
    parser.add_argument("--off-topic", action="store_true", help="also questions of the other sets")
    chosen = parser.parse_args()
    loaded: dict[str, list[Store]] = {}
    for item in chosen.sets:
        name, _, paths = item.partition("=")
        loaded[name] = load(name, *map(Path, paths.split(",")))
    print("| set | asked | answered | MRR | silent on off-topic |\n|---|---|---|---|---|")
    for name, stores in loaded.items():
        others = [q for other, some in loaded.items() if other != name for s in some for q in s.questions]
        others = others[:: max(len(others) // _OFF_TOPIC, 1)] if chosen.off_topic else []
        rows: dict[tuple[str, str], list[tuple[bool, float]]] = defaultdict(list)
        for store in stores:
            for kind, how, answered, reciprocal in measured(
                store, others, chosen.embedder, chosen.every, chosen.vectors
            ):
                rows[kind, how].append((answered, reciprocal))
        for how in ("plain", "with talk"):
            answered, mrr = np.mean(rows["answerable", how], axis=0)
            silent = f"{100 * (1 - np.mean([a for a, _ in rows['off-topic', how]])):.1f}" if others else ""
            print(f"| {name} ({len(rows['answerable', how])}) | {how} | {100 * answered:.1f} | {mrr:.3f} | {silent} |")


if __name__ == "__main__":
    main()

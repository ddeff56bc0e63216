"""How well rules tell what a turn says that is worth keeping.

    python tests/benchmarks/extraction.py
    python tests/benchmarks/extraction.py --longmemeval longmemeval_s_dev50.json.gz --locomo locomo_dev.json

Without files: the turns beside this script, on which the rules were corrected. With them: 330 sentences of real conversations, drawn by
lot among those of users that speak of the speaker and ask nothing, two thirds of LongMemEval (Wu et al. 2025) and one of LoCoMo (Maharana et
al. 2024). The author of the rules read them once the rules were written, without what the rules find, and said of each whether a careful
memory would keep it: `keep`, `no`, or `unclear`, which is not counted. A sentence is found when a quote lies in it, or it in a quote.
Other sentences of the same conversations were looked at while the rules were written.

`evidence` are the turns that LongMemEval marks as holding the answer to a question: how many of them give a candidate. They are cut into
halves by question: turns of `seen` were read while the rules were written, those of `unseen` were not.
Neither set is a part of this repository, and the labels name a sentence by the digest of its words.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from time import process_time
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from extraction_lines import turns

from grail_mem.store.sources import Turn
from grail_mem.write.extraction import extract

LABELS = Path(__file__).with_name("extraction_labels.txt")
_SPLIT = re.compile(r"(?<=[.!?])\s+|\n+")
_HALVES = ("seen", "unseen")


def main() -> None:
    """Print precision and recall."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--longmemeval", type=Path)
    parser.add_argument("--locomo", type=Path)
    parser.add_argument("--mistakes", action="store_true", help="print the sentences")
    asked = parser.parse_args()
    _own()
    said = [*_spoken_to_an_assistant(asked.longmemeval), *_spoken_to_a_friend(asked.locomo)]
    if said:
        _labelled(said, mistakes=asked.mistakes)
    if asked.longmemeval:
        _evidence(asked.longmemeval)


def _own() -> None:
    right = wrong = wanted = 0
    for rule, text in turns():
        found = [one.rule for one in _found(text)]
        wanted += rule != "-"
        right += found == [rule]
        wrong += bool(found) and found != [rule]
        if found != ([] if rule == "-" else [rule]):
            print(f"{rule:<11} {found} {text}")
    print(f"{len(turns())} turns, {wanted} to be found: {_shares(right, wrong, wanted)}")


def _found(text: str) -> list[Any]:
    return list(extract([Turn(0, "t", "user", text)]))


def _labelled(said: list[str], *, mistakes: bool) -> None:
    labels = dict(line.split() for line in LABELS.read_text().splitlines())
    counts: Counter[tuple[str, str]] = Counter()
    seen: set[str] = set()
    began, n_chars = process_time(), 0
    for text in said:
        sentences = {sha256(one.encode()).hexdigest()[:16]: one for one in map(str.strip, _SPLIT.split(text))}
        asked = {key: one for key, one in sentences.items() if key in labels and key not in seen}
        if not asked:
            continue
        n_chars += len(text)
        found = _found(text)
        seen |= asked.keys()
        for key, sentence in asked.items():
            hits = [one for one in found if one.quote in sentence or sentence in one.quote]
            counts[labels[key], "found" if hits else "passed"] += 1
            if mistakes and labels[key] == ("no" if hits else "keep"):
                print(
                    f"{'wrong' if hits else 'missed':<7} {sentence}{''.join(f' => {one.rule}: {one.claim}' for one in hits)}"
                )
    right, wrong, missed = counts["keep", "found"], counts["no", "found"], counts["keep", "passed"]
    print(
        f"{len(seen)} sentences of {len(labels)}: {_shares(right, wrong, right + missed)}; unclear and found {counts['unclear', 'found']}"
    )
    print(f"{1e6 * (process_time() - began) / max(1, n_chars):.1f} µs a character")


def _shares(right: int, wrong: int, wanted: int) -> str:
    given = right + wrong
    return (
        f"precision {right / given:.3f} ({right}/{given}), recall {right / wanted:.3f} ({right}/{wanted})"
        if given
        else "nothing found"
    )


def _evidence(path: Path) -> None:
    for half in _HALVES:
        texts = [
            turn["content"]
            for question in _questions(path)
            if _HALVES[int(sha256(question["question_id"].encode()).hexdigest()[:8], 16) % 2] == half
            for session in question["haystack_sessions"]
            for turn in session
            if turn.get("has_answer") and turn["role"] == "user"
        ]
        print(f"evidence, {half}: {sum(bool(_found(text)) for text in texts)} of {len(texts)} turns")


def _questions(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
        return list(json.load(file))


def _spoken_to_an_assistant(path: Path | None) -> Iterator[str]:
    for question in _questions(path) if path else ():
        yield from (t["content"] for session in question["haystack_sessions"] for t in session if t["role"] == "user")


def _spoken_to_a_friend(path: Path | None) -> Iterator[str]:
    for one in json.loads(path.read_text()) if path else ():
        yield from (t.get("text", "") for s in one["conversation"].values() if isinstance(s, list) for t in s)


if __name__ == "__main__":
    main()

"""The pairs by which checkers are measured, and the figure that the documentation gives for the lexical one."""

from __future__ import annotations

import json
from collections import Counter
from hashlib import sha256
from pathlib import Path

from grail_mem.support.lexical import LexicalChecker
from grail_mem.support.support import check_support

PAIRS = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "benchmarks" / "support_pairs.jsonl").read_text().splitlines()
]
LEAST_PRECISION = 0.95


def is_reported(pair: dict[str, str]) -> bool:
    text = f"{pair['claim']}\n{pair['quote']}\n{pair.get('context', '')}"
    return sha256(text.encode()).digest()[0] % 2 == 1


def test_the_pairs_are_enough_of_every_verdict_and_none_is_there_twice() -> None:
    labels = Counter(pair["label"] for pair in PAIRS)
    assert set(labels) == {"supported", "contradicted", "unsupported"}
    assert min(labels.values()) >= 60
    assert len(PAIRS) >= 240
    assert len({json.dumps(pair, sort_keys=True) for pair in PAIRS}) == len(PAIRS)


def test_what_the_words_call_supported_is_supported_on_the_half_that_no_rule_was_chosen_on() -> None:
    said = Counter(
        pair["label"]
        for pair in filter(is_reported, PAIRS)
        if check_support(
            pair["claim"], pair["quote"], speaker=pair["speaker"], role=pair["role"], context=pair.get("context", ""),
            checker=LexicalChecker(),
        ).verdict == "supported"
    )  # fmt: skip
    assert said["supported"] >= 25
    assert said["supported"] / said.total() >= LEAST_PRECISION

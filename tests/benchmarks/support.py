"""How well checkers tell whether a quote supports a claim: precision first, then recall, contradictions and time.

    python tests/benchmarks/support.py
    python tests/benchmarks/support.py --sick sick_trial.txt --wice wice_oracle_chunks_claim_dev.jsonl --checkers lexical-2 model aegis

The pairs beside this file were written before any checker was tuned, and are cut into two halves by a hash of each pair:
thresholds and word lists were chosen on `tuned`, the figures to believe are those of `reported`. SICK calls a pair of captions
entailed, contradicted or neutral (Marelli et al. 2014, CC BY-NC-SA); WiCE has claims of Wikipedia with sentences of the page
they cite (Kamoi et al. 2023). Traps were written to get a false `supported` from this checker: rules were made from the first
list; the second and the third were each counted once before rules were made from them, too. SICK and WiCE are no part of this repository. `model` is the local model of entailment alone.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from grail_mem.support.checkers import checker_of
from grail_mem.support.sentences import sentences
from grail_mem.support.verdict import Checker, Support

PAIRS = Path(__file__).with_name("support_pairs.jsonl")
TRAPS = Path(__file__).with_name("support_traps.jsonl")
BANDS = (0.2, 0.95)
"""Of the model alone: below it says nothing of the claim, above it contradicts."""


class Pair(NamedTuple):
    """A claim and a quote with what a person says of them."""

    claim: str
    quote: str
    label: str
    kind: str = ""
    speaker: str = ""
    role: str = ""
    context: str = ""


class ModelAlone:
    """The model without words: the best sentence counts."""

    name = "model"

    def __init__(self) -> None:
        from grail_mem.support.entailment import AegisModel

        self._model = AegisModel()

    def check(self, claim: str, quote: str, *, speaker: str = "", role: str = "", context: str = "") -> Support:
        scores = self._model.contradiction_scores([(text, claim) for text in sentences(quote)]) or [0.0]
        if any(BANDS[0] <= score < BANDS[1] for score in scores):
            return Support("supported", 0.7, self.name)
        return Support("contradicted" if max(scores) >= BANDS[1] else "unsupported", 0.0, self.name)


def half(pair: Pair) -> str:
    """On which half of our own pairs one is."""
    digest = sha256(f"{pair.claim}\n{pair.quote}\n{pair.context}".encode()).digest()
    return ("tuned", "reported")[digest[0] % 2]


def own_pairs() -> list[Pair]:
    return [Pair(**json.loads(line)) for line in PAIRS.read_text().splitlines()]


def traps(list_: str) -> list[Pair]:
    """Pairs that were written to deceive, with plain ones beside them: one of three lists, in the order in which they were written."""
    rows = [json.loads(line) for line in TRAPS.read_text().splitlines()]
    return [Pair(**row) for row in rows if row.pop("list") == list_]


def sick(path: Path) -> Iterator[Pair]:
    labels = {"ENTAILMENT": "supported", "CONTRADICTION": "contradicted", "NEUTRAL": "unsupported"}
    for line in path.read_text().splitlines()[1:]:
        _, quote, claim, _, label = line.split("\t")
        yield Pair(claim, quote, labels[label])


def wice(path: Path) -> Iterator[Pair]:
    for line in path.read_text().splitlines():
        row = json.loads(line)
        yield Pair(
            row["claim"], "\n".join(row["evidence"]), "supported" if row["label"] == "supported" else "unsupported"
        )


def measure(name: str, checker: Checker, pairs: Sequence[Pair]) -> tuple[str, dict[str, Counter[str]], list[str]]:
    """One line of the table, the verdicts by kind and label, and the false `supported`."""
    verdicts: Counter[tuple[str, str]] = Counter()
    by_kind: dict[str, Counter[str]] = {}
    false: list[str] = []
    begin = perf_counter()
    for pair in pairs:
        given = {"speaker": pair.speaker, "role": pair.role, "context": pair.context}
        verdict = checker.check(pair.claim, pair.quote, **given).verdict
        verdicts[pair.label, verdict] += 1
        by_kind.setdefault(pair.kind, Counter())[f"{pair.label[:5]}→{verdict[:5]}"] += 1
        if verdict == "supported" != pair.label:
            false.append(f"{pair.label}: {pair.claim!r} <- {pair.quote[:200]!r}")
    ms = 1000 * (perf_counter() - begin) / max(len(pairs), 1)
    said = {v: sum(n for (_, verdict), n in verdicts.items() if verdict == v) for v in ("supported", "contradicted")}
    is_so = {v: sum(n for (label, _), n in verdicts.items() if label == v) for v in ("supported", "contradicted")}
    right = {v: verdicts[v, v] for v in ("supported", "contradicted")}
    shares = (
        _share(right["supported"], said["supported"]),
        _share(right["supported"], is_so["supported"]),
        _share(right["contradicted"], said["contradicted"]),
        _share(right["contradicted"], is_so["contradicted"]),
    )
    return f"| {name} | {len(pairs)} | {' | '.join(shares)} | {ms:.2f} |", by_kind, false


def cuts(path: Path, checker: Checker) -> tuple[int, int]:
    """Of sentences of conversations that bear themselves out: how many there are, and how many the rest of their turn takes back."""
    n = refused = 0
    for item in json.loads(path.read_bytes()):
        talk = item["conversation"]
        for turn in (turn for key in talk if re.fullmatch(r"session_\d+", key) for turn in talk[key]):
            said = {"speaker": turn["speaker"], "role": "user"}
            for claim in sentences(turn["text"]):
                if checker.check(claim, claim, **said).verdict == "supported":
                    n += 1
                    refused += checker.check(claim, turn["text"], **said).verdict != "supported"
    return n, refused


def _share(few: int, all_: int) -> str:
    return f"{few / all_:.3f} ({few}/{all_})" if all_ else "–"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sick", type=Path)
    parser.add_argument("--wice", type=Path)
    parser.add_argument("--locomo", type=Path, help="conversations whose sentences are quoted out of their turns")
    parser.add_argument("--checkers", nargs="+", default=["lexical-2"])
    parser.add_argument("--at-most", type=int, help="pairs of SICK and of WiCE, the first ones")
    parser.add_argument("--kinds", action="store_true", help="verdicts by kind of the reported half")
    parser.add_argument(
        "--false", action="store_true", help="print each false `supported` but those of the reported half"
    )
    arguments = parser.parse_args()
    own = own_pairs()
    sets = {"tuned": [p for p in own if half(p) == "tuned"], "reported": [p for p in own if half(p) == "reported"]}
    sets |= {f"traps, {list_}": traps(list_) for list_ in ("first", "second", "third")}
    if arguments.sick:
        sets["SICK"] = list(sick(arguments.sick))[: arguments.at_most]
    if arguments.wice:
        sets["WiCE"] = list(wice(arguments.wice))[: arguments.at_most]
    print("| set, checker | pairs | supported: precision | recall | contradicted: precision | recall | ms a pair |")
    print("|---|---|---|---|---|---|---|")
    kinds: dict[str, dict[str, Counter[str]]] = {}
    for set_, pairs in sets.items():
        for name in arguments.checkers:
            line, by_kind, false = measure(
                f"{set_}, {name}", ModelAlone() if name == "model" else checker_of(name), pairs
            )
            print(line, flush=True)
            if set_ == "reported":
                kinds[name] = by_kind
            elif arguments.false:
                print("\n".join(false))
    if arguments.locomo:
        n, refused = cuts(arguments.locomo, checker_of("lexical-2"))
        print(f"\nquoted out of their turns: {refused} of {n} sentences refused ({refused / n:.1%})")
    if arguments.kinds:
        for name, by_kind in kinds.items():
            print(f"\n{name}")
            for kind, counts in sorted(by_kind.items()):
                print(f"| {kind} | {', '.join(f'{what} {n}' for what, n in sorted(counts.items()))} |")


if __name__ == "__main__":
    main()

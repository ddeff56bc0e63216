"""Whether resolve_contradiction finds what cannot both hold and nothing else.

`python tests/benchmarks/contradictions.py [--judge aegis] [--sick FILE] [--locomo FILE]`

Every pair stands in a scope of its own in one store, and the detector runs over all of it. The made pairs follow stated rules
(`CHANGED` and `TOGETHER`). `--sick` takes sentence pairs of SICK 2014 (a tab-separated file with pair_ID, sentence_A,
sentence_B, relatedness_score, entailment_judgment): there a contradiction is one between scenes of everyday life, most of them
with other words on both sides, which no rule on words finds.

The pairs of `contradiction_pairs.jsonl` are written by hand: contradictions in other words, and what is near them and holds
beside them. By the part `tuned` the bounds of the judge and what it is not asked were chosen; the part `holdout` was written
after that and changed nothing. `--judge` names a model of entailment, which then reads beside the rules and alone.
`--locomo` takes what happened in the lives of two people a conversation, one statement each, and prints what is found: hardly
anything there contradicts anything.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parents[1])]

from reading_of import findings, kept, reading_of

from grail_mem.consolidate.detectors.contradictions import resolve_contradiction
from grail_mem.consolidate.statements.judged import LEAST_SCORE
from grail_mem.support.entailment import EntailmentModel
from grail_mem.support.entailments import chosen_entailment
from grail_mem.support.wording import NEGATIONS

Draft = dict[str, Any]
PAIRS: Final = Path(__file__).with_name("contradiction_pairs.jsonl")
OLD, NEW = "2026-01-10", "2026-05-20"
CITIES: Final = "Berlin Lisbon Oslo Turin Vienna Prague Dublin Krakow".split()  # noqa: SIM905  a list of words reads better
FIRMS: Final = "Acme Globex Initech Umbra Hooli Vandelay".split()  # noqa: SIM905
PEOPLE: Final = "Ann Bob Clara Dmitri Elif Farid".split()  # noqa: SIM905
TOOLS: Final = "PostgreSQL MySQL Oracle SQLite MariaDB CockroachDB".split()  # noqa: SIM905


class Pair(NamedTuple):
    """Two drafts, and whether they contradict each other."""

    rule: str
    contradicts: bool
    left: Draft
    right: Draft


def fact(firm: str, content: str, **more: Any) -> Draft:
    return {"content": content, "attribute": f"{firm.lower()}/primary-database", **more}


def about(firm: str, content: str, **more: Any) -> Draft:
    return {"content": content, "entities": [firm], **more}


def stated(source: str, name: str, target: str, content: str, **more: Any) -> Draft:
    return {
        "content": content,
        "relationships": [{"source": source, "relationship_type": name, "target": target}],
        **more,
    }


Maker = Callable[[random.Random], tuple[Draft, Draft]]


def rules(c: random.Random) -> tuple[dict[str, tuple[Draft, Draft]], dict[str, tuple[Draft, Draft]]]:
    """One pair of every rule: those that contradict each other, and those that hold together."""
    firm, other = c.sample(FIRMS, 2)
    person = c.choice(PEOPLE)
    tool, new = c.sample(TOOLS, 2)
    city, town = c.sample(CITIES, 2)
    few, many = c.sample(range(2, 500), 2)
    changed = {
        "attribute: name": (fact(firm, f"The primary database is {tool}."), fact(firm, f"The primary database is {new}.")),
        "attribute: other words": (fact(firm, f"{tool} is the primary database."), fact(firm, f"We run everything on {new}.")),
        "attribute: negation": (fact(firm, f"The primary database is {tool}."), fact(firm, f"The primary database is not {tool}.")),
        "relation: same words": (stated(person, "LIVES_IN", city, f"{person} lives in {city}."), stated(person, "LIVES_IN", town, f"{person} lives in {town}.")),
        "relation: other words": (stated(person, "LIVES_IN", city, f"{person} lives in {city}."), stated(person, "LIVES_IN", town, f"{person} moved to {town}.")),
        "text: number": (about(firm, f"The API of {firm} allows {few} requests a minute for every key."), about(firm, f"The API of {firm} allows {many} requests a minute for every key.")),
        "text: unit": (about(firm, f"Each backup of {firm} is limited to {few} GB on every server."), about(firm, f"Each backup of {firm} is limited to {few} MB on every server.")),
        "text: date": (about(firm, f"The contract with {firm} ends on March {few % 28 + 1} at noon."), about(firm, f"The contract with {firm} ends on June {many % 28 + 1} at noon.")),
        "text: negation": (about(firm, f"{firm} supports single sign on for all users of the product."), about(firm, f"{firm} does not support single sign on for all users of the product.")),
        "text: opposite": (about(firm, f"Remote access to the {firm} cluster is enabled for contractors."), about(firm, f"Remote access to the {firm} cluster is disabled for contractors.")),
    }  # fmt: skip
    together = {
        "attribute: addition": (fact(firm, f"The primary database is {tool}."), fact(firm, f"The primary database is {tool}, hosted in {city}.")),
        "attribute: another property": (fact(firm, f"The primary database is {tool}."), fact(firm, "The primary database is fast.")),
        "attribute: another subject": (fact(firm, f"The {city} office uses {tool}."), fact(firm, f"The {town} office uses {tool}.")),
        "attribute: possible": (fact(firm, f"The primary database is {tool}."), fact(firm, f"The primary database might become {new}.")),
        "attribute: past": (fact(firm, f"The primary database is {tool}."), fact(firm, f"The primary database was formerly {new}.")),
        "attribute: passing": (fact(firm, f"The primary database is {tool}."), fact(firm, f"This week the primary database is {new}.")),
        "attribute: one of several": (fact(firm, f"A primary database is {tool}."), fact(firm, f"Another primary database is {new}.")),
        "attribute: ended": (fact(firm, f"The primary database is {tool}.", valid_until="2026-03-01"), fact(firm, f"The primary database is {new}.")),
        "relation: many targets": (stated(person, "LIKES", city, f"{person} likes {city}."), stated(person, "LIKES", town, f"{person} likes {town}.")),
        "relation: longer name": (stated(person, "WORKS_AT", firm, f"{person} is at {firm}."), stated(person, "WORKS_AT", f"{firm} Inc", f"{person} is at {firm} Inc.")),
        "text: another entity": (about(firm, f"The API allows {few} requests a minute for every key."), about(other, f"The API allows {many} requests a minute for every key.")),
        "text: number of the subject": (about(firm, f"Release {few} of the {firm} server is written in Go and Rust."), about(firm, f"Release {many} of the {firm} server is written in Go and Rust.")),
        "text: event": (about(firm, f"The backup of {firm} took {few} minutes and was successful."), about(firm, f"The backup of {firm} took {many} minutes and was successful.")),
        "text: rough number": (about(firm, f"The {firm} office has room for about {few} people."), about(firm, f"The {firm} office has room for about {many} people.")),
        "text: two turns": (about(firm, f"The {firm} office has room for {few} people.", session="s", turn=1), about(firm, f"The {firm} office has room for {many} people.", session="s", turn=2)),
        "text: two speakers": (about(firm, f"My desk at {firm} is on floor {few} near the stairs.", speaker="Ann"), about(firm, f"My desk at {firm} is on floor {many} near the stairs.", speaker="Bob")),
    }  # fmt: skip
    return changed, together


def made(n: int, seed: int = 1) -> Iterator[Pair]:
    """So many pairs of every rule."""
    chance = random.Random(seed)
    for _ in range(n):
        for pairs, contradicts in zip(rules(chance), (True, False), strict=True):
            yield from (Pair(rule, contradicts, *drafts) for rule, drafts in pairs.items())


def sick(path: Path) -> Iterator[Pair]:
    """The pairs of the corpus."""
    for line in path.read_text(encoding="utf-8").splitlines()[1:]:
        _, left, right, _, judgment = line.split("\t")[:5]
        yield Pair("sick", judgment.strip() == "CONTRADICTION", {"content": left}, {"content": right})


def written(part: str) -> Iterator[Pair]:
    """The pairs written by hand of one part; each text names those of the entities that stand in it."""
    for line in PAIRS.read_text(encoding="utf-8").splitlines():
        pair = json.loads(line)
        if pair["part"] == part:
            yield Pair(pair["kind"], pair["contradicts"], *(by_hand(pair, pair[side]) for side in ("older", "newer")))


def by_hand(pair: dict[str, Any], text: str) -> Draft:
    draft = {"content": text, "entities": [name for name in pair["entities"] if name in text]}
    return draft | ({"attribute": pair["attribute"]} if pair["attribute"] else {})


def lives(path: Path) -> Iterator[Draft]:
    """What happened to each speaker of the conversations of LoCoMo, as its authors sum it up."""
    for number, talk in enumerate(json.loads(path.read_text(encoding="utf-8"))):
        for events in talk["event_summary"].values():
            day = datetime.strptime(events["date"], "%d %B, %Y").date().isoformat()
            for person, happened in events.items():
                for text in filter(str.strip, happened if isinstance(happened, list) else ()):
                    yield {"content": text, "entities": [person], "scope": f"project:talk-{number}", "category": "lives",
                           "kind": "semantic", "source_kind": "user_statement", "observed_at": day}  # fmt: skip


class Remembering:
    """A model that is asked of each pair once, however many tables are made, and runs when there is a file to remember in."""

    def __init__(self, model: EntailmentModel, path: Path | None) -> None:
        self.name, self._model, self._path = model.name, model, path
        lines = path.read_text(encoding="utf-8").splitlines() if path is not None and path.exists() else []
        self._said = {(premise, hypothesis): score for premise, hypothesis, score in map(json.loads, lines)}

    def contradiction_scores(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        new = [pair for pair in dict.fromkeys(pairs) if pair not in self._said]
        said = dict(zip(new, self._model.contradiction_scores(new), strict=True))
        self._said |= said
        if self._path is not None:
            with self._path.open("a", encoding="utf-8") as file:
                file.writelines(f"{json.dumps([*pair, score])}\n" for pair, score in said.items())
        return [self._said[pair] for pair in pairs]


def detected(pairs: Sequence[Pair], judge: EntailmentModel | None = None) -> list[float]:
    """The confidence of the detector for each pair; 0 where it finds nothing."""
    with tempfile.TemporaryDirectory() as folder, kept(Path(folder)) as memory:
        drafts = [
            {
                **draft,
                "scope": f"project:pair-{n}",
                "category": "notes",
                "source_kind": "user_statement",
                "observed_at": day,
            }
            for n, pair in enumerate(pairs)
            for draft, day in ((pair.left, OLD), (pair.right, NEW))
        ]
        number_of: dict[str, int] = {}
        for first in range(0, len(drafts), 2_000):
            for place, added in enumerate(memory.add_observations(drafts[first : first + 2_000]), start=first):
                number_of[added.id] = place // 2
        if judge is not None:
            memory.search("anything")  # so that there are vectors, as in a store that is searched
        sure = {
            number_of[finding.affected[0]]: finding.confidence
            for finding in findings(memory, resolve_contradiction, entailment=judge)
        }
    return [sure.get(number, 0.0) for number in range(len(pairs))]


def words(draft: Draft) -> set[str]:
    return {word.strip(".,?!").lower() for word in draft["content"].split()}


def is_alike(pair: Pair) -> bool:
    """Baseline: nine tenths of a pair's words are equal and some are not."""
    left, right = words(pair.left), words(pair.right)
    return left != right and len(left & right) >= 0.6 * len(left | right)


def is_negated(pair: Pair) -> bool:
    """Baseline: a negation stands on one side only, and most words are equal."""
    left, right = words(pair.left), words(pair.right)
    return is_alike(pair) and bool(left & NEGATIONS) != bool(right & NEGATIONS)


def table(name: str, pairs: Sequence[Pair], judge: EntailmentModel | None) -> None:
    """Precision and recall of every method, and how often each rule is found."""
    sure = detected(pairs)
    n_true = sum(pair.contradicts for pair in pairs)
    methods = {
        "resolve_contradiction >= .8": [s >= 0.8 for s in sure],
        "resolve_contradiction >= .5": [s >= 0.5 for s in sure],
        "words alike (Jaccard >= 0.6)": list(map(is_alike, pairs)),
        "alike, one side negated": list(map(is_negated, pairs)),
    }
    if judge is not None:
        sure = detected(pairs, judge)
        methods["with the judge >= .5"] = [s >= 0.5 for s in sure]
        methods |= alone(pairs, judge)
    print(f"\n{name}: {len(pairs)} pairs, {n_true} of them contradictions")
    print(f"{'method':32} {'found':>6} {'right':>6} {'precision':>10} {'recall':>8}")
    for method, taken in methods.items():
        found = [pair for pair, is_taken in zip(pairs, taken, strict=True) if is_taken]
        right = sum(pair.contradicts for pair in found)
        precision = f"{right / len(found):10.1%}" if found else f"{'-':>10}"
        print(f"{method:32} {len(found):6} {right:6} {precision} {right / n_true:8.1%}")
    by_rule = Counter(pair.rule for pair, s in zip(pairs, sure, strict=True) if s)
    of = Counter(pair.rule for pair in pairs)
    for rule in of if len(of) > 1 else ():
        print(f"    {rule:28} {by_rule[rule]:6} of {of[rule]}")


def alone(pairs: Sequence[Pair], judge: EntailmentModel) -> dict[str, list[bool]]:
    """Baseline: what the judge says of every pair in both directions, whatever the words are."""
    sides = [(pair.left["content"], pair.right["content"]) for pair in pairs]
    scores = zip(judge.contradiction_scores(sides), judge.contradiction_scores([s[::-1] for s in sides]), strict=True)
    both = list(map(min, scores))
    return {f"the judge alone >= {least}": [score >= least for score in both] for least in (0.95, LEAST_SCORE)}


def judge_lives(path: Path, judge: EntailmentModel) -> None:
    """What the detector finds in statements of which hardly any contradicts another."""
    drafts = list(lives(path))
    with tempfile.TemporaryDirectory() as folder, kept(Path(folder)) as memory:
        memory.add_observations(drafts)
        memory.search("anything")
        with reading_of(memory, entailment=judge) as reading:
            asked: list[int] = []
            told = replace(reading, progress=lambda _done, total: asked.append(total or 0))
            found = list(resolve_contradiction(told))
    print(f"\nlives: {len(drafts)} statements, {asked[-1]} pairs asked, {len(found)} found")
    for finding in found:
        print(f"    {finding.confidence:.2f} {finding.rationale}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sick", type=Path, help="sentence pairs of SICK 2014")
    parser.add_argument("--made", type=int, default=50, help="pairs of every rule")
    parser.add_argument("--judge", default="none", help="none, aegis or cross-encoder:MODEL")
    parser.add_argument("--remember", type=Path, help="a file in which what the judge said stays for the next run")
    parser.add_argument("--locomo", type=Path, help="conversations of LoCoMo, for their summaries of events")
    chosen = parser.parse_args()
    model = chosen_entailment(chosen.judge)()
    judge = None if model is None else Remembering(model, chosen.remember)
    if chosen.made:
        table("made pairs", list(made(chosen.made)), judge)
    for part in ("tuned", "holdout"):
        table(f"written by hand, {part}", list(written(part)), judge)
    if chosen.sick:
        table("SICK 2014", list(sick(chosen.sick)), judge)
    if chosen.locomo and judge is not None:
        judge_lives(chosen.locomo, judge)


if __name__ == "__main__":
    main()

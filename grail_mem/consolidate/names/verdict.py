"""How likely two names are one thing, by how they are alike and what the store says.

Knows nothing of groups and findings.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from grail_mem.consolidate.names.entity_table import pair
from grail_mem.consolidate.names.evidence import LEVELS, NEAR, Evidence
from grail_mem.consolidate.names.likeness import Likeness

LEAST: Final = 0.5
"""Confidence below which no finding is made."""
SURE: Final = 0.8
"""Confidence from which practically everybody would agree."""

CONFIDENCE: Final = {
    "declared": (0.85, 0.92, 0.92, 0.94, 0.96),
    "normal": (0.7, 0.9, 0.9, 0.93, 0.95),
    "normal_short": (0, 0, 0, 0.55, 0.8),
    "plural": (0.5, 0.75, 0.75, 0.85, 0.9),
    "plural_name": (0, 0, 0, 0.6, 0.82),
    "possessive": (0, 0.55, 0.6, 0.8, 0.88),
    "possessive_name": (0, 0, 0, 0.6, 0.75),
    "article": (0, 0.6, 0.7, 0.85, 0.9),
    "suffix": (0, 0.82, 0.82, 0.9, 0.93),
    "suffix_unclear": (0, 0, 0, 0.6, 0.85),
    "order": (0.6, 0.88, 0.88, 0.92, 0.95),
    "expansion": (0.75, 0.9, 0.9, 0.93, 0.95),
    "acronym": (0, 0, 0, 0.55, 0.75),
    "nickname": (0, 0, 0, 0.75, 0.87),
    "nickname_formal": (0, 0, 0, 0.6, 0.8),
    "bare_nickname": (0, 0, 0, 0, 0.65),
    "initials": (0, 0, 0, 0.75, 0.87),
    "partial": (0, 0, 0, 0.6, 0.8),
    "spelling": (0, 0.6, 0.6, 0.8, 0.9),
    "spelling_unsure": (0, 0, 0, 0.6, 0.8),
    "spelling_person": (0, 0, 0, 0.55, 0.75),
}
"""Confidence by likeness and by how much the neighbourhoods share, in the order of `LEVELS`; tests/benchmarks/aliases.py
holds it to 95 right of 100 from `LEAST` on. A letter in a name weighs less than a company that both keep."""

SIGNALS: Final = {
    "normal_short": "normal", "plural": "normal+plural", "plural_name": "normal+plural", "possessive": "normal+possessive", "possessive_name": "normal+possessive",
    "article": "normal+article", "suffix_unclear": "suffix", "expansion": "acronym+expansion",
    "nickname_formal": "nickname", "bare_nickname": "nickname", "spelling_unsure": "spelling", "spelling_person": "spelling",
}  # fmt: skip
"""What a likeness is called in findings, where it is not its own code."""

STURDY: Final = frozenset({"declared", "normal", "order", "expansion"})
"""Likenesses that being named together weakens; all others it refutes."""
SAYS_SO: Final = frozenset({"declared", "normal"})
"""Likenesses that another type weakens; all others it refutes."""
CLASH: Final = 0.7
"""Confidence at most when the types differ."""
AGAINST: Final = 0.3
"""What each thing that speaks against takes away from a sturdy likeness; half as much when it was declared."""
ONE_OF_SEVERAL: Final = 0.75
"""Confidence at most when a name could stand for several and the company of just one fits."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """How likely two names are one thing.

    Attributes:
        confidence: 0 to 1.
        code: The likeness that counts; see `CONFIDENCE`.
        vague: Which of the two may stand for several things, 0 or 1; -1 for neither.
        evidence: What the store says.
    """

    confidence: float
    code: str
    vague: int
    evidence: Evidence

    @property
    def has_company(self) -> bool:
        """Whether neighbours that both have speak for it."""
        return self.evidence.shared.level in {"some", "strong"}

    @property
    def is_said_alike(self) -> bool:
        """Whether what is said around both speaks for it."""
        return self.evidence.nearness is not None and self.evidence.nearness >= NEAR

    @property
    def signal(self) -> str:
        """What it is called in a finding, with `neighbours` and `said` when they speak for it."""
        company = "+neighbours" if self.has_company else ""
        return SIGNALS.get(self.code, self.code) + company + ("+said" if self.is_said_alike else "")


Pairs = Mapping[tuple[int, int], Sequence[Likeness]]


def verdicts(alike: Pairs, evidence: Mapping[tuple[int, int], Evidence]) -> dict[tuple[int, int], Verdict]:
    """The verdict on each pair of names that are likely one thing."""
    judged = {places: judge(likenesses, evidence[places]) for places, likenesses in alike.items()}
    return {places: v for places, v in _without_ambiguous(judged, alike) if v.confidence >= LEAST}


def judge(likenesses: Sequence[Likeness], evidence: Evidence) -> Verdict:
    """The verdict on one pair: of its likenesses the one that weighs most."""
    made = [Verdict(_confidence(one.code, evidence), one.code, one.vague, evidence) for one in likenesses]
    return max(made, key=lambda verdict: (verdict.confidence, verdict.code, verdict.vague))


def _confidence(code: str, evidence: Evidence) -> float:
    confidence = float(CONFIDENCE[code][LEVELS.index(evidence.level)])
    if evidence.clash:
        confidence = min(confidence, CLASH) if code in SAYS_SO else 0.0
    if not evidence.speaks_against:
        return confidence
    if code not in STURDY:
        return 0.0
    n = evidence.is_related + evidence.is_listed + evidence.is_exclusive + (evidence.n_together > 1)
    return round(max(0.0, confidence - n * AGAINST * (0.5 if code == "declared" else 1)), 2)


def _without_ambiguous(
    judged: Mapping[tuple[int, int], Verdict], alike: Pairs
) -> Iterator[tuple[tuple[int, int], Verdict]]:
    """Verdicts, but of a name that may stand for several unlike things only the one whose company fits."""
    rivals: dict[int, set[int]] = defaultdict(set)
    declared: dict[int, set[int]] = defaultdict(set)
    for places, likenesses in alike.items():
        for one in likenesses:
            if one.vague >= 0:
                name, other = places[one.vague], places[1 - one.vague]
                rivals[name].add(other)
                if one.code == "declared":
                    declared[name].add(other)
    for places, verdict in judged.items():
        kept = verdict
        for side in {one.vague for one in alike[places] if one.code == verdict.code and one.vague >= 0}:
            name, other = places[side], places[1 - side]
            others = (declared[name] or rivals[name]) - {other}
            unlike = [o for o in sorted(others) if not _is_one(judged, other, o)]
            if unlike:
                kept = replace(kept, confidence=min(kept.confidence, _one_of_several(judged, name, other, unlike)))
        yield places, kept


def _is_one(judged: Mapping[tuple[int, int], Verdict], left: int, right: int) -> bool:
    verdict = judged.get(pair(left, right))
    return verdict is not None and verdict.confidence >= LEAST


def _one_of_several(judged: Mapping[tuple[int, int], Verdict], name: int, other: int, unlike: list[int]) -> float:
    """Confidence at most when a name may be `other` or one of `unlike`."""
    levels = [judged[pair(name, o)].evidence.level for o in unlike]
    fits = judged[pair(name, other)].evidence.level == "strong"
    return ONE_OF_SEVERAL if fits and not {"some", "strong"}.intersection(levels) else 0.0

"""The verdict: whether the best passages answer the question, how far, and what is lacking, in words.

Knows nothing of how they were found.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from grail_mem.index.segment import TRAITS
from grail_mem.recall.best import as_asked
from grail_mem.recall.ranked import Ranked, Searcher
from grail_mem.recall.result import Abstention, Coverage
from grail_mem.recall.silence import N_LOOKED_AT, Gates, Signals, signals_of, speaker_signals_of


class _Wanted(NamedTuple):
    """What a kind of question asks for: a trait of passages; and whether every script writes it so that it is seen."""

    trait: str
    what: str
    always: bool


_TRAIT_OF: Final = {
    "number": _Wanted("numbers", "a number", always=True),
    "name": _Wanted("capitals", "a name", always=False),
}
"""By the kind of question. A time is met by the day that every observation has."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """How far an answer goes.

    Attributes:
        coverage: `supported`, `partial` or `none`.
        detail: What is lacking, in words.
        said: The scores and levels it was judged by, for the trace.
    """

    coverage: Coverage
    detail: str
    said: dict[str, Any]


def judge(main: Ranked, gates: Gates | None, *, strict: bool) -> Verdict:
    """How far the best passages answer the question, and why not further."""
    signals = signals_of(main)
    said: dict[str, Any] = {"signals": {name: round(value, 3) for name, value in signals._asdict().items()}}
    if not len(main.order):
        return Verdict("none", "Nothing here shares a word, a meaning or a name with the question.", said)
    if gates is None:
        return Verdict("partial", "", said)
    topic = gates.topic.score(signals)
    said |= {"topic": topic, "floor": gates.topic.floor, "sure": gates.topic.sure}
    if topic < gates.topic.floor:
        return Verdict("none", _why(main, topic, gates.topic.floor), said)
    lacking = _lacking(main, signals)
    speaker = speaker_signals_of(main)
    if speaker is not None and gates.speaker is not None:
        whom = gates.speaker.score(speaker)
        said |= {"speaker": whom, "speaker_floor": gates.speaker.floor}
        if whom < gates.speaker.floor:
            name = main.asked.question.subject
            lacking.append(f"what comes closest was not said by {name}")
            if strict:
                return Verdict("none", f"The question asks for {name}; {lacking[-1]}.", said)
    if topic < gates.topic.sure:
        lacking.append(f"the score {topic:.2f} is not above {gates.topic.sure:.2f}, from where on nothing is doubtful")
    said["lacking"] = lacking
    return Verdict("partial" if lacking else "supported", "; ".join(lacking), said)


def _lacking(main: Ranked, signals: Signals) -> list[str]:
    """What the question asks for and the best passages do not have."""
    lacking = []
    if signals.names < 1:
        lacking.append("a name of the question is not in the best passages")
    wanted = _TRAIT_OF.get(main.asked.question.kind)
    if wanted is not None:
        said = main.asked.corpus.columns.traits[main.found.passages[main.order], TRAITS.index(wanted.trait)] > 0
        if not said[:N_LOOKED_AT].any() and (wanted.always or said.any()):
            lacking.append(f"it asks for {wanted.what} and none is in the best passages")
    return lacking


def _why(main: Ranked, score: float, floor: float) -> str:
    question = main.asked.question
    evidence = main.found.evidence
    best = evidence.places(main.found.passages[main.order[:N_LOOKED_AT]])
    has = evidence.has[best].max(axis=0, initial=0)
    wanted = [term if term not in question.date_terms else "" for term in dict.fromkeys(question.terms)]
    known = main.asked.lexical.is_known
    unknown = as_asked(question.text, {t for t, k in zip(wanted, known, strict=True) if not k})
    absent = as_asked(question.text, {t for t, h, k in zip(wanted, has, known, strict=True) if k and not h})
    parts = [f"The best passages score {score:.2f} together and would need {floor:.2f}."]
    if unknown:
        parts.append(f"Nothing here says {', '.join(unknown[:4])}.")
    if missing := [word for word in absent if word not in unknown]:
        parts.append(f"The best passages do not say {', '.join(missing[:4])}.")
    return " ".join(parts)


def silent(judged: Verdict, searcher: Searcher, ranking: str, near: tuple[str, ...]) -> Abstention:
    """Nothing is returned: because nothing is good enough, or perhaps because much cannot be found by meaning yet."""
    if searcher.n_behind and ranking != "lexical":
        detail = f"{judged.detail} {searcher.n_behind} passages have no vector yet; `grail index` makes them."
        return Abstention("index_behind", detail, near)
    return Abstention("below_floor" if near else "no_match", judged.detail, near)

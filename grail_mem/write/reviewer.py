"""Reviewers: what looks at extracted drafts before they are submitted and may only narrow: drop one, or be less sure of it.

Knows nothing of models, and of how drafts were found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol, runtime_checkable

from grail_mem.errors import ServiceError
from grail_mem.write.extractor import asked, chosen

VERDICTS: Final = ("keep", "drop")


@dataclass(frozen=True, slots=True)
class Reviewable:
    """A draft as a reviewer sees it.

    Attributes:
        id: By what the review names it, in this one call.
        claim: What it says.
        quote: The exact words.
        speaker: Who said them; empty when not known.
        attribute: The fact that it may state.
        confidence: How sure it is, 0 to 1.
    """

    id: str
    claim: str
    quote: str
    speaker: str
    attribute: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Review:
    """What a reviewer says of one draft.

    Attributes:
        id: Of the draft.
        verdict: `keep` or `drop`.
        confidence: How sure it is, 0 to 1; never more than it was.
    """

    id: str
    verdict: Literal["keep", "drop"]
    confidence: float


@runtime_checkable
class Reviewer(Protocol):
    """Says which drafts are worth a person's look."""

    @property
    def name(self) -> str:
        """What it is called in warnings and errors."""
        ...

    def review(self, candidates: Sequence[Reviewable]) -> Sequence[Review]:
        """One review for each, in any order."""
        ...


def chosen_reviewers(value: Any) -> tuple[Reviewer, ...]:
    """The reviewers that somebody chose: one, several, or nobody.

    Raises:
        InputError: One of them is none; `problems` lists every reason.
    """
    return chosen(value, lambda one: isinstance(one, Reviewer), "review") if value is not None else ()


def reviews_of(reviewer: Reviewer, shown: Sequence[Reviewable]) -> dict[str, Review]:
    """What a reviewer says of drafts, by id.

    Raises:
        ServiceError: It failed, or its answer is not one that only narrows; all of it is refused then.
    """
    if not shown:
        return {}
    what = f"The reviewer {reviewer.name}"
    answer: Any = asked(what, "review", lambda: reviewer.review(tuple(shown)))
    if problems := _problems(answer, {one.id: one for one in shown}):
        raise ServiceError(
            " ".join((f"{what} gave an answer that cannot be used:", *problems, "Nothing was submitted.")),
            hint="A review drops drafts or lowers their confidence, each id once. Ask again, or leave the reviewer out.",
        )
    return {one.id: one for one in answer}


def _problems(answer: Any, shown: dict[str, Reviewable]) -> list[str]:
    """All that is wrong with an answer; ids that were not given are counted, not quoted."""
    if not isinstance(answer, list | tuple) or not all(type(one) is Review for one in answer):
        return ["it is no list of reviews."]
    ids = [one.id for one in answer]
    n_known = sum(isinstance(id_, str) and id_ in shown for id_ in ids)
    there = {id_ for id_ in ids if isinstance(id_, str) and id_ in shown}
    problems = [f"{len(ids) - n_known} of its ids were not given."] if n_known < len(ids) else []
    problems += [f"{n_known - len(there)} of its ids stand there twice."] if len(there) < n_known else []
    problems += [f"{len(shown) - len(there)} of {len(shown)} drafts are missing."] if len(there) < len(shown) else []
    problems += ["a verdict is neither keep nor drop."] if any(one.verdict not in VERDICTS for one in answer) else []
    if not all(_is_share(one.confidence) for one in answer):
        problems.append("a confidence is no number from 0 to 1.")
    elif any(one.id in there and one.confidence > shown[one.id].confidence for one in answer if n_known == len(ids)):
        problems.append("it raises a confidence.")
    return problems


def _is_share(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1

"""Extractors: what reads the turns of a conversation and says what should be kept; the rules are one, a model can be another.

What an extractor returns is a suggestion that is checked like every other. Knows nothing of models and of how candidates are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeVar, runtime_checkable

from grail_mem.errors import InputError, MissingDependencyError, ServiceError
from grail_mem.store.sources import Turn
from grail_mem.write.extraction import KIND_OF_RULE, Extracted, extract

T = TypeVar("T")

MOST: Final = 500
"""Drafts that one extractor may return; chosen: more than a person would look through."""
_LONGEST_CLAIM: Final = 1_000
_LONGEST_NAME: Final = 100


@runtime_checkable
class Extractor(Protocol):
    """Finds what turns of a conversation say that is worth keeping."""

    @property
    def name(self) -> str:
        """What it is called in warnings and errors."""
        ...

    def extract(self, turns: Sequence[Turn]) -> Sequence[Extracted]:
        """What people say there, each with the exact words and the turn, which is one of those given."""
        ...


class RuleExtractor:
    """The rules of this package: no model, and rather nothing than something wrong."""

    name = "rules"

    def extract(self, turns: Sequence[Turn]) -> Sequence[Extracted]:
        """What the user says of themselves, decides, promises or corrects."""
        return extract(turns)


@dataclass(frozen=True, slots=True)
class Found:
    """What one extractor found.

    Attributes:
        draft: What it says.
        extractor: The extractor's name.
        by_rule: Whether the claim was made of the very words, by rule.
    """

    draft: Extracted
    extractor: str
    by_rule: bool

    @property
    def place(self) -> str:
        """Who found it and where, for warnings."""
        return f"{self.extractor}: turn {self.draft.turn.number}"


def chosen_extractors(value: Any) -> tuple[Extractor, ...]:
    """The extractors that somebody chose: one, or several; the rules for None.

    Raises:
        InputError: One of them is none; `problems` lists every reason.
    """
    return chosen(value, lambda one: isinstance(one, Extractor), "extract") if value is not None else (RuleExtractor(),)


def chosen(value: Any, is_one: Callable[[Any], bool], verb: str) -> tuple[Any, ...]:
    """One value or several as a tuple, when each has a name and the function.

    Raises:
        InputError: One has not; `problems` lists every reason.
    """
    listed = tuple(value) if isinstance(value, list | tuple) else (value,)
    problems = [
        f"{type(one).__name__} cannot {verb}: it needs a `name`, one line of 1 to {_LONGEST_NAME} characters, and the function `{verb}`."
        for one in listed
        if isinstance(one, type) or not is_one(one) or not _is_name(one.name)
    ]
    if problems:
        raise InputError(" ".join(problems), problems=problems)
    return listed


def _is_name(name: object) -> bool:
    return isinstance(name, str) and 0 < len(name) <= _LONGEST_NAME and name == name.strip() and name.isprintable()


def asked(what: str, verb: str, ask: Callable[[], T]) -> T:
    """What somebody else's function answers.

    Raises:
        ServiceError: It failed. Its own words are left out, for they may hold a key or what people said.
    """
    try:
        return ask()
    except (ServiceError, MissingDependencyError):
        raise
    except Exception as error:  # noqa: BLE001  whatever it raises, nothing is submitted
        kind = type(error).__name__
    raise ServiceError(  # outside the block above, so that the error is not its context
        f"{what} failed with {kind}. Nothing was submitted.", hint=f"Call its `{verb}` yourself to see the whole error."
    )


def found_by(extractors: Sequence[Extractor], turns: Sequence[Turn]) -> tuple[list[Found], list[str]]:
    """What all of them find, in order, and what is left out because it cannot be a draft; what an earlier one quotes stays its.

    Raises:
        ServiceError: One failed, or answered with what are no drafts.
    """
    found: list[Found] = []
    warnings: list[str] = []
    given = frozenset(turns)
    for extractor in extractors:
        taken = {(one.draft.turn, one.draft.quote) for one in found}
        for one in _drafts(extractor, turns):
            problem = next(_problems(one.draft, given), None)
            if problem:
                warnings.append(f"{one.extractor}: a draft was left out: {problem}")
            elif (one.draft.turn, one.draft.quote) not in taken:
                found.append(one)
    return list({(one.draft.turn, one.draft.quote, one.draft.claim): one for one in found}.values()), warnings


def _drafts(extractor: Extractor, turns: Sequence[Turn]) -> list[Found]:
    what, by_rule = f"The extractor {extractor.name}", isinstance(extractor, RuleExtractor)
    answer: Any = asked(what, "extract", lambda: _whole(extractor.extract(turns)))
    if answer is None or not all(isinstance(one, Extracted) for one in answer):
        raise ServiceError(
            f"{what} did not return a list of drafts. Nothing was submitted.",
            hint="`extract` returns a list of grail_mem.write.extraction.Extracted.",
        )
    if len(answer) > MOST and not by_rule:
        raise ServiceError(f"{what} returned {len(answer)} drafts; at most {MOST} are taken. Nothing was submitted.")
    return [Found(one, extractor.name, by_rule) for one in answer]


def _whole(answer: Any) -> list[Any] | None:
    """An answer as a list; None when it is none. A generator would fail later, so it is none."""
    return list(answer) if isinstance(answer, list | tuple) else None


def _problems(draft: Extracted, given: frozenset[Turn]) -> Iterator[str]:
    """Why a draft cannot be one; no message holds its text."""
    if not all(isinstance(getattr(draft, name), str) for name in ("claim", "quote", "rule", "kind", "attribute")):
        yield "its fields are not all texts."
    elif not isinstance(draft.turn, Turn) or draft.turn not in given:
        yield "it names a turn that is not in the session."
    elif draft.turn.role != "user":
        yield f"turn {draft.turn.number} is not the user's."
    elif draft.rule not in KIND_OF_RULE:
        yield f"its rule is none of {', '.join(KIND_OF_RULE)}."
    elif len(draft.claim) > _LONGEST_CLAIM or len(draft.claim.splitlines()) != 1:
        yield f"its claim is not one line of 1 to {_LONGEST_CLAIM} characters."

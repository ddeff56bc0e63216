"""The end of a conversation: what its turns say becomes candidates, all at once or none.

Knows nothing of the rules and of models, and of who decides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

from grail_mem.errors import InputError
from grail_mem.query.passages import in_session
from grail_mem.query.view import View
from grail_mem.store.sources import Turn
from grail_mem.support.verdict import SUPPORTED
from grail_mem.write.extractor import Extractor, Found, found_by
from grail_mem.write.reviewer import Reviewable, Reviewer, reviews_of
from grail_mem.write.submit import Submitted, checked, submit

Using = Callable[[], AbstractContextManager[View]]
"""Gives the view while nobody else uses it; what is asked of others is asked outside."""


@dataclass(frozen=True, slots=True)
class Finished(Sequence[Submitted]):
    """What became of the end of a conversation: a sequence of its submissions.

    Attributes:
        submitted: One result a candidate.
        warnings: What was found and left out, or dropped by a reviewer, and why.
    """

    submitted: tuple[Submitted, ...] = ()
    warnings: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.submitted)

    def __getitem__(self, at: Any) -> Any:
        return self.submitted[at]

    def to_dict(self) -> dict[str, object]:
        """The result as plain JSON values."""
        return {"submitted": [one.to_dict() for one in self.submitted], "warnings": list(self.warnings)}


@dataclass(frozen=True, slots=True)
class _Held:
    """A draft that holds, and how sure it is."""

    found: Found
    confidence: float
    lowered: bool = False

    def shown(self, id_: str) -> Reviewable:
        draft = self.found.draft
        return Reviewable(id_, draft.claim, draft.quote, draft.turn.speaker, draft.attribute, self.confidence)

    def draft(self, more: Mapping[str, str]) -> dict[str, Any]:
        return self.found.draft.draft(**more) | ({"confidence": self.confidence} if self.lowered else {})


def finish(
    using: Using,
    session: str,
    *,
    scope: str | None = None,
    extractors: Sequence[Extractor],
    reviewers: Sequence[Reviewer],
    actor: str,
) -> Finished:
    """Submit what the turns of a session say; a draft that does not hold is left out with a warning.

    Args:
        using: Gives the store.
        session: The conversation.
        scope: Whose it is; a session's own or the default scope when left out.
        extractors: Who looks for it, in order.
        reviewers: Who may drop drafts or be less sure of them, in order.
        actor: Who stands in the ledger.

    Raises:
        ServiceError: One of them failed or gave an answer that cannot be used; nothing was submitted.
        AccessError: The caller may not propose there.
    """
    with using() as view:
        turns = _turns(view, session, scope)
    if not turns:
        return Finished(warnings=(f"There are no turns of the conversation {session!r}.",))
    found, warnings = found_by(extractors, turns)
    more = {"session": session} | ({"scope": scope} if scope is not None else {})
    with using() as view:
        held, left_out = _holding(view, found, more)
    for reviewer in reviewers:
        held, dropped = _narrowed(reviewer, held)
        left_out += dropped
    with using() as view:  # looked at again: what is quoted may have been erased while somebody was asked
        drafts = [one.draft(more) for one in held]
        return Finished(tuple(submit(view, drafts, origin="extraction", actor=actor)), (*warnings, *left_out))


def _turns(view: View, session: str, scope: str | None) -> list[Turn]:
    view.catch_up()
    if scope is None and view.principal is not None:
        scope = view.principal.private
    view.access.require("propose", scope)
    return in_session(view, session, scope)


def _holding(view: View, found: Sequence[Found], more: Mapping[str, str]) -> tuple[list[_Held], list[str]]:
    """The drafts whose quotes stand in their turns and bear them out, and why the others do not."""
    held: list[_Held] = []
    left_out: list[str] = []
    for one in found:
        try:
            ((made, _),) = checked(view, [one.draft.draft(**more)], "extraction")
        except InputError as error:
            left_out += [f"{one.place}: left out: {problem}" for problem in error.problems]
            continue
        if one.by_rule or all((item.support or 0) >= SUPPORTED for item in made.evidence):
            held.append(_Held(one, made.confidence))
        else:
            left_out.append(f"{one.place}: left out: the quote does not bear out the claim.")
    return held, left_out


def _narrowed(reviewer: Reviewer, held: Sequence[_Held]) -> tuple[list[_Held], list[str]]:
    """The drafts that a reviewer keeps, and a line for each that it drops."""
    named = {str(number): one for number, one in enumerate(held, start=1)}
    reviews = reviews_of(reviewer, [one.shown(id_) for id_, one in named.items()])
    kept: list[_Held] = []
    dropped: list[str] = []
    for id_, one in named.items():
        if reviews[id_].verdict == "drop":
            dropped.append(f"{one.found.place}: dropped by {reviewer.name}.")
            continue
        sure = float(reviews[id_].confidence)
        kept.append(replace(one, confidence=sure, lowered=one.lowered or sure < one.confidence))
    return kept, dropped

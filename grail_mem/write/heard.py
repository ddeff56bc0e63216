"""Quotes of the conversation under way: where they stand, who said them, and for how much what rests on them counts.

Knows nothing of what is done with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from grail_mem.model.observation import Evidence
from grail_mem.query.view import View
from grail_mem.support.checkers import checker_of
from grail_mem.support.support import check_support
from grail_mem.write.evidence import CAPS, KIND_OF_ROLE, best_place, found_in, must_be_recorded, not_found, passages
from grail_mem.write.quotes import Quote, read_quotes

NOT_RECORDED: Final = (
    "the conversation is not recorded, so the quote could not be looked up; it counts as said by the user."
)


@dataclass(frozen=True, slots=True)
class Heard:
    """What quotes are worth.

    Attributes:
        evidence: The quotes, each with its place where there is one.
        kind: The kind of source of what rests on them; None when none of them supports the claim.
        spoken: The kind of source of the one among their speakers who counts most, whatever they say; None without quotes.
        against: Why they do not support the claim; empty when one does.
        warnings: What is worth knowing.
    """

    evidence: tuple[Evidence, ...]
    kind: str | None
    spoken: str | None = None
    against: str = ""
    warnings: tuple[str, ...] = ()


def heard(view: View, quotes: Sequence[Evidence], claim: str, *, session: str, scopes: Sequence[str | None]) -> Heard:
    """Quotes looked up in a conversation.

    In one of which no turn was recorded a quote stays without a place.

    Args:
        view: The store.
        quotes: The words.
        claim: What rests on them.
        session: The conversation.
        scopes: Whose transcript of it is looked at, in order; the first that has turns is the one.

    Raises:
        EvidenceNotFoundError: A quote does not stand in the transcript.
        InputError: A quote is too short.
    """
    made: list[Evidence] = []
    kinds: list[str] = []
    spoken: list[str] = []
    against: list[str] = []
    warnings: list[str] = []
    for said in read_quotes([{"quote": item.quote} for item in quotes]):
        place = Quote(said.quote, session=session)
        listed = (passages(view, place, scope) for scope in dict.fromkeys(scopes))
        there = next((turns for turns in listed if any(not turn.quoted for turn in turns)), [])
        located = found_in(there, said.quote)
        if located is None and (there or must_be_recorded(view)):
            raise not_found(said.quote, there, f"the session {session!r}", None)
        if located is None:
            support = check_support(claim, said.quote, checker=checker_of(view.settings.checker))
        else:
            located, support = best_place(view, claim, located)
        words, role = (said.quote, "user") if located is None else (located.quote, located.role)
        made.append(Evidence(words, role=role) if located is None else located.evidence(support))
        warnings += [NOT_RECORDED] if located is None else located.warnings
        spoken.append(KIND_OF_ROLE[role])
        if support.verdict == "supported":
            kinds.append(KIND_OF_ROLE[role])
        else:
            against.append(f'"{words:.200}" ({support.checker}: {"; ".join(support.reasons)})')
    why = "" if kinds else "; ".join(against)
    return Heard(tuple(made), _most(kinds), _most(spoken), why, tuple(dict.fromkeys(warnings)))


def _most(kinds: Sequence[str]) -> str | None:
    return max(kinds, key=lambda kind: CAPS[kind], default=None)

"""A turn that is over: its words go to the transcript once, whatever happens in between, and what they say becomes candidates.

Knows nothing of contexts and models.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Final

from grail_mem.errors import ConflictError, InputError
from grail_mem.model.filter import Time
from grail_mem.model.names import clean_text
from grail_mem.model.problem import Gather
from grail_mem.model.times import format_time, parse_when
from grail_mem.query.passages import in_session
from grail_mem.query.view import View
from grail_mem.store.sources import Turn
from grail_mem.turn.context import VERSION
from grail_mem.write.extraction import Extracted
from grail_mem.write.extractor import RuleExtractor
from grail_mem.write.ingest import ingest_chat
from grail_mem.write.transcript import read_turns

MAX_TURN_ID: Final = 150
"""Characters of a turn's id, so that those of what is said in it fit a transcript."""


@dataclass(frozen=True, slots=True)
class TurnReceipt:
    """What is kept of a turn; the same however often the turn is completed.

    Attributes:
        version: Of this envelope.
        turn_id: The turn.
        session: The conversation.
        turns: Where its words stand in the transcript, as locators that evidence can name; without those that were erased.
        sha256: Digest of the words as they stand there.
        candidates: Ids of the candidates that they became, if that was asked for.
        warnings: What was left out, and why.
    """

    version: int
    turn_id: str
    session: str
    turns: tuple[str, ...]
    sha256: str
    candidates: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The receipt as plain JSON values."""
        return {
            "version": self.version, "turn_id": self.turn_id, "session": self.session, "turns": list(self.turns),
            "sha256": self.sha256, "candidates": list(self.candidates), "warnings": list(self.warnings),
        }  # fmt: skip


class RulesOfTurn(RuleExtractor):
    """The rules over what the user says in some turns, and in no others."""

    def __init__(self, ids: Sequence[str]) -> None:
        self._ids = frozenset(ids)

    def extract(self, turns: Sequence[Turn]) -> Sequence[Extracted]:
        """What the user says there."""
        return super().extract([turn for turn in turns if turn.id in self._ids])


def clean_turn_id(value: object) -> str:
    """The id of a turn.

    Raises:
        InputError: It is none.
    """
    text = clean_text(value)[0].strip() if isinstance(value, str) else ""
    if not text or len(text) > MAX_TURN_ID or not text.isprintable():
        raise InputError(
            f"turn_id must be one line of 1 to {MAX_TURN_ID} characters, not {value!r:.60}.",
            hint="Use the one that prepare_turn_context gave, or your own id of the message.",
        )
    return text


def turns_of(turn_id: str, *, user: object, assistant: object, at: Time | None, zone: str) -> list[dict[str, Any]]:
    """What is said in a turn, as turns of a transcript.

    Raises:
        InputError: A value cannot be used; `problems` lists every reason.
    """
    gather = Gather()
    now = datetime.now(UTC)
    when = gather.read("at", at, lambda value: parse_when(value, now=now, zone=zone), now)
    said = {"user": user, "assistant": assistant}
    for role, text in said.items():
        if text is not None and (not isinstance(text, str) or not text.strip()):
            gather.found.append(f"{role} must be text, not {text!r:.60}; leave it out when nothing was said.")
    if user is None and assistant is None:
        gather.found.append("user and assistant are both missing; a turn has what one of them said.")
    gather.stop("The turn was not completed.")
    return [
        {"id": f"{turn_id}/{role}", "role": role, "text": text, "at": format_time(when)}
        for role, text in said.items()
        if text is not None
    ]


def complete(view: View, turn_id: str, said: Sequence[dict[str, Any]], *, session: str, actor: str) -> TurnReceipt:
    """Put what was said in a turn into the transcript, both or none; what is there already is passed over.

    Args:
        view: The store.
        turn_id: The turn.
        said: As `turns_of` gave it.
        session: The conversation.
        actor: Who does it.

    Raises:
        ConflictError: The turn was completed with other words; nothing was stored.
        StoreError: The disk did not take it; nothing was stored.
    """
    meant, _ = read_turns(said, view.settings)  # as they are stored, without what screening takes out
    _require_same(view, session, turn_id, {one.turn.id: one.turn for one in meant})
    done = ingest_chat(view, said, session=session, actor=actor)
    kept = _require_same(view, session, turn_id, {one.turn.id: one.turn for one in meant})
    words = "\0".join(f"{turn.id}\0{turn.role}\0{turn.text}" for turn in kept)
    return TurnReceipt(
        VERSION, turn_id, session, tuple(str(turn.locator) for turn in kept), sha256(words.encode()).hexdigest(),
        warnings=done.warnings,
    )  # fmt: skip


def _require_same(view: View, session: str, turn_id: str, meant: dict[str, Turn]) -> list[Turn]:
    """What stands in the transcript of a turn.

    Raises:
        ConflictError: Other words stand there under its id.
    """
    scope = view.principal.private if view.principal is not None else None
    there = [turn for turn in in_session(view, session, scope) if turn.id in meant]
    wrong = [turn.role for turn in there if (turn.role, turn.text) != (meant[turn.id].role, meant[turn.id].text)]
    if wrong:
        raise ConflictError(
            f"The turn {turn_id!r} was completed with other words of the {' and the '.join(wrong)}.",
            hint="Complete another turn under an id of its own; `ingest_chat` with `correction` takes the place of words.",
        )
    return there

"""Extraction: what the turns of a conversation state by rules, as drafts with exact quotes; no model is asked.

Knows nothing of the rules, and of how candidates are kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from grail_mem.extract.statements import statements
from grail_mem.store.sources import Turn

KIND_OF_RULE: Final = {
    "preference": "semantic", "decision": "semantic", "commitment": "prospective", "fact": "semantic", "correction": "semantic",
}  # fmt: skip
"""What can be extracted, and the kind of observation that it is unless something else is said."""


@dataclass(frozen=True, slots=True)
class Extracted:
    """One thing that a turn says.

    Attributes:
        claim: What it says, in the third person.
        quote: The exact words.
        turn: In which turn they stand.
        rule: `preference`, `decision`, `commitment`, `fact` or `correction`.
        kind: The kind of observation that it is.
        attribute: The fact that it may state; empty for what happened once.
    """

    claim: str
    quote: str
    turn: Turn
    rule: str
    kind: str
    attribute: str

    def draft(self, **more: Any) -> dict[str, Any]:
        """It as a draft that can be submitted."""
        source = f"{self.turn.path}#turn={self.turn.number}"
        known = {"speaker": self.turn.speaker, "attribute": self.attribute, "observed_at": self.turn.at}
        given = {name: value for name, value in known.items() if value}
        return {
            "content": self.claim, "kind": self.kind, "tags": [self.rule], "turn": self.turn.number,
            "evidence": {"quote": self.quote, "source": source}, **given, **more,
        }  # fmt: skip


def extract(turns: Sequence[Turn]) -> tuple[Extracted, ...]:
    """What people say in turns of a conversation, in order; turns of assistants, tools and systems are passed over."""
    found = (one for turn in turns if turn.role == "user" for one in _in_turn(turn))
    return tuple({(one.turn.number, one.quote): one for one in found}.values())


def _in_turn(turn: Turn) -> Iterator[Extracted]:
    for said in statements(turn.text, turn.speaker or "The user"):
        yield Extracted(said.claim, said.quote, turn, said.rule, said.kind, said.attribute)

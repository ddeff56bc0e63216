"""The hit: an observation as a recall returns it, with what speaks for it.

Knows nothing of how it was found.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from grail_mem.model.observation import Observation


@dataclass(frozen=True, slots=True)
class Hit(Observation):
    """An observation with why it is returned; everywhere else it is the observation.

    Attributes:
        score: How well it answers the question; higher is better, and 0 where nothing is ranked.
        reasons: Why it is returned, in words, the strongest first.
        via: The retrievers that brought it: `lexical`, `vector`, `entity` (its title is in the question), `graph`,
            `session`, `window`, `community` (it stands for its folder).
        passage: The part of a long content that matched; empty when all of it did.
        context: The turns around it, in their order, without itself.
    """

    score: float = 0.0
    reasons: tuple[str, ...] = ()
    via: tuple[str, ...] = ()
    passage: str = ""
    context: tuple[Observation, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The observation as plain JSON values, with the score and what else is known of the hit."""
        said = {
            "score": self.score,
            "reasons": list(self.reasons),
            "via": list(self.via),
            "passage": self.passage,
            "context": [turn.to_dict() for turn in self.context],
        }
        return Observation.to_dict(self) | {name: value for name, value in said.items() if value or name == "score"}


def hit_of(
    observation: Observation,
    *,
    score: float = 0.0,
    reasons: tuple[str, ...] = (),
    via: tuple[str, ...] = (),
    passage: str = "",
    context: tuple[Observation, ...] = (),
) -> Hit:
    """An observation as a hit; the other arguments are its attributes."""
    stored: dict[str, Any] = {name: getattr(observation, name) for name in Observation.__slots__}
    return Hit(**stored, score=score, reasons=reasons, via=via, passage=passage, context=context)

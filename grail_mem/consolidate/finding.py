"""What a detector finds: what it would change, why, and what speaks for it.

Values only; knows nothing of how detectors look or of how a finding becomes a proposal.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Final

KINDS: Final = (
    "merge_aliases", "merge_duplicates", "resolve_contradiction", "discover_community", "split_folder", "move_observation",
    "move_entity", "expire_stale", "promote_inference", "canonicalise_attribute",
)  # fmt: skip
"""The kinds of findings that the built-in detectors make, in the order in which they are shown and applied."""
LEAST_CONFIDENCE: Final = 0.5
"""Findings that are less sure are not proposed; chosen so that nine in ten proposals are worth a look."""


@dataclass(frozen=True, slots=True)
class Quote:
    """An observation that speaks for a finding.

    Attributes:
        id: The observation.
        text: The words of it that count, as they stand there; at most some two hundred characters.
        note: What they show, such as `observed 2026-06-02, user_statement`; empty when the words say it.
    """

    id: str
    text: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """One suggestion of a detector.

    Attributes:
        kind: One of `KINDS`, or a word of a detector of one's own.
        confidence: How likely a person would accept it, 0 to 1.
        rationale: One plain sentence for people.
        payload: What it says, by kind, as JSON values; docs/concepts/consolidation.md lists the keys.
        changes: What applying does, in order; see `consolidate.changes`.
        meaning: What it is about, as texts; with the kind it makes the fingerprint, so it must be the same in every run
            as long as a person would call it the same suggestion.
        grounds: What it rests on, as codes and numbers by name, never words of an observation: they are kept in the
            ledger. A rejected finding comes back only when these are others, and then says which.
        figures: Figures for people, by name.
        quotes: Observations that speak for it, the weightiest first, a dozen at most.
        affected: Ids of the observations that applying changes or that it wholly rests on; when one of them is not as it
            was, the proposal is stale.
        same: Pairs of names or ids that it takes for the same thing; rejecting it forbids to take them so.
        scope: In whose memory names are so; empty for the default scope, and where ids say it.
    """

    kind: str
    confidence: float
    rationale: str
    payload: Mapping[str, Any]
    changes: tuple[Mapping[str, Any], ...]
    meaning: tuple[str, ...]
    grounds: Mapping[str, str | int | float] = field(default_factory=dict)
    figures: Mapping[str, Any] = field(default_factory=dict)
    quotes: tuple[Quote, ...] = ()
    affected: tuple[str, ...] = ()
    same: tuple[tuple[str, str], ...] = ()
    scope: str = ""

    @property
    def fingerprint(self) -> str:
        """16 hex digits of what it is about, the same in every run."""
        return _digest([self.kind, *sorted(self.meaning)])

    @property
    def pairs(self) -> tuple[str, ...]:
        """The pairs in `same` as digests, which is how a rejection keeps them."""
        return tuple(sorted(pair_digest(self.kind, left, right, self.scope) for left, right in self.same))


def pair_digest(kind: str, left: str, right: str, scope: str = "") -> str:
    """16 hex digits of two things that a finding of this kind takes for the same, in either order.

    What somebody says of two names in one scope is said of no other: nobody else may learn of it, or be bound by it.
    """
    return _digest([kind, *sorted((left, right)), *in_scopes([scope])])


def in_scopes(scopes: Iterable[str]) -> list[str]:
    """Scopes as a part of a digest; nothing for the default scope, which is empty. No key of a name has capitals."""
    return [f"SCOPE {scope}" for scope in sorted(set(scopes)) if scope]


def _digest(texts: list[str]) -> str:
    return blake2b(json.dumps(texts, ensure_ascii=True).encode(), digest_size=8).hexdigest()

"""What a checker answers, and what every checker is. Knows nothing of how one works."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, Protocol, runtime_checkable

Verdict = Literal["supported", "contradicted", "unsupported"]

SUPPORTED: Final = 0.7
"""Scores from here on are `supported`, whichever checker gave them: each checker brings its own scale to this cut."""


@dataclass(frozen=True, slots=True)
class Support:
    """Whether a quote supports a claim.

    Attributes:
        verdict: `supported`; `contradicted`, when both cannot hold; else `unsupported`, which is also the answer in doubt.
        score: 0 to 1, `SUPPORTED` and more exactly when supported.
        checker: Which checker said it, with its version.
        reasons: Plain short sentences; empty when the quote says the claim word by word.
    """

    verdict: Verdict
    score: float
    checker: str
    reasons: tuple[str, ...] = ()


@runtime_checkable
class Checker(Protocol):
    """Says whether a quote supports a claim."""

    @property
    def name(self) -> str:
        """Its name with its version: verdicts of one name can be compared."""
        ...

    def check(self, claim: str, quote: str, *, speaker: str = "", role: str = "", context: str = "") -> Support:
        """The verdict; arguments as of `check_support`."""
        ...

"""Whether a quote supports a claim, by the words alone: a claim that the quote says as it stands is supported.

Knows nothing of files.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

CHECKER: Final = "verbatim-1"
_WORDS: Final = re.compile(r"\w+(?:['’]\w+)*")


@dataclass(frozen=True, slots=True)
class Support:
    """What a checker found.

    Attributes:
        verdict: Whether the quote says what the claim says.
        score: 0 to 1.
        checker: Who judged.
        reasons: Why, in words.
    """

    verdict: Literal["supported", "contradicted", "unsupported"]
    score: float
    checker: str
    reasons: tuple[str, ...] = ()


def check_support(claim: str, quote: str, *, speaker: str = "", role: str = "user", context: str = "") -> Support:  # noqa: ARG001  who spoke and when matters to checkers that read more than the words
    """Whether a quote says a claim word for word, whatever its case and punctuation."""
    said, wanted = (f" {' '.join(_WORDS.findall(text.casefold()))} " for text in (quote, claim))
    if wanted.strip() and wanted in said:
        return Support("supported", 1.0, CHECKER, ("the quote says it word for word",))
    return Support("unsupported", 0.0, CHECKER, ("the quote does not say it word for word",))

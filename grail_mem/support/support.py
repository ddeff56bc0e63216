"""The support check: whether a quote says what a claim says, by the strongest checker there is.

Knows texts only: where a quote stands and who may claim what is checked elsewhere.
"""

from __future__ import annotations

from grail_mem.support.checkers import installed_checkers, strongest_checker
from grail_mem.support.verdict import SUPPORTED, Checker, Support, Verdict

__all__ = ["SUPPORTED", "Checker", "Support", "Verdict", "check_support", "installed_checkers"]


def check_support(
    claim: str, quote: str, *, speaker: str = "", role: str = "user", context: str = "", checker: Checker | None = None
) -> Support:
    """Take a claim and a quote and return whether the quote supports the claim.

    A false `supported` is the costly error: in doubt the verdict is `unsupported`.

    Args:
        claim: What is claimed, in up to eight sentences, each of which must be supported.
        quote: What was said; of several sentences, the best one counts for each of the claim.
        speaker: Who said it. A claim about that name is a claim about who says `I`.
        role: The part the speaker has: `user`, `assistant`, `tool`, `system`. A claim about `the user` is one about a
            speaker of that role; a tool's `I` is nobody.
        context: When it was said, as a text that begins with the day (`2026-03-11`): `tomorrow` is counted from it.
        checker: Who checks; None for the strongest that is installed.

    Returns:
        The verdict with its reasons, and the name of who gave it.

    Raises:
        MissingDependencyError: The checker's package is not installed.

    Example:
        >>> check_support("The user moved to Leeds in 2021.", "I moved to Leeds in 2012.").reasons
        ('the claim says 2021, the quote 2012',)
    """
    chosen = checker if checker is not None else strongest_checker()
    return chosen.check(claim, quote, speaker=speaker, role=role, context=context)

"""What a server was started with. Loads nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from grail_mem.errors import InputError

APPLY: Final = "proposals_apply"
BUDGET: Final = 2_000
LEAST_BUDGET: Final = 300
"""Tokens that the frame of an answer needs."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a server was started with.

    Attributes:
        read_only: Offer nothing that changes anything.
        allow_apply: Offer to apply proposals.
        allow_erase: Offer to erase, beside hiding.
        structured: Answer with values beside the text, for programs.
        budget_tokens: Tokens that the text of an answer has at most, as estimated.
    """

    read_only: bool = False
    allow_apply: bool = False
    allow_erase: bool = False
    structured: bool = False
    budget_tokens: int = BUDGET

    def offers(self, tool: str, *, read_only: bool) -> bool:
        """Whether a tool is offered at all; `read_only` says whether it changes nothing."""
        return (read_only or not self.read_only) and (tool != APPLY or self.allow_apply)


def limits(
    *,
    read_only: bool,
    allow_apply: bool,
    allow_erase: bool = False,
    structured: bool = False,
    budget_tokens: int = BUDGET,
) -> Limits:
    """What a server is started with, checked.

    Raises:
        InputError: The options cannot be used together, or the budget is too small.
    """
    for option, is_given in (("--allow-apply", allow_apply), ("--allow-erase", allow_erase)):
        if read_only and is_given:
            raise InputError(f"--read-only and {option} exclude each other.", hint="Give one of them.")
    if not isinstance(budget_tokens, int) or budget_tokens < LEAST_BUDGET:  # a command line gives what was typed
        raise InputError(f"--budget must be a whole number, {LEAST_BUDGET} or more, not {budget_tokens!r}.")
    return Limits(
        read_only=read_only,
        allow_apply=allow_apply,
        allow_erase=allow_erase,
        structured=structured,
        budget_tokens=budget_tokens,
    )

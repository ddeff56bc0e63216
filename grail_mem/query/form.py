"""A step from one form of a store to the next: what it would change, and how it does that.

Values only; knows nothing of what the steps are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from grail_mem.query.view import View


@dataclass(frozen=True, slots=True)
class FormChange:
    """One change that a step makes, or would make.

    Attributes:
        where: The file relative to the root, with a line where there is one.
        what: What happens to it, in words.
    """

    where: str
    what: str

    def to_dict(self) -> dict[str, str]:
        """The change as plain JSON values."""
        return {"where": self.where, "what": self.what}


@dataclass(frozen=True, slots=True)
class Step:
    """A step to a form.

    Attributes:
        to: The version that a store has after it.
        about: What it does, in one sentence.
        find: What it would change in a store as it is now, without changing anything; nothing once it was done.
        make: Makes these very changes, durably. The write lock is held. It may be cut off anywhere: what is left is found,
            and made, the next time.
    """

    to: int
    about: str
    find: Callable[[View], tuple[FormChange, ...]]
    make: Callable[[View], None]

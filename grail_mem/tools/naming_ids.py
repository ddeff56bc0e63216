"""Which observation a model means: a whole id, or for looking alone the end of one; nothing less, and no guess.

Knows nothing of what is done with it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from grail_mem.errors import NotFoundError
from grail_mem.memory import Memory
from grail_mem.memory.session import Session
from grail_mem.model.observation import Observation
from grail_mem.model.ulid import is_id

Caller = Memory | Session

_LEAST_TAIL: Final = 6
_MOST: Final = 5


class UnclearError(NotFoundError):
    """A word that is no whole id; `candidates` are the observations that it may mean."""

    def __init__(self, word: str, candidates: list[Observation]) -> None:
        hint = (
            "Send the whole id of one of these." if candidates else "An id has 26 characters; memory_search shows them."
        )
        super().__init__(f"{word[:40]!r} is no whole id of a memory.", hint=hint)
        self.candidates = tuple(candidates)


def full_id(caller: Caller, text: str) -> str:
    """The id that a whole id means, or the end of one when it is the end of one only.

    Raises:
        UnclearError: It means none, or several.
    """
    word = text.strip().upper()
    if is_id(word):
        return word
    ends = _ending(caller, word)
    if len(ends) == 1:
        return ends[0].id
    raise UnclearError(text, ends or _titled(caller, text))


def exact_id(caller: Caller, text: str) -> str:
    """A whole id; nothing less may change anything.

    Raises:
        UnclearError: It is none.
    """
    word = text.strip().upper()
    if is_id(word):
        return word
    raise UnclearError(text, _ending(caller, word) or _titled(caller, text))


def _ending(caller: Caller, word: str) -> list[Observation]:
    """What ends so and the caller may see; nothing for an end too short to mean anything."""
    found = caller.ids_ending(word) if len(word) >= _LEAST_TAIL else []
    return seen(caller, found)[:_MOST]


def _titled(caller: Caller, text: str) -> list[Observation]:
    """What has the words in its title, newest first."""
    words = text.strip()
    found = caller.recall(text=words, limit=50).observations
    return [o for o in found if words.casefold() in o.title.casefold()][:_MOST]


def seen(caller: Caller, ids: Iterable[str]) -> list[Observation]:
    """Those of some observations that the caller may see."""
    made: list[Observation] = []
    for id_ in ids:
        try:
            made.append(caller.get(id_))
        except NotFoundError:  # hidden, gone, or not to be read
            continue
    return made

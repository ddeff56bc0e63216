"""Paths as Anthropic's memory tool writes them: `/memories/notes/today.md`, as the names below `/memories`, or a refusal.

Knows nothing of observations; looks at no disk.
"""

from __future__ import annotations

from typing import Final

from grail_mem.errors import InputError
from grail_mem.model.category import clean_category

ROOT: Final = "/memories"
_HINT: Final = "Write a path such as /memories/notes/today.md."


def names_in(path: object) -> tuple[str, ...]:
    """The names of folders and file below `/memories`; none for `/memories` itself.

    Every name obeys the rule for a folder of the store, so what is refused there is refused here: `..`, `.`, a backslash,
    control characters, encoded dots and slashes, names of devices. A slash at the end is dropped.

    Raises:
        InputError: One entry in `problems` for each reason.

    Example:
        >>> names_in("/memories/notes/today.md")
        ('notes', 'today.md')
        >>> names_in("/etc/passwd")
        Traceback (most recent call last):
        grail_mem.errors.InputError: '/etc/passwd' is no path below /memories. Write a path such as /memories/notes/today.md.
    """
    if not isinstance(path, str):
        raise InputError(f"A path must be text, not {type(path).__name__}.", hint=_HINT)
    if path.rstrip("/") == ROOT:
        return ()
    if not path.startswith(f"{ROOT}/"):
        raise InputError(f"{path[:200]!r} is no path below {ROOT}.", hint=_HINT)
    below = path.removeprefix(f"{ROOT}/").removesuffix("/")
    try:
        whole = clean_category(below)
    except InputError as error:
        reasons = [(text.partition(": ")[2] or text).rstrip(".") for text in error.problems]
        said = [f"{path[:200]!r} cannot be used: {reason}." for reason in reasons]
        raise InputError(f"{path[:200]!r} cannot be used: {'; '.join(reasons)}.", hint=_HINT, problems=said) from None
    return tuple(whole.split("/"))


def path_of(*names: str) -> str:
    """The path of names below `/memories`."""
    return "/".join((ROOT, *names))

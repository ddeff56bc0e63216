"""How somebody chooses a model: by a word, by its own name behind a prefix, as an object, or as a function.

Knows nothing of what the models do, and loads none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, TypeGuard, TypeVar

from grail_mem.errors import InputError

T = TypeVar("T")


class Names(NamedTuple):
    """The names by which one kind of model can be chosen.

    Attributes:
        what: What such a model is called, with its article.
        type: The class of an object that is one.
        words: Names that stand for one, or for none.
        prefix: What stands before the own name of any other.
    """

    what: str
    type: str
    words: tuple[str, ...]
    prefix: str

    @property
    def told(self) -> str:
        """All names, as a person reads them."""
        return f"{', '.join(self.words)} or {self.prefix}MODEL"

    def own_name(self, text: str) -> str:
        """What stands behind the prefix; empty when the text does not begin with it."""
        return text.removeprefix(self.prefix) if text.startswith(self.prefix) else ""


EMBEDDERS: Final = Names("an embedder", "Embedder", ("auto", "local", "none"), "sentence-transformers:")
ENTAILMENTS: Final = Names("a model of entailment", "EntailmentModel", ("none", "aegis"), "cross-encoder:")


def chosen(
    names: Names,
    choice: Any,
    *,
    by_word: Mapping[str, Callable[[], T | None]],
    by_name: Callable[[str], T],
    is_one: Callable[[object], TypeGuard[T]],
    of_function: Callable[[Callable[..., Any], str], T],
) -> Callable[[], T | None]:
    """What makes the model that somebody chose, once it is needed.

    Args:
        names: The names that there are.
        choice: A name, a model, or a function.
        by_word: What makes the model of each word.
        by_name: Makes one from its own name.
        is_one: Whether an object is such a model.
        of_function: Makes one of a function and its name.

    Raises:
        InputError: It is none of them.
    """
    _, _, bare = names.what.partition(" ")
    if isinstance(choice, str):
        if choice in names.words:
            return by_word[choice]
        if own_name := names.own_name(choice):
            return lambda: by_name(own_name)
        raise InputError(f"There is no {bare} '{choice}'.", hint=f"Choose {names.told}.")
    if is_one(choice):
        return lambda: choice
    if callable(choice):
        made = of_function(choice, getattr(choice, "__name__", "callable"))
        return lambda: made
    what = f"{names.what[:1].upper()}{names.what[1:]}"
    raise InputError(f"{what} must be a name, an {names.type} or a function, not {type(choice).__name__}.")

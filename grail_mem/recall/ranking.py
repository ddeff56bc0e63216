"""Ranking: the one linear score of a passage, by weights that are fitted once and shipped, or fitted by a user.

Which weights count depends on what the index holds: with vectors of words, with vectors of passages only, or with none.
Knows nothing of how features are made.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from grail_mem.errors import InputError
from grail_mem.recall.features import FEATURES, GROUPS

if TYPE_CHECKING:
    import numpy as np

RECIPES: Final = ("words", "vectors", "lexical")
"""What weights there are for: vectors of words and passages, vectors of passages only, no vectors."""
VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class Weights:
    """The weights of one recipe.

    Attributes:
        recipe: One of `RECIPES`.
        bias: Added to every score.
        of: By feature, its weight.
    """

    recipe: str
    bias: float
    of: Mapping[str, float]

    def score(self, columns: np.ndarray) -> np.ndarray:
        """The score of each passage, float32, rounded so that it does not depend on which others are scored.

        Args:
            columns: Their features, passages x `of`, in its order.
        """
        import numpy as np

        made: np.ndarray = np.round(columns.astype(np.float64) @ np.array(list(self.of.values())) + self.bias, 4)
        return made

    def shares(self, row: np.ndarray) -> dict[str, float]:
        """What each group of features adds to the score of one passage."""
        added = [value * weight for value, weight in zip(row.tolist(), self.of.values(), strict=True)]
        return {group: round(sum((added[at] for at in places), 0.0), 3) for group, places in _places(tuple(self.of))}


@lru_cache(maxsize=16)
def _places(names: tuple[str, ...]) -> list[tuple[str, list[int]]]:
    """Where among some features those of each group stand."""
    return [(group, [names.index(name) for name in of if name in names]) for group, of in GROUPS.items()]


@lru_cache(maxsize=16)
def read_weights(path: str | None = None) -> Mapping[str, Weights]:
    """The weights by recipe: those of a file, or those that come with the package.

    Raises:
        InputError: The file cannot be read as weights.
    """
    text = (
        files("grail_mem.recall").joinpath("weights.json").read_text(encoding="utf-8")
        if path is None
        else Path(path).read_text(encoding="utf-8")
    )
    try:
        said: dict[str, Any] = json.loads(text)
        made = {name: Weights(name, float(said[name]["bias"]), _checked(said[name]["weights"])) for name in RECIPES}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"{path} does not hold weights: {error}.", hint="See the weights that come with the package."
        ) from error
    return made


def _checked(weights: Mapping[str, float]) -> dict[str, float]:
    unknown = [name for name in weights if name not in FEATURES]
    if unknown:
        raise ValueError(f"there is no feature {unknown[0]!r}")
    return {name: float(weight) for name, weight in weights.items()}

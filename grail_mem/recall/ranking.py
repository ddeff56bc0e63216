"""Ranking: the one score of a passage, linear by weights that are fitted and shipped, or by its places in two orders.

Which weights count depends on what the index holds: with vectors of words, with vectors of passages only, or with none.
Knows nothing of how features are made, nor of which file of a store holds weights.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from grail_mem.errors import InputError
from grail_mem.recall.features import FEATURES, GROUPS
from grail_mem.settings import RECIPES

if TYPE_CHECKING:
    import numpy as np

VERSION: Final = 1
_MEASURED: Final = 2
"""How features are measured, in numbers from 1: the same weights give other scores when one is measured otherwise."""
WEIGHTED: Final = "weighted"
RECIPROCAL: Final = "reciprocal_rank"
_K: Final = 60
"""Source: Cormack and others, 2009, who found it good for many collections."""


@dataclass(frozen=True)
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

    @cached_property
    def mark(self) -> str:
        """A digest by which gates say which weights they were calibrated with."""
        said = json.dumps([VERSION, _MEASURED, self.recipe, self.bias, sorted(self.of.items())])
        return sha256(said.encode()).hexdigest()[:16]

    def to_dict(self) -> dict[str, Any]:
        """The weights as plain JSON values."""
        return {"bias": self.bias, "weights": dict(self.of)}


@lru_cache(maxsize=16)
def _places(names: tuple[str, ...]) -> list[tuple[str, list[int]]]:
    """Where among some features those of each group stand."""
    return [(group, [names.index(name) for name in of if name in names]) for group, of in GROUPS.items()]


RANKS: Final = Weights(RECIPROCAL, 0.0, {"bm25": 0.0, "cosine": 0.0})
"""What reciprocal ranks look at; no weight counts."""


def reciprocal_ranks(columns: np.ndarray) -> np.ndarray:
    """The score of each passage by its places alone: the logarithm of the sum of 1 / (60 + place), places from 0.

    Passages with equal values share the mean of their places. The logarithm keeps the order and makes a share of a score,
    such as that of an old episode, something to be added, as it is for weights.

    Args:
        columns: Values, the higher the better, passages x orders.
    """
    import numpy as np

    total = np.zeros(len(columns))
    for value in columns.T:
        _, which, count = np.unique(-value, return_inverse=True, return_counts=True)
        total += 1 / (_K + (np.cumsum(count) - (count + 1) / 2)[which])
    made: np.ndarray = np.round(np.log(total), 4)
    return made


@cache
def shipped_weights() -> Mapping[str, Weights]:
    """The weights that come with the package, by recipe."""
    return weights_in(files("grail_mem.recall").joinpath("weights.json").read_text(encoding="utf-8"))


def weights_in(text: str) -> Mapping[str, Weights]:
    """The weights in the text of a file, by recipe; not every recipe must be there.

    Raises:
        ValueError: It holds no weights.
    """
    said = json.loads(text)
    if not isinstance(said, dict) or said.get("version") != VERSION:
        raise ValueError(f"it is not of version {VERSION}")
    if unknown := [name for name in said if name not in {"version", *RECIPES}]:
        raise ValueError(f"there is no recipe {unknown[0]!r}")
    return {name: _weights(name, said[name]) for name in RECIPES if name in said}


def weights_text(weights: Mapping[str, Weights]) -> str:
    """The text of a file that holds weights."""
    return json.dumps({"version": VERSION} | {name: one.to_dict() for name, one in weights.items()}, indent=1) + "\n"


def _weights(recipe: str, said: Any) -> Weights:
    if not isinstance(said, dict) or not isinstance(said.get("weights"), dict):
        raise ValueError(f"{recipe} has no weights")  # noqa: TRY004  of a file, not of an argument
    if unknown := [name for name in said["weights"] if name not in FEATURES]:
        raise ValueError(f"there is no feature {unknown[0]!r}")
    return Weights(
        recipe,
        number(said.get("bias"), f"the bias of {recipe}"),
        {name: number(weight, f"the weight of {name}") for name, weight in said["weights"].items()},
    )


def number(value: Any, what: str) -> float:
    """A finite number out of a file.

    Raises:
        ValueError: It is none.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{what} is no number")
    return float(value)


def recipe_named(ranking: str, *, has_vectors: bool, has_words: bool, may_have_vectors: bool) -> str:
    """The recipe of a ranking, for what an index holds.

    Args:
        ranking: One of `RANKINGS` but the reciprocal ranks.
        has_vectors: Whether a passage has a vector.
        has_words: Whether there are vectors of words, too.
        may_have_vectors: Whether there is an embedder.

    Raises:
        InputError: The recipe is asked for by name and needs what the embedder does not make.
    """
    best = "lexical" if not has_vectors else ("words" if has_words else "vectors")
    if ranking in {WEIGHTED, "lexical"}:
        return best if ranking == WEIGHTED else "lexical"
    if not may_have_vectors:
        raise InputError(f"The ranking '{ranking}' needs an embedder.", hint="Choose one, or the ranking 'weighted'.")
    if ranking == "words" and has_vectors and not has_words:
        raise InputError(
            "The ranking 'words' needs vectors of words, which this embedder does not make.",
            hint="Choose the ranking 'vectors' or 'weighted'.",
        )
    return ranking if has_vectors else "lexical"

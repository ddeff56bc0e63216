"""Gates and weights that a store has of its own, in `gates.json` and `weights.json` in its root, before those shipped.

They are settings, as `grail.yaml` is: people own them, git keeps them, and nothing derived is needed to make sense of
them. Knows nothing of how they are made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final, TypeVar

from grail_mem.errors import InputError
from grail_mem.recall.ranked import Searcher
from grail_mem.recall.ranking import RECIPROCAL, Weights, shipped_weights, weights_in, weights_text
from grail_mem.recall.silence import Gates, gates_in, gates_text, shipped_gates
from grail_mem.store.files import FileState, replace_file, state_of, translated
from grail_mem.store.layout import Layout

T = TypeVar("T")
_COMMAND: Final[Mapping[str, str]] = {"gates.json": "grail calibrate", "weights.json": "grail fit"}


@dataclass(frozen=True, slots=True)
class Tuning:
    """What a store has of its own.

    Attributes:
        weights: By recipe.
        gates: By the name of the embedder.
    """

    weights: Mapping[str, Weights]
    gates: Mapping[str, Gates]

    @property
    def weights_in_force(self) -> Mapping[str, Weights]:
        """The weights of every recipe: the store's own before those shipped."""
        return {**shipped_weights(), **self.weights} if self.weights else shipped_weights()

    def gates_in_force(self, name: str, weights: Weights) -> tuple[Gates | None, str]:
        """The gates for scores made with some weights, and why there are none.

        Args:
            name: Of the embedder.
            weights: What the scores were made with.
        """
        if weights.recipe == RECIPROCAL:
            return None, ""  # asked for by somebody who was told that it is never silent
        own = self.gates.get(name)
        gates = own or shipped_gates().get(name)
        if gates is None:
            return None, f"No gates are calibrated for {name}, so nothing is withheld."
        if gates.weights == weights.mark:
            return gates, ""
        whose = "of this store" if own else "that are shipped"
        return None, (
            f"The gates {whose} for {name} were calibrated with other weights, so nothing is withheld; `grail calibrate` "
            "makes new ones."
        )


def read_tuning(layout: Layout) -> Tuning:
    """What a store has of its own now; nothing where there is no file.

    Raises:
        InputError: A file cannot be used.
    """
    return Tuning(_held(layout.weights, _weights), _held(layout.gates, _gates))


def gates_name(searcher: Searcher, weights: Weights) -> str:
    """By what name the gates for scores made with some weights are kept: the embedder's, or `none` where it does not count."""
    return "none" if weights.recipe == "lexical" else searcher.gates_name


def keep_weights(layout: Layout, weights: Weights) -> Path:
    """Write the weights of one recipe beside those of the others that the store has; returns where."""
    return _keep(layout.weights, weights_text({**read_tuning(layout).weights, weights.recipe: weights}))


def keep_gates(layout: Layout, name: str, gates: Gates) -> Path:
    """Write the gates of one embedder beside those of the others that the store has; returns where."""
    return _keep(layout.gates, gates_text({**read_tuning(layout).gates, name: gates}))


def drop(path: Path) -> bool:
    """Remove a file of a store's own gates or weights; returns whether it was there."""
    with translated(f"remove {path.name}", path):
        try:
            path.unlink()
        except FileNotFoundError:
            return False
    return True


def _keep(path: Path, text: str) -> Path:
    with translated(f"write {path.name}", path):
        replace_file(path, text.encode())
    return path


def _held(path: Path, reader: Callable[[str, FileState], Mapping[str, T]]) -> Mapping[str, T]:
    with translated(f"read {path.name}", path):
        try:
            state = state_of(path.stat())
        except FileNotFoundError:
            return {}
    return reader(str(path), state)


@lru_cache(maxsize=16)
def _weights(path: str, _: FileState) -> Mapping[str, Weights]:
    return _read(path, weights_in)


@lru_cache(maxsize=16)
def _gates(path: str, _: FileState) -> Mapping[str, Gates]:
    return _read(path, gates_in)


def _read(path: str, reader: Callable[[str], T]) -> T:
    name = Path(path).name
    with translated(f"read {name}", path):
        data = Path(path).read_bytes()
    try:
        return reader(data.decode())
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"{name} in the root of the store cannot be used: {error}.", hint=f"`{_COMMAND[name]} --reset` removes it."
        ) from error

"""The short form of vectors: their first principal numbers as single bytes, to choose those worth comparing exactly.

Derived and disposable: made by `grail index` for models with many vectors, and only where a trial shows that it loses next
to nothing; without it every vector is compared. Knows nothing of what the vectors are of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Final

from grail_mem.index.kept_arrays import keep_arrays, mapped_arrays

if TYPE_CHECKING:
    import numpy as np

VERSION: Final = 1
NAME: Final = "short"
_MOST_NUMBERS: Final = 128
_FEWER: Final = 4
"""Of so many numbers of a vector one is kept. Measured on vectors of all-MiniLM-L6-v2: a quarter, with the best twentieth
compared exactly, finds 99.8 of 100 of the best 50, a sixth 98.5."""
_SHARES: Final = (0.05, 0.1, 0.2)
"""Of the passages asked for, those that may be compared exactly; the first that is enough is taken."""
_RECALL: Final = 0.997
"""Of the best `_TOP` of a question, those that must be among them, the mean over the questions of a trial."""
_TOP: Final = 50
_TRIALS: Final = 128
_TRIED: Final = 100_000
"""Vectors that a trial looks through; of more, the best stand out more, so that it errs on the safe side."""
_SAMPLE: Final = 20_000
_LEVELS: Final = 127
_SPREAD: Final = 4
"""Numbers further from the mean than so many standard deviations are cut off; chosen."""
_BLOCK: Final = 4_096
_TYPES: Final = {"mean": "float32", "directions": "float32", "codes": "int8"}

Read = Callable[["np.ndarray | slice"], "np.ndarray"]
"""Gives vectors by row, float32."""


@dataclass(frozen=True, slots=True)
class Short:
    """The short form of the first vectors of a store.

    Attributes:
        mean: Of all vectors, float32.
        directions: What to multiply a query with, float32, numbers x dimension; one step of a code is in it.
        codes: int8, vectors x numbers.
        share: Of the vectors asked for, those to be compared exactly.
    """

    mean: np.ndarray
    directions: np.ndarray
    codes: np.ndarray
    share: float

    def __len__(self) -> int:
        return len(self.codes)

    def products(self, query: np.ndarray) -> np.ndarray:
        """About what the query's product with each vector is, float32."""
        import numpy as np

        weights = (self.directions @ query).astype(np.float32)
        made = np.empty(len(self.codes), np.float32)
        wide = np.empty((_BLOCK, self.codes.shape[1]), np.float32)
        for block in blocks(len(made), _BLOCK):
            some = wide[: len(made[block])]
            np.copyto(some, self.codes[block])
            np.dot(some, weights, out=made[block])
        made += np.float32(self.mean @ query)
        return made


def shortened(read: Read, n: int, dimension: int) -> Short | None:
    """The short form of vectors; None when they are not of the kind of which one loses next to nothing.

    Args:
        read: Gives them.
        n: How many there are.
        dimension: Numbers in each.
    """
    import numpy as np

    rng = np.random.default_rng(0)  # the same vectors, the same form
    some = read(np.sort(rng.choice(n, min(n, _SAMPLE), replace=False)))
    mean = some.mean(axis=0)
    values, vectors = np.linalg.eigh(np.cov((some - mean).T))
    principal = vectors[:, ::-1][:, : min(max(dimension // _FEWER, 1), _MOST_NUMBERS)].T.astype(np.float32)
    step = np.float32(max(_SPREAD * float(np.sqrt(max(values[-1], 0))) / _LEVELS, 1e-9))
    codes = np.empty((n, len(principal)), np.int8)
    for block in blocks(n, _BLOCK):
        scaled = (read(block) - mean) @ principal.T / step
        codes[block] = np.clip(np.round(scaled), -_LEVELS, _LEVELS)
    made = Short(mean.astype(np.float32), principal * step, codes, 0.0)
    share = _share_needed(made, read, _trials(read, n, rng))
    return Short(made.mean, made.directions, codes, share) if share else None


def _trials(read: Read, n: int, rng: np.random.Generator) -> np.ndarray:
    """Questions to try a form with: vectors that are there, and what lies between two, which is harder."""
    import numpy as np

    chosen = read(np.sort(rng.choice(n, min(n, 3 * _TRIALS // 2), replace=False)))
    rng.shuffle(chosen)
    third = max(len(chosen) // 3, 1)
    asked = np.concatenate([chosen[:third], chosen[third : 2 * third] + chosen[-third:]])
    unit: np.ndarray = asked / np.maximum(np.linalg.norm(asked, axis=1, keepdims=True), 1e-9)
    return unit


def _share_needed(made: Short, read: Read, asked: np.ndarray) -> float:
    """The share that must be compared exactly, 0 when all that are allowed are too few."""
    import numpy as np

    rows = np.unique(np.linspace(0, len(made) - 1, min(len(made), _TRIED)).astype(np.int64))
    n = len(rows)
    cosine, about = (np.empty((len(asked), n), np.float32) for _ in range(2))
    weights = asked @ made.directions.T
    for block in blocks(n, _BLOCK):
        cosine[:, block] = asked @ read(rows[block]).T
        about[:, block] = weights @ made.codes[rows[block]].astype(np.float32).T
    top = min(_TOP, n)
    of_best = [row[np.argpartition(exact, n - top)[n - top :]] for exact, row in zip(cosine, about, strict=True)]
    for share in _SHARES:
        nth = max(n - max(int(share * n), top), 0)
        found = [best >= np.partition(row, nth)[nth] for best, row in zip(of_best, about, strict=True)]
        if np.mean(found) >= _RECALL:
            return share
    return 0.0


def keep_short(folder: Path, made: Short, keys: np.ndarray) -> None:
    """Write a short form beside the vectors with these keys; the lock of the folder must be held."""
    arrays = {name: getattr(made, name) for name in _TYPES}
    keep_arrays(folder / NAME, arrays, version=VERSION, n=len(made), share=made.share, keys=_digest(keys[: len(made)]))


def load_short(folder: Path, keys: np.ndarray, dimension: int) -> Short | None:
    """The short form of the vectors with these keys, or of the first of them, mapped; None when there is none."""
    told = mapped_arrays(folder / NAME, _TYPES)
    if told is None or told[1].get("version") != VERSION:
        return None
    arrays, said = told
    n, share = said.get("n", 0), said.get("share")
    if not 0 < n <= len(keys) or not isinstance(share, float) or said.get("keys") != _digest(keys[:n]):
        return None
    numbers = arrays["codes"].size // n
    fits = (len(arrays["mean"]), arrays["directions"].size, arrays["codes"].size)
    if fits != (dimension, numbers * dimension, numbers * n):
        return None
    return Short(
        arrays["mean"], arrays["directions"].reshape(numbers, dimension), arrays["codes"].reshape(n, numbers), share
    )


def _digest(keys: np.ndarray) -> str:
    return blake2b(keys.tobytes(), digest_size=12).hexdigest()


def blocks(n: int, size: int) -> Iterator[slice]:
    """Numbers from 0 to n, so many at a time."""
    return (slice(begin, min(begin + size, n)) for begin in range(0, n, size))

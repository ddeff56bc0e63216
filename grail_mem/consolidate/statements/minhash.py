"""Candidates for near equal texts, in near linear time: MinHash signatures in bands.

A text is the set of its words and of its pairs of neighbouring words. Broder, "On the resemblance and containment of
documents" (1997); bands: Leskovec, Rajaraman, Ullman, "Mining of Massive Datasets", 3.4. Knows nothing of what the words
mean.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:  # a tenth of a second, spent when a detector runs
    import numpy as np
    import numpy.typing as npt

    Codes = npt.NDArray[np.uint64]

BANDS: Final = 20
ROWS: Final = 4
"""20 bands of 4 rows: two texts that share 7 tenths of their words and pairs meet with 99.6 %, half with 72 %, a fifth
with 3 %. A sentence of ten words with one of them changed shares 7 tenths."""
MOST_IN_BAND: Final = 32
"""Texts that meet in one band and are all compared with each other; chosen: near copies are few. In a fuller band, which
is boilerplate, each is compared with `NEIGHBOURS` only, so that no band is quadratic."""
NEIGHBOURS: Final = 6
"""In a full band: how many of those that follow in the order of signatures, in which near equal ones stand together."""
_AT_ONCE: Final = 500_000
"""Shingles hashed in one go: some ten megabytes."""
_SEED: Final = 20_260_602
"""Of the hash functions; any number does, and it never changes."""


def code_of(word: str) -> int:
    """A 64-bit code of a word, the same on every machine."""
    return int.from_bytes(blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def signatures(
    codes: Codes, starts: Sequence[int], progress: Callable[[int, int], None] | None = None
) -> npt.NDArray[np.uint32]:
    """The MinHash signatures of texts.

    Args:
        codes: The codes of the words of all texts, one text after the other.
        starts: Where each text begins, and the end of the last; no text is empty.
        progress: Told how many texts are done, of how many.

    Returns:
        texts × (`BANDS` · `ROWS`).
    """
    import numpy as np

    draw = np.random.Generator(np.random.PCG64(_SEED))
    factors = draw.integers(0, 2**63, BANDS * ROWS, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    shifts = draw.integers(0, 2**63, BANDS * ROWS, dtype=np.uint64)
    at = np.asarray(starts, dtype=np.int64)
    signed = np.empty((len(at) - 1, BANDS * ROWS), dtype=np.uint32)
    for first, last in _batches(at):
        shingles, offsets = _shingles(codes[at[first] : at[last]], at[first : last + 1] - at[first])
        for row, (factor, shift) in enumerate(zip(factors, shifts, strict=True)):
            hashed = ((shingles * factor + shift) >> np.uint64(32)).astype(np.uint32)
            signed[first:last, row] = np.minimum.reduceat(hashed, offsets)
        if progress:
            progress(last, len(at) - 1)
    return signed


def _batches(at: npt.NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    import numpy as np

    first = 0
    while first < len(at) - 1:
        last = int(np.searchsorted(at, at[first] + _AT_ONCE // 2, side="right")) - 1
        last = max(last, first + 1)
        yield first, last
        first = last


def _shingles(codes: Codes, at: npt.NDArray[np.int64]) -> tuple[Codes, npt.NDArray[np.int64]]:
    """Words and pairs of words, text by text, mixed once more; and where each text begins in them."""
    import numpy as np

    pairs = codes * np.uint64(0x9E3779B97F4A7C15)
    pairs[:-1] += codes[1:]
    # The last word of a text makes no pair with the first of the next: it stands for itself twice.
    ends = at[1:] - 1
    pairs[ends] = codes[ends]
    both = np.empty(2 * len(codes), dtype=np.uint64)
    both[0::2], both[1::2] = codes, pairs
    both ^= both >> np.uint64(31)
    both *= np.uint64(0xBF58476D1CE4E5B9)
    return both ^ (both >> np.uint64(29)), 2 * at[:-1]


def candidates(signed: npt.NDArray[np.uint32], partition: Codes) -> npt.NDArray[np.int64]:
    """The pairs of texts that meet in a band, and whose partitions are equal.

    Args:
        signed: As `signatures` gives them.
        partition: A code for each text; texts of two partitions never meet.

    Returns:
        pairs × 2, the smaller index first, in order, each once.
    """
    import numpy as np

    found = [np.empty((0, 2), dtype=np.int64)]
    for band in range(BANDS):
        key = partition.copy()
        for row in range(band * ROWS, (band + 1) * ROWS):
            key = (key ^ signed[:, row]) * np.uint64(0x9E3779B97F4A7C15)
            key ^= key >> np.uint64(32)
        order = np.argsort(key, kind="stable")
        sorted_key = key[order]
        begins = np.flatnonzero(np.r_[True, sorted_key[1:] != sorted_key[:-1]]) if len(key) else np.empty(0, np.int64)
        sizes = np.diff(np.r_[begins, len(key)])
        for begin, size in zip(begins[sizes > 1], sizes[sizes > 1], strict=True):
            found.append(_pairs(order[begin : begin + size], signed))
    pairs = np.concatenate(found)
    pairs.sort(axis=1)
    return np.unique(pairs, axis=0)


def _pairs(members: npt.NDArray[np.int64], signed: npt.NDArray[np.uint32]) -> npt.NDArray[np.int64]:
    import numpy as np

    if len(members) <= MOST_IN_BAND:
        left, right = np.triu_indices(len(members), 1)
        return np.stack([members[left], members[right]], axis=1)
    ordered = members[np.lexsort(signed[members].T)]
    near = [np.stack([ordered[:-step], ordered[step:]], axis=1) for step in range(1, NEIGHBOURS + 1)]
    return np.concatenate(near)

"""Vectors on disk: one for each text and model, made once, appended and never changed.

A folder for each model holds the digests of the texts and their vectors in files that grow together, and the vectors of
their words if the model makes such; the vectors of another model lie beside them, so a change of the model takes nothing
away. Knows nothing of observations, nor of how a vector is made.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Final

from grail_mem.errors import IndexUnusableError, InputError
from grail_mem.index import vector_files as files
from grail_mem.index.embedder import Identity, WordVectors
from grail_mem.index.short import NAME as SHORT
from grail_mem.index.short import Short, blocks, keep_short, load_short, shortened
from grail_mem.store.files import FOLDER_MODE, UNKNOWN_STATE, FileState, replace_file, state_of
from grail_mem.store.lock import exclusive

if TYPE_CHECKING:
    import numpy as np

_BLOCK: Final = 512
"""Vectors that are compared at a time: they stay in the processor's cache."""
MANY: Final = 100_000
"""Vectors from which on a short form chooses those that are compared exactly. Measured: to compare so many takes 40 ms."""
_NEW_SHARE: Final = 0.05
"""Of the vectors, those that may have come since the short form was made before it is made anew; chosen."""
_ROUGH: Final = 1e-4
"""How far a quick product may be from a cosine, many times what rounding can do."""
_SIGN_AND_REST: Final = -0x70002000
"""The bits of a half-precision number where a single-precision one has its own: 0x8fffe000."""
_RANGES_APART: Final = 2.0**112
"""What the exponents of the two kinds of numbers differ by."""


def text_digest(text: str) -> int:
    """The 64-bit digest by which the vector of a text is found."""
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")


class VectorStore:
    """The vectors of one model, as one process sees them; `refresh` takes in what others appended.

    Args:
        folder: Where the vectors of all models lie.
        identity: The model.

    Raises:
        IndexUnusableError: The folder of this model holds something else.
    """

    def __init__(self, folder: Path, identity: Identity) -> None:
        self.identity = identity
        self._folder = folder / files.folder_name(identity)
        self._forget()
        self.refresh()

    def __len__(self) -> int:
        return len(self._keys)

    @property
    def state(self) -> object:
        """Changes when what is there already may be another; what is appended leaves it."""
        return self._made

    @property
    def has_words(self) -> bool:
        """Whether its texts have word vectors; False as long as there are no texts."""
        return bool(self._word_dimension)

    def _forget(self) -> None:
        import numpy as np

        self._made: FileState = UNKNOWN_STATE
        self._word_dimension: int | None = None
        self._sizes: list[int] = []
        self._keys = np.zeros(0, np.uint64)
        self._order = np.zeros(0, np.int64)
        self._ordered_keys = np.zeros(0, np.uint64)
        self._vectors = np.zeros((0, self.identity.dimension), np.int16)
        self._short: Short | None = None
        self._words = WordVectors(np.zeros(1, np.int64), np.zeros((0, 0), np.int8))

    def _look(self) -> None:
        """Read what the folder says it holds; begin anew if it is another folder than last time."""
        try:
            with (self._folder / files.ABOUT).open("rb") as file:
                made, content = state_of(os.fstat(file.fileno())), file.read()
        except FileNotFoundError:
            self._forget()
            return
        if made == self._made:
            return
        self._forget()
        try:
            said = json.loads(content)
            width = said["word_dimension"]
        except (ValueError, KeyError, TypeError):
            said = width = None
        if not isinstance(width, int) or said != files.about_of(self.identity, width):
            raise IndexUnusableError(
                f"The vectors in {self._folder} are not those of {self.identity}.",
                hint="Delete that folder; its vectors are made again by `grail index`.",
            )
        self._made, self._word_dimension = made, width

    def refresh(self) -> None:
        """Take in what was appended since; a row that is not whole yet is left for the next time.

        Raises:
            IndexUnusableError: The folder of this model holds something else.
        """
        import numpy as np

        self._look()
        # the keys are looked at last since they are written last
        sizes = [
            files.size_of(self._folder / name)
            for name in (files.WORDS, files.WORD_ENDS, files.VECTORS, files.KEYS, SHORT)
        ]
        if self._word_dimension is None or sizes == self._sizes:
            return
        n = min(sizes[2] // (2 * self.identity.dimension), sizes[3] // 8)
        if self._word_dimension:
            n = self._take_in_words(min(n, sizes[1] // 8), sizes[0])
        held = min(len(self), n)  # fewer than before when somebody cut the files
        self._vectors = self._mapped(n)
        self._keys = np.concatenate([self._keys[:held], self._read(files.KEYS, np.uint64, held, n)])
        self._order = np.argsort(self._keys, kind="stable")
        self._ordered_keys = self._keys[self._order]
        if self._short is None or sizes[4:] != self._sizes[4:] or held < len(self._short):
            self._short = load_short(self._folder, self._keys, self.identity.dimension)
        self._sizes = sizes

    def _take_in_words(self, n: int, size_bytes: int) -> int:
        """Map the word vectors of the first texts; returns of how many texts they are whole."""
        import numpy as np

        width = self._word_dimension or 0
        held = min(len(self), n)
        first = np.concatenate([self._words.first[: held + 1], self._read(files.WORD_ENDS, np.int64, held, n)])
        whole = (np.diff(first) >= 0) & (first[1:] <= size_bytes // width)
        n = n if whole.all() else int(whole.argmin())
        shape = (int(first[n]), width)
        # mapped, since they may be larger than memory; an empty file cannot be
        rows = (
            np.memmap(self._folder / files.WORDS, np.int8, "r", shape=shape) if shape[0] else np.zeros(shape, np.int8)
        )
        self._words = WordVectors(first[: n + 1], np.asarray(rows))
        return n

    def _mapped(self, n: int) -> np.ndarray:
        """The first vectors as the bits of half-precision numbers: mapped, so that opening costs nothing."""
        import numpy as np

        shape = (n, self.identity.dimension)
        whole = np.memmap(self._folder / files.VECTORS, np.int16, "r", shape=shape) if n else np.zeros(shape, np.int16)
        return np.asarray(whole)

    def _read(self, name: str, kind: type[np.generic], begin: int, end: int) -> np.ndarray:
        """Numbers of a file, from one place to another."""
        import numpy as np

        if begin == end:
            return np.zeros(0, kind)
        with (self._folder / name).open("rb") as file:
            return np.fromfile(file, kind, end - begin, offset=begin * np.dtype(kind).itemsize)

    def rows(self, digests: np.ndarray) -> np.ndarray:
        """The row of each text's vector, int64; -1 where there is none yet.

        Args:
            digests: Digests of texts, uint64.
        """
        import numpy as np

        if not len(self._keys):
            return np.full(len(digests), -1, np.int64)
        order = np.argsort(digests)  # one after the other they are found many times faster than here and there
        asked = digests[order]
        at = np.minimum(np.searchsorted(self._ordered_keys, asked), len(self._keys) - 1)
        found = np.empty(len(digests), np.int64)
        found[order] = np.where(self._ordered_keys[at] == asked, self._order[at], -1)
        return found

    def digests(self) -> np.ndarray:
        """The digests of all texts that have a vector, uint64."""
        return self._keys

    def cosines(self, query: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Cosine between a query's vector and stored ones, float32; each by itself, whatever it is computed with."""
        import numpy as np

        query = query.astype(np.float32)
        made = np.empty(len(rows), np.float32)
        for block in blocks(len(rows), _BLOCK):
            np.einsum("pv,v->p", self.vectors(rows[block]), query, out=made[block])
        return made

    def likely(self, query: np.ndarray, rows: np.ndarray, n: int) -> np.ndarray:
        """Which of some rows may be among the n with the best cosines: places in them, ascending.

        None of those is missing as long as there are fewer than `MANY` rows, or there is no short form. Else the best share
        by short form is taken, of which a trial showed that it misses next to nothing; what came since it was made is
        compared exactly.

        Args:
            query: The query's vector.
            rows: Rows that count, none -1.
            n: How many are wanted.
        """
        import numpy as np

        query = query.astype(np.float32)
        places = np.arange(len(rows))
        if self._short is not None and len(rows) >= MANY:
            late = self._products(query, np.arange(len(self._short), len(self)))
            about = np.concatenate([self._short.products(query), late])[rows]
            places = _best_places(about, max(n, int(self._short.share * len(rows))))
        best: np.ndarray = places[_best_places(self._products(query, rows[places]), n)]
        return best

    def _products(self, query: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """About the cosines of rows, float32: many at once, which rounds each by what stands beside it."""
        import numpy as np

        if len(rows) > len(self) // 2:  # to go through all is faster than to pick
            made = np.empty(len(self), np.float32)
            for block in blocks(len(self), _BLOCK):
                np.dot(_widened(self._vectors[block]), query, out=made[block])
            picked: np.ndarray = made[rows]
            return picked
        made = np.empty(len(rows), np.float32)
        for block in blocks(len(rows), _BLOCK):
            np.dot(self.vectors(rows[block]), query, out=made[block])
        return made

    def vectors(self, rows: np.ndarray | slice) -> np.ndarray:
        """Stored vectors, float32, shape (rows, dimension)."""
        return _widened(self._vectors[rows])

    def shorten(self) -> bool:
        """Make the short form anew where there are many vectors and it lacks some; returns whether it was written."""
        import numpy as np

        self.refresh()
        n, n_short = len(self), len(self._short) if self._short is not None else 0
        if n < MANY or n - n_short < _NEW_SHARE * n:
            return False
        made = shortened(self.vectors, n, self.identity.dimension)
        with exclusive(self._folder / files.LOCK):
            keys = files.keys_in(self._folder)
            if made is None or not np.array_equal(keys[:n], self._keys[:n]):  # somebody took some out meanwhile
                return False
            keep_short(self._folder, made, keys)
        self.refresh()
        return True

    def words(self, rows: np.ndarray) -> WordVectors:
        """Word vectors of stored texts, in the order of these rows.

        Args:
            rows: Rows as `rows` returns them, none -1.

        Raises:
            InputError: This store has no word vectors.
        """
        if not self.has_words and len(rows):
            raise InputError(f"There are no word vectors of {self.identity}.", hint="Ask `has_words` first.")
        return self._words.of(rows)

    def add(self, texts: Sequence[str], vectors: np.ndarray, words: WordVectors | None = None) -> int:
        """Append the vectors of texts that have none yet; safe beside other processes.

        Args:
            texts: The texts.
            vectors: Their vectors, shape (texts, dimension).
            words: Their word vectors; either all texts of a model have some or none.

        Returns:
            How many were appended.

        Raises:
            InputError: Word vectors are missing or too many, or have not as many numbers as those that are there.
            OSError: The disk did not take them; those that were there are as before.
        """
        import numpy as np

        digests = np.array([text_digest(text) for text in texts], np.uint64)
        _, first = np.unique(digests, return_index=True)
        self._folder.mkdir(parents=True, exist_ok=True, mode=FOLDER_MODE)
        with exclusive(self._folder / files.LOCK):
            self._agree(0 if words is None else words.vectors.shape[1])
            self.refresh()
            new = np.sort(first)
            new = new[self.rows(digests[new]) < 0]
            if len(new):
                if words is not None:
                    self._append_words(words.of(new))
                # the keys last: keys without vectors would be taken for rows that are there
                files.append(
                    self._folder / files.VECTORS,
                    len(self) * 2 * self.identity.dimension,
                    vectors[new].astype(np.float16).tobytes(),
                )
                files.append(self._folder / files.KEYS, len(self) * 8, digests[new].tobytes())
            self.refresh()
        return len(new)

    def drop(self, texts: Sequence[str]) -> None:
        """Take out the vectors of texts; safe beside other processes."""
        import numpy as np

        digests = np.array([text_digest(text) for text in texts], np.uint64)
        with exclusive(self._folder / files.LOCK):
            keys = files.keys_in(self._folder)
            keep = ~np.isin(keys, digests)
            if not keep.all():
                files.keep_rows(self._folder, keys, keep, 2 * self.identity.dimension, self._word_dimension or 0)
            self.refresh()

    def _agree(self, word_dimension: int) -> None:
        """Say what the folder holds if nobody has said it yet."""
        self._look()
        if self._word_dimension is None:
            replace_file(self._folder / files.ABOUT, json.dumps(files.about_of(self.identity, word_dimension)).encode())
        elif self._word_dimension != word_dimension:
            raise InputError(
                f"The texts of {self.identity} have {self._word_dimension} numbers in a word vector, not {word_dimension}.",
                hint=f"Another embedder needs another name or revision; else delete {self._folder}.",
            )

    def _append_words(self, words: WordVectors) -> None:
        import numpy as np

        n_rows = int(self._words.first[-1])
        files.append(
            self._folder / files.WORDS, n_rows * words.vectors.shape[1], words.vectors.astype(np.int8).tobytes()
        )
        files.append(
            self._folder / files.WORD_ENDS, len(self) * 8, (words.first[1:] + n_rows).astype(np.int64).tobytes()
        )


def stored_vectors(folder: Path, model: str) -> VectorStore | None:
    """The vectors that are kept of a model; None when there are none, or they cannot be used.

    Of several revisions of it the one with the most.
    """
    found: list[VectorStore] = []
    for identity in files.kept_models(folder):
        if identity.name == model:
            with suppress(IndexUnusableError):  # what searches says so; what has other grounds goes by those
                found.append(VectorStore(folder, identity))
    return max(found, key=len, default=None)


def _best_places(about: np.ndarray, n: int) -> np.ndarray:
    """Where the n highest numbers stand, and those that rounding may have kept from being among them; ascending."""
    import numpy as np

    if len(about) <= n:
        return np.arange(len(about))
    least = np.partition(about, len(about) - n)[len(about) - n]
    best: np.ndarray = np.flatnonzero(about >= least - np.float32(_ROUGH))
    return best


def _widened(bits: np.ndarray) -> np.ndarray:
    """Half-precision numbers, given as their bits, as float32: the same numbers, many times faster than numpy makes them."""
    import numpy as np

    wide = bits.astype(np.int32)
    np.left_shift(wide, 13, out=wide)
    np.bitwise_and(wide, np.int32(_SIGN_AND_REST), out=wide)
    made = wide.view(np.float32)
    made *= np.float32(_RANGES_APART)
    return made


def missing(store: VectorStore, texts: Iterable[str]) -> list[str]:
    """Texts that have no vector yet, each once, in order."""
    import numpy as np

    listed = list(dict.fromkeys(texts))
    rows = store.rows(np.array([text_digest(text) for text in listed], np.uint64))
    return [text for text, row in zip(listed, rows, strict=True) if row < 0]

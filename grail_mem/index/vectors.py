"""Vectors on disk: one for each text and model, made once, appended and never changed.

A folder for each model holds the digests of the texts and their vectors in files that grow together, and the vectors of
their words if the model makes such; the vectors of another model lie beside them, so a change of the model takes nothing
away. Knows nothing of observations, nor of how a vector is made.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterable, Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Final

from grail_mem.errors import IndexUnusableError, InputError
from grail_mem.index.embedder import Identity, WordVectors
from grail_mem.index.short import NAME as SHORT
from grail_mem.index.short import Short, blocks, keep_short, load_short, shortened
from grail_mem.store.files import FILE_MODE, FOLDER_MODE, UNKNOWN_STATE, FileState, replace_file, state_of, write_all
from grail_mem.store.lock import exclusive

if TYPE_CHECKING:
    import numpy as np

VERSION: Final = 2
_KEYS: Final = "texts.u64"
_VECTORS: Final = "vectors.f16"
_WORDS: Final = "words.i8"
_WORD_ENDS: Final = "word_ends.i64"
_ABOUT: Final = "about.json"
_LOCK: Final = "lock"
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
        self._folder = folder / _folder_name(identity)
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
            with (self._folder / _ABOUT).open("rb") as file:
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
        if not isinstance(width, int) or said != _about(self.identity, width):
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
        sizes = [_size(self._folder / name) for name in (_WORDS, _WORD_ENDS, _VECTORS, _KEYS, SHORT)]
        if self._word_dimension is None or sizes == self._sizes:
            return
        n = min(sizes[2] // (2 * self.identity.dimension), sizes[3] // 8)
        if self._word_dimension:
            n = self._take_in_words(min(n, sizes[1] // 8), sizes[0])
        held = min(len(self), n)  # fewer than before when somebody cut the files
        self._vectors = self._mapped(n)
        self._keys = np.concatenate([self._keys[:held], self._read(_KEYS, np.uint64, held, n)])
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
        first = np.concatenate([self._words.first[: held + 1], self._read(_WORD_ENDS, np.int64, held, n)])
        whole = (np.diff(first) >= 0) & (first[1:] <= size_bytes // width)
        n = n if whole.all() else int(whole.argmin())
        shape = (int(first[n]), width)
        # mapped, since they may be larger than memory; an empty file cannot be
        rows = np.memmap(self._folder / _WORDS, np.int8, "r", shape=shape) if shape[0] else np.zeros(shape, np.int8)
        self._words = WordVectors(first[: n + 1], np.asarray(rows))
        return n

    def _mapped(self, n: int) -> np.ndarray:
        """The first vectors as the bits of half-precision numbers: mapped, so that opening costs nothing."""
        import numpy as np

        shape = (n, self.identity.dimension)
        whole = np.memmap(self._folder / _VECTORS, np.int16, "r", shape=shape) if n else np.zeros(shape, np.int16)
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
        with exclusive(self._folder / _LOCK):
            keys = _keys_in(self._folder)
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
        with exclusive(self._folder / _LOCK):
            self._agree(0 if words is None else words.vectors.shape[1])
            self.refresh()
            new = np.sort(first)
            new = new[self.rows(digests[new]) < 0]
            if len(new):
                if words is not None:
                    self._append_words(words.of(new))
                # the keys last: keys without vectors would be taken for rows that are there
                self._append(
                    _VECTORS, len(self) * 2 * self.identity.dimension, vectors[new].astype(np.float16).tobytes()
                )
                self._append(_KEYS, len(self) * 8, digests[new].tobytes())
            self.refresh()
        return len(new)

    def drop(self, texts: Sequence[str]) -> None:
        """Take out the vectors of texts; safe beside other processes."""
        import numpy as np

        digests = np.array([text_digest(text) for text in texts], np.uint64)
        with exclusive(self._folder / _LOCK):
            keys = _keys_in(self._folder)
            keep = ~np.isin(keys, digests)
            if not keep.all():
                _keep(self._folder, keys, keep, 2 * self.identity.dimension, self._word_dimension or 0)
            self.refresh()

    def _agree(self, word_dimension: int) -> None:
        """Say what the folder holds if nobody has said it yet."""
        self._look()
        if self._word_dimension is None:
            replace_file(self._folder / _ABOUT, json.dumps(_about(self.identity, word_dimension)).encode())
        elif self._word_dimension != word_dimension:
            raise InputError(
                f"The texts of {self.identity} have {self._word_dimension} numbers in a word vector, not {word_dimension}.",
                hint=f"Another embedder needs another name or revision; else delete {self._folder}.",
            )

    def _append_words(self, words: WordVectors) -> None:
        import numpy as np

        n_rows = int(self._words.first[-1])
        self._append(_WORDS, n_rows * words.vectors.shape[1], words.vectors.astype(np.int8).tobytes())
        self._append(_WORD_ENDS, len(self) * 8, (words.first[1:] + n_rows).astype(np.int64).tobytes())

    def _append(self, name: str, size: int, data: bytes) -> None:
        """Write behind the rows that are whole, over what a killed writer may have left."""
        descriptor = os.open(self._folder / name, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, FILE_MODE)
        try:
            os.ftruncate(descriptor, size)
            os.lseek(descriptor, size, os.SEEK_SET)
            write_all(descriptor, data)
        finally:
            os.close(descriptor)


def stale_texts(folder: Path, live: np.ndarray) -> int:
    """How many vectors, over all models, are of texts that nobody has any more.

    Args:
        folder: Where the vectors of all models lie.
        live: Digests of the texts that somebody has, uint64.
    """
    import numpy as np

    return sum(int((~np.isin(_keys_in(about.parent), live)).sum()) for about in folder.glob(f"*/{_ABOUT}"))


def drop_stale_texts(folder: Path, live: np.ndarray) -> None:
    """Make the files of every model anew without the vectors of texts that nobody has any more.

    While that is under way a model has no vectors: whoever is cut off here has them made again. What cannot be read is removed.

    Args:
        folder: Where the vectors of all models lie.
        live: Digests of the texts that somebody has, uint64.
    """
    import numpy as np

    for model in sorted(path for path in folder.glob("*/") if path.is_dir()):
        with exclusive(model / _LOCK):
            try:
                said = json.loads((model / _ABOUT).read_bytes())
                widths = (2 * said["dimension"], said["word_dimension"])
            except (OSError, ValueError, KeyError, TypeError):
                shutil.rmtree(model)
                continue
            keys = _keys_in(model)
            keep = np.isin(keys, live)
            if not keep.all() or any(
                _size(model / name) != size
                for name, size in ((_KEYS, 8 * len(keys)), (_VECTORS, len(keys) * widths[0]))
            ):
                _keep(model, keys, keep, *widths)


def _keys_in(model: Path) -> np.ndarray:
    import numpy as np

    size = _size(model / _KEYS)
    return np.fromfile(model / _KEYS, np.uint64, size // 8) if size else np.zeros(0, np.uint64)


def _keep(model: Path, keys: np.ndarray, keep: np.ndarray, width: int, word_width: int) -> None:
    """Write the rows that are kept; the keys go first and come last, so that no row is ever another text's."""
    import numpy as np

    replace_file(model / _ABOUT, (model / _ABOUT).read_bytes())  # whoever has the folder read begins anew
    (model / SHORT).unlink(missing_ok=True)  # it is made of the vectors that go
    replace_file(model / _KEYS, b"")
    rows = min(len(keys), _size(model / _VECTORS) // width)
    ends = (
        np.fromfile(model / _WORD_ENDS, np.int64) if word_width and _size(model / _WORD_ENDS) else np.zeros(0, np.int64)
    )
    rows = min(rows, len(ends)) if word_width else rows
    keys, keep = keys[:rows], keep[:rows]
    _rewrite(model, _VECTORS, keep, np.arange(rows + 1, dtype=np.int64) * width)
    if word_width:
        first = np.concatenate([[0], ends[:rows]]).astype(np.int64)
        _rewrite(model, _WORDS, keep, first * word_width)
        replace_file(model / _WORD_ENDS, np.cumsum(np.diff(first)[keep]).astype(np.int64).tobytes())
    replace_file(model / _KEYS, keys[keep].tobytes())


def _rewrite(model: Path, name: str, keep: np.ndarray, first: np.ndarray) -> None:
    """Write a file of rows anew, run by run, with those that are kept.

    Args:
        model: The folder.
        name: The file.
        keep: Which rows are kept, bool.
        first: Where each row begins and the last one ends, in bytes.
    """
    import numpy as np

    borders = np.flatnonzero(np.diff(np.concatenate([[False], keep, [False]]).astype(np.int8)))
    draft = model / f"{name}.draft"
    with draft.open("wb") as out, (model / name).open("rb") as file:
        for begin, end in borders.reshape(-1, 2).tolist():
            file.seek(int(first[begin]))
            left = int(first[end] - first[begin])
            while left and (data := file.read(min(left, 1 << 24))):
                out.write(data)
                left -= len(data)
        out.flush()
        os.fsync(out.fileno())
    os.rename(draft, model / name)


def kept_models(folder: Path) -> list[Identity]:
    """The models of which there are vectors, in order of name."""
    found: list[Identity] = []
    for about in sorted(folder.glob(f"*/{_ABOUT}")):
        with suppress(ValueError, KeyError, TypeError):
            said = json.loads(about.read_bytes())
            found.append(Identity(said["name"], said["revision"], said["dimension"]))
    return found


def stored_vectors(folder: Path, model: str) -> VectorStore | None:
    """The vectors that are kept of a model; None when there are none, or they cannot be used.

    Of several revisions of it the one with the most.
    """
    found: list[VectorStore] = []
    for identity in kept_models(folder):
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


def _folder_name(identity: Identity) -> str:
    digest = blake2b(json.dumps(identity).encode(), digest_size=6).hexdigest()
    return f"{re.sub('[^A-Za-z0-9.-]+', '-', identity.name)[:60]}-{digest}"


def _about(identity: Identity, word_dimension: int) -> dict[str, object]:
    return {"version": VERSION, **identity._asdict(), "word_dimension": word_dimension}


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0

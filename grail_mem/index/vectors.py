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
_READ: Final = 4_096
"""Vectors that are read at a time; chosen, 3 MB."""


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
        self._room = np.zeros((0, self.identity.dimension), np.float32)
        self._vectors = self._room
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
        sizes = [_size(self._folder / name) for name in (_WORDS, _WORD_ENDS, _VECTORS, _KEYS)]
        if self._word_dimension is None or sizes == self._sizes:
            return
        n = min(sizes[2] // (2 * self.identity.dimension), sizes[3] // 8)
        if self._word_dimension:
            n = self._take_in_words(min(n, sizes[1] // 8), sizes[0])
        held = min(len(self), n)  # fewer than before when somebody cut the files
        self._take_in_vectors(held, n)
        self._keys = np.concatenate([self._keys[:held], self._read(_KEYS, np.uint64, held, n)])
        self._order = np.argsort(self._keys, kind="stable")
        self._ordered_keys = self._keys[self._order]
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

    def _take_in_vectors(self, held: int, n: int) -> None:
        """Read vectors behind the first ones, into room that was left for them; memory without rows costs nothing."""
        import numpy as np

        width = self.identity.dimension
        if self._room.shape[0] < n:
            room = np.empty((n + n // 8, width), np.float32)
            room[:held] = self._vectors[:held]
            self._room = room
        for begin in range(held, n, _READ):  # at once, the half-precision numbers would take half as much again
            end = min(begin + _READ, n)
            self._room[begin:end] = self._read(_VECTORS, np.float16, begin * width, end * width).reshape(-1, width)
        self._vectors = self._room[:n]

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
        at = np.minimum(np.searchsorted(self._ordered_keys, digests), len(self._keys) - 1)
        return np.where(self._ordered_keys[at] == digests, self._order[at], -1)

    def digests(self) -> np.ndarray:
        """The digests of all texts that have a vector, uint64."""
        return self._keys

    def similarity(self, query: np.ndarray, rows: np.ndarray | None = None) -> np.ndarray:
        """Cosine between a query's vector and stored ones, float32; of all rows, or of these in their order.

        Exact at any number of rows: a filter that leaves few costs what those few cost.
        """
        chosen = self._vectors if rows is None else self._vectors[rows]
        cosines: np.ndarray = chosen @ query.astype("float32")
        return cosines

    def vectors(self, rows: np.ndarray) -> np.ndarray:
        """Stored vectors, float32, shape (rows, dimension)."""
        chosen: np.ndarray = self._vectors[rows]
        return chosen

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

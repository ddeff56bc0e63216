"""Vectors on disk: one for each text and model, made once, appended and never changed.

A folder for each model holds the digests of the texts and their vectors in two files that grow together; the vectors of
another model lie beside them, so a change of the model takes nothing away. Knows nothing of observations, nor of how a
vector is made.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Final

from grail_mem.errors import IndexUnusableError
from grail_mem.index.embedder import Identity
from grail_mem.store.files import FILE_MODE, FOLDER_MODE, replace_file, write_all
from grail_mem.store.lock import exclusive

if TYPE_CHECKING:
    import numpy as np

VERSION: Final = 1
_KEYS: Final = "texts.u64"
_VECTORS: Final = "vectors.f16"
_ABOUT: Final = "about.json"
_LOCK: Final = "lock"


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
        import numpy as np

        self.identity = identity
        self._folder = folder / _folder_name(identity)
        self._keys = np.zeros(0, np.uint64)
        self._order = np.zeros(0, np.int64)
        self._vectors = np.zeros((0, identity.dimension), np.float32)
        self._look()
        self.refresh()

    def __len__(self) -> int:
        return len(self._keys)

    def _look(self) -> None:
        try:
            said = json.loads((self._folder / _ABOUT).read_bytes())
        except FileNotFoundError:
            return
        except ValueError:
            said = None
        if said != _about(self.identity):
            raise IndexUnusableError(
                f"The vectors in {self._folder} are not those of {self.identity}.",
                hint="Delete that folder; its vectors are made again by `grail index`.",
            )

    def refresh(self) -> None:
        """Take in what was appended since; a row that is not whole yet is left for the next time."""
        import numpy as np

        row_bytes = 2 * self.identity.dimension
        held = len(self._keys)
        n = min(_size(self._folder / _KEYS) // 8, _size(self._folder / _VECTORS) // row_bytes)
        if n < held:  # somebody deleted the folder, or made it anew
            held = 0
        if n == held == len(self._keys):
            return
        with (self._folder / _KEYS).open("rb") as keys, (self._folder / _VECTORS).open("rb") as vectors:
            keys.seek(8 * held)
            vectors.seek(row_bytes * held)
            new_keys = np.frombuffer(keys.read(8 * (n - held)), np.uint64)
            new = np.frombuffer(vectors.read(row_bytes * (n - held)), np.float16)
        new = new.reshape(-1, self.identity.dimension).astype(np.float32)
        self._keys = np.concatenate([self._keys[:held], new_keys])
        self._vectors = np.concatenate([self._vectors[:held], new])
        self._order = np.argsort(self._keys, kind="stable")

    def rows(self, digests: np.ndarray) -> np.ndarray:
        """The row of each text's vector, int64; -1 where there is none yet.

        Args:
            digests: Digests of texts, uint64.
        """
        import numpy as np

        if not len(self._keys):
            return np.full(len(digests), -1, np.int64)
        at = np.searchsorted(self._keys, digests, sorter=self._order)
        row = self._order[np.minimum(at, len(self._keys) - 1)]
        return np.where(self._keys[row] == digests, row, -1)

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

    def add(self, texts: Sequence[str], vectors: np.ndarray) -> int:
        """Append the vectors of texts that have none yet; safe beside other processes.

        Args:
            texts: The texts.
            vectors: Their vectors, shape (texts, dimension).

        Returns:
            How many were appended.

        Raises:
            OSError: The disk did not take them; those that were there are as before.
        """
        import numpy as np

        digests = np.array([text_digest(text) for text in texts], np.uint64)
        _, first = np.unique(digests, return_index=True)
        self._folder.mkdir(parents=True, exist_ok=True, mode=FOLDER_MODE)
        with exclusive(self._folder / _LOCK):
            if not (self._folder / _ABOUT).exists():
                replace_file(self._folder / _ABOUT, json.dumps(_about(self.identity)).encode())
            self.refresh()
            new = np.sort(first)
            new = new[self.rows(digests[new]) < 0]
            if len(new):
                # vectors first: keys without vectors would be taken for rows that are there
                self._append(
                    _VECTORS, len(self) * 2 * self.identity.dimension, vectors[new].astype(np.float16).tobytes()
                )
                self._append(_KEYS, len(self) * 8, digests[new].tobytes())
            self.refresh()
        return len(new)

    def _append(self, name: str, size: int, data: bytes) -> None:
        """Write behind the rows that are whole, over what a killed writer may have left."""
        descriptor = os.open(self._folder / name, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, FILE_MODE)
        try:
            os.ftruncate(descriptor, size)
            os.lseek(descriptor, size, os.SEEK_SET)
            write_all(descriptor, data)
        finally:
            os.close(descriptor)


def kept_models(folder: Path) -> list[Identity]:
    """The models of which there are vectors, in order of name."""
    found: list[Identity] = []
    for about in sorted(folder.glob(f"*/{_ABOUT}")):
        with suppress(ValueError, KeyError, TypeError):
            said = json.loads(about.read_bytes())
            found.append(Identity(said["name"], said["revision"], said["dimension"]))
    return found


def missing(store: VectorStore, texts: Iterable[str]) -> list[str]:
    """Texts that have no vector yet, each once, in order."""
    import numpy as np

    listed = list(dict.fromkeys(texts))
    rows = store.rows(np.array([text_digest(text) for text in listed], np.uint64))
    return [text for text, row in zip(listed, rows, strict=True) if row < 0]


def _folder_name(identity: Identity) -> str:
    digest = blake2b(json.dumps(identity).encode(), digest_size=6).hexdigest()
    return f"{re.sub('[^A-Za-z0-9.-]+', '-', identity.name)[:60]}-{digest}"


def _about(identity: Identity) -> dict[str, object]:
    return {"version": VERSION, "name": identity.name, "revision": identity.revision, "dimension": identity.dimension}


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0

"""The files that vectors lie in: a folder for each model, files that grow together, and rows that are taken out again.

The digests of the texts are written last and taken away first, so that no row is ever another text's. Knows nothing of
questions.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Final

from grail_mem.index.embedder import Identity
from grail_mem.index.short import NAME as SHORT
from grail_mem.store.files import FILE_MODE, replace_file, write_all
from grail_mem.store.lock import exclusive

if TYPE_CHECKING:
    import numpy as np

VERSION: Final = 2
KEYS: Final = "texts.u64"
VECTORS: Final = "vectors.f16"
WORDS: Final = "words.i8"
WORD_ENDS: Final = "word_ends.i64"
ABOUT: Final = "about.json"
LOCK: Final = "lock"


def folder_name(identity: Identity) -> str:
    """The name of a model's folder: what people can read of it, and a digest that tells it from others."""
    digest = blake2b(json.dumps(identity).encode(), digest_size=6).hexdigest()
    return f"{re.sub('[^A-Za-z0-9.-]+', '-', identity.name)[:60]}-{digest}"


def about_of(identity: Identity, word_dimension: int) -> dict[str, object]:
    """What a folder says that it holds."""
    return {"version": VERSION, **identity._asdict(), "word_dimension": word_dimension}


def size_of(path: Path) -> int:
    """The size of a file in bytes, 0 for one that is not there."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def append(path: Path, size_bytes: int, data: bytes) -> None:
    """Write behind the rows of a file that are whole, over what a killed writer may have left."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, FILE_MODE)
    try:
        os.ftruncate(descriptor, size_bytes)
        os.lseek(descriptor, size_bytes, os.SEEK_SET)
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

    return sum(int((~np.isin(keys_in(about.parent), live)).sum()) for about in folder.glob(f"*/{ABOUT}"))


def drop_stale_texts(folder: Path, live: np.ndarray) -> None:
    """Make the files of every model anew without the vectors of texts that nobody has any more.

    While that is under way a model has no vectors: whoever is cut off here has them made again. What cannot be read is removed.

    Args:
        folder: Where the vectors of all models lie.
        live: Digests of the texts that somebody has, uint64.
    """
    import numpy as np

    for model in sorted(path for path in folder.glob("*/") if path.is_dir()):
        with exclusive(model / LOCK):
            try:
                said = json.loads((model / ABOUT).read_bytes())
                widths = (2 * said["dimension"], said["word_dimension"])
            except (OSError, ValueError, KeyError, TypeError):
                shutil.rmtree(model)
                continue
            keys = keys_in(model)
            keep = np.isin(keys, live)
            if not keep.all() or any(
                size_of(model / name) != size
                for name, size in ((KEYS, 8 * len(keys)), (VECTORS, len(keys) * widths[0]))
            ):
                keep_rows(model, keys, keep, *widths)


def keys_in(model: Path) -> np.ndarray:
    """The digests of the texts that a model's folder has vectors of, uint64, in the order of their rows."""
    import numpy as np

    size = size_of(model / KEYS)
    return np.fromfile(model / KEYS, np.uint64, size // 8) if size else np.zeros(0, np.uint64)


def keep_rows(model: Path, keys: np.ndarray, keep: np.ndarray, width: int, word_width: int) -> None:
    """Write the rows that are kept; the keys go first and come last, so that no row is ever another text's.

    Args:
        model: The folder; its lock must be held.
        keys: The digests of its texts.
        keep: Which of them are kept, bool.
        width: Bytes of a vector.
        word_width: Bytes of the vector of a word, 0 when there are none.
    """
    import numpy as np

    replace_file(model / ABOUT, (model / ABOUT).read_bytes())  # whoever has the folder read begins anew
    (model / SHORT).unlink(missing_ok=True)  # it is made of the vectors that go
    replace_file(model / KEYS, b"")
    rows = min(len(keys), size_of(model / VECTORS) // width)
    ends = (
        np.fromfile(model / WORD_ENDS, np.int64) if word_width and size_of(model / WORD_ENDS) else np.zeros(0, np.int64)
    )
    rows = min(rows, len(ends)) if word_width else rows
    keys, keep = keys[:rows], keep[:rows]
    _rewrite(model, VECTORS, keep, np.arange(rows + 1, dtype=np.int64) * width)
    if word_width:
        first = np.concatenate([[0], ends[:rows]]).astype(np.int64)
        _rewrite(model, WORDS, keep, first * word_width)
        replace_file(model / WORD_ENDS, np.cumsum(np.diff(first)[keep]).astype(np.int64).tobytes())
    replace_file(model / KEYS, keys[keep].tobytes())


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
    for about in sorted(folder.glob(f"*/{ABOUT}")):
        with suppress(ValueError, KeyError, TypeError):
            said = json.loads(about.read_bytes())
            found.append(Identity(said["name"], said["revision"], said["dimension"]))
    return found

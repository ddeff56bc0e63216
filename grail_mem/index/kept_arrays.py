"""A few arrays in one file that is written whole and mapped rather than read.

Knows nothing of what the numbers mean.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from grail_mem.store.files import replace_file

if TYPE_CHECKING:
    import numpy as np

_ALIGNED: Final = 64
"""Where in the file an array may begin: at multiples of so many bytes, as processors like it."""


def keep_arrays(path: Path, arrays: Mapping[str, np.ndarray], **said: Any) -> None:
    """Write arrays and what is said of them, durably and in place of what was there."""
    import numpy as np

    head = json.dumps({"said": said, "sizes": {name: array.size for name, array in arrays.items()}}).encode()
    parts = [len(head).to_bytes(8, "little") + head, *(np.ascontiguousarray(a).tobytes() for a in arrays.values())]
    replace_file(path, b"".join(part.ljust(_up(len(part)), b"\0") for part in parts))


def mapped_arrays(path: Path, kinds: Mapping[str, str]) -> tuple[dict[str, np.ndarray], dict[str, Any]] | None:
    """The arrays of a file, flat, and what is said of them; None when it is not there, or not whole.

    Args:
        path: The file.
        kinds: By name, in order, the type of the numbers of each array.
    """
    import numpy as np

    try:
        with path.open("rb") as file:
            size, n_head = os.fstat(file.fileno()).st_size, int.from_bytes(file.read(8), "little")
            head = json.loads(file.read(min(n_head, size)))
            whole = np.asarray(np.memmap(file, np.uint8, "r"))
        begin, arrays = _up(8 + n_head), {}
        for name, kind in kinds.items():
            n_bytes = int(head["sizes"][name]) * np.dtype(kind).itemsize
            arrays[name] = whole[begin : begin + n_bytes].view(kind)
            begin += _up(n_bytes)
        return (arrays, dict(head["said"])) if begin == size else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _up(n: int) -> int:
    return -(-n // _ALIGNED) * _ALIGNED

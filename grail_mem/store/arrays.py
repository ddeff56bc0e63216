"""Arrow arrays from Python values, made of their buffers: `pyarrow.array` loads pandas to look at a list.

Knows nothing of what the values mean.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # a tenth of a second; recalling never needs them
    import numpy as np
    import pyarrow as pa


def text_array(values: Sequence[str | None]) -> pa.Array:
    """Texts as an array of strings, None as null."""
    import pyarrow as pa

    texts = ["" if value is None else value for value in values] if None in values else values
    joined = "".join(texts)  # type: ignore[arg-type]  # no None is left in it
    data = joined.encode()
    sizes = map(len, texts) if len(data) == len(joined) else (len(text.encode()) for text in texts)  # type: ignore[arg-type,union-attr]  # as above
    return pa.StringArray.from_buffers(len(values), _ends(sizes, len(values)), pa.py_buffer(data), _there(values))


def number_array(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """Numbers, truth values or times as integers as an array of a type, None as null."""
    import numpy as np
    import pyarrow as pa

    whole = [0 if value is None else value for value in values] if None in values else values
    storage = pa.int64() if pa.types.is_timestamp(kind) else kind
    numbers = pa.array(np.array(whole, storage.to_pandas_dtype()), storage, mask=_absent(values))
    return numbers.view(kind)


def list_array(values: Sequence[Sequence[Any]], made: Callable[[list[Any]], pa.Array]) -> pa.Array:
    """Sequences as an array of lists; `made` makes the array of all their items."""
    import pyarrow as pa

    items = made(list(chain.from_iterable(values)))
    ends = pa.Array.from_buffers(pa.int32(), len(values) + 1, [None, _ends(map(len, values), len(values))])
    return pa.ListArray.from_arrays(ends, items)


def repeated_array(values: Sequence[Any], made: Callable[[list[Any]], pa.Array]) -> pa.Array:
    """Values of which many are equal as an array; `made` makes the array of the distinct ones."""
    import numpy as np
    import pyarrow as pa

    codes: dict[Any, int] = {}
    code = np.array([codes.setdefault(value, len(codes)) for value in values], np.int32)
    return made(list(codes)).take(pa.array(code))


def _ends(sizes: Any, count: int) -> pa.Buffer:
    import numpy as np
    import pyarrow as pa

    ends = np.zeros(count + 1, np.int32)
    np.cumsum(np.fromiter(sizes, np.int32, count), out=ends[1:])
    return pa.py_buffer(ends)


def _absent(values: Sequence[Any]) -> np.ndarray | None:
    import numpy as np

    return np.fromiter((value is None for value in values), bool, len(values)) if None in values else None


def _there(values: Sequence[Any]) -> pa.Buffer | None:
    import numpy as np
    import pyarrow as pa

    absent = _absent(values)
    return None if absent is None else pa.py_buffer(np.packbits(~absent, bitorder="little"))

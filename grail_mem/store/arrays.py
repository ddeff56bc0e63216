"""Arrow arrays from Python values and back, by way of their buffers: Arrow's own ways load pandas, which takes half a second.

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
    return numpy_array(np.array(whole, storage.to_pandas_dtype()), kind, there=_there(values))


def numpy_array(values: np.ndarray, kind: pa.DataType | None = None, *, there: pa.Buffer | None = None) -> pa.Array:
    """A numpy array as an Arrow array over the same memory, truth values as bits; `there` has a bit for each non-null."""
    import numpy as np
    import pyarrow as pa

    bits = np.packbits(values, bitorder="little") if values.dtype == bool else np.ascontiguousarray(values)
    return pa.Array.from_buffers(kind or pa.from_numpy_dtype(values.dtype), len(values), [there, pa.py_buffer(bits)])


def numpy_of(array: pa.Array | pa.ChunkedArray) -> np.ndarray:
    """The numbers of an array without nulls."""
    import numpy as np
    import pyarrow as pa

    kind = np.dtype(array.type.to_pandas_dtype())
    if isinstance(array, pa.ChunkedArray):
        return np.concatenate([np.zeros(0, kind), *map(numpy_of, array.chunks)])
    return np.frombuffer(array.buffers()[1] or b"", kind, len(array), array.offset * kind.itemsize)


def list_array(values: Sequence[Sequence[Any]], made: Callable[[list[Any]], pa.Array]) -> pa.Array:
    """Sequences as an array of lists; `made` makes the array of all their items."""
    import pyarrow as pa

    items = made(list(chain.from_iterable(values)))
    kind = pa.list_(items.type)
    return pa.Array.from_buffers(kind, len(values), [None, _ends(map(len, values), len(values))], children=[items])


def repeated_array(values: Sequence[Any], made: Callable[[list[Any]], pa.Array]) -> pa.Array:
    """Values of which many are the same as an array; `made` makes the array of the distinct ones."""
    import numpy as np

    distinct = {id(value): value for value in values}
    codes = {key: code for code, key in enumerate(distinct)}
    code = np.fromiter(map(codes.__getitem__, map(id, values)), np.int32, len(values))
    return made(list(distinct.values())).take(numpy_array(code))


def _ends(sizes: Any, count: int) -> pa.Buffer:
    import numpy as np
    import pyarrow as pa

    ends = np.zeros(count + 1, np.int32)
    np.cumsum(np.fromiter(sizes, np.int32, count), out=ends[1:])
    return pa.py_buffer(ends)


def _there(values: Sequence[Any]) -> pa.Buffer | None:
    import numpy as np
    import pyarrow as pa

    if None not in values:
        return None
    return pa.py_buffer(np.packbits([value is not None for value in values], bitorder="little"))

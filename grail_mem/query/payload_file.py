"""The payload file: one JSON array a row, back to back, in the order of the rows.

A row that was in the snapshot before is copied from that one's file. Knows nothing of the index beside it but that it
says where each payload begins.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from io import BufferedWriter, FileIO
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import TYPE_CHECKING, Final

from grail_mem.query.engine import engine, write_errors
from grail_mem.store.arrays import numpy_array
from grail_mem.store.files import write_all
from grail_mem.store.schema import PARTS, PAYLOAD

if TYPE_CHECKING:  # these cost a quarter of a second; only building needs them
    import duckdb
    import numpy as np
    import pyarrow as pa

_BATCH: Final = 20_000
_BUFFER: Final = 1 << 20
_TIMES: Final = frozenset({"observed_at", "recorded_at", "valid_from", "valid_until", "expires_at"})


Places = tuple["np.ndarray", "np.ndarray"]
"""By row, the first byte of its payload and how many it has."""


@dataclass(frozen=True, slots=True)
class Written:
    """Payloads in the file of an earlier snapshot.

    Attributes:
        path: That file.
        n_bytes: How long each payload in it is.
        row: By row of the new snapshot, its number in the earlier one; -1 for those that must be made.
    """

    path: Path
    n_bytes: np.ndarray
    row: np.ndarray


def write_payloads(path: Path, table: pa.Table, written: Written | None = None) -> Places:
    """Write the payload of every row of a table.

    Args:
        path: Where to write them.
        table: The rows (`store.schema`).
        written: Payloads that are copied.

    Returns:
        Where each begins, int64, and how long it is, int32, in bytes.
    """
    import numpy as np

    with closing(engine()) as duck, write_errors(path), path.open("wb", buffering=0) as file:
        if written is None:
            parts = [_write_made(batch, file) for batch in _made(duck.con, table)]
            length = np.concatenate([*parts, np.zeros(0, np.int32)])
        else:
            length = _write_mixed(duck.con, file, table, written)
    return np.cumsum(length, dtype=np.int64) - length, length


def _made(con: duckdb.DuckDBPyConnection, table: pa.Table) -> Iterator[pa.Array]:
    """The payloads of a table's rows, batch by batch."""
    values = {name: f"epoch_us({name})" if name in _TIMES else name for name in PAYLOAD}
    values |= {
        name: f"list_transform({name}, lambda part: json_array({', '.join(f'part.{field}' for field in fields)}))"
        for name, fields in PARTS.items()
    }
    con.register("payload_rows", table)
    said = f"SELECT json_array({', '.join(values.values())})::VARCHAR FROM payload_rows"
    for batch in con.sql(said).to_arrow_reader(_BATCH):
        yield batch.column(0)


def _write_made(texts: pa.Array, file: FileIO) -> np.ndarray:
    """Write texts back to back; returns how many bytes each has."""
    import numpy as np

    _, offsets, data = texts.buffers()
    kind = np.dtype(np.int64 if str(texts.type) == "large_string" else np.int32)
    ends = np.frombuffer(offsets, kind, len(texts) + 1, texts.offset * kind.itemsize)
    write_all(file.fileno(), memoryview(data)[ends[0] : ends[-1]].cast("B"))
    return np.diff(ends).astype(np.int32)


def _write_mixed(con: duckdb.DuckDBPyConnection, file: FileIO, table: pa.Table, written: Written) -> np.ndarray:
    """Write payloads that are partly copied, in runs of rows that follow one another in the earlier file."""
    import numpy as np
    import pyarrow as pa

    row, is_made = written.row, written.row < 0
    made = [
        text for batch in _made(con, table.filter(numpy_array(is_made))) for text in batch.cast(pa.binary()).to_pylist()
    ]
    length = np.zeros(len(row), np.int32)
    length[is_made] = [len(text) for text in made]
    length[~is_made] = written.n_bytes[row[~is_made]]
    end = np.cumsum(written.n_bytes, dtype=np.int64)
    begin = end - written.n_bytes
    starts = np.nonzero((np.diff(row, prepend=-2) != 1) | (row <= 0))[0]
    lasts = [*starts[1:] - 1, len(row) - 1][: len(starts)]  # of no rows there is no run
    following = iter(made)
    with (
        written.path.open("rb") as earlier,
        mmap(earlier.fileno(), 0, access=ACCESS_READ) as mapped,
        memoryview(mapped) as old,
        BufferedWriter(file, _BUFFER) as out,
    ):
        for first, last in zip(starts, lasts, strict=True):
            out.write(next(following) if row[first] < 0 else old[begin[row[first]] : end[row[last]]])
    return length

"""Many files read to tables of rows, by this process and, when there are many, by others beside it.

Python runs on one core at a time, so files are shared out to processes of their own, which read what they are told to and
give back Arrow tables. Where none can be started, or one dies, this process reads what is left. Knows nothing of ids that
several files claim.
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from itertools import groupby
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, Self, cast

from grail_mem.errors import InputError
from grail_mem.model.ulid import id_us
from grail_mem.store.files import open_folder, read_file
from grail_mem.store.layout import Layout
from grail_mem.store.ledger import chains
from grail_mem.store.observation_file import read_observation
from grail_mem.store.own_file import read_own
from grail_mem.store.scan import settled
from grail_mem.store.schema import row_values, table_of

if TYPE_CHECKING:  # a tenth of a second; only reading many files needs it
    import pyarrow as pa

CHUNK: Final = 500
"""Files read at a time; measured: with fewer, a table costs more a row; with more, one process waits for another at the end."""
_LEAST: Final = 4_000
"""Files from which on other processes help; measured: one needs as long to start as this one to read 2,000."""
_MOST_HELPERS: Final = 3
_LINE_BYTES: Final = 512  # of one ledger line
_SIZE_BYTES: Final = 8
_OWN_START: Final = b"---\nid: "
Row = tuple[Any, ...]


def helpers_for(layout: Layout) -> int:
    """How many other processes should help to read the files of a store, by what its ledger tells of their number."""
    is_python = Path(sys.executable or "").name.startswith("python")  # else it is a program that embeds Python
    n_files = sum(path.stat().st_size for path in chains(layout)) // _LINE_BYTES
    return min(len(os.sched_getaffinity(0)) - 1, _MOST_HELPERS) if is_python and n_files >= _LEAST else 0


class Reading:
    """Files being read: by helpers as soon as they are known, and by this process when it comes to `finish`.

    Args:
        layout: Where the store is.
        zone: IANA zone of times without an offset.
        helpers: How many other processes help; they get ready at once.
        chunk: Files read at a time.
    """

    def __init__(self, layout: Layout, *, zone: str, helpers: int = 0, chunk: int = CHUNK) -> None:
        self.layout, self.zone, self._chunk = layout, zone, chunk
        self._waiting: deque[list[str]] = deque()
        self._wanted: Collection[str] | None = None
        self._made: list[tuple[int, pa.Table]] = []
        self._processes = [process for _ in range(helpers) if (process := _process()) is not None]
        self._pool = ThreadPoolExecutor(max(helpers, 1))
        self._helpers: list[Future[None]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._waiting.clear()
        self._pool.shutdown()
        for process in self._processes:
            process.kill()
            with suppress(OSError), process:
                pass

    def begin(self, paths: Iterable[str]) -> None:
        """Let the helpers read files: paths relative to the root, whether they exist or not."""
        ordered = sorted(paths)
        self._waiting.extend(ordered[start : start + self._chunk] for start in range(0, len(ordered), self._chunk))
        self._helpers = [self._pool.submit(_read_elsewhere, self, process) for process in self._processes]

    def next(self) -> list[str] | None:
        """Files that nobody reads yet; None when there are none."""
        try:
            paths = self._waiting.popleft()
        except IndexError:
            return None
        return paths if self._wanted is None else [path for path in paths if path in self._wanted]

    def give_back(self, paths: list[str]) -> None:
        """Let somebody else read these."""
        self._waiting.append(paths)

    def give(self, paths: list[str], table: pa.Table) -> None:
        """Take the rows of these."""
        self._made.append((len(paths), table))

    def finish(self, wanted: Collection[str], progress: Callable[[int], None] | None = None) -> list[pa.Table]:
        """Read what is left.

        Args:
            wanted: Files that need be read after all.
            progress: Called with the number of files read, every now and then.

        Returns:
            The rows of those files that carry their id, have no problem and are settled, as tables in the schema of
            `observations.parquet`, in no order; rows of files that are not wanted may be among them.
        """
        self._wanted = wanted
        while True:
            paths = self.next()
            if paths is not None:
                self.give(paths, table_of(read_rows(self.layout, paths, self.zone)))
            elif not self._helpers:
                return [table for _, table in self._made]
            else:
                self._helpers.pop().result()  # what it could not read waits again
            if progress:
                progress(sum(n for n, _ in self._made))


def read_rows(layout: Layout, paths: Sequence[str], zone: str) -> Iterator[Row]:
    """The same as rows in the order of `schema.COLUMNS`, read by this process."""
    for folder, group in groupby(paths, lambda path: path.rpartition("/")[0]):
        try:
            with open_folder(layout.root, folder) as (descriptor, spelled):
                category = layout.category_of(folder)
                for path in group if spelled == folder else ():
                    row = _read_row(descriptor, path, category, zone)
                    if row is not None:
                        yield row
        except (OSError, InputError):  # the folder is missing, or a link is on the way to it
            continue


def _read_row(folder: int, path: str, category: str, zone: str) -> Row | None:
    began_ns = time.time_ns()
    try:
        data, state = read_file(path.rpartition("/")[2], dir_fd=folder)
    except OSError:
        return None
    if settled(state, began_ns) != state:
        return None
    row = read_own(data, path, category, state)
    if row is not None or not data.startswith(_OWN_START):
        return row
    try:
        made = read_observation(data, path, category, state, zone=zone)
    except InputError:
        return None
    says_all = made.has_id and made.has_time and id_us(made.observation.id) is not None
    return row_values(made) if says_all and not made.problems else None


# -- other processes ---------------------------------------------------------------------------------------------------


def _process() -> subprocess.Popen[bytes] | None:
    """A process that serves; None when none can be started."""
    code = f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import serve; serve()"
    try:
        return subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", code], env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},  # numpy starts it
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
    except OSError:
        return None


def _read_elsewhere(reading: Reading, process: subprocess.Popen[bytes]) -> None:
    """Let another process read what is waiting, until nothing is; what it does not give back waits again."""
    while (paths := reading.next()) is not None:
        table = _answer(process, [str(reading.layout.root), reading.layout.notes, reading.zone, paths])
        if table is None:
            reading.give_back(paths)
            return
        reading.give(paths, table)


def _answer(process: subprocess.Popen[bytes], asked: list[Any]) -> pa.Table | None:
    """The table that a process makes of the files it is asked for; None when it does not answer."""
    import pyarrow as pa

    try:
        _send(cast("IO[bytes]", process.stdin), json.dumps(asked).encode())
        return pa.ipc.open_stream(_received(cast("IO[bytes]", process.stdout))).read_all()
    except (OSError, EOFError, MemoryError, OverflowError, pa.ArrowInvalid):
        return None


def serve() -> None:
    """Read the files that standard input names, until it ends, and write their rows to standard output."""
    import pyarrow as pa

    table_of(())  # what it loads is ready then
    gc.disable()  # rows refer to nothing that refers to them
    while True:
        try:
            root, notes, zone, paths = json.loads(_received(sys.stdin.buffer))
        except EOFError:
            return
        table = table_of(read_rows(Layout(Path(root), notes), paths, zone))
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        _send(sys.stdout.buffer, sink.getvalue())


def _send(file: IO[bytes], data: Any) -> None:
    """Write bytes after their number."""
    file.write(len(data).to_bytes(_SIZE_BYTES, "little"))
    file.write(data)
    file.flush()


def _received(file: IO[bytes]) -> bytes:
    """What `_send` wrote at the other end."""
    size = file.read(_SIZE_BYTES)
    data = file.read(int.from_bytes(size, "little"))
    if len(size) < _SIZE_BYTES or len(data) < int.from_bytes(size, "little"):
        raise EOFError
    return data

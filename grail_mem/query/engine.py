"""Connections to DuckDB, all in memory, none of which reaches the network or loads extensions.

The one place that imports duckdb at all; its errors are translated here. Knows nothing of tables.
"""

from __future__ import annotations

import errno
import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

from grail_mem.errors import IndexUnusableError, StoreError

if TYPE_CHECKING:  # a tenth of a second, spent when the first question is asked
    import duckdb


_CONFIG: Final[dict[str, bool]] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "python_enable_replacements": False,
}
_SETTINGS: Final = (
    "SET enable_progress_bar = false",  # it would be drawn on standard output after two seconds
    "SET checkpoint_threshold = '1KB'",  # the one transaction of a build goes to the file, not to a log and then there
    # Rows of an index are a few numbers wide: to look for row numbers first and for values after that takes twice as long.
    "SET disabled_optimizers = 'late_materialization'",
)
_REFUSALS: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EIO)
"""What a disk says that does not take a file; told in the words of the system, which DuckDB quotes."""
_MOST_IDLE: Final = 3
"""A compaction uses two at once, beside the one that reads."""


def connect(*, threads: int) -> duckdb.DuckDBPyConnection:
    """A new in-memory connection that nobody else will use."""
    import duckdb

    return duckdb.connect(config={"threads": threads, **_CONFIG})


class Engine:
    """An in-memory DuckDB of one thread, which is as fast as more for questions that return few rows.

    It has one user at a time, who may attach a file as `x`. Making one takes 30 ms, so those let go of serve again.
    """

    def __init__(self) -> None:
        self._root = connect(threads=1)
        for setting in _SETTINGS:
            with suppress(
                _errors()
            ):  # in a notebook without the package that draws the bar, which then cannot be drawn
                self._root.execute(setting)
        self.con: duckdb.DuckDBPyConnection = self._root.cursor()

    def close(self) -> None:
        """Let go of it, of what its user made there, and of the attached file."""
        self.con.close()
        try:
            self._root.execute("DETACH DATABASE IF EXISTS x")
            self.con = self._root.cursor()
        except _errors():  # what went wrong inside DuckDB is over for this one only
            self._root.close()
            return
        if len(_idle) < _MOST_IDLE:
            _idle.append(self)
        else:
            self.con.close()
            self._root.close()


_idle: list[Engine] = []
_left_behind: list[Engine] = []


def engine() -> Engine:
    """One that nobody uses, or a new one."""
    with suppress(IndexError):
        return _idle.pop()
    return Engine()


def _leave_to_parent() -> None:
    """A forked process makes its own; those of the parent are neither used nor closed in it."""
    _left_behind.extend(_idle)
    _idle.clear()
    gc.freeze()  # what lies in the parent's garbage is closed by the parent alone: DuckDB does not survive it here


os.register_at_fork(after_in_child=_leave_to_parent)


def _errors() -> type[Exception]:
    import duckdb

    return duckdb.Error


@contextmanager
def index_errors(path: object) -> Iterator[None]:
    """Turn whatever DuckDB says about a damaged file into an `IndexUnusableError`: an error is never an empty answer."""
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        raise IndexUnusableError(
            f"The index file {path} cannot be used ({type(error).__name__}).",
            hint="`grail rebuild` makes it anew from the files.",
        ) from error


@contextmanager
def write_errors(path: object) -> Iterator[None]:
    """Turn whatever DuckDB says of a disk that does not take a file into a `StoreError`."""
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        reason = next((said for said in map(os.strerror, _REFUSALS) if said in str(error)), type(error).__name__)
        raise StoreError(
            f"The index file {path} could not be written: {reason}.",
            hint="The snapshot before it stays in use; free some space and repeat the call.",
        ) from error

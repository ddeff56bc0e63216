"""Connections to DuckDB, all in memory, none of which reaches the network or loads extensions.

The one place that imports duckdb at all; its errors are translated here. Knows nothing of tables.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from grail_mem.errors import IndexUnusableError, StoreError

if TYPE_CHECKING:  # a tenth of a second, spent when the first question is asked
    import duckdb


def connect(*, threads: int = 1) -> duckdb.DuckDBPyConnection:
    """A new in-memory connection; one thread is as fast as more for questions that return few rows."""
    import duckdb

    return duckdb.connect(
        config={
            "threads": threads,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "python_enable_replacements": False,
        }
    )


def connect_to_write() -> duckdb.DuckDBPyConnection:
    """A new connection for statements that take long: DuckDB would draw a bar on standard output after two seconds."""
    import duckdb

    con = connect()
    with suppress(duckdb.Error):  # in a notebook without the package that draws it, which then cannot be drawn either
        con.execute("SET enable_progress_bar = false")
    return con


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
        raise StoreError(
            f"The index file {path} could not be written ({type(error).__name__}).",
            hint="The snapshot before it stays in use; free some space and repeat the call.",
        ) from error

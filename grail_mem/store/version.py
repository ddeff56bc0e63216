"""The version of the form in which a store lies on disk; knows nothing of what the forms are.

It stands in `.grail/store.json`. A store without that file has the first form. A later form than this program knows is
refused; an earlier one is read as it is, and `grail migrate` brings it to the present one.
"""

from __future__ import annotations

import json
from typing import Final

from grail_mem.errors import StoreError
from grail_mem.model.refusal import refused
from grail_mem.store.files import replace_file
from grail_mem.store.layout import Layout

FIRST: Final = 1
STORE_VERSION: Final = 4
FILE: Final = ".grail/store.json"


def require_known(layout: Layout) -> None:
    """Refuse a store of a later form before anything in it is read or changed.

    Raises:
        StoreError: Its form is later than this program knows, or cannot be told.
    """
    version_of(layout)


def version_of(layout: Layout) -> int:
    """The version of a store's form.

    Raises:
        StoreError: It is later than this program knows, or cannot be told.
    """
    try:
        text = (layout.root / FILE).read_bytes()
    except FileNotFoundError:
        return FIRST
    except OSError as error:
        raise refused(error, "read which version the store has", layout.root / FILE) from error
    return require(version_in(text), FILE)


def version_text(version: int) -> bytes:
    """The file that says that a store has a version."""
    return json.dumps({"version": version}).encode() + b"\n"


def write_version(layout: Layout, version: int) -> None:
    """Say, durably, that a store has a version."""
    replace_file(layout.root / FILE, version_text(version))


def version_in(text: bytes) -> object:
    """What the file says is the version; None where it says none."""
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return said.get("version") if isinstance(said, dict) else None


def require(version: object, where: str) -> int:
    """A version that this program knows.

    Raises:
        StoreError: It is later, or none.
    """
    if not isinstance(version, int) or isinstance(version, bool) or version < FIRST:
        raise StoreError(f"{where} does not say which version the store has.", hint="Restore that file from a backup.")
    if version > STORE_VERSION:
        raise StoreError(
            f"The store has version {version}; this grail_mem knows versions up to {STORE_VERSION}.",
            hint="Nothing was touched. Use a newer grail_mem.",
        )
    return version

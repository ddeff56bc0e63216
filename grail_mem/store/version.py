"""The version of the form in which a store lies on disk; knows nothing of what the forms are.

It stands in `.grail/store.json`. A store without that file has the first form, which is the only one so far, so nothing
writes it yet: a program that one day changes the form writes its number there, and this one then refuses.
"""

from __future__ import annotations

import json
from typing import Final

from grail_mem.errors import StoreError
from grail_mem.store.layout import Layout

STORE_VERSION: Final = 1
FILE: Final = ".grail/store.json"


def require_known(layout: Layout) -> None:
    """Refuse a store of a later form before anything in it is read or changed.

    Raises:
        StoreError: Its form is later than this program knows, or cannot be told.
    """
    try:
        text = (layout.root / FILE).read_bytes()
    except FileNotFoundError:
        return
    except OSError as error:
        raise StoreError(f"Could not read {FILE}: {error.strerror or error}.") from error
    require(version_in(text), FILE)


def version_in(text: bytes) -> object:
    """What the file says is the version; None where it says none."""
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return said.get("version") if isinstance(said, dict) else None


def require(version: object, where: str) -> None:
    """Refuse a version that this program does not know.

    Raises:
        StoreError: It is later, or none.
    """
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise StoreError(f"{where} does not say which version the store has.", hint="Restore that file from a backup.")
    if version > STORE_VERSION:
        raise StoreError(
            f"The store has version {version}; this grail_mem knows versions up to {STORE_VERSION}.",
            hint="Nothing was touched. Use a newer grail_mem.",
        )

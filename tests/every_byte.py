"""Every byte under a root, in every form in which a store keeps texts: what a search for leftovers looks through.

Knows nothing of what is looked for.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import duckdb
import pyarrow.parquet as pq

GRAM = 5


def places_with(root: Path, words: list[str]) -> list[str]:
    """Files and names under the root in which some word stands, whatever its case or form."""
    needles = [form for word in words for form in _forms(word)]
    found = {where for where, data in everything(root) if any(needle in data for needle in needles)}
    grams = {word.casefold()[at : at + GRAM] for word in words for at in range(len(word) - GRAM + 1)}
    found |= {
        f"name {path.relative_to(root)}" for path in root.rglob("*") if any(g in path.name.casefold() for g in grams)
    }
    return sorted(found)


def _forms(word: str) -> set[bytes]:
    """A word as it may stand in bytes: plain, in JSON escapes, in UTF-16, and at each place of a base64 text."""
    made = set()
    for text in {word, word.casefold(), word.upper()}:
        data = text.encode()
        made |= {data.lower(), json.dumps(text)[1:-1].encode().lower(), text.encode("utf-16-le").lower()}
        for skip in range(3):
            coded = base64.b64encode(b"\0" * skip + data)
            made.add(coded[4 if skip else 0 : len(coded) - 4].lower())
    return {form for form in made if len(form) >= GRAM}


def everything(root: Path) -> Iterator[tuple[str, bytes]]:
    """Every file's bytes in one case, and what is packed in it."""
    for path in sorted(root.rglob("*")):
        if not path.is_file():
            continue
        where, data = str(path.relative_to(root)), path.read_bytes()
        yield where, data.lower()
        if path.suffix == ".parquet":
            yield f"{where} unpacked", str(pq.read_table(path).to_pylist()).encode().lower()
        elif path.suffix == ".duckdb":
            with duckdb.connect(str(path), read_only=True) as con:
                for (table,) in con.execute("SELECT table_name FROM duckdb_tables()").fetchall():
                    yield f"{where} {table}", str(con.execute(f"SELECT * FROM {table}").fetchall()).encode().lower()
        for begin in (b"\x78\x01", b"\x78\x9c", b"\x78\xda"):
            at = data.find(begin)
            while at >= 0:
                with suppress(zlib.error):
                    yield f"{where} zlib at {at}", zlib.decompressobj().decompress(data[at:]).lower()
                at = data.find(begin, at + 1)


def digests(root: Path) -> dict[str, bytes]:
    """Every file's bytes, by path, without what belongs to this process and machine alone."""
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and path.suffix != ".lock" and path.name != "lock"
    }

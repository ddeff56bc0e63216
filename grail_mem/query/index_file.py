"""The index file: an immutable DuckDB file made from a snapshot's rows, opened read-only by any number of processes.

Layout, chosen by measurement (docs/concepts/tables.md):

* `obs`: one row an observation, newest first, so that `LIMIT` stops early and the row number is the order. Conditions
  are on small columns; everything a caller gets is one JSON array in the payload file beside the index, read for
  returned rows only (`first_byte`, `n_bytes`). Terms (tags, entity names and types, relationship types, sessions, speakers, scopes, attributes) that many
  rows have are single bits in the columns `b0`, `b1`, ….
* `postings`: for every rarer term its rows, with the same small columns, sorted by term, so that one range of it holds
  all there is to know.
* `terms`: where a term's rows are: its bit, or its range in `postings`.
* `files`, `ids`, `paths`, `prints`: from id, path and fingerprint to row, and the state of every file when it was read.

Knows nothing of filters.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import closing
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from grail_mem.model.category import category_key
from grail_mem.model.names import attribute_key, entity_key, session_key, tag_key
from grail_mem.model.validity import FOREVER, NEVER, replaced_us
from grail_mem.query.engine import engine, write_errors
from grail_mem.query.filter_sql import ENTITY
from grail_mem.query.match import text_key
from grail_mem.query.payload_file import Places, write_payloads
from grail_mem.store.arrays import number_array, numpy_array, numpy_of, text_array

if TYPE_CHECKING:  # these cost a quarter of a second; only building needs them
    import numpy as np
    import pyarrow as pa

VERSION: Final = 7
HOT_SHARE: Final = 128
"""A term that at least one row in so many has is a bit; rarer ones are postings. Measured: 64 to 256 make no difference."""
HOT_LEAST: Final = 64
"""Fewer rows than this are never worth a bit, however few rows there are."""
DIMENSIONS: Final = ("kind", "status", "source_kind")
TIMES: Final = ("recorded_at", "valid_from")
SPANS: Final = ("ends", "stood", "replaced")
"""What is known of when a row holds, as in `model.validity`, beside `valid_from`."""


def build_index(table: pa.Table, path: Path, payloads: Path, *, placed: Future[Places] | None = None) -> None:
    """Write the index file and the payload file of a snapshot.

    Args:
        table: The snapshot's rows (`store.schema`), newest first: by `observed_at`, then `id`, descending.
        path: Where to write the index file; must not exist.
        payloads: Where to write the payload file.
        placed: Where its payloads will be, when somebody else is writing that file.
    """
    import pyarrow as pa

    categories, n_in_category, cid = _categories(table)
    terms = _Terms(table)
    columns, dimensions = _small_columns(table, cid, terms.bits)
    with closing(engine()) as duck, write_errors(path):
        con = duck.con
        con.execute(f"ATTACH '{quoted(path)}' AS x")
        con.execute("BEGIN")
        con.register("rows", table)
        con.execute(_FILES)
        con.register("t", terms.table())
        con.execute("CREATE TABLE x.terms AS SELECT * FROM t ORDER BY digest")
        text_keys = _text_keys(table)
        first_byte, n_bytes = placed.result() if placed else write_payloads(payloads, table)
        small = pa.table(columns | {"first_byte": numpy_array(first_byte), "n_bytes": numpy_array(n_bytes)})
        con.register("o", small.append_column("text_key", text_keys))
        kinds = ", ".join(f'"{name}" {_sql_type(small[name].type)}' for name in small.column_names)
        con.execute(f"CREATE TABLE x.obs({kinds}, text_key VARCHAR USING COMPRESSION uncompressed)")
        con.execute("INSERT INTO x.obs SELECT * FROM o")
        con.register("p", small.take(numpy_array(terms.posting_rids)))
        con.execute("CREATE TABLE x.postings AS SELECT * FROM p")
        meta = {
            "version": VERSION, "n_rows": table.num_rows, "n_bits": len(terms.bits), "categories": categories,
            "n_in_category": n_in_category, "dimensions": dimensions, "hot": terms.hot(),
            **_outermost(columns),
        }  # fmt: skip
        con.execute("CREATE TABLE x.meta AS SELECT ?::VARCHAR AS json", [json.dumps(meta)])
        con.execute("COMMIT")


def quoted(path: Path) -> str:
    """A path of ours for use between single quotes in SQL, where no parameter is allowed."""
    return str(path).replace("'", "''")


_FILES: Final = """
CREATE TABLE x.files(
    rid INTEGER, id VARCHAR USING COMPRESSION uncompressed, path VARCHAR USING COMPRESSION uncompressed,
    sha256 VARCHAR USING COMPRESSION uncompressed, size_bytes BIGINT, mtime_ns BIGINT, ctime_ns BIGINT, has_id BOOLEAN,
    observed_us BIGINT, recorded_us BIGINT, fingerprint UBIGINT);
INSERT INTO x.files
    SELECT row_number() OVER () - 1 AS rid, id, path, sha256, size_bytes, mtime_ns, ctime_ns, has_id,
           epoch_us(observed_at) AS observed_us, epoch_us(recorded_at) AS recorded_us, fingerprint FROM rows;
CREATE TABLE x.ids AS SELECT hash(id) AS digest, rid::INTEGER AS rid FROM x.files ORDER BY digest;
CREATE TABLE x.paths AS SELECT hash(path) AS digest, rid::INTEGER AS rid FROM x.files ORDER BY digest;
CREATE TABLE x.prints AS SELECT fingerprint, rid::INTEGER AS rid FROM x.files ORDER BY fingerprint;
"""


def _sql_type(kind: pa.DataType) -> str:
    return {"int8": "TINYINT", "int32": "INTEGER", "int64": "BIGINT", "uint64": "UBIGINT", "double": "DOUBLE"}[
        str(kind)
    ]


def _text_keys(table: pa.Table) -> pa.Array:
    """Title and content of every row as `text_key` makes them; nearly all are ASCII, which Arrow lowers at once."""
    import pyarrow.compute as pc

    titles, contents = (table[name].combine_chunks() for name in ("title", "content"))
    border, nothing = text_array(["\0", ""])
    borders = pc.if_else(pc.equal(contents, nothing), nothing, border)
    texts = pc.binary_join_element_wise(titles, contents, borders)
    others = pc.invert(pc.string_is_ascii(texts))
    keys = pc.ascii_lower(texts)
    if not pc.any(others).as_py():
        return keys
    pairs = zip(titles.filter(others).to_pylist(), contents.filter(others).to_pylist(), strict=True)
    return pc.replace_with_mask(keys, others, text_array([text_key(*pair) for pair in pairs]))


def _coded(values: Any, key: Callable[[str], Any] | None = None) -> tuple[np.ndarray, list[str]]:
    """Codes of a column of texts (-1 for null) and the texts by code, in order of their key."""
    import numpy as np
    import pyarrow as pa

    array = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    coded = array.dictionary_encode()
    texts = coded.dictionary.to_pylist()
    order = sorted(range(len(texts)), key=lambda i: key(texts[i]) if key else texts[i])
    code = np.full(len(texts) + 1, -1, np.int32)
    code[order] = np.arange(len(texts), dtype=np.int32)
    indices = numpy_of(coded.indices.fill_null(number_array([len(texts)], coded.indices.type)[0]))
    return code[indices], [texts[i] for i in order]


def _categories(table: pa.Table) -> tuple[list[str], list[int], np.ndarray]:
    """Categories coded so that a folder and everything below it are one range of codes."""
    import numpy as np

    cid, categories = _coded(table["category"], lambda text: category_key(text).split("/"))
    return categories, np.bincount(cid, minlength=len(categories)).tolist(), cid


def _small_columns(
    table: pa.Table, cid: np.ndarray, bits: list[np.ndarray]
) -> tuple[dict[str, Any], dict[str, list[str]]]:
    import numpy as np
    import pyarrow as pa

    columns: dict[str, Any] = {
        "rid": numpy_array(np.arange(table.num_rows, dtype=np.int32)),
        "us": table["observed_at"].cast(pa.int64()),
        "cid": numpy_array(cid),
        "confidence": table["confidence"],
    }
    dimensions = {}
    for name in DIMENSIONS:
        code, dimensions[name] = _coded(table[name])
        columns[name] = numpy_array(code.astype(np.int8))
    columns |= {name: table[name].cast(pa.int64()) for name in TIMES}
    columns |= _spans(table)
    columns |= {f"b{i}": numpy_array(word) for i, word in enumerate(bits)}
    return columns, dimensions


def _spans(table: pa.Table) -> dict[str, pa.Array]:
    """The columns of `SPANS`; the rule is that of `model.validity`."""
    import numpy as np
    import pyarrow as pa

    status = np.asarray(table["status"].combine_chunks().to_numpy(zero_copy_only=False), object)
    superseded, archived = status == "superseded", status == "archived"
    until, expires = (
        numpy_of(table[name].cast(pa.int64()).combine_chunks().fill_null(FOREVER))
        for name in ("valid_until", "expires_at")
    )
    ends = np.minimum(until, expires)
    ends = np.where(archived | (superseded & (until == FOREVER)), NEVER, ends)
    stood = np.where(archived, NEVER, np.where(superseded, expires, ends))
    replaced = np.full(table.num_rows, FOREVER, np.int64)
    by = table["superseded_by"].filter(numpy_array(superseded)).to_pylist() if superseded.any() else []
    replaced[superseded] = [replaced_us(id_) for id_ in by]
    return {name: numpy_array(values) for name, values in zip(SPANS, (ends, stood, replaced), strict=True)}


def _outermost(columns: dict[str, Any]) -> dict[str, int]:
    """The first end and the last beginning of any row, by which a filter knows that all of them hold."""
    import pyarrow.compute as pc

    first, last = pc.min(columns["ends"]).as_py(), pc.max(columns["valid_from"]).as_py()
    return {"first_end": FOREVER if first is None else first, "last_begin": NEVER if last is None else last}


def term_digest(kind: int, key: str) -> int:
    """A 64-bit digest of a term, by which it is looked up; texts are compared after that."""
    return int.from_bytes(blake2b(f"{kind}\0{key}".encode(), digest_size=8).digest(), "big")


class _Terms:
    """All terms of a table: the frequent ones as bits of each row, the others as postings sorted by term and row."""

    def __init__(self, table: pa.Table) -> None:
        import numpy as np

        n_rows = table.num_rows
        self.kinds, self.keys, pairs = _term_pairs(table)
        code, rid = (pairs >> 32).astype(np.int32), (pairs & 0xFFFFFFFF).astype(np.int32)
        self.n = np.bincount(code, minlength=len(self.keys))
        first = np.cumsum(self.n, dtype=np.int64) - self.n
        frequent = np.nonzero(self.n >= max(n_rows // HOT_SHARE, HOT_LEAST))[0]
        self.bit = np.full(len(self.keys), -1, np.int32)
        self.bits = [np.zeros(n_rows, np.uint64) for _ in range((len(frequent) + 63) // 64)]
        for number, term in enumerate(frequent):
            self.bit[term] = number
            self.bits[number // 64][rid[first[term] : first[term] + self.n[term]]] |= np.uint64(1 << (number % 64))
        self.posting_rids = rid[self.bit[code] < 0]
        in_postings = np.where(self.bit < 0, self.n, 0)
        self.first = np.cumsum(in_postings, dtype=np.int64) - in_postings  # a store without any term has none

    def table(self) -> pa.Table:
        import numpy as np
        import pyarrow as pa

        return pa.table(
            {
                "digest": number_array(list(map(term_digest, self.kinds, self.keys)), pa.uint64()),
                "kind": number_array(self.kinds, pa.int8()), "key": text_array(self.keys),
                "n": numpy_array(self.n.astype(np.int32)), "first": numpy_array(self.first), "bit": numpy_array(self.bit),
            }
        )  # fmt: skip

    def hot(self) -> list[list[Any]]:
        return [
            [self.kinds[i], self.keys[i], int(self.n[i]), int(self.bit[i])]
            for i in range(len(self.keys))
            if self.bit[i] >= 0
        ]


def _term_pairs(table: pa.Table) -> tuple[list[int], list[str], np.ndarray]:
    """Kind and key of every term, and all (term, row) pairs as `term << 32 | row`, sorted, each once."""
    import numpy as np

    tags, entities, relationships = (table[name].combine_chunks() for name in ("tags", "entities", "relationships"))
    session, speaker, scope, attribute = (
        table[name].combine_chunks() for name in ("session", "speaker", "scope", "attribute")
    )
    one_a_row = numpy_array(np.arange(table.num_rows + 1, dtype=np.int32))
    sources: tuple[tuple[Any, Any, Callable[[str], str]], ...] = (
        (tags.values, tags.offsets, tag_key),
        (entities.values.field("key"), entities.offsets, str),
        (entities.values.field("type"), entities.offsets, entity_key),
        (relationships.values.field("relationship_type"), relationships.offsets, entity_key),
        (session, one_a_row, session_key),
        (speaker, one_a_row, entity_key),
        (scope.fill_null(""), one_a_row, str),
        (attribute, one_a_row, attribute_key),
    )
    kinds: list[int] = []
    keys: list[str] = []
    pairs: list[np.ndarray] = []
    for kind, (listed, offsets, key_of) in enumerate(sources):
        rid = np.repeat(np.arange(table.num_rows, dtype=np.int64), np.diff(numpy_of(offsets)))
        values, rid = _with_other_names(entities, rid) if kind == ENTITY else (listed, rid)
        code, texts = _coded(values)
        known = {key: i for i, key in enumerate(sorted({key_of(text) for text in texts}), start=len(keys))}
        term = np.array([known[key_of(text)] for text in texts] or [0], np.int64)[code]
        pairs.append(((term << 32) | rid)[code >= 0])
        kinds += [kind] * len(known)
        keys += known
    together = np.concatenate(pairs)
    together.sort()
    keep = np.ones(len(together), bool)
    keep[1:] = together[1:] != together[:-1]
    return kinds, keys, together[keep]


def _with_other_names(entities: Any, rid: np.ndarray) -> tuple[pa.Array, np.ndarray]:
    """Keys of all names that rows give their entities, other names included, and the row of each.

    Args:
        entities: The column `entities`.
        rid: The row of each entity in it.
    """
    import numpy as np
    import pyarrow as pa

    own, others = entities.values.field("key"), entities.values.field("aliases")
    counts = np.diff(numpy_of(others.offsets))
    if not counts.any():
        return own, rid
    first, end = others.offsets[0].as_py(), others.offsets[-1].as_py()
    keys = text_array([entity_key(name) or None for name in others.values[first:end].to_pylist()])
    return pa.concat_arrays([own, keys]), np.concatenate([rid, np.repeat(rid, counts)])

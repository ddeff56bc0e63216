"""The columns of a snapshot: the one place that knows the Parquet tables, their order and their version.

Times are microseconds since 1970 UTC. Knows nothing of how rows are found or queried.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from grail_mem.model.observation import Entity, Evidence, Observation, Relationship, fingerprint
from grail_mem.model.times import from_us, to_us
from grail_mem.store.files import UNKNOWN_STATE, FileState
from grail_mem.store.observation_file import FileRow

if TYPE_CHECKING:  # pyarrow costs a tenth of a second; recalling never needs it
    import pyarrow as pa

VERSION: Final = 2
"""Version of the snapshot's tables; a snapshot of another version is not read but made anew."""

COLUMNS: Final = (
    ("id", "string", "ULID of the observation"),
    ("title", "string", "one line"),
    ("content", "string", "the markdown body"),
    ("category", "string", "folder path under `memories/`"),
    ("kind", "string", "semantic, episodic, procedural, prospective or summary"),
    ("status", "string", "provisional, confirmed, superseded or archived"),
    ("confidence", "double", "0 to 1"),
    ("source", "string", "where it comes from, as text"),
    ("source_kind", "string", "user_statement, system, tool_result, session_summary or agent_inference"),
    ("attribute", "string", "the current fact it states"),
    ("scope", "string", "whose memory it is"),
    ("observed_at", "time", "when it was seen"),
    ("recorded_at", "time", "when it was written"),
    ("valid_from", "time", "when it begins to hold"),
    ("valid_until", "time", "when it ceases to hold"),
    ("expires_at", "time", "after which it is no longer valid"),
    ("tags", "strings", "as written, without `#`"),
    ("entities", "entities", "what it mentions"),
    ("relationships", "relationships", "what it states between entities"),
    ("more", "string", "every other field as a JSON object"),
    ("path", "string", "file relative to the root"),
    ("sha256", "string", "digest of the file's bytes"),
    ("size_bytes", "int64", "size of the file"),
    ("mtime_ns", "int64", "its modification time when read; -1 when not settled"),
    ("ctime_ns", "int64", "its change time when read; -1 when not settled"),
    ("fingerprint", "uint64", "64-bit digest of what it says"),
    ("has_id", "bool", "whether the file itself carries the id"),
)
"""Name, type and meaning of the columns of `observations.parquet`, in order."""


PUBLIC: Final = tuple(name for name, *_ in COLUMNS[:22])
"""The columns that the view `observations` and data frames have."""


def arrow_schema() -> pa.Schema:
    """The schema of `observations.parquet`."""
    import pyarrow as pa

    entity = pa.struct(
        [(name, pa.string()) for name in ("name", "type", "description", "key")] + [("aliases", pa.list_(pa.string()))]
    )
    relationship = pa.struct(
        [(name, pa.string()) for name in ("source", "target", "relationship_type", "description")]
        + [("weight", pa.float64()), ("confidence", pa.float64())]
    )
    types = {
        "string": pa.string(), "double": pa.float64(), "int64": pa.int64(), "uint64": pa.uint64(), "bool": pa.bool_(),
        "time": pa.timestamp("us", tz="UTC"), "strings": pa.list_(pa.string()),
        "entities": pa.list_(entity), "relationships": pa.list_(relationship),
    }  # fmt: skip
    return pa.schema([pa.field(name, types[kind]) for name, kind, _ in COLUMNS])


def row_values(row: FileRow) -> tuple[Any, ...]:
    """One row in the order of `COLUMNS`."""
    o = row.observation
    return (
        o.id, o.title, o.content, o.category, o.kind, o.status, o.confidence, o.source, o.source_kind, o.attribute,
        o.scope, to_us(o.observed_at), to_us(o.recorded_at), _us(o.valid_from), _us(o.valid_until), _us(o.expires_at),
        o.tags,
        [
            {"name": e.name, "type": e.type, "description": e.description, "key": e.key, "aliases": list(e.aliases)}
            for e in o.entities
        ],
        [{name: getattr(r, name) for name in _RELATIONSHIP} for r in o.relationships],
        _more(o), o.path, o.sha256, *row.state, fingerprint(o), row.has_id,
    )  # fmt: skip


_RELATIONSHIP: Final = ("source", "target", "relationship_type", "description", "weight", "confidence")


def _us(time: datetime | None) -> int | None:
    return None if time is None else to_us(time)


def _more(o: Observation) -> str | None:
    more: dict[str, Any] = {}
    if o.review_at:
        more["review_at"] = to_us(o.review_at)
    if o.supersedes:
        more["supersedes"] = o.supersedes
    if o.evidence:
        more["evidence"] = [[e.quote, e.source, e.span, e.sha256] for e in o.evidence]
    if o.related_to:
        more["related_to"] = list(o.related_to)
    if o.extra:
        more["extra"] = o.extra
    return json.dumps(more, ensure_ascii=False, separators=(",", ":")) if more else None


def observations_table(rows: Iterable[FileRow]) -> pa.Table:
    """Rows as a table in the schema of `observations.parquet`, in the order given."""
    import pyarrow as pa

    schema = arrow_schema()
    columns = list(zip(*map(row_values, rows), strict=True)) or [()] * len(schema)
    return pa.table(
        [pa.array(column, type=field.type) for column, field in zip(columns, schema, strict=True)], schema=schema
    )


def public_table(observations: Iterable[Observation]) -> pa.Table:
    """Observations as a table with the columns of the view `observations`, in the order given."""
    return observations_table(FileRow(o, UNKNOWN_STATE) for o in observations).select(list(PUBLIC))


PAYLOAD: Final = (
    "id", "title", "content", "category", "observed_at", "recorded_at", "path", "tags", "entities", "relationships",
    "confidence", "kind", "status", "source", "source_kind", "attribute", "scope", "valid_from", "valid_until",
    "expires_at", "more", "sha256", "size_bytes", "mtime_ns", "ctime_ns",
)  # fmt: skip
"""The columns from which an observation is made again, in the order of its payload."""


def observation_of(payload: Sequence[Any]) -> Observation:
    """The observation in a payload: the values of `PAYLOAD`, times as microseconds, structs as mappings."""
    (id_, title, content, category, observed, recorded, path, tags, entities, relationships, confidence, kind, status,
     source, source_kind, attribute, scope, begin, end, expires, more, sha256, *_) = payload  # fmt: skip
    rest = json.loads(more) if more else {}
    return Observation(
        id_, title, content, category, from_us(observed), from_us(recorded), path, tuple(tags),
        tuple([Entity(e["name"], e["type"], e["description"], tuple(e["aliases"])) for e in entities]),
        tuple([Relationship(**r) for r in relationships]),
        confidence, kind, status, source, source_kind, attribute, scope, _time(begin), _time(end), _time(expires),
        _time(rest.get("review_at")), rest.get("supersedes"),
        tuple(Evidence(q, s, tuple(span) if span else None, d) for q, s, span, d in rest.get("evidence", ())),
        tuple(rest.get("related_to", ())), rest.get("extra", {}), sha256,
    )  # fmt: skip


def state_in(payload: Sequence[Any]) -> FileState:
    """The state of the file when it was read, from a payload."""
    return FileState(*payload[-3:])


def _time(us: int | None) -> datetime | None:
    return None if us is None else from_us(us)

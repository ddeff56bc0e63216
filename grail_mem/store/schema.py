"""The columns of a snapshot: the one place that knows the Parquet tables, their order and their version.

Times are microseconds since 1970 UTC. Knows nothing of how rows are found or queried.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

from grail_mem.model.observation import Entity, Evidence, Observation, Relationship, fingerprint
from grail_mem.model.times import from_us, to_us
from grail_mem.store.arrays import list_array, number_array, repeated_array, text_array
from grail_mem.store.files import UNKNOWN_STATE, FileState
from grail_mem.store.observation_file import FileRow

if TYPE_CHECKING:  # pyarrow costs a tenth of a second; recalling never needs it
    import pyarrow as pa

VERSION: Final = 6
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
    ("session", "string", "the conversation or event it belongs to"),
    ("turn", "int64", "its place in the session, from 0"),
    ("speaker", "string", "who said it"),
    ("observed_at", "time", "when it was seen"),
    ("recorded_at", "time", "when it was written"),
    ("valid_from", "time", "when it begins to hold"),
    ("valid_until", "time", "when it ceases to hold"),
    ("expires_at", "time", "after which it is no longer valid"),
    ("superseded_by", "string", "what took its place"),
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


PUBLIC: Final = tuple(name for name, *_ in COLUMNS[:26])
"""The columns that the view `observations` and data frames have."""


def arrow_schema() -> pa.Schema:
    """The schema of `observations.parquet`."""
    import pyarrow as pa

    types = _arrow_types()
    return pa.schema([pa.field(name, types[kind]) for name, kind, _ in COLUMNS])


def _arrow_types() -> dict[str, pa.DataType]:
    """The types that `COLUMNS` names."""
    import pyarrow as pa

    return {
        "string": pa.string(), "double": pa.float64(), "int64": pa.int64(), "uint64": pa.uint64(), "bool": pa.bool_(),
        "time": pa.timestamp("us", tz="UTC"), "strings": pa.list_(pa.string()),
        "entities": pa.list_(_entity_type()), "relationships": pa.list_(_relationship_type()),
    }  # fmt: skip


def _entity_type() -> pa.StructType:
    import pyarrow as pa

    texts = [(name, pa.string()) for name in ("name", "type", "description", "key")]
    return pa.struct([*texts, ("aliases", pa.list_(pa.string()))])


def _relationship_type() -> pa.StructType:
    import pyarrow as pa

    texts = [(name, pa.string()) for name in ("source", "target", "relationship_type", "description")]
    return pa.struct([*texts, ("weight", pa.float64()), ("confidence", pa.float64())])


def row_values(row: FileRow) -> tuple[Any, ...]:
    """One row in the order of `COLUMNS`."""
    o = row.observation
    return (
        o.id, o.title, o.content, o.category, o.kind, o.status, o.confidence, o.source, o.source_kind, o.attribute,
        o.scope, o.session, o.turn, o.speaker, to_us(o.observed_at), to_us(o.recorded_at), _us(o.valid_from),
        _us(o.valid_until), _us(o.expires_at), o.superseded_by, o.tags, o.entities, o.relationships,
        _more(o), o.path, o.sha256, *row.state, fingerprint(o), row.has_id,
    )  # fmt: skip


def _us(time: datetime | None) -> int | None:
    return None if time is None else to_us(time)


def _more(o: Observation) -> str | None:
    more: dict[str, Any] = {}
    if o.review_at:
        more["review_at"] = to_us(o.review_at)
    if o.supersedes:
        more["supersedes"] = o.supersedes
    if o.conflicts_with:
        more["conflicts_with"] = list(o.conflicts_with)
    if o.evidence:
        more["evidence"] = [evidence_values(e) for e in o.evidence]
    if o.related_to:
        more["related_to"] = list(o.related_to)
    if o.extra:
        more["extra"] = o.extra
    return json.dumps(more, ensure_ascii=False, separators=(",", ":")) if more else None


def evidence_values(e: Evidence) -> list[Any]:
    """The values of one item of evidence in their order, without those at the end that it does not have."""
    values = [e.quote, e.source, e.span, e.sha256, e.match, e.role, e.checker, e.support, dict(e.more)]
    while len(values) > _EVIDENCE_AT_LEAST and values[-1] in ("", None, {}):
        values.pop()
    return values


_EVIDENCE_AT_LEAST: Final = 4


def evidence_in(more: Mapping[str, Any]) -> tuple[Evidence, ...]:
    """The evidence in what the column `more` says."""
    return tuple(
        Evidence(quote, source, tuple(span) if span else None, *rest)
        for quote, source, span, *rest in more.get("evidence", ())
    )


def observations_table(rows: Iterable[FileRow]) -> pa.Table:
    """Rows as a table in the schema of `observations.parquet`, in the order given."""
    return table_of(map(row_values, rows))


def table_of(rows: Iterable[tuple[Any, ...]]) -> pa.Table:
    """Rows in the order of `COLUMNS`, as `row_values` gives them, as a table."""
    import pyarrow as pa

    columns = list(zip(*rows, strict=True)) or [()] * len(COLUMNS)
    arrays = [_array(kind, values) for (_, kind, _), values in zip(COLUMNS, columns, strict=True)]
    return pa.table(arrays, schema=arrow_schema())


def _array(name: str, values: Sequence[Any]) -> pa.Array:
    """One column of a table."""
    match name:
        case "string":
            return text_array(values)
        case "strings":
            return list_array(values, text_array)
        case "entities":
            return list_array(values, lambda items: repeated_array(items, _entity_array))
        case "relationships":
            return list_array(values, lambda items: repeated_array(items, _relationship_array))
    return number_array(values, _arrow_types()[name])


def _entity_array(entities: list[Entity]) -> pa.Array:
    import pyarrow as pa

    columns = [text_array(list(map(attrgetter(field.name), entities))) for field in list(_entity_type())[:-1]]
    return pa.StructArray.from_arrays(
        [*columns, list_array([e.aliases for e in entities], text_array)], fields=list(_entity_type())
    )


def _relationship_array(relationships: list[Relationship]) -> pa.Array:
    import pyarrow as pa

    columns = [list(map(attrgetter(field.name), relationships)) for field in _relationship_type()]
    arrays = [
        text_array(values) if field.type == pa.string() else number_array(values, field.type)
        for field, values in zip(_relationship_type(), columns, strict=True)
    ]
    return pa.StructArray.from_arrays(arrays, fields=list(_relationship_type()))


def public_table(observations: Iterable[Observation]) -> pa.Table:
    """Observations as a table with the columns of the view `observations`, in the order given."""
    return observations_table(FileRow(o, UNKNOWN_STATE) for o in observations).select(list(PUBLIC))


PAYLOAD: Final = (
    "id", "title", "content", "category", "observed_at", "recorded_at", "path", "tags", "entities", "relationships",
    "confidence", "kind", "status", "source", "source_kind", "attribute", "scope", "session", "turn", "speaker",
    "valid_from", "valid_until", "expires_at", "superseded_by", "more", "sha256", "size_bytes", "mtime_ns", "ctime_ns",
)  # fmt: skip
"""The columns from which an observation is made again, in the order of its payload."""
PARTS: Final = {"entities": Entity.__slots__, "relationships": Relationship.__slots__}
"""The fields of the parts of an observation, in the order of their values in a payload."""


def observation_of(payload: Sequence[Any]) -> Observation:
    """The observation in a payload: the values of `PAYLOAD`, times as microseconds, parts as the values of `PARTS`."""
    (id_, title, content, category, observed, recorded, path, tags, entities, relationships, confidence, kind, status,
     source, source_kind, attribute, scope, session, turn, speaker, begin, end, expires, superseded_by, more, sha256,
     *_) = payload  # fmt: skip
    rest = json.loads(more) if more else {}
    return Observation(
        id_, title, content, category, from_us(observed), from_us(recorded), path, tuple(tags),
        tuple([Entity(name, type_, description, tuple(aliases)) for name, type_, description, aliases in entities]),
        tuple([Relationship(*values) for values in relationships]),
        confidence, kind, status, source, source_kind, attribute, scope, session, turn, speaker, _time(begin), _time(end),
        _time(expires), _time(rest.get("review_at")), rest.get("supersedes"),
        evidence_in(rest),
        tuple(rest.get("related_to", ())), rest.get("extra", {}), sha256,
        superseded_by, tuple(rest.get("conflicts_with", ())),
    )  # fmt: skip


def state_in(payload: Sequence[Any]) -> FileState:
    """The state of the file when it was read, from a payload."""
    return FileState(*payload[-3:])


def _time(us: int | None) -> datetime | None:
    return None if us is None else from_us(us)

"""Which tables of a database hold memories and which column is what: told by their names, or named by the caller.

What is named is looked up in the schema; all that is wrong is told at once. Knows nothing of rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from grail_mem.errors import InputError
from grail_mem.keep.foreign.database import Table

FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "content": (
        "content", "text", "body", "memory", "memory_text", "fact", "claim", "statement", "observation", "message", "note",
        "summary", "description", "document", "chunk", "page_content", "object", "data", "value",
    ),
    "subject": ("subject", "entity", "entity_name"),
    "predicate": ("predicate", "relation", "relationship", "attribute", "property", "key"),
    "id": ("id", "uuid", "guid", "memory_id", "fact_id", "claim_id", "record_id", "message_id", "turn_id"),
    "title": ("title", "name", "headline", "label"),
    "observed_at": (
        "observed_at", "occurred_at", "event_time", "created_at", "created", "created_on", "create_time", "creation_time", "createdat",
        "timestamp", "ts", "time", "datetime", "date", "recorded_at", "inserted_at", "added_at", "updated_at", "last_updated",
    ),
    "user": ("user_id", "userid", "user", "owner_id", "owner"),
    "agent": ("agent_id", "agentid", "agent", "agent_name", "app_id", "assistant_id"),
    "session": ("session_id", "sessionid", "session", "conversation_id", "thread_id", "chat_id", "run_id"),
    "turn": ("turn", "turn_index", "turn_number", "message_index", "sequence", "seq", "position"),
    "speaker": ("speaker", "role", "sender", "author", "actor", "actor_id"),
    "tags": ("tags", "labels", "keywords", "topics"),
    "category": ("category", "categories", "folder", "namespace", "collection", "topic"),
    "kind": ("kind", "memory_type", "type", "fact_type", "memory_kind"),
    "confidence": ("confidence", "certainty", "probability", "confidence_score"),
    "status": ("status", "state"),
    "deleted": ("deleted", "is_deleted", "deleted_at", "forgotten", "forgotten_at", "removed", "removed_at", "tombstone"),
    "superseded_by": ("superseded_by", "superseded_by_id", "replaced_by", "invalidated_by"),
    "supersedes": ("supersedes", "supersedes_id", "replaces", "previous_id"),
    "valid_from": ("valid_from", "valid_at", "starts_at"),
    "valid_until": ("valid_until", "valid_to", "invalid_at", "ends_at"),
    "expires_at": ("expires_at", "expiration", "expiration_date", "expiry", "expires"),
    "source": ("source", "source_name", "origin", "url", "uri", "document_id", "source_id", "file_path"),
    "quote": ("quote", "evidence", "evidence_text", "source_text", "excerpt", "snippet", "citation"),
    "entities": ("entities", "entity_names", "people", "mentions"),
}  # fmt: skip
"""What a column can be, with the names that say so, the likeliest first."""
_WEAK: Final = ("message", "note", "summary", "description", "document", "object", "data", "value")
"""Names of a text that many tables have: they count in a table whose own name or other columns speak of memories."""
_OF_TRIPLES: Final = ("object", "value")
"""Texts that only say something together with what they are said of."""
_LIKELY: Final = (
    "memories", "memory", "facts", "fact", "claims", "claim", "evidence", "observations", "observation", "turns", "turn", "messages", "message",
    "notes", "note", "episodes", "beliefs", "statements", "documents", "chunks", "passages", "entries", "records", "items",
)  # fmt: skip
_UNLIKELY: Final = (
    "settings", "config", "configuration", "preferences_schema", "migrations", "schema_migrations", "alembic_version", "schema_version", "meta",
    "metadata", "jobs", "queue", "cache", "logs", "log", "audit", "audit_log", "users", "agents", "sessions", "tokens", "api_keys", "embeddings",
)  # fmt: skip
_RETOLD: Final = ("utterance", "quote", "assertion")
_BYTES: Final = ("embedding", "embeddings", "vector", "vectors", "embedding_vector", "content_embedding")
_TIMES_AND_OWNERS: Final = (
    "observed_at",
    "user",
    "agent",
    "session",
    "speaker",
    "tags",
    "confidence",
    "kind",
    "category",
)


@dataclass(frozen=True, slots=True)
class Choice:
    """What a caller says of a database.

    Attributes:
        table: The table that is read; empty for those that are recognised.
        columns: Columns by what they are.
    """

    table: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Mapped:
    """A table with what its columns are.

    Attributes:
        table: The table.
        columns: Columns by what they are; `content` is among them.
        kept: Columns that are kept beside the statement as they are.
        left: Columns that are not taken, and why.
    """

    table: Table
    columns: Mapping[str, str]
    kept: tuple[str, ...] = ()
    left: Mapping[str, str] = field(default_factory=dict)


def checked(choice: Choice) -> Choice:
    """A choice whose words can be meant.

    Raises:
        InputError: A field is none that a column can be.
    """
    odd = [name for name in choice.columns if name not in FIELDS]
    if odd:
        raise InputError(
            f"No column can be {', '.join(repr(str(name)[:60]) for name in odd)}.",
            hint=f"It can be {', '.join(FIELDS)}.",
        )
    return choice


def mapped(tables: Sequence[Table], choice: Choice, *, form: str = "") -> tuple[list[Mapped], dict[str, str]]:
    """The tables that hold memories, and why each of the others is not read.

    Args:
        tables: All tables.
        choice: What the caller says.
        form: The form that was named; `retold` knows some names of its own.

    Raises:
        InputError: The caller names a table or columns that are not there, or no table can be told to hold memories.
    """
    if choice.table or choice.columns:
        return [_chosen(tables, choice, form)], {}
    found: list[Mapped] = []
    left: dict[str, str] = {}
    for table in tables:
        reason = _why_left(table)
        made = None if reason else _recognised(table, form)
        if made is None:
            left[table.name] = (
                reason or "no column of it is known to hold what is remembered; --table and --column name one"
            )
        else:
            found.append(made)
    return found, left


def _why_left(table: Table) -> str:
    if table.kind == "shadow":
        return "it belongs to a virtual table"
    if table.kind in ("view", "virtual"):
        return (
            f"a {table.kind} table is read only when --table names it"
            if table.kind == "virtual"
            else ("a view is read only when --table names it")
        )
    return table.fault


def _chosen(tables: Sequence[Table], choice: Choice, form: str) -> Mapped:
    """The table that a caller means, with the columns that it names; all that is wrong at once."""
    table = _table(tables, choice)
    there = {column.name: column.name for column in table.columns}
    lower = {name.lower(): name for name in there}
    missing = {name for name in choice.columns.values() if name not in there and name.lower() not in lower}
    if missing:
        raise InputError(
            f"{table.name} has no column {', '.join(repr(name[:60]) for name in sorted(missing))}.",
            hint=f"It has {_listed([column.name for column in table.columns])}.",
        )
    columns = {name: there.get(column) or lower[column.lower()] for name, column in choice.columns.items()}
    made = _recognised(table, form, columns)
    if made is None:
        raise InputError(
            f"No column of {table.name} is known to hold what is remembered.",
            hint=f"Name it with `--column content=COLUMN`; there are {_listed([c.name for c in table.columns])}.",
        )
    return made


def _table(tables: Sequence[Table], choice: Choice) -> Table:
    if choice.table:
        found = [table for table in tables if table.name == choice.table]
        found = found or [table for table in tables if table.name.lower() == choice.table.lower()]
        why = f"There is no table {choice.table[:60]!r}."
    else:
        wanted = {name.lower() for name in choice.columns.values()}
        found = [t for t in tables if t.kind == "table" and wanted <= {column.name.lower() for column in t.columns}]
        why = f"{'Several tables have' if found else 'No table has'} the columns that are named; `--table` says which is meant."
    if len(found) != 1:
        raise InputError(why, hint=f"There are {_listed([table.name for table in tables])}.")
    if found[0].fault:
        raise InputError(f"{found[0].name}: {found[0].fault}.")
    return found[0]


def _recognised(table: Table, form: str, named: Mapping[str, str] | None = None) -> Mapped | None:
    """A table with what its columns are; nothing when no text of it can be what is remembered."""
    columns = dict(named or {})
    lower = {column.name.lower(): column for column in table.columns}
    free = {name: column for name, column in lower.items() if column.name not in columns.values()}
    for what, names in FIELDS.items():
        words = (*names, *_RETOLD) if what == "content" and form == "retold" else names
        is_part = what not in ("subject", "predicate") or columns.get("content", "").lower() in _OF_TRIPLES
        if what not in columns and is_part:
            for name in words:
                if name in free and (what not in ("content", "title") or _can_be_text(free[name].type)):
                    columns[what] = free.pop(name).name
                    break
    if "content" not in columns or (named is None and not _speaks_of_memories(table, columns, form)):
        return None
    vectors = {c.name: "vectors are made here" for c in free.values() if _is_bytes(c.name, c.type)}
    kept = tuple(column.name for column in free.values() if column.name not in vectors)
    return Mapped(table, columns, kept, vectors)


def _speaks_of_memories(table: Table, columns: Mapping[str, str], form: str) -> bool:
    name = table.name.lower()
    if name in _UNLIKELY:
        return False
    likely = name in _LIKELY or any(name.endswith(f"_{word}") for word in _LIKELY)
    if likely or form == "retold":
        return likely
    return columns["content"].lower() not in _WEAK and any(what in columns for what in _TIMES_AND_OWNERS)


def _can_be_text(type_: str) -> bool:
    """Whether a declared type can hold texts: numbers and times cannot, and no type can hold anything."""
    return not any(word in type_ for word in ("int", "real", "floa", "doub", "num", "bool", "date", "time"))


def _is_bytes(name: str, type_: str) -> bool:
    return "blob" in type_ or name.lower() in _BYTES


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name[:60]) for name in names[:30]) or "none"
    return shown + (f" and {len(names) - 30} more" if len(names) > 30 else "")  # noqa: PLR2004


def told(made: Mapped, n_rows: int | None, first: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A mapping as plain JSON values."""
    return {
        "table": made.table.name, "n_rows": n_rows, "columns": dict(made.columns), "kept": list(made.kept),
        "left": dict(made.left), "first": [dict(row) for row in first],
    }  # fmt: skip

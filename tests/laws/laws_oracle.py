"""The filter as one would write it on paper: plain Python over plain mappings, slow, and sharing no code with the store.

Rows are what the tests put into a store, not what they got back. Knows nothing of files, snapshots or SQL.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any

Row = dict[str, Any]
"""One observation: `id`, `category`, `recorded_at`, and what its writer said, with every default filled in."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def folded_name(text: str) -> str:
    """A name for comparing: Unicode's compatibility caseless match (D146), white space runs as one space."""
    text = "".join(char for char in text if char not in "\u200b\u2060\ufeff")
    once = unicodedata.normalize("NFKD", unicodedata.normalize("NFD", text).casefold())
    twice = unicodedata.normalize("NFKD", once.casefold())
    return " ".join(unicodedata.normalize("NFKC", twice).split())


def folded_tag(text: str) -> str:
    return folded_name(text).lstrip("# ")


def folded_text(text: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


@lru_cache(maxsize=10_000)
def folded_folder(text: str) -> str:
    """A folder for comparing: Unicode's canonical caseless match (D145), in NFC."""
    for _ in range(3):
        text = unicodedata.normalize("NFC", unicodedata.normalize("NFD", text).casefold())
    return text


def time_of_id(id_: str) -> datetime:
    number = 0
    for character in id_[:10]:
        number = number * 32 + "0123456789ABCDEFGHJKMNPQRSTVWXYZ".index(character)
    return EPOCH + timedelta(milliseconds=number)


def instant(value: datetime | str) -> datetime:
    """An aware time from what the strategies make: a datetime, or ISO text with an offset."""
    return datetime.fromisoformat(value) if isinstance(value, str) else value


def in_folder(pattern: str, category: str) -> bool:
    """Whether a glob picks a category, by trying every way to lay one over the other."""
    parts = folded_folder(pattern.strip(" ").rstrip("/ ")).split("/")
    if parts[-1] not in ("*", "**"):
        parts.append("**")
    return _laid_over(tuple(parts), tuple(folded_folder(category).split("/")) if category else ())


def _laid_over(parts: tuple[str, ...], folders: tuple[str, ...]) -> bool:
    if not parts:
        return not folders
    if re.fullmatch(r"\*\*+", parts[0]):
        return any(_laid_over(parts[1:], folders[n:]) for n in range(len(folders) + 1))
    return bool(folders) and _one_level(parts[0], folders[0]) and _laid_over(parts[1:], folders[1:])


def _one_level(part: str, folder: str) -> bool:
    if not part:
        return not folder
    if part[0] == "*":
        return any(_one_level(part[1:], folder[n:]) for n in range(len(folder) + 1))
    return bool(folder) and part[0] in ("?", folder[0]) and _one_level(part[1:], folder[1:])


def meets(row: Row, asked: Mapping[str, Any]) -> bool:
    """Whether a row meets every condition of a call of `recall`."""
    if not ({"status", "as_of", "believed_at"} & asked.keys() or asked.get("include_history")) and not _current(row):
        return False
    if "believed_at" in asked and not _believed(row, instant(asked["believed_at"]), asked.get("as_of")):
        return False
    if "as_of" in asked and "believed_at" not in asked and not _holds(row, instant(asked["as_of"])):
        return False
    beside = ("as_of", "believed_at", "include_history")
    return all(_CONDITIONS[name](row, value) for name, value in asked.items() if name not in beside)


def _listed(value: Any) -> list[Any]:
    return [value] if isinstance(value, str) else list(value)


def _any(row_values: Iterable[str], value: Any, folded: Any) -> bool:
    there = {folded(text) for text in row_values}
    return any(folded(text) in there for text in _listed(value))


def _over(row: Row, at: datetime) -> bool:
    """Whether a row holds no more at a time, as is known at last."""
    if row["status"] == "archived" or (row["status"] == "superseded" and row["valid_until"] is None):
        return True
    return any(row[name] is not None and row[name] <= at for name in ("valid_until", "expires_at"))


def _current(row: Row) -> bool:
    now = datetime.now(UTC)
    return not _over(row, now) and (row["valid_from"] is None or row["valid_from"] <= now)


def _holds(row: Row, at: datetime) -> bool:
    return (row["valid_from"] or row["observed_at"]) <= at and not _over(row, at)


def _believed(row: Row, known: datetime, at: datetime | str | None) -> bool:
    """What somebody would have answered who asked at `known`."""
    at = known if at is None else instant(at)
    if row["recorded_at"] > known or (row["valid_from"] or row["observed_at"]) > at:
        return False
    if row["status"] == "superseded" and row.get("superseded_by") and time_of_id(row["superseded_by"]) > known:
        return row["expires_at"] is None or row["expires_at"] > at  # nobody knew yet that it would be superseded
    return not _over(row, at)


_CONDITIONS: dict[str, Any] = {
    "since": lambda row, v: row["observed_at"] >= instant(v),
    "before": lambda row, v: row["observed_at"] < instant(v),
    "category": lambda row, v: any(in_folder(glob, row["category"]) for glob in _listed(v)),
    "tags": lambda row, v: _any(row["tags"], v, folded_tag),
    "tags_all": lambda row, v: all(_any(row["tags"], tag, folded_tag) for tag in _listed(v)),
    "entity_names": lambda row, v: _any([name for entity in row["entities"] for name in entity[2]], v, folded_name),
    "entity_types": lambda row, v: _any([kind for _, kind, _ in row["entities"]], v, folded_name),
    "relationship_type": lambda row, v: _any([kind for *_, kind in row["relationships"]], v, folded_name),
    "min_confidence": lambda row, v: row["confidence"] >= v,
    "kind": lambda row, v: row["kind"] in _listed(v),
    "status": lambda row, v: row["status"] in _listed(v),
    "source_kind": lambda row, v: row["source_kind"] in _listed(v),
    "session": lambda row, v: (
        unicodedata.normalize("NFC", row["session"] or "").strip()
        in [unicodedata.normalize("NFC", wanted).strip() for wanted in _listed(v)]
    ),
    "speaker": lambda row, v: row["speaker"] is not None and _any([row["speaker"]], v, folded_name),
    "text": lambda row, v: any(folded_text(v) in folded_text(row[name]) for name in ("title", "content")),
}


def answer(rows: Iterable[Row], asked: Mapping[str, Any], order: str) -> list[Row]:
    """The rows that meet every condition, in order."""
    return sorted((row for row in rows if meets(row, asked)), key=_ORDERS[order], reverse=order != "oldest")


_ORDERS: dict[str, Any] = {
    "newest": lambda row: (row["observed_at"], row["id"]),
    "oldest": lambda row: (row["observed_at"], row["id"]),
    "recorded": lambda row: (row["recorded_at"], row["observed_at"], row["id"]),
    "confidence": lambda row: (row["confidence"], row["observed_at"], row["id"]),
}


def _admitted(row: Row, asked: Mapping[str, Any]) -> set[str]:
    """Folded names of a row's entities that are of a name and of a type that were asked for."""
    return {
        folded_name(name)
        for name, kind, said in row["entities"]
        if ("entity_names" not in asked or _any(said, asked["entity_names"], folded_name))
        and ("entity_types" not in asked or _any([kind], asked["entity_types"], folded_name))
    }


def admitted_entities(rows: Sequence[Row], asked: Mapping[str, Any]) -> set[str]:
    """Folded names of all entities that an answer with these rows may and must show."""
    return {name for row in rows for name in _admitted(row, asked)}


def admitted_relationships(rows: Sequence[Row], asked: Mapping[str, Any]) -> set[tuple[str, str, str]]:
    """All relationships that an answer with these rows may and must show."""
    found = set()
    for row in rows:
        admitted = _admitted(row, asked)
        for source, target, kind in row["relationships"]:
            if "relationship_type" in asked and not _any([kind], asked["relationship_type"], folded_name):
                continue
            ends = {folded_name(source), folded_name(target)}
            if not ({"entity_names", "entity_types"} & asked.keys()) or ends & admitted:
                found.add((source, target, kind))
    return found

"""Names of entities: which of them a text says, and every way each is written.

Names are compared as everywhere, by their normalised form and never by likeness. Knows nothing of filters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import regex as re

from grail_mem.model.names import entity_key
from grail_mem.query.sql import SqlSession

_UNSPACED: Final = re.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]")
_MOST_TYPES: Final = 8


class Named(NamedTuple):
    """An entity as the store knows it.

    Attributes:
        key: Its normalised name.
        name: The way it is written most often.
        types: Its types, most frequent first.
        description: The longest that any observation gives; empty for none.
        spellings: Keys of its name and of its other names, its own first.
        aliases: Its other names as written.
        unshared: Those of its spellings that are no other name of another entity, its own first.
        asked: What the text called it, as written there.
    """

    key: str
    name: str
    types: tuple[str, ...]
    description: str
    spellings: tuple[str, ...]
    aliases: tuple[str, ...]
    unshared: tuple[str, ...]
    asked: str


def named_in(session: SqlSession, text: str) -> list[Named]:
    """The entities that a text names, by name or by another name, in the order of the text.

    Of names that lie within one another the longest counts. Another name that several entities have gives all of them.
    """
    key = entity_key(text)
    rows = session.ask("SELECT DISTINCT key FROM mentions WHERE key <> '' AND contains($text, key)", {"text": key})
    known: dict[str, list[str]] = {name: [name] for name in rows.column("key").to_pylist()}
    others = aliases(session)
    for other, owners in others.items():
        known.setdefault(other, []).extend(o for o in owners if o not in known.get(other, ()))
    spans = [(begin, begin + len(name), name) for name in known for begin in _places(key, name)]
    longest = [
        (begin, end, name)
        for begin, end, name in spans
        if not any(b <= begin and end <= e and e - b > end - begin for b, e, _ in spans)
    ]
    asked: dict[str, str] = {}
    for _, _, name in sorted(longest):
        for owner in known[name]:
            asked.setdefault(owner, name)
    return described(session, asked, others)


def called(session: SqlSession, keys: Sequence[str]) -> list[Named]:
    """The entities that have one of these normalised names, or that as another name; those that nobody has are left out."""
    rows = session.ask("SELECT DISTINCT key FROM mentions WHERE key IN (SELECT unnest(?))", [list(keys)])
    own = set(rows.column("key").to_pylist())
    others = aliases(session)
    asked: dict[str, str] = {}
    for key in keys:
        for owner in [key] if key in own else sorted(others.get(key, ())):
            asked.setdefault(owner, key)
    return described(session, asked, others)


def alike(session: SqlSession, text: str, n: int = 3) -> list[str]:
    """The names that are written most like a text, to suggest."""
    words = [word for word in entity_key(text).split() if len(word) > 2] or [entity_key(text)]  # noqa: PLR2004
    sql = """SELECT min(name) AS name, max(jaro_winkler_similarity(key, word)) AS likeness
             FROM (SELECT DISTINCT key, name FROM mentions), (SELECT unnest($words) AS word)
             GROUP BY key HAVING likeness > 0.8 ORDER BY likeness DESC, name LIMIT $n"""
    found: list[str] = session.ask(sql, {"words": words, "n": n}).column("name").to_pylist()
    return found


def aliases(session: SqlSession) -> dict[str, set[str]]:
    """By the normalised form of every other name, the keys of the entities that have it."""
    sql = """SELECT DISTINCT e.key AS key, unnest(e.aliases) AS alias
             FROM (SELECT unnest(entities) AS e FROM rows) ORDER BY alias, key"""
    made: dict[str, set[str]] = {}
    for row in session.ask(sql).to_pylist():
        if other := entity_key(row["alias"]):
            made.setdefault(other, set()).add(row["key"])
    return made


def described(session: SqlSession, asked: Mapping[str, str], owners: Mapping[str, set[str]]) -> list[Named]:
    """What is known of entities, in order.

    Args:
        session: Everything that counts.
        asked: Keys, each with what it was called by.
        owners: The entities that have each other name, as `aliases` gives them.
    """
    if not asked:
        return []
    sql = """SELECT e.key AS key, mode(e.name ORDER BY e.name) AS name, max_by(e.description, strlen(e.description)) AS description,
                    flatten(list(e.aliases)) AS aliases,
                    list(e.type) FILTER (e.type <> '') AS types
             FROM (SELECT unnest(entities) AS e FROM rows) WHERE e.key IN (SELECT unnest(?)) GROUP BY e.key"""
    found = {row["key"]: row for row in session.ask(sql, [list(asked)]).to_pylist()}
    return [_named(found[key], said, owners) for key, said in asked.items() if key in found]


def _named(row: dict[str, object], asked: str, owners: Mapping[str, set[str]]) -> Named:
    own = str(row["key"])
    others = {entity_key(text): text for text in sorted(_texts(row["aliases"]), reverse=True)}
    others.pop(own, None)
    others.pop("", None)
    types = _texts(row["types"])
    by_count = sorted(set(types), key=lambda t: (-types.count(t), t))[:_MOST_TYPES]
    unshared = [key for key in sorted(others) if len(owners.get(key, ())) <= 1]
    return Named(
        own, str(row["name"]), tuple(by_count), str(row["description"] or ""), (own, *sorted(others)),
        tuple(others[key] for key in sorted(others)), (own, *unshared), asked,
    )  # fmt: skip


def _texts(value: object) -> list[str]:
    return [str(item) for item in value if item] if isinstance(value, Iterable) else []


def says_name(text: str, name: str) -> bool:
    """Whether a text says a name as a whole; both in normalised form."""
    return next(_places(text, name), None) is not None


def _places(text: str, name: str) -> Iterator[int]:
    """Where a text says a name as a whole: not within a longer word, number or version."""
    begin = text.find(name)
    while begin >= 0:
        end = begin + len(name)
        if _parts(text, begin) and _parts(text, end):
            yield begin
        begin = text.find(name, begin + 1)


def _parts(text: str, at: int) -> bool:
    """Whether a name may begin or end between the characters before and at a place."""
    if at in (0, len(text)):
        return True
    before, after = text[at - 1], text[at]
    if before.isalnum() and after.isalnum():
        return bool(_UNSPACED.match(before) or _UNSPACED.match(after))
    numbers = (before in ".," and after.isdigit() and text[at - 2 : at - 1].isdigit()) or (
        after in ".," and before.isdigit() and text[at + 1 : at + 2].isdigit()
    )
    return not numbers and "_" not in (before, after)

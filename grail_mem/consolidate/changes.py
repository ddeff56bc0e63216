"""The changes that a proposal may ask for, checked, and what they make of observations.

A proposal is data that anybody may have written, so every part is checked before any of it is done. A change names
observations by id and folders by category, never a path:

* `{"do": "set", "id": ID, "fields": {NAME: VALUE}}`: fields of `Memory.update`; None removes one.
* `{"do": "move", "id": ID, "category": CATEGORY}`
* `{"do": "hide", "id": ID}`
* `{"do": "add", "draft": {NAME: VALUE}}`: arguments of `Memory.add_observation`.
* `{"do": "rename_entity", "ids": [ID, ...], "names": [NAME, ...], "to": NAME, "type": TYPE}`: in those observations, what
  is called by one of the names is called `to`; the name that stood there stays as one of its aliases. `type` may be left out.
* `{"do": "note_merged", "id": ID, "merged": [{"id": ID, ...}]}`: keeps in the frontmatter what is known of others that say
  the same, such as when each was observed.

Knows nothing of the ledger and of what a proposal is for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, cast

from grail_mem.errors import ConflictError, GrailError, InputError
from grail_mem.model.category import clean_category
from grail_mem.model.names import entity_key
from grail_mem.model.observation import Entity, Observation
from grail_mem.model.ulid import is_id
from grail_mem.query.view import View
from grail_mem.store.parts import unique_entities
from grail_mem.write.edited import Edited, in_category, make_new, with_extra, with_fields
from grail_mem.write.validate import DRAFT_FIELDS, read_draft

Change = Mapping[str, Any]
MERGED: Final = "merged_from"
"""The frontmatter key under which an observation keeps what is known of others that said the same."""
NOT_SET: Final = frozenset({"category", "slug", "evidence"})
"""Fields that `set` leaves alone: a folder is changed by `move`, a slug names new files only, evidence is located anew."""


def problems_of(change: object) -> list[str]:
    """Everything for which a change cannot be done whatever the store holds; empty when it has the right form."""
    if not isinstance(change, Mapping):
        return [f"a change must be a mapping, not {type(change).__name__}"]
    verb = change.get("do")
    if not isinstance(verb, str) or verb not in _FORMS:
        return [f"there is no change {verb!r}; the changes are {', '.join(_FORMS)}"]
    form = _FORMS[verb]
    found = [f"{verb} has no '{name}'" for name in form if name not in change and name not in _OPTIONAL]
    found += [f"{verb} knows no '{name}'" for name in change if name not in form and name != "do"]
    for name, right in form.items():
        if name in change and (reason := right(change[name])):
            found.append(f"{verb}: {name} {reason}")
    return found


def ids_in(changes: Sequence[Change]) -> list[str]:
    """The observations that changes name, in order, each once."""
    named = [id_ for change in changes for id_ in (change.get("ids") or [change.get("id")]) if id_]
    return list(dict.fromkeys(named))


def edited_by(view: View, changes: Sequence[Change], now: Mapping[str, Edited], *, create: bool) -> list[Edited]:
    """What becomes of the observations that changes name, those that are added last.

    Args:
        view: The store.
        changes: The changes, of the right form.
        now: The observations by id, as they are.
        create: Make folders that are missing; otherwise only say where files would be.

    Raises:
        InputError: A change cannot be done; `problems` lists every reason.
        ConflictError: An observation is gone, or a file is in the way.
    """
    missing = [id_ for id_ in ids_in(changes) if id_ not in now]
    if missing:
        raise ConflictError(f"There is no observation {', '.join(missing)}.", hint="Run `grail consolidate` anew.")
    made = dict(now)
    added: list[Edited] = []
    taken: list[str] = []
    for change in changes:
        if change["do"] == "add":
            added.append(make_new(view, read_draft(change["draft"]), taken=taken, create=create))
            taken.append(added[-1].path)
            continue
        for id_ in change.get("ids") or [change["id"]]:
            before, made[id_] = made[id_], _done(view, change, made[id_], taken, create)
            if made[id_].path != before.path:
                taken.append(made[id_].path)
    return [*made.values(), *added]


def _done(view: View, change: Change, edited: Edited, taken: Sequence[str], create: bool) -> Edited:  # noqa: FBT001  private
    match change["do"]:
        case "set":
            return with_fields(view, edited, change["fields"])
        case "move":
            return in_category(view, edited, change["category"], taken=taken, create=create)
        case "hide":
            return replace(edited, hidden=True)
        case "note_merged":
            there = edited.made.extra.get(MERGED)
            earlier = there if isinstance(there, list) else []
            known = {item.get("id") for item in earlier if isinstance(item, Mapping)}
            coming = [dict(item) for item in change["merged"] if item["id"] not in known]
            return with_extra(edited, MERGED, [*earlier, *coming])
    return with_fields(view, edited, renamed(edited.made, change["names"], change["to"], change.get("type")))


def renamed(o: Observation, names: Sequence[str], to: str, kind: str | None = None) -> dict[str, Any]:
    """Entities and relationships of an observation in which what has one of the names is called otherwise.

    Args:
        o: The observation.
        names: The names that go, however upper and lower case stand.
        to: The name that takes their place.
        kind: The type that the entity has then; None keeps what stands there.

    Returns:
        The fields that change, for a patch.
    """
    keys = {entity_key(name) for name in names} | {entity_key(to)}
    entities = [_called(entity, to, kind) if entity.key in keys else entity for entity in o.entities]
    relationships = tuple(
        replace(r, source=to if entity_key(r.source) in keys else r.source, target=to if entity_key(r.target) in keys else r.target)
        for r in o.relationships
    )  # fmt: skip
    fields = {"entities": _joined(entities, entity_key(to)), "relationships": tuple(dict.fromkeys(relationships))}
    return {name: value for name, value in fields.items() if value != getattr(o, name)}


def _called(entity: Entity, to: str, kind: str | None) -> Entity:
    """The entity under another name; the name that it had is one of its aliases from now on."""
    others = (*entity.aliases, *([entity.name] if entity.key != entity_key(to) else []))
    kept = {entity_key(name): name for name in reversed(others) if entity_key(name) != entity_key(to)}
    name = to if entity.key != entity_key(to) else entity.name
    return replace(entity, name=name, type=kind or entity.type, aliases=tuple(reversed(kept.values())))


def _joined(entities: Sequence[Entity], key: str) -> tuple[Entity, ...]:
    """Entities with those of one name made one, at the place of the first: types, descriptions and aliases are kept."""
    same = [entity for entity in entities if entity.key == key]
    if len(same) <= 1:
        return unique_entities(entities)
    by_type: dict[str, Entity] = {}
    for entity in same:
        kind = entity_key(entity.type)
        one = by_type.get(kind)
        by_type[kind] = entity if one is None else _both(one, entity)
    if "" in by_type and len(by_type) > 1:  # a mention without a type is one of the others
        untyped = by_type.pop("")
        first = next(iter(by_type))
        by_type[first] = _both(by_type[first], untyped)
    first_at = next(i for i, entity in enumerate(entities) if entity.key == key)
    before = [entity for entity in entities[:first_at] if entity.key != key]
    after = [entity for entity in entities[first_at:] if entity.key != key]
    return unique_entities([*before, *by_type.values(), *after])


def _both(one: Entity, other: Entity) -> Entity:
    aliases = {entity_key(name): name for name in (*reversed(other.aliases), *reversed(one.aliases))}
    longest = max(one.description, other.description, key=len)
    return replace(one, description=longest, aliases=tuple(reversed(aliases.values())))


# -- the form of each change -------------------------------------------------------------------------------------------


def _id(value: object) -> str:
    return "" if is_id(value) else f"is no id of an observation: {value!r}"


def _ids(value: object) -> str:
    if not isinstance(value, list | tuple) or not value:
        return "must be a list of ids"
    return next((f"holds no id of an observation: {item!r}" for item in value if not is_id(item)), "")


def _name(value: object) -> str:
    return "" if isinstance(value, str) and entity_key(value) else f"must be a name, not {value!r}"


def _names(value: object) -> str:
    if not isinstance(value, list | tuple) or not value:
        return "must be a list of names"
    return next((reason for item in value if (reason := _name(item))), "")


def _text(value: object) -> str:
    return "" if value is None or isinstance(value, str) else f"must be text, not {value!r}"


def _category(value: object) -> str:
    try:
        clean_category(cast("str", value))  # anything may stand here, which it says itself
    except GrailError as error:
        return f"cannot be used: {error}"
    return ""


def _fields(value: object) -> str:
    if not isinstance(value, Mapping) or not value:
        return "must be a mapping of fields"
    wrong = [str(name) for name in value if name not in DRAFT_FIELDS or name in NOT_SET]
    wrong += [name for name in ("title", "content") if name in value and value[name] is None]
    return f"cannot set {', '.join(wrong)}" if wrong else ""


def _draft(value: object) -> str:
    try:
        read_draft(cast("Mapping[str, Any]", value))  # anything may stand here, which it says itself
    except InputError as error:
        return f"cannot be used: {error}"
    return ""


def _merged(value: object) -> str:
    if not isinstance(value, list | tuple) or not value:
        return "must be a list"
    ids = [item.get("id") if isinstance(item, Mapping) else None for item in value]
    return "" if all(map(is_id, ids)) else "needs the id of each observation"


_FORMS: Final[Mapping[str, Mapping[str, Callable[[object], str]]]] = {
    "set": {"id": _id, "fields": _fields},
    "move": {"id": _id, "category": _category},
    "hide": {"id": _id},
    "add": {"draft": _draft},
    "rename_entity": {"ids": _ids, "names": _names, "to": _name, "type": _text},
    "note_merged": {"id": _id, "merged": _merged},
}
_OPTIONAL: Final = frozenset({"type"})

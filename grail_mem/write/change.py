"""Change what is there: update, move, hide, restore.

Each holds the write lock from reading the file to telling the ledger, so no change by another process is lost. Knows
nothing of how drafts become observations beyond calling `validate`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from grail_mem.errors import ConflictError, InputError, NotFoundError
from grail_mem.model.category import category_key, clean_category
from grail_mem.model.observation import Observation, fingerprint
from grail_mem.model.times import format_time
from grail_mem.query.find import locate
from grail_mem.query.view import View
from grail_mem.store.files import open_folder, read_file, translated
from grail_mem.store.frontmatter_edit import edit
from grail_mem.store.ledger_line import Entry
from grail_mem.store.observation_file import FileRow, fields_of
from grail_mem.write.staged import Placing, discard, make_durable, place, stage, staging, tell, writing
from grail_mem.write.validate import DRAFT_FIELDS, Draft, make_observation, with_endpoints


@dataclass(frozen=True, slots=True)
class Changed:
    """What became of one change.

    Attributes:
        id: The observation's ULID.
        path: Its file, relative to the root, after the change.
        changed: False when everything was so already.
        warnings: What was adjusted or is worth knowing.
    """

    id: str
    path: str
    changed: bool = True
    warnings: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """The result as plain JSON values."""
        return {"id": self.id, "path": self.path, "changed": self.changed, "warnings": list(self.warnings)}


def update(view: View, id_: str, patch: Mapping[str, Any], *, append: str | None, actor: str, reason: str) -> Changed:
    """Change the named fields of an observation and no others.

    Args:
        view: The store.
        id_: The observation's ULID.
        patch: New values by field name; None removes the field.
        append: Text put behind the content as a paragraph of its own; not together with new content.
        actor: Who does it.
        reason: Why, for the ledger.

    Raises:
        NotFoundError: There is no such observation.
        InputError: A field or value cannot be used; `problems` lists every reason.
    """
    _check_patch(patch, append)
    with staging(view.layout) as staging_fd, translated("change the observation"), writing(view):
        row = _current(view, id_)
        patch = dict(patch) | ({"content": f"{row.observation.content}\n\n{append}"} if append is not None else {})
        made, warnings = _patched(view, row.observation, patch)
        data, _ = read_file(view.layout.root / row.observation.path)
        changes = {name: value for name, value in _changes(row, made).items() if name != "content"}
        new = edit(data, changes, content=made.content if made.content != row.observation.content else None)
        if new == data:
            return Changed(id_, row.observation.path, changed=False, warnings=warnings)
        entry = _entry("update", made, row, row.observation.path, new, actor, reason)
        _replace(view, staging_fd, data, new, entry)
    return Changed(id_, row.observation.path, warnings=warnings)


def move(view: View, id_: str, category: str, *, actor: str, reason: str) -> Changed:
    """Put an observation into another category: its file goes to that folder, its id stays.

    Raises:
        NotFoundError: There is no such observation.
        InputError: The category cannot be used.
        ConflictError: A file of that name is there already.
    """
    category = clean_category(category)
    with staging(view.layout) as staging_fd, translated("move the observation"), writing(view):
        row = _current(view, id_)
        old = row.observation.path
        folder, _, name = old.rpartition("/")
        with open_folder(view.layout.root, view.layout.folder_of(category), create=True) as (target, spelled):
            path = f"{spelled}/{name}"
            if path == old:
                return Changed(id_, old, changed=False)
            with open_folder(view.layout.root, folder) as (source, _):
                key = category_key(name)  # on other systems names that differ in case only are one file
                there = next((other for other in os.listdir(target) if category_key(other) == key), None)
                if there is not None:
                    raise ConflictError(
                        f"{name} cannot go to {spelled}: {there} is there already.", hint="Rename one of the two files."
                    )
                data, _ = read_file(name, dir_fd=source)
                new = edit(data, {"category": view.layout.category_of(spelled)}) if row.has_id else data
        entry = _entry("move", row.observation, row, path, new, actor, reason, was=old)
        _replace(view, staging_fd, data, new, entry)
    return Changed(id_, path)


def hide(view: View, id_: str, *, actor: str, reason: str) -> Changed:
    """Take an observation out of every answer; its file stays, and `restore` brings it back.

    Raises:
        NotFoundError: There is no such observation.
    """
    return _tombstone(view, id_, "hide", actor, reason)


def restore(view: View, id_: str, *, actor: str, reason: str) -> Changed:
    """Bring a hidden observation back into the answers.

    Raises:
        NotFoundError: There is no such observation.
    """
    return _tombstone(view, id_, "restore", actor, reason)


def _tombstone(view: View, id_: str, action: str, actor: str, reason: str) -> Changed:
    with translated(f"{action} the observation"), writing(view):
        row = locate(view, id_)
        path = row.observation.path
        if (id_ in view.hidden) == (action == "hide"):
            return Changed(id_, path, changed=False)
        entry = Entry(action, id_, path, reason=reason, at=format_time(datetime.now(UTC)), actor=actor)
        entries = [entry] if row.has_id else [_adoption(row, entry), entry]
        tell(view, entries)
    return Changed(id_, path)


def _current(view: View, id_: str) -> FileRow:
    row = locate(view, id_)
    if id_ in view.hidden:
        raise NotFoundError(f"Observation {id_} is hidden.", hint="`grail restore` brings it back.")
    return row


def _check_patch(patch: Mapping[str, Any], append: str | None) -> None:
    problems = [f"'{name}' is no field that can be updated." for name in patch if name not in DRAFT_FIELDS]
    problems += [
        f"'{name}' cannot be removed." for name in ("content", "title") if name in patch and patch[name] is None
    ]
    if "category" in patch:
        problems.append("category is changed by `move`.")
    if "slug" in patch:
        problems.append("slug names a new file only.")
    if append is not None and "content" in patch:
        problems.append("append and content cannot be given together.")
    if append is not None and (not isinstance(append, str) or not append.strip()):
        problems.append("append must be text.")
    if not patch and append is None:
        problems.append("nothing to change was given.")
    if problems:
        raise InputError(" ".join(problems), problems=problems)


def _patched(view: View, old: Observation, patch: Mapping[str, Any]) -> tuple[Observation, tuple[str, ...]]:
    """The observation with the patch. What the patch does not name stays as it is, even where it would not pass today."""
    beside = {
        "title": old.title,
        "content": old.content or old.title,
        "valid_from": old.valid_from,
        "valid_until": old.valid_until,
    }
    made, warned = make_observation(Draft(**(beside | dict(patch))), now=datetime.now(UTC), settings=view.settings)
    new = replace(old, **{name: getattr(made, name) for name in patch})
    warnings = list(warned)
    if "entities" in patch or "relationships" in patch:
        new = replace(new, entities=with_endpoints(new.entities, new.relationships, warnings))
    if "observed_at" in patch and patch["observed_at"] is None:
        new = replace(new, observed_at=old.recorded_at)
    return new, tuple(dict.fromkeys(warnings))


def _changes(row: FileRow, made: Observation) -> dict[str, Any]:
    """The frontmatter keys whose value is another now; None for those that go."""
    before, after = fields_of(row.observation), fields_of(made)
    return {name: after.get(name) for name in {**before, **after} if before.get(name) != after.get(name)}


def _entry(
    action: str, made: Observation, row: FileRow, path: str, data: bytes, actor: str, reason: str, *, was: str = ""
) -> Entry:
    times = _times_for(row)
    return Entry(
        action, made.id, path, was=was, digest=sha256(data).hexdigest(), reason=reason, observed_at=times[0],
        recorded_at=times[1], fingerprint=f"{fingerprint(made):016x}", at=format_time(datetime.now(UTC)), actor=actor,
    )  # fmt: skip


def _adoption(row: FileRow, entry: Entry) -> Entry:
    """The entry that keeps the id of a file that carries none, before another entry names that id alone."""
    o, times = row.observation, _times_for(row)
    return Entry(
        "adopt", o.id, o.path, digest=o.sha256, observed_at=times[0], recorded_at=times[1],
        fingerprint=f"{fingerprint(o):016x}", at=entry.at, actor=entry.actor,
    )  # fmt: skip


def _times_for(row: FileRow) -> tuple[str, str]:
    """What the ledger has to keep of a file that carries no id, so that it is the same observation from now on."""
    o = row.observation
    return ("", "") if row.has_id else (format_time(o.observed_at), format_time(o.recorded_at))


def _replace(view: View, staging_fd: int, old: bytes, new: bytes, entry: Entry) -> None:
    names = stage(staging_fd, [new])
    try:
        place(view, [Placing(names[0], entry.path, new, entry, sha256(old).hexdigest())], staging_fd)
    except Exception:  # not an interrupt: what is committed by then is finished by the next writer
        discard(staging_fd, names)
        raise
    make_durable(view)

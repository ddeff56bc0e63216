"""Observations in the making: each as it was and as it shall be, and how several come into force at once.

One way for everything that changes what is there: read → edit, as often as needed → commit, all or none. Knows nothing of
why something is changed.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Final

from grail_mem.errors import ConflictError, InputError
from grail_mem.model.category import category_key, clean_category
from grail_mem.model.observation import Observation, fingerprint
from grail_mem.model.times import format_time
from grail_mem.model.validity import interval_of
from grail_mem.query.find import locate_all
from grail_mem.query.view import View
from grail_mem.store.filename import file_name
from grail_mem.store.files import UNKNOWN_STATE, open_folder, read_file
from grail_mem.store.frontmatter_edit import edit
from grail_mem.store.layout import Layout, inside
from grail_mem.store.ledger_line import Entry
from grail_mem.store.observation_file import FileRow, read_observation
from grail_mem.store.observation_render import fields_of, render_observation
from grail_mem.write.evidence import capped, kind_of, resolved, with_evidence
from grail_mem.write.permit import for_caller, meant
from grail_mem.write.receipts import require_new
from grail_mem.write.screening import quoting_no_secret
from grail_mem.write.staged import Placing, confirm, discard, make_durable, place, stage
from grail_mem.write.validate import Draft, make_observation, with_endpoints

_AUTHORITY: Final = ("source_kind", "confidence")


@dataclass(frozen=True, slots=True)
class Edited:
    """One observation on its way.

    Attributes:
        row: As its file says it now; None when it is new.
        made: As it shall be.
        path: Where its file shall be.
        data: The bytes that file shall have; None when there shall be no file.
        old: The bytes of its file now; empty when it is new.
        was_hidden: Whether it is hidden now.
        hidden: Whether it shall be hidden.
        warnings: What was adjusted on the way.
    """

    row: FileRow | None
    made: Observation
    path: str
    data: bytes | None
    old: bytes = b""
    was_hidden: bool = False
    hidden: bool = False
    warnings: tuple[str, ...] = ()

    @property
    def was(self) -> str:
        """Where its file is now; empty when it is new."""
        return self.row.observation.path if self.row else ""

    @property
    def changes_file(self) -> bool:
        """Whether its file is another one afterwards."""
        if self.data is None:
            return self.row is not None
        return (self.was, self.old) != (self.path, self.data)

    @property
    def says_anew(self) -> bool:
        """Whether it shall have a title or content that it has not now."""
        now = self.row.observation if self.row else None
        return self.data is not None and (
            now is None or (now.title, now.content) != (self.made.title, self.made.content)
        )


def read_all(view: View, ids: Collection[str]) -> dict[str, Edited]:
    """The observations with these ids as they are now, hidden ones included; those that are gone are left out.

    Raises:
        StoreError: The file of one is there and cannot be read.
    """
    return {id_: read_one(view, row) for id_, row in locate_all(view, ids).items()}


def read_one(view: View, row: FileRow) -> Edited:
    """An observation that was located, ready to be edited."""
    o = row.observation
    data, _ = read_file(view.layout.root / o.path)
    hidden = o.id in view.hidden
    return Edited(row, o, o.path, data, data, hidden, hidden)


def make_new(view: View, draft: Draft, *, taken: Collection[str] = (), create: bool = True) -> Edited:
    """An observation that is not there yet.

    Args:
        view: The store.
        draft: What it shall say.
        taken: Paths that others of the same change get.
        create: Make its folder; otherwise only say where it would be.

    Raises:
        InputError: The draft cannot be used; `problems` lists every reason.
        ConflictError: Every name for its file is taken.
    """
    with quoting_no_secret():
        draft, located = with_evidence(view, for_caller(view, draft))
    made, warnings = make_observation(draft, now=datetime.now(UTC), settings=view.settings)
    warnings += located
    folder = folder_on_disk(view.layout, made.category, create=create)
    made = replace(made, category=view.layout.category_of(folder))
    path = free_path(view.layout, made, folder, made.title, taken=taken)
    return Edited(None, made, path, render_observation(made), warnings=warnings)


def free_path(
    layout: Layout, made: Observation, folder: str, words: str, *, taken: Collection[str], first: str = ""
) -> str:
    """A path in a folder that no file has; the tail of the id in it grows until that is so.

    Args:
        layout: Where the store is.
        made: The observation.
        folder: The folder, relative to the root.
        words: What the file's name is made of.
        taken: Paths that count as had.
        first: The path with the shortest tail, where it is known.

    Raises:
        ConflictError: Every one is taken.
    """
    path = first or inside(folder, file_name(made.observed_at, words, made.id))
    for tail in range(7, 28):
        if path not in taken and not os.path.lexists(f"{layout.root}/{path}"):
            return path
        path = inside(folder, file_name(made.observed_at, words, made.id, tail))
    raise ConflictError(f"Every file name for '{made.title}' is taken in {folder}.", hint="Repeat the call.")


def with_fields(view: View, edited: Edited, patch: Mapping[str, Any]) -> Edited:
    """The observation with new values of some fields; what the patch does not name stays as it is.

    Raises:
        InputError: A value cannot be used; `problems` lists every reason.
    """
    old = edited.made
    beside = {
        "title": old.title, "content": old.content or old.title, "valid_from": old.valid_from,
        "valid_until": old.valid_until,
    }  # fmt: skip
    if "scope" in patch:
        patch = {**patch, "scope": meant(view, patch["scope"])}
    located: tuple[str, ...] = ()
    if patch.get("evidence") is not None:
        about = {name: patch.get(name, getattr(old, name)) for name in ("session", "scope")}
        claim = patch.get("content", old.content or old.title)
        with quoting_no_secret():
            evidence, located = resolved(view, patch["evidence"], claim, **about)
        own, said = kind_of(evidence), {name: patch.get(name, getattr(old, name)) for name in _AUTHORITY}
        kind, sure, lowered = capped(said["source_kind"] or own, said["confidence"], own)
        patch = {**patch, "evidence": evidence, "source_kind": kind, "confidence": sure}
        located += tuple(lowered)
    made, warned = make_observation(
        Draft(**(beside | dict(patch))),
        now=datetime.now(UTC),
        settings=view.settings,
        kept=frozenset(beside).difference(patch),
    )
    new = replace(old, **{name: getattr(made, name) for name in patch})
    warnings = [*warned, *located]
    if "entities" in patch or "relationships" in patch:
        new = replace(new, entities=with_endpoints(new.entities, new.relationships, warnings))
    if "observed_at" in patch and patch["observed_at"] is None:
        new = replace(new, observed_at=old.recorded_at)
    return _rewritten(edited, new, tuple(dict.fromkeys(warnings)))


def with_extra(edited: Edited, key: str, value: object) -> Edited:
    """The observation with a frontmatter key that is none of the fields."""
    return _rewritten(edited, replace(edited.made, extra={**edited.made.extra, key: value}))


def with_values(edited: Edited, **values: Any) -> Edited:
    """The observation with values of its attributes that are ours and need no check."""
    return _rewritten(edited, replace(edited.made, **values))


def _rewritten(edited: Edited, new: Observation, warnings: tuple[str, ...] = ()) -> Edited:
    """The smallest edit of the file that makes it say this."""
    before, after = fields_of(edited.made), fields_of(new)
    changes = {name: after.get(name) for name in {**before, **after} if before.get(name) != after.get(name)}
    content = new.content if new.content != edited.made.content else None
    data = edit(edited.data or b"", changes, content=content)
    return replace(edited, made=new, data=data, warnings=(*edited.warnings, *warnings))


def in_category(
    view: View, edited: Edited, category: str, *, taken: Collection[str] = (), create: bool = True
) -> Edited:
    """The observation in another folder, under the name that its file has.

    Args:
        view: The store.
        edited: The observation.
        category: Where to.
        taken: Paths that others of the same change get.
        create: Make the folder; otherwise only say where it would be.

    Raises:
        InputError: The category cannot be used.
        ConflictError: A file of that name is there already.
    """
    folder = folder_on_disk(view.layout, clean_category(category), create=create)
    name = edited.path.rpartition("/")[2]
    path = inside(folder, name)
    if path == edited.path:
        return edited
    there = _same_name(view.layout, folder, name, taken)
    if there and view.principal is not None:  # what is there may be nothing that the caller may know of
        path = free_path(view.layout, edited.made, folder, edited.made.title, taken={*taken, path})
    elif there:
        raise ConflictError(
            f"{name} cannot go to {folder}: {there} is there already.", hint="Rename one of the two files."
        )
    category = view.layout.category_of(folder)
    has_id = edited.row is None or edited.row.has_id
    data = edit(edited.data or b"", {"category": category}) if has_id else edited.data
    return replace(edited, made=replace(edited.made, category=category), path=path, data=data)


def _same_name(layout: Layout, folder: str, name: str, taken: Collection[str]) -> str:
    """A name in a folder that is the same on systems where upper and lower case are; empty when there is none."""
    key = category_key(name)
    coming = (path.rpartition("/")[2] for path in taken if path.rpartition("/")[0] == folder)
    try:
        there = os.listdir(layout.root / folder)
    except FileNotFoundError:
        there = []
    return next((other for other in (*there, *coming) if category_key(other) == key), "")


def folder_on_disk(layout: Layout, category: str, *, create: bool) -> str:
    """The folder of a category as it is spelled on disk, relative to the root.

    Args:
        layout: Where the store is.
        category: The category, clean.
        create: Make the folder when it is not there.

    Raises:
        InputError: No observation may lie there.
    """
    folder = layout.folder_of(category)
    if not layout.holds(inside(folder, "a.md")):
        raise InputError(f"'{category}' is no folder for observations in this store.", hint="Choose another category.")
    try:
        with open_folder(layout.root, folder, create=create) as (_, spelled):
            return spelled
    except FileNotFoundError:  # not to be made: its name is free
        return folder


def with_bytes(view: View, edited: Edited, path: str, data: bytes) -> Edited:
    """The observation with a file of these very bytes at this path.

    Raises:
        ConflictError: Another file is there.
    """
    folder, _, name = path.rpartition("/")
    there = _same_name(view.layout, folder, name, ()) if path != edited.was else ""
    if there:
        raise ConflictError(
            f"{name} cannot go back to {folder}: {there} is there.", hint="Rename one of the two files."
        )
    category = view.layout.category_of(path.rpartition("/")[0])
    read = read_observation(data, path, category, UNKNOWN_STATE, zone=view.settings.zone)
    made = read.observation if read.has_id else replace(read.observation, id=edited.made.id)
    return replace(edited, made=made, path=path, data=data)


def commit(
    view: View,
    staging_fd: int,
    all_edited: Iterable[Edited],
    *,
    actor: str,
    reason: str,
    beside: Sequence[Entry] = (),
    further: Sequence[Placing] = (),
    right: str = "write",
) -> None:
    """Bring observations into force as they shall be: all or none; the write lock must be held.

    Args:
        view: The store.
        staging_fd: The staging folder.
        all_edited: The observations; what does not change is passed over.
        actor: Who does it.
        reason: Why, for the ledger.
        beside: Entries to append behind theirs.
        further: Other files that are staged and come into force with them; they are discarded when it fails.
        right: What the caller must be allowed where an observation is and where it will be; `write` is `forget` for
            those that are hidden, brought back, removed, or taken out of their scope.

    Raises:
        AccessError: The caller may not; nothing was changed.
        ConflictError: One shall say what was erased; nothing was changed.
        OSError: The disk did not take it; nothing was changed.
    """
    at = format_time(datetime.now(UTC))
    changed = list(all_edited)
    placings = list(further)
    try:
        for edited in changed:
            _permit(view, edited, right)
        filed = [edited for edited in changed if edited.changes_file]
        require_new(view, [edited.made for edited in filed if edited.says_anew])
        others = [entry for edited in changed for entry in _tombstone(edited, at, actor, reason)]
        placings += placings_of(filed, staging_fd, at=at, actor=actor, reason=reason)
        place(view, placings, staging_fd, beside=[*others, *beside])
    except Exception:  # not an interrupt: what is committed by then is finished by the next writer
        discard(staging_fd, [placing.staged for placing in placings])
        raise
    make_durable(view) if placings else confirm(view)


def placings_of(filed: Sequence[Edited], staging_fd: int, *, at: str, actor: str, reason: str) -> list[Placing]:
    """The files of observations that change, staged, with what the ledger is told of each."""
    names = stage(staging_fd, [edited.data or b"" for edited in filed])
    return [
        Placing(
            name, edited.path, edited.data or b"", _entry(edited, at, actor, reason),
            sha256(edited.old).hexdigest() if edited.row else "",
        )
        for name, edited in zip(names, filed, strict=True)
    ]  # fmt: skip


def _permit(view: View, edited: Edited, right: str) -> None:
    """Let pass what the caller may do to an observation."""
    forgets = edited.data is None or edited.hidden != edited.was_hidden
    needed = "forget" if forgets and right == "write" else right
    was = edited.row.observation.scope if edited.row else None
    if edited.row:
        view.access.require(needed, was, id_=edited.made.id)
    if not edited.row or edited.made.scope != was:
        view.access.require(needed, edited.made.scope)
    if edited.row and right == "write" and edited.made.scope != was:  # those who are left cannot read it any more
        view.access.require("forget", was, id_=edited.made.id)


def _entry(edited: Edited, at: str, actor: str, reason: str) -> Entry:
    """What the ledger is told of a file that changes."""
    if edited.data is None:
        return Entry("remove", edited.made.id, edited.was, reason=reason, at=at, actor=actor)
    moved = bool(edited.row) and edited.path != edited.was
    action = "add" if edited.row is None else "move" if moved else "update"
    times = _times_for(edited.row)
    return Entry(
        action, edited.made.id, edited.path, was=edited.was if moved else "", digest=sha256(edited.data).hexdigest(),
        reason=reason, observed_at=times[0], recorded_at=times[1], fingerprint=f"{fingerprint(edited.made):016x}",
        detail=interval_of(edited.made) if action == "add" else "", at=at, actor=actor,
    )  # fmt: skip


def _tombstone(edited: Edited, at: str, actor: str, reason: str) -> list[Entry]:
    """What the ledger is told when an observation is hidden or comes back."""
    if edited.hidden == edited.was_hidden:
        return []
    action = "hide" if edited.hidden else "restore"
    entry = Entry(action, edited.made.id, edited.path, reason=reason, at=at, actor=actor)
    has_id = edited.row is None or edited.row.has_id or edited.changes_file
    return [entry] if has_id or edited.row is None else [_adoption(edited.row, entry), entry]


def _adoption(row: FileRow, entry: Entry) -> Entry:
    """The entry that keeps the id of a file that carries none, before another entry names that id alone."""
    o, times = row.observation, _times_for(row)
    return Entry(
        "adopt", o.id, o.path, digest=o.sha256, observed_at=times[0], recorded_at=times[1],
        fingerprint=f"{fingerprint(o):016x}", at=entry.at, actor=entry.actor,
    )  # fmt: skip


def _times_for(row: FileRow | None) -> tuple[str, str]:
    """What the ledger has to keep of a file that carries no id, so that it is the same observation from now on."""
    if row is None or row.has_id:
        return ("", "")
    return (format_time(row.observation.observed_at), format_time(row.observation.recorded_at))

"""Import: the records of a file become part of a store; what is there already stays, and every skip has its reason.

plan (which ids are taken, where records have ids) → sources → observations by batches, each all or none → tombstones. A run that was cut off is
finished by the next one, and a run over what is there changes nothing. Knows nothing of the forms of files.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

from grail_mem.errors import ConflictError, GrailError, InputError
from grail_mem.keep.foreign.columns import Choice
from grail_mem.keep.foreign.said import key_id
from grail_mem.keep.forgotten import is_forgotten, receipts_in
from grail_mem.keep.imported import Beside, Imported, is_news, tombstone
from grail_mem.keep.incoming import File, open_file
from grail_mem.keep.record import Incoming, Skipped
from grail_mem.keep.remap import clashing, rewritten
from grail_mem.model.observation import fingerprint
from grail_mem.model.times import format_time
from grail_mem.model.ulid import derived_id, is_id
from grail_mem.query import compaction
from grail_mem.query.find import known
from grail_mem.query.view import View
from grail_mem.store.filename import fits_everywhere, is_observation_file
from grail_mem.store.files import UNKNOWN_STATE, translated
from grail_mem.store.layout import inside
from grail_mem.store.ledger import history
from grail_mem.store.ledger_line import Entry
from grail_mem.store.observation_file import Adopted, FileRow, read_observation
from grail_mem.store.observation_render import render_observation
from grail_mem.store.receipt import Receipts
from grail_mem.write.edited import folder_on_disk, free_path
from grail_mem.write.said_left import observation_left
from grail_mem.write.screening import screened_bytes
from grail_mem.write.staged import Placing, discard, make_durable, place, stage, staging, writing
from grail_mem.write.validate import Draft, make_observation

BATCH: Final = 500
_LONGEST_ORIGIN: Final = 500
_MOST_LOOSE: Final = 10_000
_LOOSE_SHARE: Final = 4
"""Observations outside the snapshot, in number and as a part of it, from which on an import takes them in; chosen: some
fifty megabytes, and each row is written anew a few times however many come."""
_TRIES: Final = 5
"""How often a plan is made anew since somebody else took an id meanwhile."""


class _TakenError(Exception):
    """Somebody else took an id since the plan was made."""


@dataclass(frozen=True, slots=True)
class _Plan:
    """What a look through the file tells before anything is written.

    Attributes:
        ids: New ids by the ids that are taken, and those of drafts by the ids that they name.
        tombstones: What says that an observation is hidden, by id.
        receipts: What was erased here.
    """

    receipts: Receipts
    ids: Mapping[str, str] = field(default_factory=dict)
    tombstones: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


class _Ready(NamedTuple):
    """A record that can become a file."""

    record: Incoming
    id: str
    data: bytes
    row: FileRow


def import_file(
    view: View,
    path: Path,
    *,
    actor: str,
    form: str = "",
    reason: str = "",
    partial: bool = False,
    with_grants: bool = False,
    dry_run: bool = False,
    choice: Choice | None = None,
    progress: Callable[[int], None] | None = None,
) -> Imported:
    """Take the records of a file, a folder or a zip into a store.

    Args:
        view: The store.
        path: The file, folder or zip.
        actor: Who does it.
        form: Its form; empty to tell it from what is in it.
        reason: Why, for the ledger.
        partial: Take what is whole of an export that was cut off or changed.
        with_grants: Take grants, too.
        dry_run: Only say what would be done.
        choice: What the caller says of the tables of a database.
        progress: Called with how many records are done.

    Raises:
        NotFoundError: There is no such file.
        ConflictError: Others import the same ids with other words at the same time.
        InputError: Its form is not known, or it is an export that was cut off or changed, and `partial` is not given.
        StoreError: It is of a later version, or the disk did not take it; what was taken by then stays.
    """
    file = open_file(path, form, choice)
    fault = file.fault()
    if fault and not partial:
        raise InputError(f"{path.name}: {fault}. Nothing was imported.", hint="`--partial` takes what is whole of it.")
    run = _Run(view, file, actor=actor, reason=reason, with_grants=with_grants, dry_run=dry_run)
    for _ in range(_TRIES):
        try:
            return run.once(progress or (lambda _: None))
        except _TakenError:  # what was taken by then is there already the next time
            continue
    raise ConflictError("Others keep taking the ids of this file.", hint="Repeat the call when they are done.")


class _Run:
    """One import on its way."""

    def __init__(self, view: View, file: File, *, actor: str, reason: str, with_grants: bool, dry_run: bool) -> None:
        self._view, self._file = view, file
        self._actor, self._reason = actor, reason
        self._with_grants, self._dry_run = with_grants, dry_run
        self._added_before = 0
        self._receipts = Receipts()
        self._lines: dict[str, int] = {}
        self._done = Imported()

    def once(self, progress: Callable[[int], None]) -> Imported:
        """Go through the file once.

        Raises:
            _TakenError: Somebody else took an id meanwhile.
        """
        added = self._done.n_added
        self._done = done = Imported(self._file.form, dry_run=self._dry_run, n_added=added)
        self._added_before = added
        self._receipts = receipts_in(history(self._view.layout), default_scope=self._view.access.default_scope)
        self._lines = {}
        self._view.refresh()
        plan = self._plan(progress) if self._file.names_ids else _Plan(self._receipts)
        done.remapped, done.mapping = dict(plan.ids), self._file.mapping()
        beside = Beside(self._view, done, with_grants=self._with_grants, actor=self._actor)
        records = self._records()
        n_done = 0
        while batch := list(islice(records, BATCH)):
            done.skipped += [item for item in batch if isinstance(item, Skipped)]
            taken = [item for item in batch if isinstance(item, Incoming)]
            before = len(done.skipped)
            beside.take_sources([item for item in taken if item.kind == "source"])
            beside.take_grants([item for item in taken if item.kind == "grant"])
            done.n_beside += sum(item.kind != "observation" for item in taken) - (len(done.skipped) - before)
            self._take_observations(plan, [item for item in taken if item.kind == "observation"])
            done.n_records += len(batch)
            n_done += len(batch)
            progress(n_done)
            self._compact_if_large()
        before = len(done.skipped)
        beside.take_tombstones({plan.ids.get(id_, id_): said for id_, said in plan.tombstones.items()})
        done.n_beside -= len(done.skipped) - before
        done.n_unchanged = max(done.n_unchanged - self._added_before, 0)
        done.skipped.sort(key=lambda item: item.line)
        return done

    def _records(self) -> Iterator[Incoming | Skipped]:
        """The records of the file; observations without quotes that were erased here."""
        default = self._view.access.default_scope
        for record in self._file.records():
            if isinstance(record, Incoming) and record.kind == "observation" and record.data is not None:
                yield replace(record, data=observation_left(self._receipts, record.data, default))
            else:
                yield record

    def _compact_if_large(self) -> None:
        """Take what came into a snapshot, so that what is held in memory stays within bounds."""
        n_rows = len(self._view.delta.rows)
        if not self._dry_run and n_rows >= max(_MOST_LOOSE, self._view.manifest.n_rows // _LOOSE_SHARE):
            compaction.compact(self._view)

    # -- the plan -----------------------------------------------------------------------------------------------------------

    def _plan(self, progress: Callable[[int], None]) -> _Plan:
        """Look through the file: ids that are taken, ids that come twice, tombstones."""
        digests: dict[str, tuple[str, int]] = {}
        twice: dict[int, int] = {}
        named: dict[str, str] = {}
        tombstones: dict[str, Mapping[str, Any]] = {}
        for number, record in enumerate(self._records()):
            if number % BATCH == 0:
                progress(0)
            if isinstance(record, Skipped):
                continue
            if record.kind == "tombstone" and is_id(record.id):
                tombstones[record.id] = record.said
            elif record.kind == "observation":
                id_, digest = _id_of(record), sha256(record.data or b"").hexdigest()
                if is_id(record.id) and id_ != record.id:
                    named[record.id] = id_
                if id_ in digests:
                    twice[record.line] = digests[id_][1]
                else:
                    digests[id_] = (digest if record.data is not None else "", record.line)
        there = known(self._view, digests.keys())
        different = {
            i: there[i].sha256
            for i, (digest, _) in digests.items()
            if digest and i in there and there[i].sha256 != digest
        }
        ids = clashing(self._records_of(different.keys(), twice), different) if different else {}
        new_ids = {old: new for old, new in (named | ids).items() if old not in self._receipts}
        return _Plan(self._receipts, new_ids, tombstones)

    def _records_of(self, ids: Any, twice: Mapping[int, int]) -> dict[str, Incoming]:
        return {
            record.id: record
            for record in self._records()
            if isinstance(record, Incoming)
            and record.kind == "observation"
            and record.line not in twice
            and record.id in ids
        }

    # -- observations -------------------------------------------------------------------------------------------------------

    def _take_observations(self, plan: _Plan, records: Sequence[Incoming]) -> None:
        left = self._not_there(records)
        ready = [item for record in left if (item := self._ready(plan, record)) is not None]
        if not ready:
            return
        if self._dry_run:
            there = known(self._view, [item.id for item in ready])
            self._done.n_unchanged += sum(item.id in there for item in ready)
            self._done.n_added += sum(item.id not in there for item in ready)
            self._done.n_hidden += sum(item.record.id in plan.tombstones and item.id not in there for item in ready)
            return
        view = self._view
        with staging(view.layout) as staging_fd, translated("import observations", view.layout.root), writing(view):
            view.catch_up()
            new, entries = self._decide(plan, ready)
            names = stage(staging_fd, [item.data for item, _ in new])
            try:
                placings = [
                    Placing(name, entry.path, item.data, entry) for name, (item, entry) in zip(names, new, strict=True)
                ]
                place(view, placings, staging_fd, beside=entries)
            except Exception:  # not an interrupt: what is committed by then is finished by the next writer
                discard(staging_fd, names)
                raise
            make_durable(view)
        self._done.n_added += len(new)
        self._done.n_hidden += len(entries)

    def _not_there(self, records: Sequence[Incoming]) -> list[Incoming]:
        """The records without those of foreign stores that are here: their ids tell it before anything is made of them."""
        ids = {record.line: _id_of(record) for record in records if record.data is None and record.key}
        there = known(self._view, ids.values(), look=self._dry_run) if ids else {}
        left: list[Incoming] = []
        for record in records:
            if ids.get(record.line) in there and ids[record.line] not in self._lines:
                self._lines[ids[record.line]] = record.line
                self._done.n_unchanged += 1
            else:
                left.append(record)
        return left

    def _ready(self, plan: _Plan, record: Incoming) -> _Ready | None:
        """The file that a record becomes, or nothing when it is skipped."""
        before = self._lines.setdefault(_id_of(record), record.line)
        if before != record.line:
            same = "the same statement comes before" if record.key else f"line {before} has the same id"
            self._skip(record, same)
            return None
        try:
            made = self._made(plan, record)
        except GrailError as error:
            self._skip(record, error.message)
            return None
        o = made.row.observation
        if not self._view.access.may("write", o.scope):
            self._skip(record, f"this session may not write in the scope {o.scope or self._view.access.default_scope}")
        elif record.id in plan.receipts or is_forgotten(plan.receipts, made.id, made.data):
            self._skip(record, "it was erased here")
        elif len(o.content.encode(errors="surrogatepass")) > self._view.settings.max_content_bytes:
            self._skip(record, "its content is longer than the setting max_content_bytes")
        else:
            return made
        return None

    def _made(self, plan: _Plan, record: Incoming) -> _Ready:
        view, id_ = self._view, _id_of(record)
        if record.data is None:
            return self._drafted(plan, record, id_)
        data = screened_bytes("its file", rewritten(record, plan.ids), view.settings)
        id_ = plan.ids.get(id_, id_)
        adopted = Adopted(id_, record.adopted.get("observed_at", ""), record.adopted.get("recorded_at", ""))
        row = read_observation(data, record.path or "x.md", "", UNKNOWN_STATE, zone=view.settings.zone, adopted=adopted)
        if row.has_id and row.observation.id != id_:
            raise InputError(f"its file says that its id is {row.observation.id}")
        category = _category(record, self._file.notes)
        return _Ready(record, id_, data, replace(row, observation=replace(row.observation, category=category)))

    def _drafted(self, plan: _Plan, record: Incoming, id_: str) -> _Ready:
        """A draft as a file; its id is made of what it says, so that it is the same when it comes again."""
        fields = dict(record.draft)
        for name in ("supersedes", "related_to"):
            if name in fields:
                fields[name] = _replaced(fields[name], plan.ids)
        fields.pop("slug", None)
        made, _ = make_observation(Draft(**fields), now=datetime.now(UTC), settings=self._view.settings)
        made = replace(made, id=id_, extra=self._origin(record))
        return _Ready(record, id_, render_observation(made), FileRow(made, UNKNOWN_STATE))

    def _origin(self, record: Incoming) -> dict[str, Any]:
        """What the file keeps of where it came from; what the settings would change of it is left out."""
        kept = {}
        for name, value in record.origin.items():
            said = str(value)[:_LONGEST_ORIGIN].encode(errors="replace")
            try:
                if name == "from" or screened_bytes("where it came from", said, self._view.settings) == said:
                    kept[name] = said.decode()
            except InputError:
                continue
        return {"imported": kept} if kept else {}

    def _decide(self, plan: _Plan, ready: Sequence[_Ready]) -> tuple[list[tuple[_Ready, Entry]], list[Entry]]:
        """What is new of a batch with what the ledger is told of it, and tombstones; the write lock is held."""
        view = self._view
        there = known(view, [item.id for item in ready], look=False)
        at = format_time(datetime.now(UTC))
        taken: set[str] = set()
        new: list[tuple[_Ready, Entry]] = []
        tombstones: list[Entry] = []
        for item in ready:
            if item.id in there:
                here = there[item.id].sha256
                if item.record.data is not None and here not in {
                    sha256(d).hexdigest() for d in (item.data, item.record.data)
                }:
                    raise _TakenError
                self._done.n_unchanged += 1
                path = there[item.id].path
            else:
                try:
                    path = self._path(item, taken)
                except (GrailError, UnicodeEncodeError) as error:
                    self._skip(item.record, error.message if isinstance(error, GrailError) else "its path is no text")
                    continue
                taken.add(path)
                new.append((item, self._entry(item, path, at)))
            said = plan.tombstones.get(item.record.id)
            if said is not None and is_news(view, item.id, said):
                tombstones.append(tombstone(item.id, path, said, self._actor))
        return new, tombstones

    def _path(self, item: _Ready, taken: set[str]) -> str:
        """Where the file goes: where it was, unless another one is there, or the name is too long for a disk."""
        o, layout = item.row.observation, self._view.layout
        if not fits_everywhere(layout.folder_of(o.category)):
            raise InputError("its category is longer than a folder can be")
        folder = folder_on_disk(layout, o.category, create=True) if o.category else layout.notes
        name = item.record.path.rpartition("/")[2]
        path = inside(folder, name) if is_observation_file(name) and fits_everywhere(name) else ""
        if path and not layout.holds(path):
            raise InputError(f"{path!r} is no path of an observation here")
        path = free_path(layout, replace(o, id=item.id), folder, o.title, taken=taken, first=path)
        if not layout.holds(path):
            raise InputError(f"{path!r} is no path of an observation here")
        return path

    def _entry(self, item: _Ready, path: str, at: str) -> Entry:
        o, row = item.row.observation, item.row
        times = ("", "") if row.has_id else (format_time(o.observed_at), format_time(o.recorded_at))
        return Entry(
            "add", item.id, path, digest=sha256(item.data).hexdigest(), reason=self._reason, observed_at=times[0],
            recorded_at=times[1], fingerprint=f"{fingerprint(o):016x}", at=at, actor=self._actor,
        )  # fmt: skip

    def _skip(self, record: Incoming, reason: str) -> None:
        self._done.skip(record, reason)


def _id_of(record: Incoming) -> str:
    """The id of a record: its own, or for a draft one that is made of what it says."""
    if record.data is not None:
        return record.id
    if record.key:
        return key_id(record.key, str(record.draft.get("content", "")))
    said = json.dumps(dict(record.draft), sort_keys=True, default=str)
    return derived_id("draft", sha256(said.encode(errors="surrogatepass")).hexdigest())


def _replaced(value: Any, ids: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return ids.get(value.upper(), value)
    return [_replaced(item, ids) for item in value] if isinstance(value, list) else value


def _category(record: Incoming, notes: str) -> str:
    """The category of a record: the folder that its file was in, else what it names."""
    folder = record.path.rpartition("/")[0]
    if not record.path:
        return record.category
    if not notes:
        return folder
    return folder[len(notes) :].lstrip("/") if folder == notes or folder.startswith(f"{notes}/") else record.category

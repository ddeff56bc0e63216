"""Erase: take observations out of every file under the root, for good, and leave a receipt that keeps them out.

select → find every trace → (lock) announce → take the files away and write the receipts, all or none → sweep the traces.
Knows nothing of proposals but how their files are told apart.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final

from grail_mem.errors import NotFoundError, StoreError
from grail_mem.model.observation import Observation
from grail_mem.model.times import format_time
from grail_mem.query.find import locate_all
from grail_mem.query.view import View
from grail_mem.store.files import translated
from grail_mem.store.layout import candidate_path
from grail_mem.store.ledger_line import ERASE, Entry
from grail_mem.store.receipt import detail_of, text_of
from grail_mem.write.candidates import declined, drop_decided, saying
from grail_mem.write.change import Changed
from grail_mem.write.edited import Edited, commit, read_all, read_one, with_extra, with_fields
from grail_mem.write.selection import Selection, selected
from grail_mem.write.staged import staging, writing
from grail_mem.write.sweep import announce, intent_of, sweep, withdraw
from grail_mem.write.traces import Traces, traces_of, words_in, words_of

WITHHELD: Final = "withheld"
"""Stands in place of a reason that says what was erased."""


@dataclass(frozen=True, slots=True)
class Erased:
    """What was erased, or would be.

    Attributes:
        ids: The observations.
        files: Their files, relative to the root.
        n_bytes: The bytes of those files.
        edited: Files of other observations that named one of them by its id, and no longer do.
        proposals: Proposals that went, since they held its words.
        undo_records: What was kept to undo applied proposals, relative to the root: they can no longer be undone.
        n_lines: Lines of the ledger that were emptied, but for those of this call.
        snapshots: Snapshots that were removed; one without the observations takes their place.
        segments: Segments of the search index that were made anew.
        n_vectors: Vectors that went, those of earlier versions of any observation among them.
        still_said: By id, other observations that say the same; the content is then not kept from coming back.
        candidates: Candidates that waited and said the same, alone or among other things; they are declined.
        quoting: Observations whose content holds that of an erased one; look at them.
        beyond: Known places outside the store's files that may still hold it.
        reason: As it stands in the ledger.
        warnings: What is worth knowing.
        dry_run: Whether nothing was changed.
    """

    ids: tuple[str, ...]
    files: tuple[str, ...]
    n_bytes: int
    edited: tuple[str, ...]
    proposals: tuple[str, ...]
    undo_records: tuple[str, ...]
    n_lines: int
    snapshots: tuple[str, ...]
    segments: tuple[str, ...]
    n_vectors: int
    still_said: Mapping[str, tuple[str, ...]]
    candidates: tuple[str, ...]
    quoting: tuple[str, ...]
    beyond: tuple[str, ...]
    reason: str
    warnings: tuple[str, ...]
    dry_run: bool

    def to_dict(self) -> dict[str, Any]:
        """The result as plain JSON values."""
        values = {name: getattr(self, name) for name in Erased.__slots__}
        plain = {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
        return plain | {"still_said": {id_: list(others) for id_, others in self.still_said.items()}}


def erase(view: View, selection: Selection, *, reason: str, actor: str, dry_run: bool = False) -> Erased:
    """Erase what a selection means: no file under the root holds it when this returns.

    Args:
        view: The store.
        selection: Which observations.
        reason: Why, for the ledger.
        actor: Who does it.
        dry_run: Only say what would go.

    Raises:
        NotFoundError: There is no such observation, or nothing is as asked for; nothing was erased.
        AccessError: The caller may not forget one of them; nothing was erased.
        StoreError: It is gone from every answer, but the disk did not let every trace be removed; the next writer goes on.
    """
    with closing(View(view.layout, view.settings)) if view.principal else nullcontext(view) as whole:
        done = _erase(view, whole, selection, reason=reason, actor=actor, dry_run=dry_run)
        return done if view.principal is None else _as_seen(view, done)


def _erase(caller: View, view: View, selection: Selection, *, reason: str, actor: str, dry_run: bool) -> Erased:
    """The same, for a caller who may see less than there is: traces lie everywhere.

    Args:
        caller: What the caller may see.
        view: All there is.
        selection: Which observations.
        reason: Why, for the ledger.
        actor: Who does it.
        dry_run: Only say what would go.
    """
    if dry_run:
        view.refresh()
        traces = traces_of(view, _targets(caller, selection))
        held = saying(view, traces.observations)
        return _erased(view, traces, _edits(view, traces), held, reason, dry_run=True)
    with staging(view.layout) as staging_fd, translated("erase the observation"), writing(view):
        view.refresh()
        traces = traces_of(view, _targets(caller, selection))
        drop_decided(view)
        edits, held = _edits(view, traces), saying(view, traces.observations)
        done = _erased(view, traces, edits, held, reason, dry_run=False)
        receipts = [*_receipts(view, traces, actor, done.reason), *declined(held, actor=actor, reason="")]
        intent = intent_of(view, traces, [candidate_path(id_) for id_ in held])
        announce(view.layout, intent)
        gone = [replace(edited, data=None) for edited in read_all(view, done.ids).values()]
        try:
            commit(view, staging_fd, [*gone, *edits], actor=actor, reason="", beside=receipts)
        except StoreError:  # it is done, and perhaps not durable: the next writer sweeps
            raise
        except Exception:
            withdraw(view.layout)
            raise
        try:
            view.refresh()
            sweep(view, intent)
        except OSError as error:
            raise StoreError(
                f"It is gone from every answer, but traces are left: {error.strerror or error}.",
                hint="The next opening or write removes them; look after the disk.",
            ) from error
    return done


def _as_seen(caller: View, done: Erased) -> Erased:
    """The result without what the caller may not know of: others' observations, and how the store keeps things."""
    others = {*done.quoting, *(id_ for some in done.still_said.values() for id_ in some)}
    seen = locate_all(caller, others)
    still = {id_: kept for id_, some in done.still_said.items() if (kept := tuple(i for i in some if i in seen))}
    quoting = tuple(id_ for id_ in done.quoting if id_ in seen)
    return replace(
        done, edited=(), proposals=(), candidates=(), undo_records=(), n_lines=0, snapshots=(), segments=(), n_vectors=0,
        still_said=still, quoting=quoting, warnings=tuple(_remarks(told=done.reason != WITHHELD, still=still, quoting=quoting)),
    )  # fmt: skip


def hide_selected(view: View, selection: Selection, *, reason: str, actor: str, dry_run: bool = False) -> list[Changed]:
    """Take everything that a selection means out of every answer; the files stay, and `restore` brings each back.

    Raises:
        NotFoundError: There is no such observation, or nothing is as asked for; nothing was hidden.
        AccessError: The caller may not forget one of them; nothing was hidden.
    """
    if dry_run:
        view.refresh()
        return [Changed(o.id, o.path, changed=o.id not in view.hidden) for o in _targets(view, selection)]
    with staging(view.layout) as staging_fd, translated("hide the observations"), writing(view):
        view.refresh()
        now = read_all(view, [o.id for o in _targets(view, selection)])
        edited = [replace(one, hidden=True) for one in now.values()]
        if any(not one.was_hidden for one in edited):
            commit(view, staging_fd, edited, actor=actor, reason=reason)
        return [Changed(one.made.id, one.path, changed=not one.was_hidden) for one in edited]


def _targets(view: View, selection: Selection) -> list[Observation]:
    """The observations, as their files say now.

    Raises:
        NotFoundError: One is not there, or nothing is as asked for.
        AccessError: The caller may not forget one.
    """
    ids = selected(view, selection)
    rows = locate_all(view, ids)
    missing = [id_ for id_ in ids if id_ not in rows]
    found = [rows[id_].observation for id_ in ids if id_ in rows]
    for o in found:
        view.access.require("forget", o.scope, id_=o.id)
    if missing:
        erased = [id_ for id_ in missing if id_ in view.receipts]
        hint = "It was erased already." if missing == erased else "`grail list` shows what is there."
        raise NotFoundError(f"There is no observation {', '.join(missing)}.", hint=hint)
    return found


def _edits(view: View, traces: Traces) -> list[Edited]:
    """The observations that name an erased one, without its id."""
    ids = frozenset(o.id for o in traces.observations)
    return [_without(view, read_one(view, row), ids) for row in locate_all(view, traces.references).values()]


def _without(view: View, edited: Edited, ids: frozenset[str]) -> Edited:
    o = edited.made
    patch: dict[str, Any] = {}
    if not ids.isdisjoint(o.related_to):
        patch["related_to"] = [id_ for id_ in o.related_to if id_ not in ids] or None
    if o.supersedes in ids:
        patch["supersedes"] = None
    if patch:
        edited = with_fields(view, edited, patch)
    for key, value in o.extra.items():
        left = _left(value, ids)
        if left != value:
            edited = with_extra(edited, key, left or None)
    return edited


def _left(value: Any, ids: frozenset[str]) -> Any:
    """A value of frontmatter without the parts that name one of these ids."""
    if isinstance(value, list | tuple):
        return [left for item in value if (left := _left(item, ids)) is not None]
    if isinstance(value, Mapping):
        if any(isinstance(item, str) and item in ids for item in value.values()):
            return None
        return {key: left for key, item in value.items() if (left := _left(item, ids)) is not None}
    return None if isinstance(value, str) and any(id_ in value for id_ in ids) else value


def _receipts(view: View, traces: Traces, actor: str, reason: str) -> list[Entry]:
    """One receipt an observation; where somebody else says the same, the content is not held against anybody."""
    at, salt = format_time(datetime.now(UTC)), view.receipts.salt
    return [
        Entry(
            ERASE, o.id, reason=reason, at=at, actor=actor,
            detail="" if o.id in traces.twins else detail_of(text_of(o.title, o.content, o.scope), salt),
        )
        for o in traces.observations
    ]  # fmt: skip


def _erased(
    view: View, traces: Traces, edits: Sequence[Edited], held: tuple[str, ...], reason: str, *, dry_run: bool
) -> Erased:
    said = words_of(traces.observations)
    told = said.isdisjoint(words_in(reason))
    warnings = [warning for edited in edits for warning in edited.warnings]
    warnings += _remarks(told=told, still=traces.twins, quoting=traces.quoting)
    rows = locate_all(view, [o.id for o in traces.observations])
    return Erased(
        tuple(o.id for o in traces.observations), tuple(o.path for o in traces.observations),
        sum(row.state.size for row in rows.values()), tuple(sorted(one.path for one in edits if one.changes_file)),
        traces.proposals, traces.undo_records, traces.n_lines, traces.snapshots, traces.stale.segments,
        traces.stale.n_vectors, traces.twins, held, traces.quoting, _beyond(view), reason if told else WITHHELD,
        tuple(dict.fromkeys(warnings)), dry_run,
    )  # fmt: skip


def _remarks(*, told: bool, still: Collection[str], quoting: Collection[str]) -> Iterator[str]:
    if not told:
        yield "the reason says some of what was erased; it is withheld from the ledger."
    if still:
        yield "other observations say the same, so the text may be written again; erase them as well."
    if quoting:
        yield "other observations hold the text of an erased one within theirs; look at them."


def _beyond(view: View) -> tuple[str, ...]:
    """Places that may hold it still and that are not for us to change."""
    root = view.layout.root
    git = [folder for folder in (root, *root.parents) if (folder / ".git").exists()]
    return (*(f"{folder / '.git'}: the history of git" for folder in git[:1]), "backups and other copies of the folder")

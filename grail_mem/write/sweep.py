"""Sweep: remove every trace of what was erased, and go on where a killed process was cut off.

What is to be done is written down first, so that whoever opens the store or writes next can finish it; every step may be
done again. Knows nothing of why something was erased.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from grail_mem.errors import GrailError, IndexUnusableError
from grail_mem.index.purge import purge
from grail_mem.query import compaction
from grail_mem.query.view import View
from grail_mem.store.files import read_file, replace_file, sync_folder
from grail_mem.store.layout import OUTPUT, Layout
from grail_mem.store.ledger import chains
from grail_mem.store.ledger_line import Entry
from grail_mem.store.lock import exclusive_if_free
from grail_mem.store.receipt import forget_texts
from grail_mem.store.redaction import Line, count, redact
from grail_mem.store.snapshot import names
from grail_mem.store.sources import forget_read
from grail_mem.write.evidence import forget_quoted
from grail_mem.write.leftovers import INTENT, STAGED, is_alive
from grail_mem.write.receipts import blocks_file
from grail_mem.write.recovery import LOCK, checkpoint, recover
from grail_mem.write.said_left import came_back
from grail_mem.write.traces import Traces, files_naming, read_set
from grail_mem.write.unsaying import Unsaid

_LOG: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Intent:
    """What is to be swept.

    Attributes:
        ids: The erased observations.
        proposals: Proposals that go.
        files: Files that go or from which proposals go, relative to the root.
        lines: Lines of the ledger whose reason goes, as clone and number.
        folders: Folders that go when nothing is left in them, relative to the root, the deepest first.
        whole: Lines of the ledger of which everything goes that can, as clone and number.
        partial: Turns that are not final: the name of their file, and which ids of it go; all when none is named.
        sources: Whether something of the sources goes.
        emptied: Ids of files of sources and of candidates that go: every line of the ledger about them is emptied.
    """

    ids: tuple[str, ...]
    proposals: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    lines: tuple[Line, ...] = ()
    folders: tuple[str, ...] = ()
    whole: tuple[Line, ...] = ()
    partial: Mapping[str, Sequence[str]] = field(default_factory=dict)
    sources: bool = False
    emptied: tuple[str, ...] = ()


def intent_of(traces: Traces, unsaid: Unsaid, receipts: Sequence[Entry], beside: Collection[str]) -> Intent:
    """What is to be swept after some observations and parts of sources were erased; beside that, further files that go."""
    return Intent(
        tuple(entry.id for entry in receipts), traces.proposals, (*traces.undo_records, *traces.sets, *beside), traces.lines,
        traces.folders, traces.whole, unsaid.partial, not unsaid.is_nothing, (*unsaid.ids, *traces.candidates),
    )  # fmt: skip


def announce(layout: Layout, intent: Intent) -> None:
    """Write down, durably, what is about to be erased."""
    replace_file(layout.local / INTENT, json.dumps(asdict(intent)).encode())


def sweep(view: View, intent: Intent) -> None:
    """Remove every trace; the write lock must be held, and the observations be gone.

    Raises:
        OSError: The disk did not take it; the next writer tries again.
    """
    layout = view.layout
    checkpoint(view)
    view.journal.wipe()
    emptied = frozenset((*intent.ids, *intent.proposals, *intent.emptied))
    for path in chains(layout):
        redact(path, emptied, intent.lines, intent.whole)
    for name, gone in intent.partial.items():
        _drop_partial(layout.local / "partial" / name, gone)
    for where in dict.fromkeys((*intent.files, *files_naming(layout, intent.ids))):
        _drop_from(layout.root / where, intent)
    for folder in intent.folders:
        if layout.holds(f"{folder}/a.md"):
            with suppress(OSError):  # something is left in it
                os.rmdir(layout.root / folder)
    for path in leftovers_with(view, intent.ids, sources=intent.sources):
        path.unlink(missing_ok=True)
    if intent.sources:
        forget_read()
        forget_quoted()
    forget_texts()
    view.scan(whole=False)
    _renew_snapshot(view)
    purge(view)
    withdraw(layout)


def sweep_heard(view: View) -> None:
    """Remove what this copy still holds of observations that were erased in another one, as git brought word of it.

    Args:
        view: The store, brought up to date.
    """
    ids = frozenset(receipt.id for receipt in view.receipts)
    if not ids:
        return
    _empty_again(view)
    derived = view.reader is not None and bool(view.reader.by_id(ids))
    if derived or any(count(path, ids) for path in chains(view.layout)) or files_naming(view.layout, ids):
        intent = Intent(tuple(sorted(ids)))
        announce(view.layout, intent)
        sweep(view, intent)


def _empty_again(view: View) -> None:
    """Take out of transcripts and documents what was erased in another copy, or what git brought back."""
    found = list(came_back(view.layout, view.receipts))
    for path, left in found:
        if left is None:
            (view.layout.root / path).unlink()
        else:
            replace_file(view.layout.root / path, left)
    if found:
        forget_read()


def withdraw(layout: Layout) -> None:
    """Take back what was announced: it is done, or was not begun."""
    path = layout.local / INTENT
    with suppress(FileNotFoundError):
        with path.open("r+b") as file:
            file.write(b" " * os.fstat(file.fileno()).st_size)
            file.flush()
            os.fsync(file.fileno())
        path.unlink()
        sync_folder(layout.local)


def sweep_if_due(view: View) -> None:
    """Finish what a killed process had begun to erase; the write lock must be held, and the journal be in place.

    What cannot be finished is left to the next writer: it must not keep this one from writing.
    """
    layout = view.layout
    if not os.path.exists(f"{layout.local}/{INTENT}"):
        return
    try:
        intent = _announced(layout)
        view.catch_up()
        if intent is None or not all(id_ in view.receipts for id_ in intent.ids):
            withdraw(layout)
        else:
            sweep(view, intent)
    except (OSError, GrailError) as error:
        _LOG.warning("What was erased has left traces that could not be removed; it is tried again later: %s.", error)


def sweep_on_opening(view: View) -> None:
    """The same before the first look at a store, unless somebody writes just now."""
    with suppress(OSError, GrailError), exclusive_if_free(view.layout.local / LOCK) as held:
        if held:
            recover(view)
            sweep_if_due(view)


def leftovers_with(view: View, ids: Collection[str], *, sources: bool = False) -> list[Path]:
    """Files that killed writers left under names of their own and that hold what was erased.

    Args:
        view: The store.
        ids: Of what was erased.
        sources: Whether sources are looked for: then everything that is no observation counts, nobody needs it any more.
    """
    left = _left_by_killed(view.layout)
    return [path for path in left if (sources and _is_no_observation(path)) or _holds(view, path, ids)]


def _is_no_observation(path: Path) -> bool:
    with suppress(OSError):
        data, _ = read_file(path)
        return not data.startswith(b"---")
    return False


def _left_by_killed(layout: Layout) -> Iterator[Path]:
    """Files of writers that are gone; and former files, which have that name under the write lock alone."""
    for top in (layout.ledger.parent, layout.output):
        for folder, _, found in os.walk(top):
            for name in found:
                staged = STAGED.fullmatch(name)
                if staged is not None and (name.endswith(".old") or not is_alive(int(staged[1]))):
                    yield Path(folder) / name


def _holds(view: View, path: Path, ids: Collection[str]) -> bool:
    with suppress(OSError):
        data, _ = read_file(path)
        return any(id_.encode() in data for id_ in ids) or blocks_file(view, path.stem, data) is not None
    return False


def _drop_from(path: Path, intent: Intent) -> None:
    """Take proposals out of a set; remove a file that is none."""
    try:
        data, _ = read_file(path)
    except FileNotFoundError:
        return
    document = read_set(data.decode(errors="replace")) if OUTPUT in path.parts else None
    if document is None:
        path.unlink()
        sync_folder(path.parent)
        return
    kept = [item for item in document["proposals"] if not _is_of(item, intent)]
    replace_file(path, json.dumps(document | {"proposals": kept}, indent=1).encode() + b"\n")


def _drop_partial(path: Path, gone: Sequence[str]) -> None:
    """Take turns that are not final out of a file; all when none is named."""
    try:
        kept = json.loads(path.read_bytes())
    except (FileNotFoundError, ValueError):
        return
    left = {id_: said for id_, said in kept.items() if gone and id_ not in gone}
    if left.keys() - {""}:
        replace_file(path, json.dumps(left, ensure_ascii=False).encode())
    else:
        path.unlink()
        sync_folder(path.parent)


def _is_of(item: Any, intent: Intent) -> bool:
    text = json.dumps(item)
    named = item.get("id") if isinstance(item, dict) else None
    return named in intent.proposals or any(id_ in text for id_ in intent.ids)


def _renew_snapshot(view: View) -> None:
    layout = view.layout
    if not layout.snapshots.is_dir():
        return
    try:
        if names(layout):
            compaction.renew(view)
            return
    except IndexUnusableError:  # damaged: the answers come from the files until the next compaction
        pass
    compaction.remove_all(layout)
    view.refresh()


def _announced(layout: Layout) -> Intent | None:
    """What was written down; None when that was cut off, and so nothing was begun."""
    try:
        said = json.loads(read_file(layout.local / INTENT)[0])
        return Intent(
            tuple(said["ids"]), tuple(said["proposals"]), tuple(said["files"]), tuple(Line(*line) for line in said["lines"]),
            tuple(said["folders"]), tuple(Line(*line) for line in said["whole"]), dict(said["partial"]), bool(said["sources"]),
            tuple(said.get("emptied", ())),
        )  # fmt: skip
    except (OSError, ValueError, LookupError, TypeError):
        return None

"""One observation by its id, and who says the same as one about to be written.

Knows nothing of filters.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import NamedTuple

from grail_mem.errors import InputError, NotFoundError, StoreError
from grail_mem.model.observation import Observation, fingerprint
from grail_mem.model.problem import Problem, as_sentence
from grail_mem.query.look import TORN, UNREADABLE
from grail_mem.query.view import View
from grail_mem.store.observation_file import FileRow


class Said(NamedTuple):
    """Who says already what an observation says.

    Attributes:
        there: Those that are not hidden, by id.
        hidden: Those that are; None for one whose file cannot be read, or says otherwise since.
    """

    there: tuple[Observation, ...] = ()
    hidden: tuple[Observation | None, ...] = ()


def locate(view: View, id_: str) -> FileRow:
    """The observation with an id, read from its file now; hidden ones included.

    Raises:
        NotFoundError: There is none.
        StoreError: Its file is there and cannot be read.
    """
    found = locate_all(view, [id_])
    if not found:
        raise NotFoundError(f"There is no observation {id_}.", hint="`grail list` shows what is there.")
    return found[id_]


def locate_all(view: View, ids: Collection[str]) -> dict[str, FileRow]:
    """The observations with these ids, read from their files now, hidden ones included.

    Those that are gone are left out, and those that the caller may not read.

    Raises:
        StoreError: The file of one is there and cannot be read.
    """
    view.refresh()
    for change in view.look_at(view.paths_of(ids).values()):
        view.note(change)
    paths = view.paths_of(ids)
    if len(paths) < len(set(ids)):
        view.scan(whole=False)
        paths = view.paths_of(ids)
    if view.principal is None:
        for path in paths.values():
            _require_readable(view, path)
    else:  # nobody knows whose an unreadable file is
        paths = {id_: path for id_, path in paths.items() if not _why_unreadable(view, path)}
    rows = view.read_rows(list(paths.values()))
    return {id_: rows[paths[id_]] for id_ in ids if id_ in paths and view.sees(rows[paths[id_]].observation)}


class Known(NamedTuple):
    """Where an observation's file is, and the digest of its bytes."""

    path: str
    sha256: str


def known(view: View, ids: Collection[str], *, look: bool = True) -> dict[str, Known]:
    """The observations with these ids as the view knows them, no file read; hidden ones included, those gone left out.

    Args:
        view: The store.
        ids: The ids.
        look: Look into the folders, too, for what others did without the ledger; a long run looks once.
    """
    (view.refresh if look else view.absorb)()
    ids = frozenset(ids)
    below = view.base().by_id(ids) if ids else {}
    found = {id_: Known(row.path, row.sha256) for id_, row in below.items() if row.rid not in view.delta.dead}
    for path, row in view.delta.rows.items():
        if row.observation.id in ids:
            found[row.observation.id] = Known(path, row.observation.sha256)
    return found if view.principal is None else {id_: found[id_] for id_ in locate_all(view, list(found))}


def _require_readable(view: View, path: str) -> None:
    for problem in _why_unreadable(view, path):
        raise StoreError(f"{path}: {problem.message.removesuffix('.')}.", hint=as_sentence(problem.remedy))


def _why_unreadable(view: View, path: str) -> list[Problem]:
    return [problem for problem in view.delta.problems.get(path, ()) if problem.code in (UNREADABLE, TORN)]


def ids_ending(view: View, tail: str) -> list[str]:
    """The ids that end so, in order; hidden ones included."""
    view.refresh()
    ids = {row.observation.id for row in view.delta.rows.values() if row.observation.id.endswith(tail)}
    if view.reader is not None:
        ids |= {id_ for rid, id_ in view.reader.ids_ending(tail) if rid not in view.delta.dead}
    return sorted(ids) if view.principal is None else sorted(locate_all(view, ids))


def who_says(view: View, said: Sequence[tuple[tuple[int, ...], Observation]]) -> list[Said]:
    """Who says the same as observations about to be written, one answer each; the default scope is one, named or not.

    Only digests are compared as long as nothing has the same, so that a write need not open the snapshot.

    Args:
        view: The store, up to date with the ledger.
        said: The observations, each with all its `fingerprints`.
    """
    found = view.ids_saying({one for prints, _ in said for one in prints})
    if not found:
        return [Said()] * len(said)
    ids = [{id_ for one in prints for id_ in found.get(one, ())} for prints, _ in said]
    view.absorb()
    wanted = set().union(*ids)
    for change in view.look_at(view.paths_of(wanted).values()):
        view.note(change)
    read: dict[str, Observation] = {}
    for id_, path in view.paths_of(wanted - (view.silent - view.hidden)).items():
        with suppress(OSError, InputError):  # not readable: then nobody can say that it is the same
            read[id_] = view.read_row(path).observation
    saying: dict[tuple[int, str, str], list[Observation]] = {}
    for id_ in sorted(read):
        o = read[id_]
        saying.setdefault((fingerprint(o), o.title, o.content), []).append(o)
    shared: dict[tuple[tuple[int, ...], str, str], Said] = {}
    for (prints, made), listed in zip(said, ids, strict=True):
        key = (prints, made.title, made.content)
        if key not in shared:  # those that say the same share what is found
            same = [o for one in prints for o in saying.get((one, *key[1:]), ())]
            there = tuple(o for o in same if o.id not in view.hidden)
            hidden = dict.fromkeys(listed & view.hidden) | {o.id: o for o in same if o.id in view.hidden}
            shared[key] = Said(there, tuple(hidden.values()))
    return [shared[(prints, made.title, made.content)] for prints, made in said]

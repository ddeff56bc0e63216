"""Traces: everything under the root that holds a word of some observations, found before any of it is touched.

Knows nothing of how traces are removed.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from grail_mem.errors import InputError
from grail_mem.index.purge import Stale, stale
from grail_mem.model.lineage import relatives
from grail_mem.model.observation import Entity, Evidence, Observation, Relationship
from grail_mem.query.claims import DUPLICATE
from grail_mem.query.passages import own_scope
from grail_mem.query.view import View
from grail_mem.store import redaction
from grail_mem.store.files import read_file
from grail_mem.store.layout import OUTPUT, UNDO, Layout
from grail_mem.store.ledger import about, chains
from grail_mem.store.observation_file import read_observation
from grail_mem.store.receipt import text_of
from grail_mem.store.redaction import Line
from grail_mem.store.snapshot import names
from grail_mem.write.selection import everything
from grail_mem.write.unsaying import Unsaid

PROPOSALS: Final = f"{OUTPUT}/proposals"
_WORD: Final = re.compile(r"\w{4,}")
"""What counts as a word: shorter ones are in every text."""
_OF_PROPOSAL: Final = re.compile(r"proposal ([0-9A-HJKMNP-TV-Z]{26}) \(")
_FIELDS: Final = frozenset({*Observation.__slots__, *Entity.__slots__, *Relationship.__slots__, *Evidence.__slots__})
LEAST: Final = 20
"""Characters from which on a text is looked for inside others; chosen."""


@dataclass(frozen=True, slots=True)
class Traces:
    """Where words of observations are.

    Attributes:
        observations: The observations.
        references: Ids of observations that name one of them by its id.
        twins: Ids of observations that say the same as one of them, by that one's id.
        quoting: Ids of others whose content holds the content of one of them.
        proposals: Ids of proposals that hold such words, wherever they stand.
        sets: Files with such proposals, relative to the root.
        undo_records: Files of what applied proposals changed, relative to the root.
        lines: Lines of the ledger of other ids whose reason holds such words.
        whole: Lines of the ledger about files of sources that change or go.
        n_lines: All lines of the ledger of which something goes.
        snapshots: Names of the snapshots.
        stale: What goes of the search index and of the vectors.
        alone: Words of what goes of the sources that no other observation has, as far as somebody asked.
        candidates: Ids of candidates that said the same, waiting and decided.
        folders: Folders in which they lie or lay, relative to the root, the deepest first.
    """

    observations: tuple[Observation, ...]
    references: tuple[str, ...]
    twins: Mapping[str, tuple[str, ...]]
    quoting: tuple[str, ...]
    proposals: tuple[str, ...]
    sets: tuple[str, ...]
    undo_records: tuple[str, ...]
    lines: tuple[Line, ...]
    whole: tuple[Line, ...]
    n_lines: int
    snapshots: tuple[str, ...]
    stale: Stale
    alone: frozenset[str] = frozenset()
    candidates: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()


def traces_of(
    view: View,
    observations: Sequence[Observation],
    unsaid: Unsaid,
    reason: str = "",
    *,
    candidates: Collection[str] = (),
) -> Traces:
    """Find every trace of some observations and of what goes of the sources; the view must be up to date.

    Args:
        view: All there is.
        observations: What goes.
        unsaid: What goes of the sources.
        reason: Why, which may say some of it.
        candidates: Ids of candidates of which the ledger shall tell no digest any more.
    """
    layout = view.layout
    ids = frozenset(o.id for o in observations)
    said = words_in(" ".join(unsaid.texts))
    own, named = words_of(observations) | said, _names_of(observations)
    touched = ids | unsaid.losing.keys()  # what is kept to undo a change of these holds their quotes
    undo = [name for name, text in _texts(layout.undo) if any(id_ in text for id_ in touched)]
    items = list(_items(layout))
    reasons = [pair for path in chains(layout) for pair in redaction.reasons(path) if pair[1].id not in ids]
    doubtful = [words_in(text) & named for *_, text in items] + [words_in(entry.reason) & own for _, entry in reasons]
    doubtful.append(words_in(reason) & said)
    survey = _survey(view, observations, frozenset().union(*doubtful))
    names_alone = survey.alone & named
    proposals = {name.removesuffix(".json") for name in undo}
    hit = [(where, id_) for where, id_, text in items if _hit(text, touched, names_alone) or id_ in proposals]
    proposals |= {id_ for _, id_ in hit}
    proposals |= set(_decided_on(layout, ids))
    lines = tuple(line for line, entry in reasons if words_in(entry.reason) & survey.alone)
    redacted = ids | proposals - {""} | set(unsaid.ids) | set(candidates)
    paths = {file.path for file in unsaid.files}
    whole = tuple(line for path in chains(layout) for line in redaction.lines_about(path, paths)) if paths else ()
    return Traces(
        tuple(observations), survey.references, survey.twins, survey.quoting, tuple(sorted(proposals - {""})),
        tuple(sorted({where for where, _ in hit})),
        tuple(f"{UNDO}/{name}" for name in undo), lines, whole,
        sum(redaction.count(path, redacted, lines, whole) for path in chains(layout)), tuple(names(layout)), stale(view, ids), survey.alone,
        tuple(sorted(candidates)), _folders(layout, observations),
    )  # fmt: skip


def copies_of(view: View, ids: Collection[str]) -> tuple[Observation, ...]:
    """Observations whose files carry the id of one of these, as copies by hand do; each counts under an id of its own."""
    doubled = {problem.where for problem in view.problems() if problem.code == DUPLICATE}
    return (
        tuple(o for o in everything(view) if o.path in doubled and _written_id(view, o.path) in ids) if doubled else ()
    )


def _written_id(view: View, path: str) -> str:
    """The id that a file gives; empty when it cannot be read."""
    with suppress(OSError, InputError):
        data, state = read_file(view.layout.root / path)
        return read_observation(data, path, "", state, zone=view.settings.zone).observation.id
    return ""


def _folders(layout: Layout, observations: Sequence[Observation]) -> tuple[str, ...]:
    """The folders of files that observations have or had, with those above; a category that one was moved out of is a word of it."""
    ids = {o.id for o in observations}
    paths = {o.path for o in observations}
    paths |= {path for entry in about(layout, ids) for path in (entry.path, entry.was)}
    found: set[str] = set()
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder != layout.notes:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return tuple(sorted(found, key=lambda name: (-name.count("/"), name)))


def _hit(text: str, ids: Collection[str], alone: Collection[str]) -> bool:
    return any(one in text for one in ids) or not words_in(text).isdisjoint(alone)


def words_of(observations: Iterable[Observation]) -> frozenset[str]:
    """The words of everything that observations say, in one case."""
    return frozenset().union(*(words_in(" ".join(_texts_in([o.to_dict(), o.extra]))) for o in observations))


def _names_of(observations: Iterable[Observation]) -> frozenset[str]:
    """The words of what observations name, which may stand where the observation itself is not spoken of."""
    said = [
        [o.title, o.category, o.attribute, o.source, o.session, o.speaker, *o.tags]
        + [text for e in o.entities for text in (e.name, e.type, *e.aliases)]
        + [text for r in o.relationships for text in (r.source, r.target, r.relationship_type)]
        for o in observations
    ]
    return frozenset().union(*(words_in(" ".join(filter(None, texts))) for texts in said))


def _texts_in(value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _texts_in(item)
            if not isinstance(key, str) or key not in _FIELDS:
                yield str(key)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts_in(item)
    elif value is not None:
        yield str(value)


def words_in(text: str) -> set[str]:
    """The words of a text, in one case."""
    return set(_WORD.findall(text.casefold().replace("_", " ")))


@dataclass(frozen=True, slots=True)
class _Survey:
    references: tuple[str, ...]
    twins: Mapping[str, tuple[str, ...]]
    quoting: tuple[str, ...]
    alone: frozenset[str]


def _survey(view: View, observations: Sequence[Observation], doubtful: Collection[str]) -> _Survey:
    """One look at all other observations: who names these, who says the same, and which words nobody else has."""
    ids = frozenset(o.id for o in observations)
    says: dict[str, list[str]] = {}
    for o in observations:
        says.setdefault(text_of(o.title, o.content, own_scope(view.access, o.scope)), []).append(o.id)
    inside = [text for o in observations if len(text := flattened(o.content)) >= LEAST]
    references, quoting, twins, alone = [], [], {id_: [] for id_ in ids}, set(doubtful)  # type: ignore[var-annotated]
    for other in everything(view):
        if other.id in ids:
            continue
        if refers(other, ids):
            references.append(other.id)
        same = says.get(text_of(other.title, other.content, own_scope(view.access, other.scope)), ())
        for id_ in same:
            twins[id_].append(other.id)
        flat = flattened(other.content)
        if not same and any(text in flat for text in inside):
            quoting.append(other.id)
        if alone:
            alone -= words_of([other])
    found = {id_: tuple(sorted(some)) for id_, some in sorted(twins.items()) if some}
    return _Survey(tuple(sorted(references)), found, tuple(sorted(quoting)), frozenset(alone))


def flattened(text: str) -> str:
    """A text in one case, with single blanks."""
    return " ".join(text.casefold().split())


def refers(o: Observation, ids: frozenset[str]) -> bool:
    """Whether an observation names one of these ids outside its content."""
    if not ids.isdisjoint(o.related_to) or not ids.isdisjoint(relatives(o)):
        return True
    return any(id_ in text for text in _texts_in(o.extra) for id_ in ids)


def _texts(folder: Path) -> Iterator[tuple[str, str]]:
    """Name and text of the JSON files in a folder."""
    try:
        listed = sorted(name for name in os.listdir(folder) if name.endswith(".json"))
    except (FileNotFoundError, NotADirectoryError):
        return
    for name in listed:
        yield name, (folder / name).read_bytes().decode(errors="replace")


def files_naming(layout: Layout, ids: Collection[str]) -> tuple[str, ...]:
    """Undo records and sets of proposals that name one of these ids, relative to the root."""
    folders = ((UNDO, layout.undo), (PROPOSALS, layout.root / PROPOSALS))
    found = [(f"{where}/{name}", text) for where, folder in folders for name, text in _texts(folder)]
    return tuple(path for path, text in found if any(id_ in text for id_ in ids))


def _items(layout: Layout) -> Iterator[tuple[str, str, str]]:
    """File, id and text of every proposal; a file that is no set is one item without an id."""
    for name, text in _texts(layout.root / PROPOSALS):
        where = f"{PROPOSALS}/{name}"
        document = read_set(text)
        if document is None:
            yield where, "", text
        else:
            for item in document["proposals"]:
                id_ = item.get("id") if isinstance(item, Mapping) else None
                yield where, id_ if isinstance(id_, str) else "", json.dumps(item, ensure_ascii=False)


def read_set(text: str) -> dict[str, Any] | None:
    """The document in a file of proposals; None when it is none."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(document, dict) or not isinstance(document.get("proposals"), list):
        return None
    return document


def _decided_on(layout: Layout, ids: Collection[str]) -> Iterator[str]:
    """Proposals that changed these observations, as their lines of the ledger say."""
    for path in chains(layout):
        for _, entry in redaction.reasons(path):
            if entry.id in ids and (found := _OF_PROPOSAL.match(entry.reason)) is not None:
                yield found[1]

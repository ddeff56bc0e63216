"""Add observations: check → stage → place → tell the ledger → make durable.

Knows nothing of how they are found again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import Final

from grail_mem.errors import InputError
from grail_mem.model.names import clean_text
from grail_mem.model.observation import Observation, fingerprint
from grail_mem.model.times import format_time
from grail_mem.query.find import who_says
from grail_mem.query.view import View
from grail_mem.store.filename import file_name
from grail_mem.store.files import translated
from grail_mem.store.layout import Layout, inside
from grail_mem.store.ledger_line import Entry
from grail_mem.store.observation_file import render_observation
from grail_mem.write import facts
from grail_mem.write.edited import folder_on_disk, free_path, placings_of
from grail_mem.write.staged import Placing, discard, make_durable, place, stage, staging, writing
from grail_mem.write.validate import Draft, make_observation


@dataclass(frozen=True, slots=True)
class Written:
    """What became of one write.

    Attributes:
        id: The observation's ULID.
        path: Its file, relative to the root.
        created: False when the same observation was there already; then `id` and `path` are those of that one.
        warnings: What was adjusted or is worth knowing.
        decision: What became of it among what is known: one of `write.facts.DECISIONS`.
        others: Ids of the observations that the decision is about.
    """

    id: str
    path: str
    created: bool = True
    warnings: tuple[str, ...] = ()
    decision: str = "new"
    others: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """The result as plain JSON values."""
        return {
            "id": self.id, "path": self.path, "created": self.created, "warnings": list(self.warnings),
            "decision": self.decision, "others": list(self.others),
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Ready:
    """A checked observation with all that can be made of it before the lock is taken.

    Attributes:
        observation: What is stored.
        data: The bytes of its file.
        digest: Their SHA-256.
        fingerprint: Of what it says.
        path: Where it goes, unless that is taken.
        words: What the file's name is made of.
        warnings: What was adjusted.
    """

    observation: Observation
    data: bytes
    digest: str
    fingerprint: int
    path: str
    words: str
    warnings: tuple[str, ...]


def add(view: View, drafts: Sequence[Draft], *, actor: str) -> list[Written]:
    """Store observations; all of them or, when one is not valid, none.

    Args:
        view: The store.
        drafts: What to store; one result each, in order.
        actor: Who does it.

    Raises:
        InputError: One or more drafts cannot be used; `problems` lists all reasons of all drafts.
        StoreError: The disk did not take it; nothing was stored.
    """
    checked = _check(view, drafts)
    if not checked:
        return []
    with staging(view.layout) as staging_fd, translated("store the observation"):
        spelled = {category: _spelled(view.layout, category) for category in {o.category for o, _, _ in checked}}
        ready = [_prepare(view.layout, *item, spelled[item[0].category]) for item in checked]
        staged = stage(staging_fd, [item.data for item in ready])
        try:
            with writing(view):
                view.catch_up()
                results, placings, unused = _decide(view, ready, staged, actor)
                made = {item.observation.id: item.observation for item in ready if _is_decided(view, item)}
                results, placings, replaced = _with_facts(view, results, placings, made, staging_fd, actor)
                unused += replaced
                staged = [*staged, *(placing.staged for placing in placings)]
                place(view, placings, staging_fd)
        except Exception:  # not an interrupt: what is committed by then is finished by the next writer
            discard(staging_fd, list(dict.fromkeys(staged)))
            raise
        discard(staging_fd, unused)
        make_durable(view)  # also what another call stored that says the same and has not returned yet
    return results


def _spelled(layout: Layout, category: str) -> str:
    """Make the folder of a category; returns the category as it is spelled on disk."""
    return layout.category_of(folder_on_disk(layout, category, create=True))


def _decide(
    view: View, ready: Sequence[_Ready], staged: Sequence[str], actor: str
) -> tuple[list[Written], list[Placing], list[str]]:
    """Give every staged file its path, or leave it out because the same observation is there already."""
    results: list[Written] = []
    placings: list[Placing] = []
    unused: list[str] = []
    here: dict[int, Written] = {}
    taken: set[str] = set()
    said = who_says(view, {item.fingerprint: item.observation for item in ready})
    at = format_time(datetime.now(UTC))
    for item, name in zip(ready, staged, strict=True):
        made, print_ = item.observation, item.fingerprint
        same = here.get(print_) or _same(said.same.get(print_), made)
        if same is not None:
            warnings = (*item.warnings, ALREADY_THERE)
            results.append(Written(same.id, same.path, created=False, warnings=warnings, decision="known"))
            unused.append(name)
            continue
        folder = item.path.rpartition("/")[0]
        path = free_path(view.layout, made, folder, item.words, taken=taken, first=item.path)
        taken.add(path)
        entry = Entry(
            "add", made.id, path, digest=item.digest, fingerprint=f"{print_:016x}", at=at, actor=actor,
        )  # fmt: skip
        placings.append(Placing(name, path, item.data, entry))
        hidden = (HIDDEN_BEFORE,) if print_ in said.hidden else ()
        here[print_] = Written(made.id, path, warnings=(*item.warnings, *hidden))
        results.append(here[print_])
    return results, placings, unused


def _same(there: Observation | None, made: Observation) -> Observation | None:
    """What says the same, unless it is history and this is said at another time: a fact may come back."""
    came_back = there is not None and there.superseded_by is not None and there.observed_at != made.observed_at
    return None if came_back else there


def _is_decided(view: View, item: _Ready) -> bool:
    return view.settings.facts == "decide" and item.observation.attribute is not None


def _with_facts(
    view: View,
    results: Sequence[Written],
    placings: Sequence[Placing],
    made: Mapping[str, Observation],
    staging_fd: int,
    actor: str,
) -> tuple[list[Written], list[Placing], list[str]]:
    """Let statements of facts take their places: what was to be written changes, and so do files that are there.

    Returns:
        Results, everything that is placed, and names of staged files that are not used.
    """
    asked = [made[placing.entry.id] for placing in placings if placing.entry.id in made]
    if not asked:
        return list(results), list(placings), []
    decided, changed = facts.decide(view, asked)
    by_id = {o.id: one for o, one in zip(asked, decided, strict=True)}
    placed, unused = [], []
    for placing in placings:
        one = by_id.get(placing.entry.id)
        if one is None or one.stored == made[placing.entry.id]:
            placed.append(placing)
            continue
        unused.append(placing.staged)
        if one.stored is not None:
            placed.append(_restaged(placing, one.stored, staging_fd))
    at, why = placings[0].entry.at, "a new observation of the same fact"
    edits = [edit for edit in facts.edits(view, changed) if edit.changes_file]
    placed += placings_of(edits, staging_fd, at=at, actor=actor, reason=why)
    paths = {placing.entry.id: placing.path for placing in placed} | {id_: o.path for id_, (o, _) in changed.items()}
    paths |= view.paths_of([id_ for one in decided for id_ in one.others if id_ not in paths])
    return [_result(one, by_id.get(one.id), paths) for one in results], placed, unused


def _restaged(placing: Placing, stored: Observation, staging_fd: int) -> Placing:
    data = render_observation(stored)
    (name,) = stage(staging_fd, [data])
    return replace(placing, staged=name, data=data, entry=replace(placing.entry, digest=sha256(data).hexdigest()))


def _result(written: Written, decided: facts.Decided | None, paths: Mapping[str, str]) -> Written:
    if decided is None:
        return written
    warnings = (*written.warnings, *([decided.warning] if decided.warning else []))
    made = replace(written, warnings=warnings, decision=decided.decision, others=decided.others)
    if decided.stored is not None:
        return made
    holder = decided.others[0]
    return replace(made, id=holder, path=paths.get(holder, ""), created=False)


ALREADY_THERE: Final = "the same observation was there already; nothing was written."
HIDDEN_BEFORE: Final = "an observation that says the same is hidden; this one was stored beside it."


def _check(view: View, drafts: Sequence[Draft]) -> list[tuple[Observation, str, tuple[str, ...]]]:
    now = datetime.now(UTC)
    checked, problems = [], []
    hints: dict[str, None] = {}
    for number, draft in enumerate(drafts, start=1):
        try:
            made, warnings = make_observation(draft, now=now, settings=view.settings)
            checked.append((made, _slug(draft), warnings))
        except InputError as error:
            problems += [f"draft {number}: {text}" if len(drafts) > 1 else text for text in error.problems]
            hints |= {error.hint: None} if error.hint else {}
    if problems:
        raise InputError("Nothing was stored. " + " ".join(problems), hint=" ".join(hints), problems=problems)
    return checked


def _slug(draft: Draft) -> str:
    if draft.slug is None:
        return ""
    if not isinstance(draft.slug, str):
        raise InputError(f"slug must be text, not {draft.slug!r}.")
    return clean_text(draft.slug)[0]


def _prepare(layout: Layout, made: Observation, slug: str, warnings: tuple[str, ...], spelled: str) -> _Ready:
    if spelled != made.category:
        warnings += (f"category '{made.category}' is spelled '{spelled}' in this store; that one was used.",)
        made = replace(made, category=spelled)
    data, words = render_observation(made), slug or made.title
    path = inside(layout.folder_of(spelled), file_name(made.observed_at, words, made.id))
    return _Ready(made, data, sha256(data).hexdigest(), fingerprint(made), path, words, warnings)

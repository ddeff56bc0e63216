"""Add observations: check → stage → place → tell the ledger → make durable.

Knows nothing of how they are found again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import Final

from grail_mem.errors import InputError
from grail_mem.model.names import clean_text
from grail_mem.model.observation import Observation, fingerprints
from grail_mem.model.times import format_time
from grail_mem.model.validity import interval_of
from grail_mem.query.view import View
from grail_mem.settings import Settings
from grail_mem.store.filename import file_name
from grail_mem.store.files import translated
from grail_mem.store.layout import Layout, inside
from grail_mem.store.ledger_line import AGAIN, Entry
from grail_mem.store.observation_render import render_observation
from grail_mem.store.receipt import Receipt
from grail_mem.write.already import already, already_there, is_same
from grail_mem.write.edited import folder_on_disk, free_path
from grail_mem.write.evidence import with_evidence
from grail_mem.write.permit import for_caller
from grail_mem.write.placed_facts import Written, is_decided, with_facts
from grail_mem.write.receipts import blocks, require_new
from grail_mem.write.screening import quoting_no_secret, screened_text
from grail_mem.write.staged import Placing, discard, make_durable, place, stage, staging, writing
from grail_mem.write.validate import Draft, make_observation


@dataclass(frozen=True, slots=True)
class _Ready:
    """A checked observation with all that can be made of it before the lock is taken.

    Attributes:
        observation: What is stored.
        data: The bytes of its file.
        digest: Their SHA-256.
        prints: The digests of what it says, as `fingerprints` gives them.
        path: Where it goes, unless that is taken.
        words: What the file's name is made of.
        warnings: What was adjusted.
    """

    observation: Observation
    data: bytes
    digest: str
    prints: tuple[int, ...]
    path: str
    words: str
    warnings: tuple[str, ...]


def add(
    view: View,
    drafts: Sequence[Draft],
    *,
    actor: str,
    again: bool = False,
    right: str = "write",
    beside: Callable[[Sequence[Written]], Sequence[Entry]] = lambda _: (),
) -> list[Written]:
    """Store observations; all of them or, when one is not valid, none.

    Args:
        view: The store.
        drafts: What to store; one result each, in order.
        actor: Who does it.
        again: Store also what was erased, on purpose.
        right: What the caller must be allowed where they go.
        beside: What else the ledger is told, from the results; called while the write lock is held, and what it raises
            leaves the store as it is.

    Raises:
        ConflictError: One or more say what was erased.
        InputError: One or more drafts cannot be used; `problems` lists all reasons of all drafts.
        StoreError: The disk did not take it; nothing was stored.
    """
    checked = _check(view, drafts, right)
    if not checked:
        return []
    with staging(view.layout) as staging_fd, translated("store the observation", view.layout.root):
        spelled = {category: _spelled(view.layout, category) for category in {o.category for o, _, _ in checked}}
        ready = [_prepare(view, *item, spelled[item[0].category]) for item in checked]
        for item in ready:  # what takes its time is done before others wait
            blocks(view, item.observation)
        staged = stage(staging_fd, [item.data for item in ready])
        try:
            with writing(view):
                view.catch_up()
                for item in ready:  # what was revoked meanwhile counts
                    view.access.require(right, item.observation.scope)
                at = format_time(datetime.now(UTC))
                results, placings, unused = _decide(view, ready, staged, at=at, actor=actor)
                made = {o.id: o for o in (item.observation for item in ready) if is_decided(view, o)}
                results, placings, replaced = with_facts(view, results, placings, made, staging_fd, actor)
                unused += replaced
                staged = [*staged, *(placing.staged for placing in placings)]
                told = _told_again(view, ready) if again else {}
                if not again:
                    require_new(view, (item.observation for item in ready))
                lifted = [Entry(AGAIN, receipt.id, at=at, actor=actor) for receipt in told.values()]
                place(view, placings, staging_fd, beside=[*lifted, *beside(results)])
        except Exception:  # not an interrupt: what is committed by then is finished by the next writer
            discard(staging_fd, list(dict.fromkeys(staged)))
            raise
        discard(staging_fd, unused)
        make_durable(view)  # also what another call stored that says the same and has not returned yet
    return [
        replace(one, warnings=(*one.warnings, TOLD_AGAIN.format(told[number].at[:10]))) if number in told else one
        for number, one in enumerate(results)
    ]


def _told_again(view: View, ready: Sequence[_Ready]) -> dict[int, Receipt]:
    """Which of these say what was erased, by number."""
    found = ((number, item.observation) for number, item in enumerate(ready))
    return {number: receipt for number, o in found if (receipt := blocks(view, o)) is not None}


def _spelled(layout: Layout, category: str) -> str:
    """Make the folder of a category; returns the category as it is spelled on disk."""
    return layout.category_of(folder_on_disk(layout, category, create=True))


def _decide(
    view: View, ready: Sequence[_Ready], staged: Sequence[str], *, at: str, actor: str
) -> tuple[list[Written], list[Placing], list[str]]:
    """Give every staged file its path, or leave it out because the same observation is there already."""
    results: list[Written] = []
    placings: list[Placing] = []
    unused: list[str] = []
    here: dict[tuple[int, str], list[tuple[Observation, str]]] = {}
    taken: set[str] = set()
    said = already(view, [(item.prints, item.observation) for item in ready])
    for item, name, before in zip(ready, staged, said, strict=True):
        made, print_ = item.observation, item.prints[0]
        interval = interval_of(made)
        beside = (at for one in item.prints for at in here.get((one, interval), ()))
        there = next((at for at in beside if is_same(view, at[0], made)), None)
        if there is None and before.same is not None:
            there = (before.same, before.same.path)
        if there is not None:
            warnings = already_there(there[0], made)
            results.append(Written(there[0].id, there[1], created=False, warnings=warnings, decision="known"))
            unused.append(name)
            continue
        folder = item.path.rpartition("/")[0]
        path = free_path(view.layout, made, folder, item.words, taken=taken, first=item.path)
        taken.add(path)
        entry = Entry(
            "add", made.id, path, digest=item.digest, fingerprint=f"{print_:016x}", detail=interval, at=at,
            actor=actor,
        )  # fmt: skip
        placings.append(Placing(name, path, item.data, entry))
        hidden = (HIDDEN_BEFORE,) if before.hidden else ()
        here.setdefault((print_, interval), []).append((made, path))
        results.append(Written(made.id, path, warnings=(*item.warnings, *hidden)))
    return results, placings, unused


TOLD_AGAIN: Final = "the same was erased on {}; it is remembered again."
HIDDEN_BEFORE: Final = "an observation that says the same is hidden; this one was stored beside it."


def _check(view: View, drafts: Sequence[Draft], right: str) -> list[tuple[Observation, str, tuple[str, ...]]]:
    now = datetime.now(UTC)
    checked, problems = [], []
    hints: dict[str, None] = {}
    kinds: list[type[InputError]] = []
    for number, draft in enumerate(drafts, start=1):
        try:
            with quoting_no_secret():
                draft, located = with_evidence(view, for_caller(view, draft, right))  # noqa: PLW2901  the same, with what its quotes point to
            made, warnings = make_observation(draft, now=now, settings=view.settings)
            checked.append((made, _slug(draft, view.settings), (*warnings, *located)))
        except InputError as error:
            kinds.append(type(error))
            error = _with_all(error, draft, now, view)
            problems += [f"draft {number}: {text}" if len(drafts) > 1 else text for text in error.problems]
            hints |= {error.hint: None} if error.hint else {}
    if problems:
        kind = kinds[0] if len(problems) == 1 else InputError
        raise kind("Nothing was stored. " + " ".join(problems), hint=" ".join(hints), problems=problems)
    return checked


def _with_all(error: InputError, draft: Draft, now: datetime, view: View) -> InputError:
    """A refusal of a draft's evidence with what else is wrong with the draft."""
    if draft.evidence is None:
        return error
    try:
        make_observation(replace(draft, evidence=None), now=now, settings=view.settings)
    except InputError as other:
        more = tuple(text for text in other.problems if text not in error.problems)
        return InputError(error.message, hint=error.hint, problems=(*error.problems, *more))
    return error


def _slug(draft: Draft, settings: Settings) -> str:
    if draft.slug is None:
        return ""
    if not isinstance(draft.slug, str):
        raise InputError(f"slug must be text, not {draft.slug!r}.")
    return clean_text(screened_text("slug", draft.slug, settings).text)[0]


def _prepare(view: View, made: Observation, slug: str, warnings: tuple[str, ...], spelled: str) -> _Ready:
    if spelled != made.category:
        warnings += (f"category '{made.category}' is spelled '{spelled}' in this store; that one was used.",)
        made = replace(made, category=spelled)
    data, words = render_observation(made), slug or made.title
    path = inside(view.layout.folder_of(spelled), file_name(made.observed_at, words, made.id))
    prints = fingerprints(made, view.access.default_scope)
    return _Ready(made, data, sha256(data).hexdigest(), prints, path, words, warnings)

"""The page of proposals: cards to accept, reject and take back, one at a time or by kind.

Knows nothing of how proposals are found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.responses import Response

from grail_mem.consolidate.detect import check_kinds
from grail_mem.consolidate.finding import KINDS
from grail_mem.consolidate.outcome import FileChange, Outcome
from grail_mem.consolidate.proposal import STATUSES, Proposal
from grail_mem.errors import GrailError, InputError, NotFoundError
from grail_mem.model.untrusted import shown
from grail_mem.review_page.rights import denied_anywhere, denied_proposals
from grail_mem.review_page.site import Form, Said, Site
from grail_mem.review_page.words import DiffRow, counted, diff_rows, is_cut, label

ON_A_PAGE: Final = 8
"""Cards of a page: each asks the store what applying it would do."""
MOST_AT_ONCE: Final = 500
"""Proposals that one form decides on; more are decided in several."""
_AROUND: Final = 240
"""Characters before and after a quote that are shown with it."""
_DONE: Final = {"apply": "Applied", "reject": "Rejected", "undo": "Took back"}


@dataclass(frozen=True, slots=True)
class Quoted:
    """An observation that speaks for a proposal.

    Attributes:
        id: The observation.
        title: Its title; empty when it cannot be shown any more.
        note: Why it counts.
        text: Its words around the quote, with the quote marked.
        category: Where it lies.
    """

    id: str
    title: str
    note: str
    text: Markup
    category: str = ""


@dataclass(frozen=True, slots=True)
class FileRow:
    """What happens to one file."""

    id: str
    action: str
    was: str
    path: str
    rows: tuple[DiffRow, ...]
    is_cut: bool


@dataclass(frozen=True, slots=True)
class Card:
    """A proposal with what its card shows.

    Attributes:
        it: The proposal.
        files: What applying would do to each file.
        why_not: Why it cannot be applied now; empty when it can.
        quotes: What speaks for it.
        denied: Why this reader may not decide on it; empty for one who may.
        after: The card that follows, where the page goes on when this one is decided.
    """

    it: Proposal
    files: tuple[FileRow, ...]
    why_not: tuple[str, ...]
    quotes: tuple[Quoted, ...]
    denied: str = ""
    after: str = ""


def show_proposals(site: Site, request: Request) -> Response:
    """The cards of one status and kind, a page at a time."""
    status, kind = request.query_params.get("status") or "pending", request.query_params.get("kind") or None
    every = site.store.proposals(status="all")
    if status not in STATUSES:
        raise InputError(f"There is no status {status!r}.", hint=f"The statuses are {', '.join(STATUSES)}.")
    of_status = [one for one in every if one.status == status]
    chosen = [one for one in of_status if kind is None or one.kind == kind]
    last = max((len(chosen) - 1) // ON_A_PAGE, 0)
    at = min(_page_number(request), last)
    shown_now = chosen[at * ON_A_PAGE : (at + 1) * ON_A_PAGE]
    why_denied = denied_proposals(site, shown_now)
    cards = [card(site, one, denied=why_denied[one.id]) for one in shown_now]
    kinds = Counter(one.kind for one in of_status)
    return site.page(
        request, "proposals.html", here="proposals", cards=_chained(cards), status=status, kind=kind, at=at, last=last,
        total=len(chosen), kinds={name: kinds[name] for name in dict.fromkeys((*KINDS, *kinds)) if kinds[name]},
        statuses={name: sum(one.status == name for one in every) for name in STATUSES},
        work=site.work.of("consolidate"), others=tuple(name for name in KINDS),
        look_denied=denied_anywhere(site, "propose"), all_denied=denied_anywhere(site, "apply"),
    )  # fmt: skip


def show_proposal(site: Site, request: Request) -> Response:
    """One card."""
    one = _named(site, [request.path_params["id"]])[0]
    shown_one = card(site, one, denied=denied_proposals(site, [one])[one.id])
    return site.page(request, "proposal.html", here="proposals", card=shown_one, work=None)


def confirm_proposals(site: Site, request: Request) -> Response:
    """What a decision on all of a kind would decide, to be confirmed."""
    action, kind = request.query_params.get("action", ""), request.query_params.get("kind", "")
    if action not in ("apply", "reject"):
        raise InputError("There is no such decision.", hint="Choose apply or reject.")
    every = site.store.proposals(kind=kind or None)
    why_denied = denied_proposals(site, every)
    waiting = [one for one in every if not why_denied[one.id]]
    return site.page(
        request, "confirm.html", here="proposals", action=action, kind=kind, listed=waiting[:MOST_AT_ONCE], total=len(waiting),
        denied=tuple(dict.fromkeys(filter(None, why_denied.values()))), n_denied=len(every) - len(waiting),
    )  # fmt: skip


def decide_proposals(site: Site, request: Request, form: Form) -> Response:  # noqa: ARG001  as every form is taken
    """Apply, reject or take back the proposals that the form names."""
    action, ids, reason = form.one("action"), form.all("id"), form.one("reason")
    if action not in _DONE or not ids:
        raise InputError("There is no such decision.", hint="Choose accept, reject or undo, and at least one proposal.")
    verb = {"apply": site.store.apply, "reject": site.store.reject, "undo": site.store.undo}[action]
    return site.back(form, _outcome(action, verb(ids, reason=reason)), to="/proposals")


def start_consolidation(site: Site, request: Request, form: Form) -> Response:  # noqa: ARG001  as every form is taken
    """Look for proposals, beside the pages."""
    kinds = check_kinds(form.all("kind")) if form.all("kind") else None
    began = site.work.start("consolidate", lambda told: site.store.consolidate(kinds=kinds, progress=told))
    said = (
        Said("Looking for what is worth tidying.") if began else Said("Something is under way already.", tone="mixed")
    )
    return site.back(form, said, to="/proposals")


def card(site: Site, one: Proposal, *, denied: str) -> Card:
    """A proposal with what its card shows."""
    files: tuple[FileChange, ...] = ()
    why_not: tuple[str, ...] = ()
    if one.status == "pending":
        try:
            (planned,) = site.store.apply(one.id, dry_run=True)
            files, why_not = planned.files, () if planned.done else planned.reasons
        except NotFoundError as error:  # decided on and removed since it was listed
            why_not = (str(error),)
    rows = tuple(
        FileRow(file.id, file.action, file.was, file.path, tuple(diff_rows(file.diff)), is_cut(file.diff))
        for file in files
    )
    return Card(one, rows, why_not, tuple(_quoted(site, q.id, q.text, q.note) for q in one.evidence.quotes), denied)


def _quoted(site: Site, id_: str, text: str, note: str) -> Quoted:
    try:
        o = site.store.get(id_)
    except GrailError:  # it went since, or is hidden
        return Quoted(id_, "", note, escape(shown(text)))
    at = o.content.find(text)
    if at < 0 or not text:
        return Quoted(id_, o.title, note, Markup("<mark>{}</mark>").format(shown(text)), o.category)
    begin, end = max(at - _AROUND, 0), at + len(text) + _AROUND
    before = ("…" if begin else "") + o.content[begin:at]
    behind = o.content[at + len(text) : end] + ("…" if end < len(o.content) else "")
    marked = Markup("{}<mark>{}</mark>{}").format(*map(shown, (before, text, behind)))
    return Quoted(id_, o.title, note, marked, o.category)


def _chained(cards: Sequence[Card]) -> list[Card]:
    ids = [one.it.id for one in cards]
    return [replace(one, after=after) for one, after in zip(cards, [*ids[1:], ""][: len(ids)], strict=True)]


def _named(site: Site, ids: Sequence[str]) -> list[Proposal]:
    there = {one.id: one for one in site.store.proposals(status="all")}
    missing = [id_ for id_ in ids if id_ not in there]
    if missing:
        raise NotFoundError("There is no such proposal.")
    return [there[id_] for id_ in ids]


def _outcome(action: str, outcomes: Sequence[Outcome]) -> Said:
    done = [one for one in outcomes if one.done]
    n_files = sum(len(one.files) for one in done)
    if len(outcomes) == 1:
        subject = f"{label(outcomes[0].kind).lower() or 'the proposal'}"
        text = f"{_DONE[action]}: {subject}" if done else f"Not done: {subject}"
    else:
        text = f"{_DONE[action]} {len(done)} of {counted(len(outcomes), 'proposal')}"
    reasons = tuple(dict.fromkeys(reason for one in outcomes for reason in one.reasons))[:12]
    undo: Any = ("/proposals/decide", {"action": ["undo"], "id": [one.id for one in done]}) if done else None
    tone = "good" if len(done) == len(outcomes) else "mixed" if done else "bad"
    files = f" ({counted(n_files, 'file')})" if n_files else ""
    return Said(f"{text}{files}.", reasons, tone, undo if action != "undo" else None)


def _page_number(request: Request) -> int:
    text = request.query_params.get("page", "1")
    return max(int(text) - 1, 0) if text.isascii() and text.isdigit() and len(text) < 7 else 0  # noqa: PLR2004  past any page

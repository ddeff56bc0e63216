"""The page of candidates: what somebody suggests, to approve or decline, and a form to suggest something.

Knows nothing of what counts as evidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from grail_mem.errors import InputError
from grail_mem.review_page.rights import denied, denied_anywhere
from grail_mem.review_page.site import Form, Said, Site
from grail_mem.review_page.words import counted
from grail_mem.write.approve import Decided
from grail_mem.write.candidates import STATUSES

ON_A_PAGE: Final = 20


def show_candidates(site: Site, request: Request) -> Response:
    """The candidates of one status, in the order in which they were submitted."""
    status = request.query_params.get("status") or "pending"
    every = site.store.candidates(status="all")
    if status not in STATUSES:
        raise InputError(f"There is no status {status!r}.", hint=f"The statuses are {', '.join(STATUSES)}.")
    chosen = [one for one in every if one.status == status]
    if status != "pending":
        chosen.reverse()  # what was decided last is looked for most
    after = request.query_params.get("after")
    begin = next((at + 1 for at, one in enumerate(chosen) if one.id == after), 0)
    shown = chosen[begin : begin + ON_A_PAGE]
    return site.page(
        request, "candidates.html", here="candidates", listed=shown, status=status, total=len(chosen), begin=begin,
        after=shown[-1].id if begin + ON_A_PAGE < len(chosen) else None,
        statuses={name: sum(one.status == name for one in every) for name in STATUSES},
        denied={one.id: denied(site, "apply", [one.observation.scope]) if one.observation else "" for one in shown},
        submit_denied=denied_anywhere(site, "propose"),
    )  # fmt: skip


def decide_candidates(site: Site, request: Request, form: Form) -> Response:  # noqa: ARG001  as every form is taken
    """Approve or decline the candidates that the form names."""
    action, ids = form.one("action"), form.all("id")
    if action not in ("approve", "decline") or not ids:
        raise InputError("There is no such decision.", hint="Choose approve or decline, and at least one candidate.")
    verb = site.store.approve if action == "approve" else site.store.decline
    return site.back(form, _outcome(action, verb(ids, reason=form.one("reason"))), to="/candidates")


def submit_candidate(site: Site, request: Request, form: Form) -> Response:  # noqa: ARG001  as every form is taken
    """Suggest an observation."""
    draft: dict[str, Any] = {
        "title": form.one("title"), "content": form.one("content"), "category": form.one("category"),
        "tags": [tag.strip() for tag in form.one("tags").split(",") if tag.strip()],
        "attribute": form.one("attribute"),
    }  # fmt: skip
    kept = {name: value for name, value in draft.items() if value}
    (done,) = site.store.submit({"content": "", **kept}, origin="user")
    if not done.created:
        return site.back(
            form, Said(f"The same was submitted before; it is {done.status}.", tone="mixed"), to="/candidates"
        )
    return site.back(form, Said("Submitted. It counts once it is approved.", done.warnings), to="/candidates")


def _outcome(action: str, outcomes: Sequence[Decided]) -> Said:
    done = [one for one in outcomes if one.done]
    word = "Approved" if action == "approve" else "Declined"
    reasons = tuple(dict.fromkeys(reason for one in outcomes for reason in one.reasons))
    tone = "good" if len(done) == len(outcomes) else "mixed" if done else "bad"
    text = f"{word} {counted(len(done), 'candidate')}." if done else "Nothing was decided."
    became = [one.observation for one in done if one.observation]
    undo: Any = None
    if action == "approve" and len(became) == 1:
        undo = (f"/observations/{became[0]}/act", {"action": ["hide"], "reason": ["approved by mistake"]})
    return Said(text, reasons, tone, undo, "Hide it again")

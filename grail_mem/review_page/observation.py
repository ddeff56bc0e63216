"""The page of one observation: what it says, what it rests on, what came before and after, and what can be done.

Knows nothing of how observations are changed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from grail_mem.errors import GrailError, InputError
from grail_mem.model.lineage import predecessors
from grail_mem.model.observation import PINNED, Observation
from grail_mem.model.untrusted import shown
from grail_mem.recall.cite import Cited
from grail_mem.review_page.rights import denied
from grail_mem.review_page.site import Form, Said, Site

REVISIONS: Final = ("confirm", "correct", "supersede", "expire", "dispute")
_KEPT: Final = {
    "hide": ("Hidden. No answer brings it any more; the file stays.", "restore", "Restore it"),
    "restore": ("Restored.", "hide", "Hide it again"),
    "pin": ("Pinned. Age takes nothing from it.", "unpin", "Unpin it"),
    "unpin": ("No longer pinned.", "pin", "Pin it again"),
    "archive": ("Archived. It shows when history is asked for.", "unarchive", "Bring it back"),
    "unarchive": ("Back from the archive.", "archive", "Archive it again"),
}  # fmt: skip
"""What can be done beside revising: what is said, what takes it back, and what the button for that says."""
_REVISED: Final = {
    "confirm": "Confirmed.", "correct": "Corrected; what it said stays as history.",
    "supersede": "Superseded; what it said stays as history.", "expire": "It is told as over.",
    "dispute": "Noted that somebody says otherwise.",
}  # fmt: skip


def show_observation(site: Site, request: Request) -> Response:
    """All of an observation."""
    id_ = request.path_params["id"]
    o = site.store.get(id_)
    history = site.store.history(id_)
    before = set(predecessors(o))
    return site.page(
        request, "observation.html", here="browse", o=o, cited=_cited(site, id_), revisions=history.revisions,
        steps=history.steps[-50:], before=before, is_pinned=bool(o.extra.get(PINNED)), fields=_fields(o),
        related=_titles(site, o.related_to), conflicts=_titles(site, o.conflicts_with), actions=REVISIONS,
        write_denied=denied(site, "write", [o.scope]), forget_denied=denied(site, "forget", [o.scope]),
    )  # fmt: skip


def show_source(site: Site, request: Request) -> Response:
    """The content of an observation as text, hidden characters written out."""
    return PlainTextResponse(shown(site.store.get(request.path_params["id"]).content))


def act_on_observation(site: Site, request: Request, form: Form) -> Response:
    """Hide, restore, pin, unpin, archive or unarchive it."""
    id_, action, reason = request.path_params["id"], form.one("action"), form.one("reason")
    if action not in _KEPT:
        raise InputError("There is no such action.", hint=f"The actions are {', '.join(_KEPT)}.")
    verb: Callable[..., Any] = getattr(site.store, action)
    done = verb(id_, reason=reason)
    text, other, label = _KEPT[action]
    undo = (f"/observations/{id_}/act", {"action": [other], "reason": [f"took back: {action}"]})
    if not done.changed:
        return site.back(form, Said("It was so already.", tone="mixed"), to="/observations")
    leaves = action == "hide" and form.one("back").startswith(f"/observations/{id_}")
    form = Form({**form.fields, "back": ["/observations"]}) if leaves else form
    return site.back(form, Said(text, done.warnings, undo=undo, undo_label=label), to=f"/observations/{id_}")


def revise_observation(site: Site, request: Request, form: Form) -> Response:
    """Judge it, with a reason."""
    id_ = request.path_params["id"]
    quotes = [line.strip() for line in form.one("evidence").splitlines() if line.strip()]
    done = site.store.revise(
        id_, action=form.one("action"), reason=form.one("reason"), content=form.one("content") or None,
        title=form.one("title") or None, at=form.one("at") or None, evidence=quotes or None,
    )  # fmt: skip
    there = f"/observations/{done.new_id or done.id}"
    form = Form({**form.fields, "back": [there]})
    if not done.changed:
        return site.back(form, Said("It was so already.", done.warnings, "mixed"), to=there)
    return site.back(form, Said(_REVISED[done.action], done.warnings), to=there)


def marked(text: str, quote: str) -> Markup:
    """A text that has its hidden characters shown already, with a quote in it marked."""
    words = shown(quote)
    at = text.find(words) if words else -1
    if at < 0:
        return Markup("{}").format(text)
    return Markup("{}<mark>{}</mark>{}").format(text[:at], words, text[at + len(words) :])


def _cited(site: Site, id_: str) -> list[dict[str, Any]]:
    try:
        found: Cited = site.store.cite(id_)
    except GrailError:  # a source that cannot be read takes nothing from the rest of the page
        return []
    return [
        {"it": quote, "lines": [(line, marked(line.text, quote.evidence.quote if line.quoted else "")) for line in quote.lines]}
        for quote in found.quotes
    ]  # fmt: skip


def _titles(site: Site, ids: tuple[str, ...]) -> list[tuple[str, str]]:
    """Ids with their titles; the title is empty when it cannot be shown."""
    made = []
    for id_ in ids[:20]:
        try:
            made.append((id_, site.store.get(id_).title))
        except GrailError:
            made.append((id_, ""))
    return made


def _fields(o: Observation) -> list[tuple[str, Any]]:
    """What stands in its frontmatter beside what the page shows anyway."""
    said = {
        "Kind": o.kind, "Status": o.status, "Confidence": f"{o.confidence:.2f}", "Attribute": o.attribute,
        "Source": o.source, "Source kind": o.source_kind, "Scope": o.scope, "Session": o.session,
        "Turn": None if o.turn is None else str(o.turn), "Speaker": o.speaker, "Observed": o.observed_at,
        "Recorded": o.recorded_at, "Valid from": o.valid_from, "Valid until": o.valid_until, "Expires": o.expires_at,
        "Review": o.review_at, "Id": o.id, "File": o.path,
    }  # fmt: skip
    kept = [(name, value) for name, value in said.items() if value not in (None, "")]
    return [*kept, *((name, str(value)) for name, value in o.extra.items() if name != PINNED)]

"""Revise: what a person decides about one observation, with a reason; what was said before is never lost.

Knows nothing of how new statements are weighed against known ones beyond calling `facts`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final

from grail_mem.errors import ConflictError, InputError, NotFoundError, UnsupportedEvidenceError
from grail_mem.model.authority import DERIVED, UNKNOWN, authority_of
from grail_mem.model.fact import raised
from grail_mem.model.observation import DISPUTED, SOURCE_KINDS, Evidence, Observation
from grail_mem.model.problem import Gather
from grail_mem.model.times import format_time, from_us, parse_when
from grail_mem.query.find import locate
from grail_mem.query.view import View
from grail_mem.store.files import translated
from grail_mem.store.observation_render import render_observation
from grail_mem.store.parts import read_evidence
from grail_mem.store.sources import parse_locator
from grail_mem.write import facts
from grail_mem.write.edited import Edited, commit, make_new, read_all, with_values
from grail_mem.write.evidence import CAPS, resolved
from grail_mem.write.heard import heard
from grail_mem.write.ingest import clean_session
from grail_mem.write.saying import begins_at, claim_of
from grail_mem.write.screening import quoting_no_secret
from grail_mem.write.staged import staging, writing
from grail_mem.write.trust import confirmed_by, with_own_trust
from grail_mem.write.validate import Draft

ACTIONS: Final = ("confirm", "correct", "supersede", "expire", "dispute")
_WITH_CONTENT: Final = ("correct", "supersede")
_COPIED: Final = (
    "category", "tags", "entities", "relationships", "confidence", "kind", "attribute", "scope", "source_kind", "source",
    "related_to", "valid_from", "valid_until", "expires_at", "review_at",
)  # fmt: skip
_ENDS: Final = ("valid_from", "valid_until", "expires_at", "review_at")


@dataclass(frozen=True, slots=True)
class Revised:
    """What became of a revision.

    Attributes:
        id: The observation that was revised.
        action: What was done.
        new_id: The observation that says it otherwise; empty when none was made.
        path: The file of that one, or of the one that was revised.
        changed: Ids of all observations whose files changed.
        warnings: What was adjusted or is worth knowing.
    """

    id: str
    action: str
    new_id: str
    path: str
    changed: tuple[str, ...]
    warnings: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """The result as plain JSON values."""
        return {
            "id": self.id, "action": self.action, "new_id": self.new_id, "path": self.path,
            "changed": list(self.changed), "warnings": list(self.warnings),
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Revision:
    """What is wanted, checked.

    Attributes:
        action: One of `ACTIONS`.
        reason: Why.
        content: What is said instead.
        title: Its title.
        evidence: What speaks for it.
        at: When it changed, or ceased to hold.
        session: The conversation in which quotes that name no source are looked up; None leaves them as they are.
        source_kind: As whose word it counts without quotes from the session; None for as that of the old one.
        talk: The conversation in which a session's quotes stand that name no source.
    """

    action: str
    reason: str
    content: str | None
    title: str | None
    evidence: tuple[Evidence, ...]
    at: datetime | None
    session: str | None = None
    source_kind: str | None = None
    talk: str | None = None


def read_revision(
    view: View, *, action: Any, reason: Any, content: Any, title: Any, evidence: Any, at: Any, session: Any = None,
    source_kind: Any = None, talk: str | None = None,
) -> Revision:  # fmt: skip
    """A revision from what a caller sent.

    Raises:
        InputError: One or more values cannot be used; `problems` lists every reason.
    """
    gather = Gather()
    now = datetime.now(UTC)
    if action not in ACTIONS:
        gather.found.append(f"action must be one of {', '.join(ACTIONS)}, not {action!r}.")
    if not isinstance(reason, str) or not reason.strip():
        gather.found.append("reason must say why, in words.")
    if action in _WITH_CONTENT and content is None:
        gather.found.append(f"{action} needs content, what is said instead.")
    if action in ("confirm", "expire") and (content is not None or title is not None):
        gather.found.append(f"{action} changes no text; leave content and title out.")
    if action in ("confirm", "correct", "dispute") and at is not None:
        gather.found.append(f"{action} takes no time; `supersede` and `expire` do.")
    if title is not None and content is None and action == "dispute":
        gather.found.append("title belongs to content.")
    if source_kind is not None and source_kind not in SOURCE_KINDS:
        gather.found.append(f"source_kind must be one of {', '.join(SOURCE_KINDS)}, not {source_kind!r}.")
    made = Revision(
        action, reason, content, title, gather.read("evidence", evidence, _evidence, ()),
        gather.read("at", at, lambda value: parse_when(value, now=now, zone=view.settings.zone), None),
        gather.read("session", session, clean_session, None), source_kind, talk,
    )  # fmt: skip
    gather.stop("Nothing was revised.")
    return made


def _evidence(value: Any) -> tuple[Evidence, ...]:
    """Quotes as somebody sends them: their words and where they are from, since all else is for us to find."""
    listed = value if isinstance(value, list | tuple) else [value]
    made = [
        item if isinstance(item, Evidence) else read_evidence({"quote": item} if isinstance(item, str) else item)
        for item in listed
    ]
    if any(item is None for item in made):
        raise InputError("must be quotes, or mappings with `quote` and, optionally, `source`.")
    return tuple(Evidence(item.quote, item.source) for item in made if item is not None)


def _located(view: View, old: Observation, wanted: Revision) -> tuple[Revision, tuple[str, ...]]:
    """A revision whose quotes from sources stand there, and warnings; words of a person without a source stay as they are.

    A session is no such person: its quotes stand in a source, or in its conversation when they name none.

    Raises:
        InputError: A quote stands nowhere in the source that it names.
    """
    claim = wanted.content or old.content or old.title
    wanted, warned = _heard(view, old, wanted, claim)
    pointing = [
        item
        for item in wanted.evidence
        if not item.sha256 and (view.principal is not None or parse_locator(item.source) is not None)
    ]
    if not pointing:
        return wanted, warned
    said = [{"quote": item.quote} | ({"source": item.source} if item.source else {}) for item in pointing]
    with quoting_no_secret():
        found, warnings = resolved(view, said, claim, session=wanted.talk or old.session, scope=old.scope)
    located = dict(zip(pointing, found, strict=True))
    return replace(wanted, evidence=tuple(located.get(item, item) for item in wanted.evidence)), (*warned, *warnings)


def _heard(view: View, old: Observation, wanted: Revision, claim: str) -> tuple[Revision, tuple[str, ...]]:
    """A revision whose quotes from its conversation are looked up there, and that counts for as much as who said them.

    Raises:
        UnsupportedEvidenceError: The quotes do not say what is said instead.
        ConflictError: Whoever revises counts for less than who said what is there.
    """
    said = [item for item in wanted.evidence if not item.source]
    if wanted.session is None or not said:
        _require_standing(old, wanted, None)
        return wanted, ()
    own = view.principal.private if view.principal is not None else old.scope
    found = heard(view, said, claim, session=wanted.session, scopes=(own, old.scope, None))
    if wanted.source_kind is not None and wanted.content is not None and found.against:
        raise UnsupportedEvidenceError(
            f"Nothing was revised: the quote does not support the content: {found.against}.",
            hint="Say what the words say, or quote others that say it.",
        )
    _require_standing(old, wanted, found.spoken)
    named = [item for item in wanted.evidence if item.source]
    kind = wanted.source_kind if wanted.source_kind is None else found.kind or wanted.source_kind
    return replace(wanted, evidence=(*found.evidence, *named), source_kind=kind), found.warnings


def _require_standing(old: Observation, wanted: Revision, spoken: str | None) -> None:
    """Refuse what somebody may not decide without the words of others.

    Raises:
        ConflictError: It would take the word of more authority away, or make a conclusion surer by saying it again.
    """
    if wanted.source_kind is None or wanted.action == "dispute":
        return
    own = authority_of(spoken or wanted.source_kind)
    if wanted.action != "confirm" and own < authority_of(old.source_kind) > UNKNOWN:
        raise ConflictError(
            f"What {old.id} says comes from {old.source_kind}, which outweighs {spoken or wanted.source_kind}.",
            hint="Quote the words that say otherwise, or use the action dispute.",
        )
    is_weak = old.source_kind in DERIVED or old.status == "provisional"
    if wanted.action == "confirm" and is_weak and own <= authority_of(wanted.source_kind):
        raise ConflictError(
            f"{old.id} is a conclusion; it is not surer because it is said again.",
            hint="Quote the words that confirm it.",
        )


def _counting(old: Observation, wanted: Revision) -> dict[str, Any]:
    """For how much the new text counts, when that is not what the old one does."""
    if wanted.source_kind is None:
        return {}
    most = CAPS[wanted.source_kind]
    return {"source_kind": wanted.source_kind, "confidence": most if wanted.evidence else min(old.confidence, most)}


def revise(view: View, id_: str, wanted: Revision, *, actor: str) -> Revised:
    """Do to an observation what somebody decided: in one commit with everything that follows from it.

    Raises:
        NotFoundError: There is no such observation.
        InputError: The new text cannot be used, or the time is before the observation began.
        ConflictError: It is superseded already.
        UnsupportedEvidenceError: A session confirms, or replaces another one's word, without a quote that says so.
    """
    with staging(view.layout) as staging_fd, translated("revise the observation", view.layout.root), writing(view):
        row = locate(view, id_)
        view.access.require("write", row.observation.scope, id_=id_)
        if id_ in view.hidden:
            raise NotFoundError(f"There is no observation {id_}.", hint="`grail list` shows what is there.")
        old = row.observation
        _require_current(old, wanted.action)
        wanted, located = _located(view, old, wanted)
        added = _made(view, old, wanted) if wanted.content is not None else None
        new = added.made if added is not None else None
        revised, new = _revised(old, new, wanted)
        if wanted.action == "confirm":
            revised = confirmed_by(view, old, revised)
        changed = {old.id: (old, revised)} | _settled(view, old, revised, new)
        final = changed[new.id][1] if new is not None and new.id in changed else new
        edits = facts.edits(view, {id__: pair for id__, pair in changed.items() if new is None or id__ != new.id})
        edits = [_marked(edit, old, wanted) if edit.made.id == old.id else edit for edit in edits]
        if added is not None and final is not None:
            edits = [replace(added, made=final, data=render_observation(final)), *edits]
        edits += _released(view, old, revised, {edit.made.id for edit in edits})
        commit(view, staging_fd, edits, actor=actor, reason=wanted.reason.strip())
        return _result(old, wanted, edits, added, located)


def _require_current(old: Observation, action: str) -> None:
    if old.superseded_by is not None:
        raise ConflictError(
            f"Observation {old.id} is superseded by {old.superseded_by} already.",
            hint=f"Revise that one, or look at `grail history {old.id}`.",
        )
    if action == "confirm" and old.status == "archived":
        raise ConflictError(f"Observation {old.id} is archived.", hint="`grail unarchive` brings it back.")


def _made(view: View, old: Observation, wanted: Revision) -> Edited:
    """The observation that says it otherwise: as the old one in everything that the revision does not name."""
    copied = {name: value for name in _COPIED if (value := getattr(old, name)) not in (None, ())}
    if wanted.action != "correct":
        copied = {name: value for name, value in copied.items() if name not in _ENDS}
    copied |= _counting(old, wanted)
    at = old.observed_at if wanted.action == "correct" else wanted.at or datetime.now(UTC)
    if wanted.action == "dispute":  # of the time that the other was said last, so that neither outweighs the other
        at = from_us(max(saying.at_us for saying in claim_of(old).sayings))
    related = [id_ for id_ in copied.pop("related_to", ()) if isinstance(id_, str)]
    edited = make_new(view, Draft(content=wanted.content, title=wanted.title, observed_at=at, **copied))
    made = replace(edited.made, evidence=wanted.evidence, related_to=tuple(related))
    return replace(edited, made=with_own_trust(view, old, made, replaces=wanted.action in _WITH_CONTENT))


def _revised(old: Observation, new: Observation | None, wanted: Revision) -> tuple[Observation, Observation | None]:
    """The old observation and the new one as the action makes them."""
    match wanted.action:
        case "confirm":
            return replace(_confirmed(old), evidence=_with(old, wanted)), new
        case "expire":
            at = wanted.at or datetime.now(UTC)
            if at <= begins_at(old):
                raise InputError(
                    f"{format_time(at)} is not after {format_time(begins_at(old))}, when it began.",
                    hint="`grail revise … correct` is for what never held.",
                )
            until = at if old.valid_until is None else min(at, old.valid_until)
            return replace(old, valid_until=until, conflicts_with=(), evidence=_with(old, wanted)), new
        case "dispute" if new is None:
            return replace(old, evidence=_with(old, wanted)), new
        case "dispute" if new is not None:
            both = replace(old, conflicts_with=(*old.conflicts_with, new.id))
            return both, replace(new, conflicts_with=(old.id, *old.conflicts_with))
    if new is None:
        return old, new
    after = facts.superseded(old, new) if wanted.action == "supersede" else _never_held(old, new)
    return after, replace(new, supersedes=old.id)


def _never_held(old: Observation, new: Observation) -> Observation:
    return replace(old, status="superseded", superseded_by=new.id, valid_until=None, conflicts_with=())


def _confirmed(old: Observation) -> Observation:
    """A confirmed observation waits for nobody any more."""
    expires = None if old.status == "provisional" else old.expires_at
    return replace(old, status="confirmed", confidence=raised(old.confidence, 1.0), expires_at=expires, review_at=None)


def _with(old: Observation, wanted: Revision) -> tuple[Evidence, ...]:
    return (*old.evidence, *(item for item in wanted.evidence if item not in old.evidence))


def _settled(
    view: View, old: Observation, revised: Observation, new: Observation | None
) -> dict[str, tuple[Observation, Observation]]:
    """What else changes in the fact that it states."""
    if old.attribute is None or view.settings.facts != "decide":
        return {} if new is None else {new.id: (new, new)}
    found = dict(facts.settle(view, [revised], new))
    found[old.id] = (old, found[old.id][1])
    return found


def _marked(edit: Edited, old: Observation, wanted: Revision) -> Edited:
    """The edit of the revised observation with what only its frontmatter says."""
    extra = dict(edit.made.extra)
    extra.pop(DISPUTED, None)
    if wanted.action == "dispute":
        extra[DISPUTED] = format_time(datetime.now(UTC).replace(microsecond=0))
    values: dict[str, Any] = {"extra": extra}
    if wanted.action == "confirm" and old.review_at is not None:
        values["review_at"] = None
    return with_values(edit, **values)


def _released(view: View, old: Observation, revised: Observation, edited: set[str]) -> Iterator[Edited]:
    """Others that were in conflict with an observation that is so no longer."""
    freed = [id_ for id_ in old.conflicts_with if id_ not in revised.conflicts_with and id_ not in edited]
    for other in read_all(view, freed).values() if freed else ():
        left = tuple(id_ for id_ in other.made.conflicts_with if id_ != old.id)
        yield with_values(other, conflicts_with=left)


def _result(
    old: Observation, wanted: Revision, edits: Sequence[Edited], added: Edited | None, located: tuple[str, ...]
) -> Revised:
    new_id = "" if added is None else added.made.id
    path = added.path if added is not None else next((e.path for e in edits if e.made.id == old.id), old.path)
    warnings = located if added is None else (*added.warnings, *located)
    changed = tuple(sorted(e.made.id for e in edits if e.changes_file and e.made.id != new_id))
    return Revised(old.id, wanted.action, new_id, path, changed, warnings)

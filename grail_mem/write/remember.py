"""Remember a claim with the words that it rests on: locate → check → cap the authority → store, or refuse.

What cannot be shown is not stored as a fact. Knows nothing of how a quote is judged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Final

from grail_mem.errors import ConflictError, UnsupportedEvidenceError
from grail_mem.model.observation import Evidence, fingerprints
from grail_mem.model.quote import Found
from grail_mem.model.times import format_time
from grail_mem.model.validity import interval_of
from grail_mem.query.find import locate
from grail_mem.query.view import View
from grail_mem.store.files import translated
from grail_mem.store.layout import CHATS
from grail_mem.store.ledger_line import Entry
from grail_mem.store.sources import Turn, chat_stem, current_turns, parse_locator, read_session
from grail_mem.support.support import Support
from grail_mem.write.already import already, already_there
from grail_mem.write.claim import Claim, draft_of, read_claim
from grail_mem.write.edited import Edited, make_new
from grail_mem.write.evidence import (
    Located,
    best_place,
    found_in,
    located_at,
    must_be_recorded,
    not_found,
    passages,
)
from grail_mem.write.ingest import placed
from grail_mem.write.placed_facts import Written, is_decided, with_facts
from grail_mem.write.placed_sources import placing_of
from grail_mem.write.quotes import Quote
from grail_mem.write.receipts import require_new
from grail_mem.write.screening import quoting_no_secret, screened_name, screened_quotes
from grail_mem.write.staged import Placing, discard, make_durable, place, stage, staging, writing
from grail_mem.write.transcript import Sent, SourceFile, append, derived_id, require_own
from grail_mem.write.validate import Draft

_RANK: Final = {"contradicted": 4, "supported": 2, "unsupported": 0}
"""Which quote decides when several are given: one that says the opposite before one that says it."""


@dataclass(frozen=True, slots=True)
class Remembered:
    """What became of a claim.

    Attributes:
        id: The observation's ULID.
        path: Its file, relative to the root.
        created: False when the same observation was there already.
        status: `confirmed`, or `provisional` for a conclusion that no quote supports.
        support: How well the quote supports the claim, who judged, and why.
        warnings: What was adjusted or is worth knowing.
        decision: What became of it among what is known: one of `write.facts.DECISIONS`.
        others: Ids of the observations that the decision is about.
    """

    id: str
    path: str
    created: bool
    status: str
    support: Support
    warnings: tuple[str, ...] = ()
    decision: str = "new"
    others: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """The result as plain JSON values."""
        judged = self.support
        return {
            "id": self.id, "path": self.path, "created": self.created, "status": self.status,
            "support": {
                "verdict": judged.verdict, "score": judged.score, "checker": judged.checker,
                "reasons": list(judged.reasons),
            },
            "warnings": list(self.warnings), "decision": self.decision, "others": list(self.others),
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Shown:
    """A quote with what was found of it.

    Attributes:
        turn: The turn to record first, when the session has none yet.
    """

    located: Located
    support: Support
    turn: Turn | None = None


def remember(
    view: View,
    claim: object,
    *,
    evidence: object,
    attribute: object = None,
    source: object = None,
    session: object = None,
    role: object = "user",
    allow_inference: object = False,
    scope: object = None,
    fields: Mapping[str, Any] | None = None,
    actor: str,
) -> Remembered:
    """Store a claim with the quote that supports it; a claim without support is not stored.

    Args:
        view: The store.
        claim: One statement.
        evidence: The quote, or a mapping with `quote` and `source`, or a list of both.
        attribute: The current fact it states.
        source: The source that the quote stands in; None looks in the session.
        session: The session. In one of which no turn was ingested, the quote is recorded as a turn, together with the claim.
        role: Who says the quote when it is recorded so.
        allow_inference: Keep a claim that the quote does not support as a provisional conclusion that ends by itself.
        scope: Whose memory it is; None is the default scope.
        fields: Other fields of the observation.
        actor: Who does it.

    Raises:
        InputError: A value cannot be used; `problems` lists every reason.
        EvidenceNotFoundError: The quote does not stand there.
        UnsupportedEvidenceError: It stands there and does not support the claim.
        AccessError: The caller may not write there.
        StoreError: The disk did not take it; nothing was stored.
    """
    with quoting_no_secret():
        claim = screened_quotes(claim, view.settings)
        evidence = screened_quotes(evidence, view.settings)
        session = session if not isinstance(session, str) else screened_name("session", session, view.settings)
    own = {**(fields or {}), **({} if attribute is None else {"attribute": attribute})}
    asked = read_claim(view, claim, evidence, source, session, role, allow_inference, scope, own)
    view.access.require("write", asked.scope)
    shown = [_look(view, asked, quote) for quote in asked.quotes]
    best = max(shown, key=lambda one: _RANK[one.support.verdict] + one.support.score)
    is_fact = best.support.verdict == "supported"
    if best.support.verdict == "contradicted" or not (is_fact or asked.allow_inference):
        raise _unsupported(asked, best)
    draft, warnings = draft_of(asked, best.located, view.settings.zone, is_fact=is_fact)
    warnings += [text for one in shown for text in one.located.warnings]
    done = _store(view, asked, shown, best, draft, actor)
    return replace(done, warnings=(*done.warnings, *warnings))


def _look(view: View, asked: Claim, said: Quote) -> _Shown:
    """A quote located and judged; in a session that has no ingested turn it is located in the turn that it becomes."""
    place = said if said.source or said.session else replace(said, session=asked.session)
    there = passages(view, place, asked.scope)
    turn = None
    located = found_in(there, said.quote)
    if located is None:
        own = place.source is None and place.session == asked.session and said.turn is None
        if not own or must_be_recorded(view) or not all(passage.quoted for passage in there):
            raise not_found(said.quote, there, place.source or f"the session {place.session!r}", said.turn)
        turn = _turn_of(asked, said.quote, _role_at_home(view, asked, place) or asked.role)
        located = _within(turn)
    return _Shown(*best_place(view, asked.text, located), turn)


def _role_at_home(view: View, asked: Claim, place: Quote) -> str | None:
    """Who says a quote in the caller's own transcript of the session, when the claim goes elsewhere; None when there is none.

    Raises:
        EvidenceNotFoundError: That was recorded, and the quote does not stand there.
    """
    if view.principal is None or asked.scope == view.principal.private:
        return None
    home = [turn for turn in passages(view, place, view.principal.private) if not turn.quoted]
    found = found_in(home, place.quote)
    if home and found is None:
        raise not_found(place.quote, home, f"the session {place.session!r}", None)
    return None if found is None else found.role


def _turn_of(asked: Claim, quote: str, role: str) -> Turn:
    speaker = asked.fields.get("speaker")
    now = format_time(datetime.now(UTC))
    return Turn(
        0, derived_id("quoted", role, quote), role, quote, speaker if isinstance(speaker, str) else "", now,
        quoted=True,
    )  # fmt: skip


def _within(turn: Turn) -> Located:
    """A quote that is all of a turn."""
    return located_at(turn, Found(0, len(turn.text), "exact"))


def _unsupported(asked: Claim, best: _Shown) -> UnsupportedEvidenceError:
    judged, where = best.support, "the quote" if best.turn else f"the quote in {best.located.source}"
    said = "contradicts" if judged.verdict == "contradicted" else "does not support"
    why = "; ".join(judged.reasons)
    return UnsupportedEvidenceError(
        f'Nothing was remembered: {where} {said} the claim "{asked.text:.200}" ({judged.checker}: {why}). '
        f'It says "{best.located.quote:.200}".',
        hint="Claim what the words say, or quote others that say it"
        + ("." if judged.verdict == "contradicted" else "; `allow_inference` keeps it as a provisional conclusion."),
    )


def _store(view: View, asked: Claim, shown: Sequence[_Shown], best: _Shown, draft: Draft, actor: str) -> Remembered:
    """Put the observation in place, and the turns that are recorded with it, all or none."""
    with staging(view.layout) as staging_fd, translated("store the claim", view.layout.root):
        with writing(view):
            view.catch_up()
            files, evidence = _recorded(view, asked, shown)
            made = make_new(view, replace(draft, evidence=evidence, turn=_turn_in_session(asked, evidence)))
            prints = fingerprints(made.made, view.access.default_scope)
            ((same, _),) = already(view, [(prints, made.made)])
            if same is None:
                require_new(view, [made.made])
                written = _put(view, staging_fd, made, files, prints[0], actor)
            else:
                written = Written(
                    same.id, same.path, created=False, warnings=already_there(same, made.made), decision="known"
                )
            status = locate(view, written.id).observation.status
        make_durable(view)
    return Remembered(
        written.id, written.path, created=written.created, status=status, support=best.support,
        warnings=written.warnings, decision=written.decision, others=written.others,
    )  # fmt: skip


def _turn_in_session(asked: Claim, evidence: Sequence[Evidence]) -> int | None:
    """Where in its session a claim was made: the turn of its first quote there."""
    stems = [f"{CHATS}/{chat_stem(asked.session, scope)}." for scope in (asked.scope, None)] if asked.in_session else []
    turns = (parse_locator(e.source) for e in evidence if e.source.startswith(tuple(stems)))
    return next((locator.turn for locator in turns if locator is not None), None)


def _recorded(view: View, asked: Claim, shown: Sequence[_Shown]) -> tuple[list[SourceFile], tuple[Evidence, ...]]:
    """The transcript with the quotes that become turns of it, and the evidence with its place; the write lock must be held."""
    new = [Sent(one.turn, number) for number, one in enumerate(shown, start=1) if one.turn is not None]
    files: list[SourceFile] = []
    turns: dict[str, Turn] = {}
    if new:
        parts = read_session(view.layout, asked.session, asked.scope)
        require_own(parts, asked.session, asked.scope)
        made = append(parts, new, session=asked.session, scope=asked.scope, receipts=view.receipts)
        if made.refused:
            raise ConflictError(
                "Nothing was remembered: the quote was erased.",
                hint="To remember it again on purpose, `ingest_chat(…, again=True)` lets in the turn that says it.",
            )
        files = placed(made, parts)
        turns = {turn.id: turn for turn in (*current_turns(parts), *made.turns)}
    located = [one.located if one.turn is None else _within(turns[one.turn.id]) for one in shown]
    return files, tuple(at.evidence(one.support) for at, one in zip(located, shown, strict=True))


def _put(view: View, staging_fd: int, made: Edited, files: Sequence[SourceFile], print_: int, actor: str) -> Written:
    """Place an observation with its sources, among what is known of the fact it states."""
    at = format_time(datetime.now(UTC))
    data = made.data or b""
    staged = stage(staging_fd, [data, *(file.data or b"" for file in files)])
    entry = Entry(
        "add",
        made.made.id,
        made.path,
        digest=sha256(data).hexdigest(),
        fingerprint=f"{print_:016x}",
        detail=interval_of(made.made),
        at=at,
        actor=actor,
    )
    try:
        placings = [placing_of(file, name, at=at, actor=actor) for file, name in zip(files, staged[1:], strict=True)]
        placings.append(Placing(staged[0], made.path, data, entry))
        stated = {made.made.id: made.made} if is_decided(view, made.made) else {}
        results, settled, unused = with_facts(
            view, [Written(made.made.id, made.path, warnings=made.warnings)], placings, stated, staging_fd, actor
        )
        staged += [placing.staged for placing in settled if placing.staged not in staged]
        place(view, settled, staging_fd)
    except Exception:  # not an interrupt: what is committed by then is finished by the next writer
        discard(staging_fd, staged)
        raise
    discard(staging_fd, unused)
    return results[0]

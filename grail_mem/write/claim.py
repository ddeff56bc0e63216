"""A claim as a caller makes it, with all that is wrong with it at once, and the observation it becomes.

Who spoke the quote is an upper limit for how sure the observation is. Knows nothing of sources.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from grail_mem.errors import InputError
from grail_mem.model.problem import Gather
from grail_mem.model.scope import clean_scope
from grail_mem.model.times import format_time, parse_when
from grail_mem.query.passages import own_scope
from grail_mem.query.view import View
from grail_mem.store.sources import ROLES
from grail_mem.write.evidence import KIND_OF_ROLE, Located, capped
from grail_mem.write.ingest import clean_session
from grail_mem.write.permit import meant
from grail_mem.write.quotes import Quote, read_quotes
from grail_mem.write.validate import DRAFT_FIELDS, Draft, make_observation

INFERENCE_DAYS: Final = 30
"""How long a conclusion that no quote supports is kept unless somebody confirms it; chosen."""
_OWN_FIELDS: Final = frozenset({"content", "evidence", "session", "scope", "turn"})


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim that can be looked into.

    Attributes:
        text: What is claimed.
        quotes: The words that it rests on.
        session: Where quotes that name no place stand, and are recorded when it has no turns.
        in_session: Whether the caller named it, so that the observation is part of it.
        role: Who says a quote that is recorded.
        fields: The other fields of the observation.
    """

    text: str
    quotes: tuple[Quote, ...]
    session: str
    in_session: bool
    scope: str | None
    role: str
    allow_inference: bool
    fields: Mapping[str, Any]


def read_claim(
    view: View, claim: Any, evidence: Any, source: Any, session: Any, role: Any, allow: Any, scope: Any,
    fields: Mapping[str, Any],
) -> Claim:  # fmt: skip
    """A claim that can be looked into.

    Raises:
        InputError: It cannot be; `problems` lists every reason.
    """
    gather = Gather()
    if evidence is None:
        gather.found.append("evidence is missing: quote the words that say it.")
    quotes = gather.read("evidence", evidence, read_quotes, ())
    source = gather.read("source", source, _text, None)
    named = gather.read("session", session, clean_session, "")
    role = gather.read("role", role, _role, "user")
    if not isinstance(allow, bool):
        gather.found.append("allow_inference must be true or false.")
    whose = own_scope(view.access, gather.read("scope", meant(view, scope), clean_scope, None))
    gather.found += _field_problems(view, claim, fields)
    gather.stop("Nothing was remembered.")
    placed_in = tuple(said if said.source or said.session else replace(said, source=source) for said in quotes)
    day = format_time(datetime.now(UTC))[:10]
    own = {name: value for name, value in fields.items() if value is not None} | ({"scope": whose} if whose else {})
    return Claim(str(claim), placed_in, named or f"remembered-{day}", bool(named), whose, role, bool(allow), own)


def _field_problems(view: View, claim: Any, fields: Mapping[str, Any]) -> list[str]:
    """What is wrong with the claim and the fields of the observation."""
    wrong = [name for name in fields if name not in DRAFT_FIELDS or name in _OWN_FIELDS]
    rest = {name: value for name, value in fields.items() if name not in wrong}
    found = [f"'{name}' is no further field of a claim." for name in wrong]
    try:
        draft = Draft(content="" if claim is None else claim, session="any", **rest)
        make_observation(draft, now=datetime.now(UTC), settings=view.settings)
    except InputError as error:
        found += [text.replace("content", "claim", 1) for text in error.problems]
    return found


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"must be text, not {value!r:.60}.")
    return value.strip()


def _role(value: Any) -> str:
    if value not in ROLES:
        raise InputError(f"role must be one of {', '.join(ROLES)}, not {value!r:.60}.")
    return str(value)


def draft_of(claim: Claim, located: Located, zone: str, *, is_fact: bool) -> tuple[Draft, list[str]]:
    """The observation to store, no surer than who spoke allows, and warnings about what was capped."""
    fields = dict(claim.fields)
    own = KIND_OF_ROLE[located.role] if is_fact else "agent_inference"
    kind, confidence, warnings = capped(fields.get("source_kind") or own, fields.get("confidence"), own)
    fields |= {"source_kind": kind, "confidence": confidence}
    if not is_fact:
        end = datetime.now(UTC) + timedelta(days=INFERENCE_DAYS)
        fields |= {"status": "provisional", "expires_at": _earlier(fields.get("expires_at"), end, zone)}
        warnings.append(
            f"the quote does not support the claim; it is kept as an inference that ends within {INFERENCE_DAYS} days."
        )
    if located.at and not located.quoted:
        fields.setdefault("observed_at", located.at)
    if claim.in_session:
        fields["session"] = claim.session
        if located.speaker:
            fields.setdefault("speaker", located.speaker)
    return Draft(content=claim.text, **fields), warnings


def _earlier(wanted: Any, end: datetime, zone: str) -> datetime:
    """The time that a caller wants when it is before an end, else that end; what cannot be read was refused before."""
    return end if wanted is None else min(parse_when(wanted, now=datetime.now(UTC), zone=zone), end)

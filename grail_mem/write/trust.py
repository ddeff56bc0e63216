"""Trust: what a session may make of an observation's labels and quotes; more of it comes from new quotes alone.

The owner is a person who edits, and is let alone but for a warning. Knows nothing of how a change comes about.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final

from grail_mem.errors import InputError, UnsupportedEvidenceError
from grail_mem.model.authority import authority_of
from grail_mem.model.observation import Evidence, Observation, status_kept
from grail_mem.query.view import View
from grail_mem.store.sources import parse_locator
from grail_mem.write.evidence import CAPS, judged, kind_of, locate

BORROWED: Final = frozenset(("user_statement", "system", "tool_result"))
"""Kinds of sources that are somebody else's word, and not that of the agent who writes."""
OWN: Final = "agent_inference"


def as_trusted(view: View, old: Observation, made: Observation) -> tuple[Observation, tuple[str, ...]]:
    """An observation as it may take the place of another wording of itself, and warnings.

    In a session other words keep those quotes that say them, and no label that these do not give; status, kind of source
    and confidence rise with a new quote alone. The owner keeps all, and is warned.

    Raises:
        UnsupportedEvidenceError: A session changed what another one's word says, or raises its trust, and no quote says so.
    """
    changed = _changed(old, made)
    standing = supporting(view, made, changed or (made.content,)) if changed or _rises(old, made) else made.evidence
    if view.principal is None:
        return made, _doubts(made, standing) if changed else ()
    if changed and (made.evidence or made.source_kind in BORROWED):
        if not standing:
            raise _unsaid(made)
        made, warnings = limited(made, standing), _dropped(made, standing)
    else:
        warnings = ()
    raised = _rises(old, made)
    new = [item for item in standing if _is_new(item, old)]
    if raised and not new:
        raise UnsupportedEvidenceError(
            f"A session raises {' and '.join(raised)} of an observation with a new quote that says the same, and none is given.",
            hint="Give it as evidence, with the source that it stands in.",
        )
    return (limited(made, new) if raised else made), warnings


def with_own_trust(view: View, old: Observation, made: Observation, *, replaces: bool) -> Observation:
    """What a session says instead of an observation, with the label that its quotes give.

    Args:
        view: The store.
        old: What was said.
        made: What is said instead.
        replaces: Whether it takes the place of the other one, or stands beside it.

    Raises:
        UnsupportedEvidenceError: It replaces a word that counts for more.
    """
    if view.principal is None:
        return made
    standing = supporting(view, made, (made.content,))
    if standing:
        made = limited(replace(made, source_kind=kind_of(standing)), standing)
    elif made.source_kind in BORROWED:
        made = replace(made, source_kind=OWN, confidence=min(made.confidence, CAPS[OWN]))
    if replaces and authority_of(made.source_kind) < authority_of(old.source_kind):
        raise UnsupportedEvidenceError(
            f"A session replaces what {old.source_kind or 'somebody'} says with a quote that counts for no less, and none is given.",
            hint="Give it as evidence, with the source that it stands in; `dispute` keeps both.",
        )
    return replace(made, evidence=standing)


def confirmed_by(view: View, old: Observation, made: Observation) -> Observation:
    """An observation that somebody confirms: a session with a new quote that says it, and no surer than who spoke.

    Raises:
        UnsupportedEvidenceError: A session gives no such quote.
    """
    if view.principal is None:
        return made
    new = [item for item in made.evidence if item not in old.evidence]
    standing = supporting(view, replace(made, evidence=tuple(new)), (made.content,))
    standing = tuple(item for item in standing if _is_new(item, old))
    if not standing:
        raise UnsupportedEvidenceError(
            "A session confirms an observation with a new quote that says the same, and none is given.",
            hint="Give it as evidence, with the source that it stands in; the owner confirms without one.",
        )
    own = kind_of(standing)
    kind = own if made.source_kind and authority_of(own) > authority_of(made.source_kind) else made.source_kind
    return replace(made, source_kind=kind, confidence=max(old.confidence, min(made.confidence, CAPS[own])))


def supporting(view: View, o: Observation, texts: Sequence[str]) -> tuple[Evidence, ...]:
    """The quotes of an observation that stand in their sources and say all of some texts."""
    return tuple(item for item in o.evidence if all(_says(view, o, item, text) for text in texts))


def _says(view: View, o: Observation, item: Evidence, text: str) -> bool:
    if parse_locator(item.source) is None:
        return False
    with suppress(InputError):
        found = locate(view, item.quote, source=item.source, scope=o.scope)
        return judged(view, text, found).verdict == "supported"
    return False


def _is_new(item: Evidence, old: Observation) -> bool:
    """Whether a quote has words that no quote of an observation has already: a piece more or less of one is the same one."""
    return not any(item.source == one.source and _share(item, one) for one in old.evidence)


def _share(one: Evidence, other: Evidence) -> bool:
    if one.span is None or other.span is None:
        return one.quote == other.quote
    return max(one.span[0], other.span[0]) < min(one.span[1], other.span[1])


def limited(o: Observation, quotes: Sequence[Evidence]) -> Observation:
    """An observation with the quotes that say it, its label and confidence no higher than their speakers give."""
    own = kind_of(quotes)
    kind = own if o.source_kind in BORROWED and authority_of(o.source_kind) > authority_of(own) else o.source_kind
    kept = tuple(item for item in o.evidence if item in quotes)
    return replace(o, source_kind=kind, confidence=min(o.confidence, CAPS.get(kind or own, 1.0)), evidence=kept)


def _changed(old: Observation, made: Observation) -> tuple[str, ...]:
    """The texts that are said otherwise."""
    return tuple(
        new
        for name in ("content", "title")
        if (new := getattr(made, name)) != getattr(old, name) and isinstance(new, str)
    )


def _rises(old: Observation, made: Observation) -> list[str]:
    """What of its trust is raised, in words."""
    stood = status_kept(old)
    lasts = old.expires_at is not None and (made.expires_at is None or made.expires_at > old.expires_at)
    found = {
        "the status": made.status == "confirmed" != stood,
        "the kind of source": authority_of(made.source_kind) > authority_of(old.source_kind),
        "the confidence": old.confidence < made.confidence > CAPS.get(made.source_kind or "", 1.0),
        "the end": stood == "provisional" and lasts,
    }
    return [name for name, rises in found.items() if rises]


def _dropped(made: Observation, standing: Sequence[Evidence]) -> tuple[str, ...]:
    n = len(made.evidence) - len(standing)
    return (f"{n} of {len(made.evidence)} quotes do not say what it says now; they were taken out.",) if n else ()


def _doubts(made: Observation, standing: Sequence[Evidence]) -> tuple[str, ...]:
    if made.evidence and not standing:
        return ("no quote says what it says now; its evidence and label stay as they are.",)
    return ()


def _unsaid(made: Observation) -> UnsupportedEvidenceError:
    what = f"the label {made.source_kind}" if made.source_kind in BORROWED else "its quotes"
    return UnsupportedEvidenceError(
        f"A session changes what an observation with {what} says to words that no quote of it says.",
        hint="Give evidence that says it; or give both up with source_kind='agent_inference' and evidence=None; "
        "or store what is new as an observation of its own.",
    )

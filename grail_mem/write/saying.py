"""What an observation says of a fact: when it was said and by whom, whether it is for a time only, and who repeated it.

Knows nothing of what other observations say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from grail_mem.errors import InputError
from grail_mem.model.authority import DERIVED, authority_of
from grail_mem.model.fact import Claim, Saying, raised, statement_key
from grail_mem.model.names import attribute_key, entity_key
from grail_mem.model.observation import Observation
from grail_mem.model.times import format_time, parse_time, to_us

REINFORCED: Final = "reinforced_by"
"""The frontmatter key under which an observation keeps who said the same, when, and where that is written."""
CONFIRMING: Final = 2
"""New sources that make a provisional observation a confirmed one."""
_FOR_A_TIME: Final = re.compile(
    r"\b(?:this (?:morning|afternoon|evening|week|weekend|month|quarter)|today|tonight|tomorrow|for now|for the (?:moment|time being)"
    r"|temporar(?:y|ily)|until (?:then|next|further|the end|tomorrow|\w+day|\d))\b",
    re.IGNORECASE,
)

Source = tuple[str, ...]


def begins_at(o: Observation) -> datetime:
    """The event time of a statement: from when it holds, or when it was observed, which is no later than it was written."""
    return o.valid_from or min(o.observed_at, o.recorded_at)


def is_for_a_time(o: Observation) -> bool:
    """Whether a statement holds for a time only, and so stands beside what holds without end."""
    return (o.status != "superseded" and o.valid_until is not None) or says_for_a_time(o)


def says_for_a_time(o: Observation) -> bool:
    """Whether the words of a statement say that it holds for a time only."""
    return _FOR_A_TIME.search(o.title) is not None or _FOR_A_TIME.search(o.content) is not None


def is_claim(o: Observation) -> bool:
    """Whether a statement takes part in the decision on its fact.

    What is archived, put away by a correction, or said for a time only does not.
    """
    if o.attribute is None or not attribute_key(o.attribute) or o.status == "archived" or is_for_a_time(o):
        return False
    return o.status != "superseded" or (o.superseded_by is not None and o.valid_until is not None)


def is_over(o: Observation) -> bool:
    """Whether a statement has an end and its words do not say that it holds for a time only: somebody may have ended it."""
    return o.status not in ("archived", "superseded") and o.valid_until is not None and not says_for_a_time(o)


def claim_of(o: Observation) -> Claim:
    """A statement as a claim."""
    sayings = [Saying(to_us(begins_at(o)), authority_of(o.source_kind))]
    sayings += [Saying(to_us(at), authority_of(said.get("source_kind"))) for said, at in _repeated(o)]
    ended = to_us(o.valid_until) if o.status == "superseded" and o.valid_until is not None else None
    return Claim(o.id, statement_key(o.content), tuple(sayings), ended, o.superseded_by if ended is not None else None)


def _repeated(o: Observation) -> Iterator[tuple[Mapping[str, Any], datetime]]:
    """Who said the same, as far as a person who edited the file has left it readable."""
    listed = o.extra.get(REINFORCED)
    for said in listed if isinstance(listed, list) else ():
        if isinstance(said, Mapping) and isinstance(at := said.get("at"), str | datetime):
            try:
                yield said, parse_time(at)
            except InputError:
                continue


def _source(said: Mapping[str, Any]) -> Source:
    return tuple(entity_key(str(said.get(name) or "")) for name in ("source_kind", "source", "session", "speaker"))


def sources_of(o: Observation) -> set[Source]:
    """Who said it, the first and all that repeated it."""
    own = {name: getattr(o, name) for name in ("source_kind", "source", "session", "speaker")}
    return {_source(own), *(_source(said) for said, _ in _repeated(o))}


def is_new_word(o: Observation, again: Observation) -> bool:
    """Whether a repetition comes from somebody who has not said it yet, or counts for more or less than who has."""
    return not sources_of(again) <= sources_of(o)


def is_new_source(o: Observation, again: Observation) -> bool:
    """Whether a repetition comes from somebody else, or elsewhere, and is no echo of what an agent may have recalled."""
    return again.source_kind not in DERIVED and is_new_word(o, again)


def is_same_time(o: Observation, again: Observation) -> bool:
    """Whether a statement and its repetition are of one event time; where one gives none, of one turn of a conversation."""
    if begins_at(o) == begins_at(again):
        return True
    if o.valid_from is not None or again.valid_from is not None or (_gives_time(o) and _gives_time(again)):
        return False
    return o.turn is not None and (o.session, o.turn) == (again.session, again.turn)


def _gives_time(o: Observation) -> bool:
    return o.valid_from is not None or o.observed_at != o.recorded_at


def is_told(o: Observation, again: Observation) -> bool:
    """Whether a statement holds already that it was made once more, then and by whom."""
    return (is_same_time(o, again) and _own(again) == _own(o)) or is_repetition(o, again)


def is_repetition(o: Observation, again: Observation) -> bool:
    """Whether a statement keeps a repetition already, of that time and source."""
    own, at, turn = _own(again), begins_at(again), None if _gives_time(again) else again.turn
    return any(
        _source(said) == own and (when == at or (turn is not None and said.get("turn") == turn))
        for said, when in _repeated(o)
    )


def adds_nothing(o: Observation, again: Observation) -> bool:
    """Whether the same words again add nothing to a statement: they were made then and by that one, or name no time and nobody new."""
    return is_told(o, again) or not (_gives_time(again) or is_new_word(o, again))


def _said(o: Observation) -> dict[str, Any]:
    """Who said a statement and when, as one that holds it keeps it."""
    named = {name: value for name in ("source_kind", "source", "session", "speaker") if (value := getattr(o, name))}
    return {"at": format_time(begins_at(o))} | named | ({} if o.turn is None else {"turn": o.turn})


def repeated(o: Observation, again: Observation, *, provisional: timedelta) -> Observation:
    """A statement that was made once more: every date and source is kept, and a new source makes it surer.

    Args:
        o: The statement, which does not hold that yet, see `is_told`.
        again: The repetition; it is not stored itself.
        provisional: How long a provisional statement waits to be repeated.
    """
    said = _said(again)
    is_new = is_new_source(o, again)
    listed = o.extra.get(REINFORCED)
    extra = {**o.extra, REINFORCED: [*(listed if isinstance(listed, list) else ()), said]}
    evidence = (*o.evidence, *(item for item in again.evidence if item not in o.evidence))
    made = replace(o, extra=extra, evidence=evidence)
    return _surer(made, again, provisional) if is_new else made


def _own(o: Observation) -> Source:
    return _source({name: getattr(o, name) for name in ("source_kind", "source", "session", "speaker")})


def _surer(o: Observation, again: Observation, provisional: timedelta) -> Observation:
    made = replace(o, confidence=raised(o.confidence, again.confidence))
    if o.status != "provisional":
        return made
    waits = o.expires_at is not None and o.expires_at <= again.recorded_at + provisional
    heard = [said for said, _ in _repeated(made) if said.get("source_kind") not in DERIVED and _source(said) != _own(o)]
    if len({_source(said) for said in heard}) >= CONFIRMING:
        return replace(made, status="confirmed", expires_at=None if waits else o.expires_at)
    return replace(made, expires_at=again.recorded_at + provisional) if waits else made

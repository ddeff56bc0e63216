"""Echoes: what an agent wrote down again after it had recalled it; it supports nothing that was not said before.

Knows nothing of how equal statements are found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from grail_mem.consolidate.statements.authority import is_derived
from grail_mem.consolidate.statements.statements import About
from grail_mem.model.names import entity_key, session_key
from grail_mem.support.wording import NEGATIONS, Wording, essence

Origin = tuple[str, str, str]
_LEAST_WORDS: Final = 8
"""Words of a passage that is no accident; chosen, as shingles of eight words are taken for copied text."""
_LEAST_SHARE: Final = 0.5
"""Of the whole that the passage is; a smaller part taken out of a document is a statement of its own, which may be wanted."""
_TAKING_BACK: Final = """
if unless whether maybe perhaps may might could would should false wrong untrue deny denies denied doubt doubts
claim claims claimed rumour rumor alleged supposedly ? ~~ ☐
"""
_CONDITIONS: Final = NEGATIONS.union(_TAKING_BACK.split())
"""Words around a passage that may take back what it says."""


def echoes_among(members: Sequence[About]) -> list[str]:
    """Ids of those equal statements that are echoes of another of them: all but the first of what agents wrote, and packs."""
    ordered = sorted(members, key=lambda about: (about.fenced, about.recorded_us, about.id))
    return sorted(about.id for about in ordered[1:] if about.fenced or is_derived(about))


def n_support(members: Sequence[About], echoes: Sequence[str]) -> int:
    """How many independent statements there are: other sources, sessions or speakers, echoes left out."""
    return len({origin(about) for about in members if about.id not in echoes})


def repeats(echo: About, said: Wording, other: About, whole: Wording) -> bool:
    """Whether what an agent wrote is a large part, word by word, of what another author said earlier."""
    if (other.recorded_us, other.id) >= (echo.recorded_us, echo.id) or _author(echo) == _author(other):
        return False
    part, all_of_it = essence(said.words), essence(whole.words)
    if len(part) < _LEAST_WORDS or len(part) < _LEAST_SHARE * len(all_of_it):
        return False
    for at in range(len(all_of_it) - len(part) + 1):
        if all_of_it[at : at + len(part)] == part:
            return _CONDITIONS.isdisjoint(all_of_it[:at] + all_of_it[at + len(part) :])
    return False


def origin(about: About) -> Origin:
    """Where a statement comes from: its source, session and speaker."""
    return about.source or "", session_key(about.session or ""), entity_key(about.speaker or "")


def origin_of(merged: Mapping[str, Any]) -> Origin:
    """The same of one that was merged into another, from what is kept of it."""
    source, session, speaker = (str(merged.get(name) or "") for name in ("source", "session", "speaker"))
    return source, session_key(session), entity_key(speaker)


def _author(about: About) -> tuple[str, str]:
    return about.source_kind or "", entity_key(about.speaker or "")

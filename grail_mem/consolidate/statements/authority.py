"""Whose word counts more, of statements. Knows nothing of texts."""

from __future__ import annotations

from grail_mem.consolidate.statements.statements import About
from grail_mem.model.authority import DERIVED, authority_of


def authority(about: About) -> int:
    """How much a statement's word counts, 1 to 4."""
    return authority_of(about.source_kind)


def is_derived(about: About) -> bool:
    """Whether an agent wrote it."""
    return about.source_kind in DERIVED

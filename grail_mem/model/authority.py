"""Whose word counts more: the order of the kinds of sources. Knows nothing of texts."""

from __future__ import annotations

from typing import Final

AUTHORITY: Final = {"user_statement": 4, "system": 3, "tool_result": 2, "session_summary": 2, "agent_inference": 1}
"""By kind of source; what a person says is above all, what an agent concluded is below all."""
UNKNOWN: Final = 2
"""Of a statement that does not say."""
DERIVED: Final = frozenset(("tool_result", "session_summary", "agent_inference"))
"""Kinds that an agent writes, who may have recalled before what it wrote."""


def authority_of(source_kind: str | None) -> int:
    """How much the word of a kind of source counts, 1 to 4."""
    return AUTHORITY.get(source_kind or "", UNKNOWN)

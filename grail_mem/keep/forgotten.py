"""What must not come back: the one place that is asked before a file of a backup or an export becomes part of a store.

Knows nothing of where the file comes from.
"""

from __future__ import annotations

from collections.abc import Mapping

from grail_mem.errors import InputError
from grail_mem.store.files import UNKNOWN_STATE
from grail_mem.store.ledger_line import Entry
from grail_mem.store.observation_file import read_observation


def is_forgotten(erased: Mapping[str, Entry], id_: str, data: bytes) -> bool:
    """Whether an observation was erased, so that this file must stay out.

    Args:
        erased: The entries of what was erased, by id.
        id_: The observation's id as it is known; empty where only the file tells it.
        data: The bytes of its file.
    """
    if not erased:
        return False
    return (id_ or _own_id(data)) in erased


def mentions_forgotten(erased: Mapping[str, Entry], data: bytes) -> bool:
    """Whether a file that is no observation, such as what is kept to undo a proposal, tells of one that was erased."""
    return any(id_.encode() in data for id_ in erased)


def _own_id(data: bytes) -> str:
    try:
        row = read_observation(data, "x.md", "", UNKNOWN_STATE)
    except InputError:
        return ""
    return row.observation.id if row.has_id else ""

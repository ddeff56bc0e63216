"""Memory: one opened store and its verbs.

Every verb parses nothing and decides nothing itself: it calls one function of a lower layer. No part holds a Memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from grail_mem.memory.ageing import Ageing
from grail_mem.memory.consolidating import Consolidating
from grail_mem.memory.evidencing import Documents, Evidencing
from grail_mem.memory.forgetting import Forgetting
from grail_mem.memory.granting import Granting
from grail_mem.memory.keeping import Keeping
from grail_mem.memory.migrating import Migrating
from grail_mem.memory.opened import open_root
from grail_mem.memory.reading import Reading
from grail_mem.memory.recalling import Recalling
from grail_mem.memory.revising import Revising
from grail_mem.memory.safekeeping import Handing, Safekeeping
from grail_mem.memory.screening import Screening
from grail_mem.memory.session import Session
from grail_mem.memory.suggesting import Suggesting
from grail_mem.memory.tuning import Tuning
from grail_mem.memory.writing import Writing

__all__ = ["SESSION_VERBS", "VERBS", "Memory", "open_root"]


class Memory(
    Writing, Revising, Evidencing, Documents, Forgetting, Recalling, Reading, Tuning, Consolidating, Granting, Screening, Suggesting, Keeping,
    Handing, Safekeeping, Ageing, Migrating,
):  # fmt: skip
    """One opened store. Safe to use from several threads; every process opens its own.

    Args:
        path: The store's root. An empty or missing folder becomes a store on the first write.
        actor: Who stands in the ledger for what this object writes; None takes it from the settings.
        embedder: What turns texts into vectors for ranked recall: `local`, `none`, the name or folder of a
            Sentence-Transformers model behind `sentence-transformers:`, an `Embedder`, or a function from texts to
            vectors; None takes it from the settings.
        reranker: A function from a question and texts to a score for each text, higher for better, which orders the best 50
            hits anew; None leaves them as they are.
        entailment: What reads contradictions in other words when the store is consolidated: `none`, `aegis`, the name or
            folder of a cross-encoder behind `cross-encoder:`, an `EntailmentModel`, or a function from pairs of texts to how
            surely the one contradicts the other, 0 to 1; None takes it from the settings.

    Raises:
        InputError: The path is a file, or `grail.yaml` cannot be used.

    Example:
        >>> import tempfile
        >>> with Memory(tempfile.mkdtemp()) as memory:
        ...     added = memory.add_observation(title="Acme picked Postgres", content="After the review.", tags=["decision"])
        ...     [o.title for o in memory.recall(tags=["decision"]).observations]
        ['Acme picked Postgres']
    """


def _verbs(of: type) -> dict[str, Callable[..., Any]]:
    """The verbs by name, in the order in which the parts define them."""
    members = [item for part in of.__mro__[:-1] for item in vars(part).items()]
    names = [name for name, member in members if callable(member) and not name.startswith("_")]
    return {name: getattr(of, name) for name in dict.fromkeys(names)}


VERBS: Final = _verbs(Memory)
SESSION_VERBS: Final = _verbs(Session)

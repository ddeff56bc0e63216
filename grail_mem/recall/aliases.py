"""Other names: the passages that say a name of the question in other words, as some observation's `aliases` tell.

An entity's names are one another's, whichever file gives them. Knows nothing of scores.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grail_mem.index.corpus import Corpus, observations_at
from grail_mem.index.document import name_hash
from grail_mem.index.phrases import passages_saying
from grail_mem.query.view import View
from grail_mem.recall.evidence import runs_of

if TYPE_CHECKING:
    import numpy as np


def passages_by_other_names(view: View, corpus: Corpus, text: str) -> dict[int, np.ndarray]:
    """By the hash of each term of a name that a text says, the passages that say another name of the same thing."""
    import numpy as np

    runs = runs_of(text)
    pairs = corpus.other_names(np.array(sorted(runs), np.uint64)) if runs else {}
    if not pairs:
        return {}
    read, _ = observations_at(view, corpus, list(pairs.values()))
    found: dict[int, list[np.ndarray]] = {}
    for (name, other), o in zip(pairs, read, strict=True):
        written = next(text for e in o.entities for text in (e.name, *e.aliases) if name_hash(text) == other)
        passages = passages_saying(corpus, written)
        for term in runs[name]:
            found.setdefault(term, []).append(passages)
    return {term: np.unique(np.concatenate(some)) for term, some in found.items()}

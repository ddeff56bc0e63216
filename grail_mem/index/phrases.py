"""Phrases: the passages in which the terms of a name stand behind one another.

Knows nothing of who is called so.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from grail_mem.index.corpus import Corpus
from grail_mem.index.document import term_hash
from grail_mem.index.tokens import marked_terms, terms

if TYPE_CHECKING:
    import numpy as np


def passages_saying(corpus: Corpus, name: str) -> np.ndarray:
    """The passages whose text says a name, ascending, int64.

    Its terms stand in order and nothing stands between them. In writing that has capitals, a name written with one begins
    with one: an apple is not Apple.
    """
    import numpy as np

    hashes = [term_hash(term) for term in terms(name)]
    none = np.zeros(0, np.int64)
    if not hashes:
        return none
    found = [none]
    for part in corpus.parts:
        rows = [part.segment.by_term.rows(value)[0] for value in dict.fromkeys(hashes)]
        together = reduce(np.intersect1d, sorted(rows, key=len)).astype(np.int64)
        found.append(together + part.first_passage)
    passages = np.concatenate(found)
    held, marks, owner = corpus.terms_of(passages)
    length = max(len(held) - len(hashes) + 1, 0)
    begins = np.ones(length, bool)
    if any(mark for _, mark in marked_terms(name)[:1]):
        begins &= marks[:length].astype(bool)
    for i, value in enumerate(hashes):
        begins &= (held[i : i + length] == np.uint64(value)) & (owner[i : i + length] == owner[:length])
    saying: np.ndarray = passages[np.unique(owner[:length][begins])]
    return saying

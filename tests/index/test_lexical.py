"""BM25 over arrays is BM25 as it stands in the books, whatever the segments are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from index_slow import plain_bm25

from grail_mem import Memory
from grail_mem.index.document import term_hash
from grail_mem.index.lexical import K1, B, Lexical, idf_in

NOTES = [
    "pear plum pear", "plum", "fig fig fig fig pear", "a long one about nothing at all but many words and a pear",
    "olive", "pear " * 300, "nothing",
]  # fmt: skip


@pytest.mark.parametrize("compact_after", [(), (2,), (1, 3, 5), (6,)])
def test_bm25_equals_a_plain_implementation(tmp_path: Path, compact_after: tuple[int, ...]) -> None:
    """In the delta, in a snapshot, in the catalog and in all of them; what is hidden counts in no number."""
    with Memory(tmp_path, embedder="none") as memory:
        hidden = memory.add_observation(title="x", content="pear plum olive secret").id
        for number, content in enumerate(NOTES):
            session = "pears" if number in (0, 2, 5) else None
            memory.add_observation(title=f"t{number}", content=content, session=session)
            if number in compact_after:
                memory.compact()
                memory.index()
        memory.hide(hidden)
        searcher = memory._search_state()
        searcher.view.refresh()
        searcher.refresh()
        corpus = searcher.corpus
        live = np.flatnonzero(corpus.columns.live)
        assert len(live) == corpus.n_live == len(NOTES) + 1  # the long one is two
        terms, _, owner = corpus.terms_of(live)
        passages = [terms[owner == place].tolist() for place in range(len(live))]
        session_of = corpus.columns.session[live].tolist()
        assert len(set(session_of)) == corpus.n_sessions == len(NOTES) - 2  # three notes are one conversation
        for asked in (["pear"], ["plum", "fig"], ["olive", "secret", "pear"], ["unknown"], ["olive", "unknown"]):
            found = Lexical(corpus, [term_hash(term) for term in asked])
            assert found.scores[live] == pytest.approx(plain_bm25(passages, session_of, asked, K1, B), abs=1e-5)
            assert (found.scores[live] >= 0).all()
            assert (found.scores[live] <= 1).all()
            has = found.having(live)
            assert has.tolist() == [[term_hash(term) in passage for term in asked] for passage in passages]
            assert found.is_known.tolist() == has.any(axis=0).tolist()
            assert idf_in(corpus, [term_hash(term) for term in asked]).tolist() == found.idf.tolist()
            assert not found.having(np.array([-1])).any()


def test_bm25_of_nothing_is_nothing(tmp_path: Path) -> None:
    with Memory(tmp_path, embedder="none") as memory:
        searcher = memory._search_state()
        searcher.view.refresh()
        searcher.refresh()
        assert Lexical(searcher.corpus, [term_hash("pear")]).scores.tolist() == []


def test_a_word_said_over_and_over_in_one_conversation_is_still_rare(tmp_path: Path) -> None:
    """It is in more passages than a word that many conversations have once, and it tells them apart all the same."""
    with Memory(tmp_path, embedder="none") as memory:
        for number in range(12):
            memory.add_observation(content=f"Denver again, part {number}.", session="journey")
            memory.add_observation(
                content=f"A plan for soon, number {number}.", session=f"talk {number}" if number < 8 else "talk"
            )
        searcher = memory._search_state()
        searcher.view.refresh()
        searcher.refresh()
        denver, soon = idf_in(searcher.corpus, [term_hash("denver"), term_hash("soon")])
        assert Lexical(searcher.corpus, [term_hash("denver")]).having(np.arange(24)).sum() == 12
        assert denver > soon + 0.5

"""Slow, plain counterparts of the search index, and documents to try it with."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha256

from hypothesis import strategies as st

from grail_mem.index.document import GAP, Document, document, term_hash
from grail_mem.index.segment import Postings
from grail_mem.model.observation import Entity, Observation, Relationship

WORDS = ["pear", "plum", "fig", "Ann Lee", "Oslo", "Rome Bay", "the", "3", "日本", "a", "\n\n", "long " * 120]
_SAID = st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join)
_NAMES = st.sampled_from(["Ann Lee", "Oslo", "Fig", "Rome Bay"])


@st.composite
def documents(draw: st.DrawFn) -> Document:
    """What is searched of an observation; some have several passages, none of their own title, or nobody who says it."""
    content, number = draw(_SAID), draw(st.integers(0, 1000))
    title = draw(_NAMES | st.just(content[:20] or "-"))
    at = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=number)
    return document(
        Observation(
            id=f"{number:026d}", title=title, content=content, category="", path="x.md", observed_at=at, recorded_at=at,
            sha256=sha256(f"{content}{number}".encode()).hexdigest(), tags=tuple(draw(st.sets(_NAMES, max_size=2))),
            entities=tuple(map(Entity, draw(st.sets(_NAMES, max_size=2)))),
            relationships=(Relationship(draw(_NAMES), "Zed", "IN"),) if draw(st.booleans()) else (),
            speaker=draw(st.none() | _NAMES), session=draw(st.sampled_from([None, "s", "t"])),
            turn=draw(st.none() | st.integers(0, 5)),
        )
    )  # fmt: skip


def plain_postings(documents: Sequence[Document], kind: str) -> dict[int, list[tuple[int, int]]]:
    """From a term, name or title to the rows that have it, with how often."""
    counts: dict[int, Counter[int]] = defaultdict(Counter)
    row = 0
    for number, one in enumerate(documents):
        for title in one.titles:
            if kind == "title":
                counts[title][number] += 1
        for passage in one.passages:
            for value in {"term": passage.terms, "name": list(passage.names), "title": []}[kind]:
                if value != GAP or kind != "term":
                    counts[value][row] += 1
            row += 1
    return {value: sorted(rows.items()) for value, rows in counts.items()}


def as_dict(postings: Postings) -> dict[int, list[tuple[int, int]]]:
    """Postings as `plain_postings` gives them."""
    made = {}
    for value in postings.hash.tolist():
        rows, counts = postings.rows(value)
        made[value] = list(zip(rows.tolist(), counts.tolist(), strict=True))
    return made


def _idf(df: int, n: int) -> float:
    return math.log(1 + (n - df + 0.5) / (df + 0.5))


def plain_bm25(
    passages: Sequence[Sequence[int]], sessions: Sequence[object], terms: Sequence[str], k1: float, b: float
) -> list[float]:
    """BM25 of each passage as a share of the best that is possible; rare is what few passages and few sessions have."""
    hashes = [term_hash(term) for term in terms]
    n = len(passages)
    lengths = [sum(value != GAP for value in passage) for passage in passages]
    mean = max(sum(lengths) / max(n, 1), 1.0)
    df = [sum(value in passage for passage in passages) for value in hashes]
    having = [{s for s, passage in zip(sessions, passages, strict=True) if value in passage} for value in hashes]
    n_sessions = len(set(sessions))
    idf = [(_idf(d, n) + _idf(len(some), n_sessions)) / 2 for d, some in zip(df, having, strict=True)]
    total = max(sum(i for i, d in zip(idf, df, strict=True) if d), 1e-6)
    scores = []
    for passage, length in zip(passages, lengths, strict=True):
        norm = k1 * (1 - b + b * length / mean)
        count = Counter(passage)
        scores.append(
            sum(i * count[h] / (count[h] + norm) for i, h in zip(idf, hashes, strict=True) if count[h]) / total
        )
    return scores

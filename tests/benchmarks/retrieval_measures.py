"""The measures of a ranking by set, of observations and of sessions, with intervals.

Passages are ranked; an observation stands where its best passage does, a session where its best observation does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from retrieval_sets import Asked

from grail_mem.recall.measures import NAMES, first_places, row


@dataclass(slots=True)
class Measured:
    """Measures of one set, a row for each question.

    Attributes:
        unit: Of observations, questions x `NAMES`.
        session: Of sessions; empty where a set has none.
        category: Category of each question.
    """

    unit: np.ndarray
    session: np.ndarray
    category: np.ndarray


def measure(ranked: Iterable[tuple[str, Asked, np.ndarray, np.ndarray, np.ndarray]]) -> Mapping[str, Measured]:
    """Measures by set.

    Args:
        ranked: For each question its set, the question, and of each passage the source, the session and the score.
    """
    units: dict[str, list[list[float]]] = {}
    sessions: dict[str, list[list[float]]] = {}
    categories: dict[str, list[str]] = {}
    for name, asked, source, session, score in ranked:
        units.setdefault(name, []).append(row(first_places(source, score), asked.gold))
        categories.setdefault(name, []).append(asked.category)
        if asked.gold_sessions:
            sessions.setdefault(name, []).append(row(first_places(session, score), asked.gold_sessions))
    return {
        name: Measured(np.array(rows), np.array(sessions.get(name, [])), np.array(categories[name]))
        for name, rows in units.items()
    }


def interval(values: np.ndarray, *, rounds: int = 1000, seed: int = 0) -> tuple[float, float]:
    """The 95 % interval of a mean by the bootstrap over questions."""
    rng = np.random.default_rng(seed)
    means = values[rng.integers(0, len(values), (rounds, len(values)))].mean(axis=1)
    return float(np.percentile(means, 2.5)), float(np.percentile(means, 97.5))


def show(title: str, measured: Mapping[str, Measured]) -> None:
    """Print one line."""
    parts = []
    for name, m in measured.items():
        unit = dict(zip(NAMES, m.unit.mean(axis=0), strict=True))
        text = f"{name[:6]} {100 * unit['any@5']:.1f}/{100 * unit['all@5']:.1f}/{100 * unit['all@10']:.1f}/{unit['MRR']:.3f}"
        if not len(m.session):
            text = f"{name[:7]} R@5 {100 * unit['recall@5']:.1f}"
        else:
            s = dict(zip(NAMES, m.session.mean(axis=0), strict=True))
            text += f" ses {100 * s['any@5']:.1f}/{100 * s['all@5']:.1f}/{s['MRR']:.3f}"
        parts.append(text)
    print(f"{title:28s}", " | ".join(parts), flush=True)

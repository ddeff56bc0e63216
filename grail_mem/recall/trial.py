"""The trial: labelled questions put to a store, as the calibration of gates and the fit of weights need them.

Knows nothing of what is learnt from the answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final, TypeVar

from grail_mem.errors import InputError
from grail_mem.model.filter import Filter
from grail_mem.query.view import View
from grail_mem.recall.labelled import LabelledQuestion, Questions, read_questions
from grail_mem.recall.ranked import Ranked, Searcher
from grail_mem.recall.ranking import Weights

Progress = Callable[[str, int, int], None]
T = TypeVar("T")
FOLDS: Final = 4
"""Parts of the questions, each of which is judged by what the others taught."""
LEAST: Final = 20
"""Questions of a kind below which nothing can be told: with 20, one of them is 5 %."""


def read_for(view: View, searcher: Searcher, questions: Questions, ranking: str) -> tuple[LabelledQuestion, ...]:
    """Labelled questions, whose answers are observations of the store; brings the search up to date.

    Args:
        view: The store.
        searcher: Its corpus and vectors.
        questions: A file or objects.
        ranking: By which they will be asked.

    Raises:
        InputError: They cannot be used, or passages lack the vectors that the figures depend on.
    """
    view.refresh()
    asked = read_questions(
        questions,
        known=lambda ids: view.paths_of(ids - view.silent).keys(),
        now=datetime.now(UTC),
        zone=view.settings.zone,
    )
    searcher.refresh()
    if searcher.n_behind and ranking != "lexical":
        raise InputError(
            f"{searcher.n_behind} passages have no vector yet, so nothing that is measured now would hold.",
            hint="`grail index` makes them.",
        )
    return asked


def ask(
    searcher: Searcher,
    questions: Sequence[LabelledQuestion],
    *,
    ranking: str,
    weights: Mapping[str, Weights],
    progress: Progress | None = None,
) -> Iterator[tuple[LabelledQuestion, Ranked]]:
    """Each question with what it found.

    Args:
        searcher: The store's corpus and vectors, up to date.
        questions: The questions.
        ranking: One of `RANKINGS`.
        weights: By recipe.
        progress: Called with what is being done, how much of it is done, and how much there is.
    """
    allowed = searcher.allowed(Filter())
    for number, question in enumerate(questions, start=1):
        yield (
            question,
            searcher.rank(searcher.read(question.text, question.asked_at), allowed, weights, ranking=ranking),
        )
        if progress is not None:
            progress("asking", number, len(questions))


def folds_of(kinds: Sequence[object]) -> list[int]:
    """The fold of each of several things, so that every fold has as many of each kind as can be."""
    seen: dict[object, int] = {}
    folds = []
    for kind in kinds:
        folds.append(seen.get(kind, 0) % FOLDS)
        seen[kind] = seen.get(kind, 0) + 1
    return folds


def documents_of(view: View, searcher: Searcher, ids: Sequence[str] | frozenset[str]) -> dict[str, int]:
    """The number of the document that each observation is, by id."""
    columns, wanted = searcher.corpus.columns, set(ids)
    rows = {-2 - place: o.id for place, o in enumerate(searcher.corpus.delta) if o.id in wanted}
    reader = view.live_base()
    if reader is not None:
        rows |= {row.rid: row.id for row in reader.by_id(wanted).values() if row.rid not in reader.dead}
    return {rows[row]: document for document, row in enumerate(columns.row.tolist()) if row in rows}

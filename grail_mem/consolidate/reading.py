"""What detectors read: everything that counts at one moment, in SQL, and what was rejected before.

Knows nothing of what the detectors look for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from grail_mem.consolidate.answers import Answers
from grail_mem.consolidate.finding import pair_digest
from grail_mem.consolidate.pairs import Rejected
from grail_mem.model.problem import Problem
from grail_mem.query.sql import SqlSession
from grail_mem.support.entailment import EntailmentModel

if TYPE_CHECKING:  # a quarter of a second, spent when SQL is asked
    import pyarrow as pa

    from grail_mem.index.vectors import VectorStore

T = TypeVar("T")


def _nobody(_done: int, _total: int | None) -> None:
    """Whom nobody told to look."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One state of a store, for detectors.

    Attributes:
        session: Read-only SQL over everything that counts; hidden observations are not there. Besides the documented
            views there is `rows`, with all columns of a snapshot (`store.schema.COLUMNS`).
        now_us: When the run began, microseconds since 1970 UTC; detectors ask no clock.
        forbidden: Pairs, as decisions keep them, that somebody said are not the same thing, each with the grounds that were rejected.
        progress: Told how much of the detector's work is done, and how much there is.
        kept: What detectors made of the store for one another, by name; see `once`.
        vectors: Vectors of passages that the search index has, of the model that bounds were set by; None without them.
        inbox: The folder of what was added without a category; nothing belongs there, so things may be moved out of it
            and never into it.
        entailment: The model of entailment that somebody chose; None without one.
        answers: What that model said in earlier runs; None keeps what it says for this run only.
        problems: What detectors want said of the run, beside what they find.
    """

    session: SqlSession
    now_us: int
    forbidden: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    progress: Callable[[int, int | None], None] = field(default=_nobody)
    kept: dict[str, Any] = field(default_factory=dict, repr=False)
    inbox: str = "inbox"
    vectors: VectorStore | None = field(default=None, repr=False)
    entailment: EntailmentModel | None = field(default=None, repr=False)
    answers: Answers | None = field(default=None, repr=False)
    problems: list[Problem] = field(default_factory=list)

    def ask(self, text: str, params: Sequence[Any] | Mapping[str, Any] | None = None) -> pa.Table:
        """The answer to one SELECT."""
        return self.session.ask(text, params)

    def once(self, name: str, make: Callable[[Reading], T]) -> T:
        """What `make` makes of this reading; made once a run, however many detectors ask for it."""
        if name not in self.kept:
            self.kept[name] = make(self)
        made: T = self.kept[name]
        return made

    def forbids(self, kind: str, left: str, right: str, scope: str = "") -> bool:
        """Whether somebody said that these two are not the same thing."""
        return self.rejected_on(kind, left, right, scope) is not None

    def rejected_on(self, kind: str, left: str, right: str, scope: str = "") -> Mapping[str, Any] | None:
        """The grounds on which somebody said that these two are not the same thing; None when nobody did."""
        if not self.forbidden:
            return None
        rejected = self.once("rejected", lambda reading: Rejected(reading.forbidden))
        return rejected.get(pair_digest(kind, left, right, scope))

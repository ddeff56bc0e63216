"""How a ranked recall is wanted, and what a caller sent of it, checked: all problems at once.

Knows nothing of how it is answered.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

from grail_mem.errors import InputError
from grail_mem.model.filter import Filter, make_filter
from grail_mem.model.problem import Gather
from grail_mem.model.times import parse_when
from grail_mem.settings import RANKINGS, Settings

if TYPE_CHECKING:  # what ranks, which an exact recall has no use for
    from grail_mem.recall.budget import Counter
    from grail_mem.recall.reranking import Reranker

MAX_QUESTIONS: Final = 3
MODES: Final = ("recall", "cascade", "local", "global", "document")
DEFAULT_LIMIT: Final = 10
UNRANKED_LIMIT: Final = 50
MAX_LIMIT: Final = 1_000
MAX_QUESTION_CHARS: Final = 10_000
MAX_CONTEXT: Final = 10
Dates = Literal["boost", "filter", "off"]


@dataclass(frozen=True, slots=True)
class Wish:
    """How an answer is wanted.

    Attributes:
        limit: Observations at most.
        asked_at: When the question is asked.
        half_life_days: After so many days an episode counts half; 0 for never.
        freshness_floor: The least that an old episode still counts.
        context: Turns before and after a hit of a conversation that come along.
        strict: Be silent also when somebody else said it.
        withhold: Be silent at all.
        budget: Tokens of the pack.
        counter: Counts them.
        n_passages: Passages of one observation that are shown, at most.
        dates: What the days do that a question names: `boost`, `filter` or `off`.
        ranking: One of `RANKINGS`.
        reranker: Orders the best hits anew, unless None.
    """

    limit: int
    asked_at: datetime
    half_life_days: float = 30.0
    freshness_floor: float = 0.5
    context: int = 0
    strict: bool = False
    withhold: bool = True
    budget: int | None = None
    counter: Counter | Callable[[str], int] | None = None
    n_passages: int = 1
    dates: Dates = "boost"
    ranking: str = "weighted"
    reranker: Reranker | None = None


def make_wish(
    mode: str, query: str | Sequence[str] | None, settings: Settings, *, limit: int | None, order: str | None,
    cursor: str | None, asked_at: Any, budget: int | None, counter: Callable[[str], int] | None, context: int | None,
    strict: bool, dates: str | None, document: str | None, conditions: Mapping[str, Any], ranking: str | None = None,
    reranker: Reranker | None = None,
) -> tuple[tuple[str, ...], Filter, Wish]:  # fmt: skip
    """The questions, the filter and how the answer is wanted.

    Args:
        mode: A mode other than `recall`.
        query: One question or up to three; the mode `cascade` needs one.
        settings: Those of the store.
        limit: Observations at most.
        order: Not for ranked answers.
        cursor: Not for ranked answers.
        asked_at: When it is asked.
        budget: Tokens of the pack.
        counter: Counts them.
        context: Turns around each hit.
        strict: Be silent when somebody else said it.
        dates: What the days do that the question names.
        document: What the mode `document` is about.
        conditions: The arguments of `make_filter`.
        ranking: What orders hits; None takes it from the settings.
        reranker: Orders the best of them anew.

    Raises:
        InputError: One or more values cannot be used; `problems` lists all.
    """
    gather = Gather()
    if mode not in MODES:
        gather.found.append(f"There is no mode '{mode}'; the modes are {', '.join(MODES)}.")
    if order is not None or cursor is not None:
        gather.found.append("order and cursor belong to the mode 'recall'; a ranked answer has one order and one page.")
    if mode == "global" and context:
        gather.found.append(
            "context brings the turns around a hit; the mode 'global' shows what stands for a folder, without them."
        )
    if (mode == "document") != (document is not None):
        gather.found.append(
            "The mode 'document' needs document, the id, path, source or session that is asked about."
            if mode == "document"
            else "document belongs to the mode 'document'."
        )
    elif document is not None and (not isinstance(document, str) or not document.strip()):
        gather.found.append(f"document must be an id, a path, a source or a session, not {document!r}.")
    f = gather.read("", conditions, lambda values: make_filter(**values), Filter())
    questions = gather.read("", query, _questions, ())
    if mode == "cascade" and query is None:
        gather.found.append("The mode 'cascade' needs a query: a question in words.")
    if mode == "local" and query is None and conditions["entity_names"] is None:
        gather.found.append("The mode 'local' needs a query that names an entity, or entity_names.")
    wish = Wish(
        limit=gather.read("", limit, _whole("limit", 1, MAX_LIMIT), DEFAULT_LIMIT if questions else UNRANKED_LIMIT),
        asked_at=gather.read(
            "asked_at", asked_at, lambda v: parse_when(v, now=conditions["now"], zone=settings.zone), conditions["now"]
        ),
        half_life_days=settings.half_life_days,
        freshness_floor=settings.freshness_floor,
        context=gather.read("", context, _whole("context", 0, MAX_CONTEXT), 0),
        strict=strict,
        withhold=settings.silence != "never",
        budget=gather.read("", budget, _whole("budget", 1, 10_000_000), None),
        counter=counter,
        dates=gather.read("", dates, _dates, "boost"),
        ranking=gather.read("ranking", ranking, read_ranking, settings.ranking),
        reranker=reranker,
    )
    gather.stop("The question cannot be asked.")
    return questions, f, wish


def refuse_ranked(query: object, **given: object) -> None:
    """Refuse what only a ranked recall understands.

    Raises:
        InputError: A question, or another of its arguments, was given.
    """
    if query is not None:
        raise InputError(
            "The mode 'recall' asks by conditions and takes no query.",
            hint="Leave the mode out to rank by a question, or use text= to look for words in the text.",
        )
    named = [name for name, value in given.items() if value not in (None, False)]
    if named:
        raise InputError(
            f"{', '.join(named)} belong{'s' if len(named) == 1 else ''} to a question in words; give one as query."
        )


def read_ranking(value: Any) -> str:
    """The name of a ranking.

    Raises:
        InputError: There is none of that name.
    """
    if value not in RANKINGS:
        raise InputError(f"ranking must be one of {', '.join(RANKINGS)}, not {value!r}.")
    return str(value)


def _questions(value: Any) -> tuple[str, ...]:
    listed = (value,) if isinstance(value, str) else value
    if not isinstance(listed, list | tuple) or not listed or not all(isinstance(text, str) for text in listed):
        raise InputError(f"query must be a question in words, or up to {MAX_QUESTIONS} of them, not {value!r}.")
    if len(listed) > MAX_QUESTIONS:
        raise InputError(f"query holds {len(listed)} questions; at most {MAX_QUESTIONS} can be asked at once.")
    for text in listed:
        if not any(map(str.isalnum, text)):
            raise InputError(f"query {text[:40]!r} says nothing; ask in words.")
        if len(text) > MAX_QUESTION_CHARS:
            raise InputError(f"query is {len(text)} characters long; at most {MAX_QUESTION_CHARS} can be asked.")
    return tuple(text.encode("utf-8", "replace").decode() for text in listed)


def _dates(value: Any) -> Dates:
    if value not in get_args(Dates):
        raise InputError(f"dates must be one of {', '.join(get_args(Dates))}, not {value!r}.")
    made: Dates = value
    return made


def _whole(name: str, least: int, most: int) -> Callable[[Any], int]:
    def read(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise InputError(f"{name} must be a whole number from {least} to {most}, not {value!r}.")
        return value

    return read

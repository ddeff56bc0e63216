"""Events that a question counts time by, such as `before the launch`: the day of the one thing that is called so.

Only what titles call so counts, and only when it is from one day: a guess between several days would be none of a date.
Knows nothing of scores.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date, timedelta
from typing import Final, NamedTuple

from grail_mem.index.document import own_title
from grail_mem.index.tokens import terms
from grail_mem.model.observation import Observation
from grail_mem.recall.question import Question
from grail_mem.support.dates import DateAsked

_EVENT: Final = re.compile(
    r"\b(?P<how>before|after|since|until)\s+(?:the|our|my|your|their|his|her)\s+"
    r"(?P<what>\w[\w' -]{1,60}?)(?=\s*(?:[?.,;!]|\Z|\b(?:did|was|were|is|are|does|do|has|had|have|in|on|at|what|who|how)\b))",
    re.IGNORECASE,
)


class Event(NamedTuple):
    """What a question counts time by.

    Attributes:
        how: `before`, `after`, `since` or `until`.
        what: What it calls the event.
        text: The words, both together.
    """

    how: str
    what: str
    text: str


def events_in(text: str, dates: Sequence[DateAsked]) -> Iterator[Event]:
    """The events that a question counts time by, but for those that were read as dates.

    Example:
        >>> [event.what for event in events_in("What did we fix before the launch?", [])]
        ['launch']
    """
    for match in _EVENT.finditer(text):
        if not any(asked.text.lower() in match[0].lower() for asked in dates):
            yield Event(match["how"].lower(), match["what"], match[0])


def with_events(question: Question, titled: Callable[[str], Iterable[tuple[Observation, date]]]) -> Question:
    """The question with the days of the events in it that are known.

    Args:
        question: As it was read.
        titled: Gives the observations whose text says something, with the day of each.
    """
    found = list(question.dates)
    for event in events_in(question.text, question.dates):
        wanted = terms(event.what)
        days = {day for o, day in titled(event.what) if _says(terms(own_title(o)), wanted)}
        if len(days) == 1:
            found.append(_asked(event, days.pop()))
    return replace(question, dates=tuple(found)) if len(found) > len(question.dates) else question


def _says(title: Sequence[str], wanted: Sequence[str]) -> bool:
    n = len(wanted)
    return any(list(title[i : i + n]) == list(wanted) for i in range(len(title) - n + 1))


def _asked(event: Event, day: date) -> DateAsked:
    next_day = day + timedelta(days=1)
    begin, end = {
        "before": (None, day), "until": (None, next_day), "since": (day, None), "after": (next_day, None),
    }[event.how]  # fmt: skip
    return DateAsked(begin, end, "range", event.text)

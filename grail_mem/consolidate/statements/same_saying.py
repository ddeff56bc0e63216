"""Of statements with the same words, those that are one statement: equal in what is said about them, too.

Kind and scope are equal already. Knows nothing of words beyond those that depend on the day.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from grail_mem.consolidate.statements.same_texts import LEAST_SHORT, is_short_text
from grail_mem.consolidate.statements.statements import About, Statements
from grail_mem.model.names import entity_key, session_key
from grail_mem.support.wording import is_passing

_MOST_WAYS: Final = 64
"""Speakers, attributes and places of one text that are looked through for whom an unsigned copy may belong to."""
DAY_US: Final = 86_400_000_000

Way = tuple[str | None, str | None, str | None]


def same_sayings(text: Sequence[int], statements: Statements) -> Iterator[list[int]]:
    """Take statements with the same words and yield those that are one, by index; one alone is not yielded.

    Two turns of a conversation are two events. What holds in two periods is two facts. An episode, or a text with words such
    as `today`, is one only when it was observed on one day.
    """
    if len(text) == 1:
        return
    is_short = is_short_text(statements, text[0])
    if is_short and statements.n_content(text[0]) < LEAST_SHORT:
        return
    passing = is_passing(statements.said(text[0]).words)
    apart: dict[tuple[Any, ...], dict[Way, list[int]]] = defaultdict(lambda: defaultdict(list))
    for index in text:
        about = statements.about[index]
        if is_short and about.turn is not None:
            continue
        day = about.observed_us // DAY_US if passing or about.kind == "episodic" else None
        words = statements.said(index).words if is_short else None
        apart[about.from_us, about.until_us, about.expires_us, day, words][_way(about)].append(index)
    for ways in apart.values():
        yield from (members for members in _joined(ways) if len(members) > 1)


def _way(about: About) -> Way:
    """Speaker, attribute and place in a conversation, each None when it is not said."""
    place = None if about.session is None or about.turn is None else f"{session_key(about.session)}\x1f{about.turn}"
    return (entity_key(about.speaker) if about.speaker else None, about.attribute, place)


def _joined(ways: Mapping[Way, list[int]]) -> Iterator[list[int]]:
    """Statements whose ways are equal, or not said: those go to the one way that they fit, if it is one."""
    left = {way: list(members) for way, members in ways.items()}
    if 1 < len(ways) <= _MOST_WAYS:
        for way in sorted(ways, key=lambda w: (sum(part is not None for part in w), [part or "" for part in w])):
            fitting = [other for other in left if other != way and _fits(way, other)]
            nearest = [one for one in fitting if not any(_fits(other, one) for other in fitting if other != one)]
            if len(nearest) == 1:
                left[nearest[0]] += left.pop(way)
    yield from (sorted(members) for members in left.values())


def _fits(way: Way, other: Way) -> bool:
    """Whether one says nothing that the other does not say."""
    return all(a is None or a == b for a, b in zip(way, other, strict=True))

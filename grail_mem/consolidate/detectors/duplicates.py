"""Duplicates: observations that say the same, word by word but for trifles, which become one.

Candidates come from equal digests and from MinHash bands (`minhash`); `sameness` then reads every word of both, and
`same_saying` what is said about them. The thresholds stand there with the benchmark that chose them. Knows nothing of
synonyms, and of which statement is true.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Final, NamedTuple

from grail_mem.consolidate.finding import Finding, Quote
from grail_mem.consolidate.reading import Reading
from grail_mem.consolidate.statements.authority import is_derived
from grail_mem.consolidate.statements.echoes import echoes_among, n_support, repeats
from grail_mem.consolidate.statements.merging import Row, changes_to_merge, in_order_of_keeping
from grail_mem.consolidate.statements.same_saying import same_sayings
from grail_mem.consolidate.statements.same_texts import SameTexts, same_texts
from grail_mem.consolidate.statements.statements import About, Statements, cut, day_of, read_statements, texts_of

KIND: Final = "merge_duplicates"
CONTAINED: Final = 0.6
"""Confidence when an echo is a large part of what it repeats; a person may want the part for itself."""
CONTAINED_PACK: Final = 0.8
"""When it still has the fence of a pack."""
_AT_ONCE: Final = 500
"""Findings whose texts are read in one go."""
_MOST_QUOTES: Final = 12
_MOST_PAIRS: Final = 500
"""Pairs that a rejection remembers; of a larger group, those with the one that is kept."""


class Group(NamedTuple):
    """Observations that say the same.

    Attributes:
        kept: The one that stays.
        others: Those that are merged into it, the weightiest first.
        echoes: Ids of those that repeat what was recalled.
        confidence: How sure it is.
    """

    kept: About
    others: tuple[About, ...]
    echoes: tuple[str, ...]
    confidence: float


def merge_duplicates(reading: Reading) -> Iterator[Finding]:
    """One finding a group of observations that say the same, by the first id of each; then echoes of a part."""
    statements = reading.once("statements", read_statements)
    texts = reading.once("same_texts", same_texts)
    groups = list(_groups(texts, statements, reading))
    groups += _parts(texts, groups, statements, reading)
    groups.sort(key=lambda group: min(about.id for about in (group.kept, *group.others)))
    for first in range(0, len(groups), _AT_ONCE):
        some = groups[first : first + _AT_ONCE]
        rows = texts_of(reading, [about.id for group in some for about in (group.kept, *group.others)])
        yield from (_finding(group, rows) for group in some)


def _groups(texts: SameTexts, statements: Statements, reading: Reading) -> Iterator[Group]:
    for text in texts.groups:
        for members in same_sayings(text, statements):
            allowed = _allowed([statements.about[index] for index in members], reading)
            if len(allowed) > 1:
                echoes = echoes_among(allowed)
                kept, *others = in_order_of_keeping(allowed, echoes)
                yield Group(kept, tuple(others), tuple(echoes), texts.sure(members))


def _allowed(members: list[About], reading: Reading) -> list[About]:
    """Those that nobody said are not the same as one before them."""
    kept: list[About] = []
    for about in members:
        if not reading.forbidden or not any(_is_rejected(reading, other, about) for other in kept):
            kept.append(about)
    return kept


def _is_rejected(reading: Reading, one: About, other: About) -> bool:
    """Whether somebody said that two observations do not say the same, and both say what they said then."""
    before = reading.rejected_on(KIND, one.id, other.id)
    return before is not None and all(before.get(about.id, about.ground) == about.ground for about in (one, other))


def _parts(texts: SameTexts, groups: Sequence[Group], statements: Statements, reading: Reading) -> Iterator[Group]:
    """Echoes that are a large part of what they repeat; what others are merged into is left for the next run."""
    kept_for = {about.id: group.kept for group in groups for about in group.others}
    gone, staying = set(kept_for), {group.kept.id for group in groups}
    for left, right in texts.near:
        for part, whole in ((left, right), (right, left)):
            echo, other = statements.about[part], statements.about[whole]
            other = kept_for.get(other.id, other)
            if echo.id in gone or echo.id in staying or other.id in gone or not _may_be_part(echo, other):
                continue
            is_echo = repeats(echo, statements.said(part), other, statements.said(whole))
            if is_echo and not _is_rejected(reading, echo, other):
                gone.add(echo.id)
                staying.add(other.id)
                yield Group(other, (echo,), (echo.id,), CONTAINED_PACK if echo.fenced else CONTAINED)


def _may_be_part(echo: About, other: About) -> bool:
    """Whether what is said about an echo allows that it is part of another."""
    if echo.turn is not None or not (is_derived(echo) or echo.fenced):
        return False
    speakers_differ = bool(echo.speaker and other.speaker and echo.speaker != other.speaker)
    attributes_differ = bool(echo.attribute and echo.attribute != other.attribute)
    periods = {(about.from_us, about.until_us, about.expires_us) for about in (echo, other)}
    return not speakers_differ and not attributes_differ and len(periods) == 1


def _finding(group: Group, rows: Mapping[str, Row]) -> Finding:
    members = (group.kept, *group.others)
    ids = [about.id for about in members]
    support = n_support(members, group.echoes)
    days = sorted(day_of(about.observed_us) for about in members)
    return Finding(
        kind=KIND,
        confidence=group.confidence,
        rationale=_rationale(group, rows[group.kept.id]["title"], support),
        payload={"keep": ids[0], "merge": ids[1:], "echoes": list(group.echoes)},
        changes=tuple(changes_to_merge(members, rows, group.echoes)),
        meaning=tuple(sorted(ids)),
        grounds={about.id: about.ground for about in sorted(members, key=lambda about: about.id)},
        figures={
            "n_observations": len(members),
            "n_support": support,
            "n_echoes": len(group.echoes),
            "first_observed": days[0],
            "last_observed": days[-1],
        },
        quotes=tuple(_quote(about, rows[about.id]["content"], group) for about in members[:_MOST_QUOTES]),
        affected=tuple(ids),
        same=_pairs(ids),
    )


def _pairs(ids: Sequence[str]) -> tuple[tuple[str, str], ...]:
    pairs = (
        list(combinations(ids, 2)) if len(ids) * (len(ids) - 1) // 2 <= _MOST_PAIRS else [(ids[0], i) for i in ids[1:]]
    )
    return tuple(sorted((min(pair), max(pair)) for pair in pairs))


def _rationale(group: Group, title: str, support: int) -> str:
    n, n_echoes = len(group.others) + 1, len(group.echoes)
    said = "say the same" if group.confidence not in (CONTAINED, CONTAINED_PACK) else "overlap, one a part of the other"
    once = f"{support} independent statement{'s' if support != 1 else ''}"
    echoes = f" and {n_echoes} echo{'es' if n_echoes != 1 else ''} of it" if n_echoes else ""
    return f"{n} observations {said}, “{cut(title)}”: {once}{echoes}."


def _quote(about: About, content: str, group: Group) -> Quote:
    role = "kept" if about is group.kept else "echo" if about.id in group.echoes else "merged"
    notes = [f"observed {day_of(about.observed_us)}", about.source_kind, about.speaker, role]
    return Quote(about.id, cut(content), ", ".join(note for note in notes if note))

"""Contradictions: current statements that cannot both hold, of which one is set aside.

That something changed is no error: of equal authority the newer one holds, and the older one held until then. Where the
newer one has less authority, the older one is kept and the confidence is lower. The pairs come from `conflicts`, which reads
the words, and from `judged`, which asks a model where somebody chose one. Knows nothing of how pairs are found.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from grail_mem.consolidate.finding import Finding, Quote
from grail_mem.consolidate.reading import Reading
from grail_mem.consolidate.statements.authority import authority
from grail_mem.consolidate.statements.conflicts import Conflict, conflicts
from grail_mem.consolidate.statements.judged import judged
from grail_mem.consolidate.statements.statements import About, Statements, cut, day_of, read_statements, texts_of
from grail_mem.model.times import format_time, from_us

KIND: Final = "resolve_contradiction"
AGAINST_TIME: Final = 0.2
"""Taken from the confidence when the one that is kept is the older."""
SAME_TIME: Final = 0.15
"""When both were observed at one time, so that only authority or the order of writing decides."""
LEAST: Final = 0.5
"""Findings below it are not made."""
_AT_ONCE: Final = 500
_MOST_QUOTES: Final = 12


class Ruling(NamedTuple):
    """What holds, and what it sets aside.

    Attributes:
        kept: The statement that holds.
        others: Those that do not, the newest first, each with its conflict with the kept one.
    """

    kept: About
    others: tuple[tuple[About, Conflict], ...]
    confidence: float


def resolve_contradiction(reading: Reading) -> Iterator[Finding]:
    """One finding a statement that sets others aside, by the id of the statement."""
    statements = reading.once("statements", read_statements)
    found = list(conflicts(statements, reading))
    found += judged(statements, reading, frozenset((conflict.left, conflict.right) for conflict in found))
    rulings = sorted(_rulings(statements, found), key=lambda ruling: ruling.kept.id)
    for first in range(0, len(rulings), _AT_ONCE):
        some = rulings[first : first + _AT_ONCE]
        rows = texts_of(reading, [about.id for r in some for about in (r.kept, *(other for other, _ in r.others))])
        yield from (_finding(ruling, rows) for ruling in some)


def _rulings(statements: Statements, found: Sequence[Conflict]) -> Iterator[Ruling]:
    """The strongest statement first: it sets aside what conflicts with it, and what is set aside sets nothing aside."""
    of: dict[int, list[tuple[int, Conflict]]] = defaultdict(list)
    for conflict in found:
        of[conflict.left].append((conflict.right, conflict))
        of[conflict.right].append((conflict.left, conflict))
    aside: set[int] = set()
    for index in sorted(of, key=lambda index: _strength(statements.about[index]), reverse=True):
        kept = statements.about[index]
        others = [
            (other, conflict.confidence - _doubt(kept, statements.about[other]), conflict)
            for other, conflict in of[index]
            if other not in aside and _strength(statements.about[other]) < _strength(kept)
        ]
        others = [one for one in others if round(one[1], 2) >= LEAST]
        if index in aside or not others:
            continue
        aside.update(other for other, *_ in others)
        pairs = sorted(((statements.about[o], c) for o, _, c in others), key=lambda p: (-p[0].observed_us, p[0].id))
        yield Ruling(kept, tuple(pairs), round(min(sure for _, sure, _ in others), 2))


def _strength(about: About) -> tuple[bool, int, int, int, str]:
    return about.status == "confirmed", authority(about), about.observed_us, about.recorded_us, about.id


def _doubt(kept: About, other: About) -> float:
    if kept.observed_us < other.observed_us:
        return AGAINST_TIME
    return SAME_TIME if kept.observed_us == other.observed_us else 0.0


def _finding(ruling: Ruling, rows: Mapping[str, Mapping[str, Any]]) -> Finding:
    kept, others = ruling.kept, ruling.others
    ids = [kept.id, *(other.id for other, _ in others)]
    abouts = [kept, *(other for other, _ in others)]
    first = others[0][1]
    values = {kept.id: _value_of(kept, others[0][0], first)}
    values |= {other.id: _value_of(other, kept, conflict) for other, conflict in others}
    return Finding(
        kind=KIND,
        confidence=ruling.confidence,
        rationale=_rationale(ruling, values),
        payload={"keep": kept.id, "supersede": ids[1:], "about": first.about, "values": values},
        changes=tuple(_changes(ruling)),
        meaning=tuple(sorted(ids)),
        grounds={about.id: about.ground for about in sorted(abouts, key=lambda a: a.id)} | {"case": first.case},
        figures={
            "observed": {about.id: day_of(about.observed_us) for about in abouts},
            "authority": {about.id: authority(about) for about in abouts},
            **_judges(ruling),
        },
        quotes=tuple(Quote(about.id, cut(rows[about.id]["content"]), _note(about)) for about in abouts[:_MOST_QUOTES]),
        affected=tuple(ids),
    )


def _judges(ruling: Ruling) -> dict[str, Any]:
    """Which model says of which statement that it cannot hold, with its scores; nothing where the words say it."""
    said = {
        other.id: {"model": conflict.judge, "scores": list(conflict.scores)}
        for other, conflict in ruling.others
        if conflict.judge
    }
    return {"judged": said} if said else {}


def _value_of(about: About, other: About, conflict: Conflict) -> str:
    """What a statement says; the left of a conflict has the smaller index, and with it the smaller id."""
    return conflict.values[0] if about.id < other.id else conflict.values[1]


def _changes(ruling: Ruling) -> Iterator[dict[str, Any]]:
    kept = ruling.kept
    since = kept.from_us if kept.from_us is not None else kept.observed_us
    for other, _ in ruling.others:
        fields: dict[str, Any] = {"status": "superseded"}
        is_older = other.observed_us < kept.observed_us or (
            other.observed_us == kept.observed_us and other.recorded_us <= kept.recorded_us
        )
        if (
            is_older
            and (other.from_us is None or other.from_us < since)
            and (other.until_us is None or since < other.until_us)
        ):
            fields["valid_until"] = format_time(from_us(since))
        yield {"do": "set", "id": other.id, "fields": fields}
    if kept.supersedes is None and (older := ruling.others[0][0]).observed_us <= kept.observed_us:
        yield {"do": "set", "id": kept.id, "fields": {"supersedes": older.id}}


def _rationale(ruling: Ruling, values: Mapping[str, str]) -> str:
    kept, others = ruling.kept, [other for other, _ in ruling.others]
    newest = max(other.observed_us for other in others)
    why = (
        "is the newer"
        if newest < kept.observed_us
        else "has more authority"
        if _outranks(kept, others)
        else "was written last"
    )
    sides = " and ".join(f"“{cut(values[about.id])}” ({_note(about)})" for about in (kept, *others))
    judged = [conflict for _, conflict in ruling.others if conflict.judge]
    read = (
        f" ({judged[0].judge} reads it so, {min(min(c.scores) for c in judged):.2f}; the words alone do not show it)"
        if judged
        else ""
    )
    return f"About {cut(ruling.others[0][1].about)}, {sides} cannot both hold{read}; the first {why}."


def _outranks(kept: About, others: Sequence[About]) -> bool:
    return all(_strength(kept)[:2] > _strength(other)[:2] for other in others)


def _note(about: About) -> str:
    return ", ".join(
        note for note in (f"observed {day_of(about.observed_us)}", about.source_kind, about.speaker) if note
    )

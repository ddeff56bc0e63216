"""Conflicts: pairs of statements that cannot both hold, found by attribute, by exclusive relation and by near equal text.

A statement takes part only when it is current, short and plain (`difference.is_settled`): a page is not set aside for one of
its sentences. Knows nothing of which side is right.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, Final, NamedTuple

from grail_mem.consolidate.reading import Reading
from grail_mem.consolidate.statements.attribute_words import attribute_words, is_plural
from grail_mem.consolidate.statements.exclusive import Stated, relations
from grail_mem.consolidate.statements.same_texts import comparable
from grail_mem.consolidate.statements.statements import About, Statements, texts_of
from grail_mem.index.tokens import STOP_WORDS
from grail_mem.model.names import entity_key
from grail_mem.support.difference import alike, difference, is_said_of, is_settled, replaced
from grail_mem.support.wording import NEGATIONS, Wording, essence, is_number

_MOST_WORDS: Final = 60
"""Words of one statement; a longer text says several things."""
_LASTING: Final = ("semantic", "procedural")
"""Kinds that tell what is so; episodes, intentions and summaries tell other things."""
_MOST_CURRENT: Final = 20
"""Current statements of one attribute; with more it is a list."""
SAME_FRAME: Final = 0.9
"""Confidence when the texts under one attribute differ in one value only. Chosen: benchmark `contradictions`, as the others."""
SAME_FRAME_WORD: Final = 0.55
"""When that value is a common word: a synonym of the other, perhaps, or another thing that is also so."""
OTHER_WORDS: Final = 0.65
"""When the texts are worded differently and share no value."""
RELATION_FRAME: Final = 0.8
"""When an exclusive relation has two targets and the texts differ in them only."""
RELATION: Final = 0.65
"""When the texts are worded differently."""
BY_TEXT: Final = 0.7
"""When nothing but the near equal text, and the entities, says that both are about one thing."""
BY_TEXT_ALONE: Final = 0.55
"""When there are no entities, but the folder is the same."""
_FIRST_PERSON: Final = frozenset(("i", "me", "my", "mine", "we", "us", "our", "ours"))
_BATCH: Final = 1_000


class Conflict(NamedTuple):
    """Two statements that cannot both hold.

    Attributes:
        about: What they are about: an attribute, an entity and a relation, or entities.
        left: One, by index.
        right: The other.
        values: What each says of it, as far as one can tell.
        case: How it was found: `attribute`, `relation` or `text`, and in what they differ.
        confidence: How sure it is that they cannot both hold.
        judge: The model that says so; empty when the words do.
        scores: What the model says of the newer after the older, and the other way round, 0 to 1.
    """

    about: str
    left: int
    right: int
    values: tuple[str, str]
    case: str
    confidence: float
    judge: str = ""
    scores: tuple[float, ...] = ()


def conflicts(statements: Statements, reading: Reading) -> Iterator[Conflict]:
    """All pairs that cannot both hold, each once, those of attributes first, then of relations, then of texts."""
    plain = plain_statements(statements, reading)
    seen: set[tuple[int, int]] = set()
    for finder in (_by_attribute, _by_relation, _by_text):
        for conflict in finder(statements, plain, reading):
            pair = (conflict.left, conflict.right)
            if pair not in seen:
                seen.add(pair)
                yield conflict


def plain_statements(statements: Statements, reading: Reading) -> list[int]:
    """The statements that tell plainly and shortly what is so now, by index."""
    current = [index for index, about in enumerate(statements.about) if _is_current(about, reading.now_us)]
    return [
        index
        for index in current
        if 0 < statements.n_words(index) <= _MOST_WORDS and is_settled(statements.said(index))
    ]


def _is_current(about: About, now_us: int) -> bool:
    """Whether a statement tells what is so, now and until further notice."""
    ends = [us for us in (about.until_us, about.expires_us) if us is not None]
    has_begun = about.from_us is None or about.from_us <= now_us
    return about.kind in _LASTING and has_begun and all(us > now_us for us in ends)


def _by_attribute(statements: Statements, plain: Sequence[int], reading: Reading) -> Iterator[Conflict]:
    several = attributes_of(statements, plain)
    names = _names_in(reading, [statements.about[i].id for members in several.values() for i in members])
    for (_, attribute), members in sorted(several.items()):
        for left, right in combinations(members, 2):
            if not may_be_compared(statements, left, right):
                continue
            one, other = statements.said(left), statements.said(right)
            known = names[statements.about[left].id] | names[statements.about[right].id]
            if found := _values(one, other, attribute_words(attribute), known):
                values, case, sure = found
                yield Conflict(attribute, left, right, values, f"attribute {case}", sure)


def attributes_of(statements: Statements, plain: Sequence[int]) -> dict[tuple[str, str], list[int]]:
    """The statements of each attribute that is no list, where there are several; by whose memory and kind it is, and by attribute."""
    by_attribute: dict[tuple[str, str], list[int]] = defaultdict(list)
    for index in plain:
        about = statements.about[index]
        if about.attribute and not is_plural(about.attribute):
            by_attribute[comparable(about), about.attribute].append(index)
    return {key: members for key, members in by_attribute.items() if 1 < len(members) <= _MOST_CURRENT}


def _values(
    left: Wording, right: Wording, subject: frozenset[str], known: frozenset[str]
) -> tuple[tuple[str, str], str, float] | None:
    """What two statements of one attribute say of it, how they differ, and how sure it is that only one can hold."""
    if found := difference(left, right):
        return (found.left or "so", found.right or "so"), found.what, SAME_FRAME
    if found := replaced(left, right):
        if is_said_of(essence(left.words), found.at) and (_named(left, known) & _named(right, known)) - subject:
            return None  # `the Berlin office uses Postgres`: two offices, one value
        named = _named(left, known) | _named(right, known)
        sides = [not named.isdisjoint(value.split()) for value in (found.left, found.right)]
        if sides[0] != sides[1]:
            return None  # `is PostgreSQL`, `is fast`: two things are said of it
        return (found.left, found.right), found.what, SAME_FRAME if all(sides) else SAME_FRAME_WORD
    ours, theirs = _named(left, known) - subject, _named(right, known) - subject
    if not ours or not theirs or not ours.isdisjoint(theirs) or NEGATIONS & {*left.words, *right.words}:
        return None
    if any(alike((a,), (b,)) for a in ours for b in theirs):
        return None
    if set(map(is_number, ours)).isdisjoint(map(is_number, theirs)):
        return None  # `in Dublin`, `900 euros`: two things are said of it
    return (" ".join(sorted(ours)), " ".join(sorted(theirs))), "value", OTHER_WORDS


def _named(said: Wording, known: frozenset[str]) -> frozenset[str]:
    """The numbers and names in a text; a capital at the beginning makes no name, unless it is an entity's."""
    return frozenset(
        word
        for word, name in zip(said.words, said.names, strict=True)
        if word not in STOP_WORDS and (name > 1 or word in known or is_number(word))
    )


def _by_relation(statements: Statements, plain: Sequence[int], reading: Reading) -> Iterator[Conflict]:
    found = reading.once("relations", relations)
    index_of = {statements.about[index].id: index for index in plain}
    for (source, name), stated in found.conflicts():
        here = [one for one in stated if one.id in index_of]
        for one, other in combinations(here, 2):
            left, right = index_of[one.id], index_of[other.id]
            if one.id == other.id or one.target == other.target or found.may_both_hold(one, other):
                continue
            if max(found.n_of[one.id], found.n_of[other.id]) > 1 or not may_be_compared(statements, left, right):
                continue
            if sure := _of_targets(statements.said(left), statements.said(right), one, other):
                values = (one.shown, other.shown)
                yield _ordered(Conflict(f"{source} {name}", left, right, values, "relation value", sure))


def _of_targets(left: Wording, right: Wording, one: Stated, other: Stated) -> float:
    """How sure it is that two texts that state two targets cannot both hold."""
    found = replaced(left, right)
    if found and {*found.left.split()} <= {*one.target.split()} and {*found.right.split()} <= {*other.target.split()}:
        return RELATION_FRAME
    return RELATION if NEGATIONS.isdisjoint(left.words + right.words) else 0.0


def _ordered(conflict: Conflict) -> Conflict:
    if conflict.left < conflict.right:
        return conflict
    return conflict._replace(left=conflict.right, right=conflict.left, values=conflict.values[::-1])


def _by_text(statements: Statements, plain: Sequence[int], reading: Reading) -> Iterator[Conflict]:
    chosen = [
        index
        for index in plain
        if statements.about[index].turn is None and is_settled(statements.said(index), past=False)
    ]
    pairs = statements.near(chosen, [comparable(statements.about[index]) for index in chosen], reading)
    differing = [
        (left, right, found)
        for left, right in pairs
        if may_be_compared(statements, left, right)
        and (found := difference(statements.said(left), statements.said(right))) is not None
    ]
    for first in range(0, len(differing), _BATCH):
        some = differing[first : first + _BATCH]
        rows = texts_of(reading, sorted({statements.about[i].id for left, right, _ in some for i in (left, right)}))
        for left, right, found in some:
            one, other = (rows[statements.about[index].id] for index in (left, right))
            sure = _one_thing(one, other)
            if sure:
                about = ", ".join(sorted(entities_of(one))) or one["category"]
                values = (found.left or "so", found.right or "so")
                yield Conflict(about, left, right, values, f"text {found.what}", sure)


def _one_thing(one: Mapping[str, Any], other: Mapping[str, Any]) -> float:
    """How sure it is that two near equal texts are about one thing."""
    if entities_of(one) != entities_of(other):
        return 0.0
    if entities_of(one):
        return BY_TEXT
    return BY_TEXT_ALONE if one["category"] == other["category"] else 0.0


def entities_of(row: Mapping[str, Any]) -> frozenset[str]:
    """The keys of the entities of an observation, from its row."""
    return frozenset(entity["key"] for entity in row["entities"] or ())


def may_be_compared(statements: Statements, left: int, right: int) -> bool:
    """Whether two statements are of one memory and one mouth, hold at the same time, and say not the same."""
    one, other = statements.about[left], statements.about[right]
    if one.scope != other.scope or one.digest == other.digest:
        return False
    if (one.until_us or other.until_us) and not _overlap(one, other):
        return False
    if one.speaker and other.speaker and entity_key(one.speaker) != entity_key(other.speaker):
        return False
    is_personal = not _FIRST_PERSON.isdisjoint(statements.said(left).words)
    return not is_personal or (one.speaker or "") == (other.speaker or "")


def _overlap(one: About, other: About) -> bool:
    begins = max(one.from_us or 0, other.from_us or 0)
    return all(about.until_us is None or about.until_us > begins for about in (one, other))


def _names_in(reading: Reading, ids: Sequence[str]) -> Mapping[str, frozenset[str]]:
    """The words of the names of entities, by observation."""
    found: dict[str, frozenset[str]] = {}
    for first in range(0, len(ids), _BATCH):
        for id_, row in texts_of(reading, ids[first : first + _BATCH]).items():
            found[id_] = frozenset(word for key in entities_of(row) for word in essence(tuple(key.split())))
    return found

"""Pairs of names worth comparing: found by what they have in common, never by trying all.

Knows nothing of where names are mentioned.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Final

from grail_mem.consolidate.names.acronyms import initials, is_acronym
from grail_mem.consolidate.names.entity_table import pair
from grail_mem.consolidate.names.likeness import (
    MIN_SPELLED_CHARS,
    Likeness,
    Named,
    misspelling,
    nickname_or_initial,
    same_core,
    single_name,
)
from grail_mem.consolidate.names.name_form import name_form
from grail_mem.consolidate.names.nicknames import Nicknames

MAX_BLOCK: Final = 50
"""Names with one thing in common beyond which that thing tells nothing and no two of them are compared."""
MAX_FULL_NAMES: Final = 4
"""Full names with one given name or surname beyond which the single name can be anybody's."""

Found = Iterator[tuple[int, int, Likeness]]


def candidates(names: Sequence[Named], nicknames: Nicknames) -> dict[tuple[int, int], list[Likeness]]:
    """Pairs of places in `names` that are alike, the smaller first, with every way in which they are.

    `Likeness.vague` is about the smaller and the larger place, in that order.
    """
    found: dict[tuple[int, int], list[Likeness]] = defaultdict(list)
    for source in (_cores(names), _orders(names), _acronyms(names), _people(names, nicknames), _spellings(names)):
        for left, right, likeness in source:
            vague = likeness.vague if left < right or likeness.vague < 0 else 1 - likeness.vague
            likeness_in_order = Likeness(likeness.code, vague)
            if left != right and likeness_in_order not in found[pair(left, right)]:
                found[pair(left, right)].append(likeness_in_order)
    return {places: found[places] for places in sorted(found) if found[places]}


def _blocks(entries: Iterable[tuple[Hashable, int]]) -> dict[Hashable, list[int]]:
    blocks: dict[Hashable, list[int]] = defaultdict(list)
    for key, place in entries:
        if not blocks[key] or blocks[key][-1] != place:
            blocks[key].append(place)
    return blocks


def _pairs(block: list[int]) -> Iterator[tuple[int, int]]:
    if len(block) <= MAX_BLOCK:
        for n, left in enumerate(block):
            for right in block[n + 1 :]:
                yield left, right


def _cores(names: Sequence[Named]) -> Found:
    blocks = _blocks((n.form.core, place) for place, n in enumerate(names) if n.form.core)
    for block in blocks.values():
        for left, right in _pairs(block):
            if likeness := same_core(names[left], names[right]):
                yield left, right, likeness


def _orders(names: Sequence[Named]) -> Found:
    """`Smith, John` and `John Smith`."""
    at = _blocks((n.form.plain, place) for place, n in enumerate(names))
    for place, n in enumerate(names):
        last, comma, first = n.name.partition(",")
        if comma and "," not in first and not n.form.legal and first.strip() and last.strip():
            for other in at.get(name_form(f"{first} {last}").plain, ())[:MAX_BLOCK]:
                yield place, other, Likeness("order")


def _acronyms(names: Sequence[Named]) -> Found:
    at = _blocks((n.form.plain, place) for place, n in enumerate(names) if is_acronym(n.form, is_upper=n.is_upper))
    for place, n in enumerate(names):
        for acronym in initials(n.form) if at else ():
            for short in at.get(acronym, ())[:MAX_BLOCK]:
                yield short, place, Likeness("acronym", 0)


def _people(names: Sequence[Named], nicknames: Nicknames) -> Found:
    people = [(place, n.form.tokens) for place, n in enumerate(names) if n.person]
    full = [(place, tokens) for place, tokens in people if len(tokens) > 1]
    by_name = _blocks(((tokens[0], tokens[-1]), place) for place, tokens in full)
    by_initial = _blocks(((tokens[0][0], tokens[-1]), place) for place, tokens in full)
    single = _blocks((tokens[0], place) for place, tokens in people if len(tokens) == 1)
    with_word = _blocks((word, place) for place, tokens in full for word in sorted({tokens[0], tokens[-1]}))
    for place, (first, *_, last) in full:
        others = [o for name in (first, *nicknames.linked(first)) for o in by_name.get((name, last), ())]
        others += by_initial.get((first, last), ()) if len(first) == 1 else ()
        for other in others[:MAX_BLOCK]:
            if other != place and (likeness := nickname_or_initial(names[place], names[other], nicknames)):
                yield place, other, likeness
    for word, places in single.items():
        owners = with_word.get(word, [])
        linked = [o for name in nicknames.linked(str(word)) for o in single.get(name, ())]
        for other in (owners if len(owners) <= MAX_FULL_NAMES else []) + linked:
            for place in places:
                if likeness := single_name(names[place], names[other], nicknames):
                    yield place, other, likeness


def _spellings(names: Sequence[Named]) -> Found:
    """Names that become equal when one letter of one long word is left out of either, found by sorted digests."""
    import numpy as np

    digests, places = [], []
    for place, n in enumerate(names):
        tokens = n.form.tokens
        for at, token in enumerate(tokens):
            if len(token) >= MIN_SPELLED_CHARS and token.isalpha():
                rest = tokens[:at], tokens[at + 1 :]
                variants = {token, *(token[:i] + token[i + 1 :] for i in range(len(token)))}
                digests += [hash((rest, variant)) for variant in variants]
                places += [place] * len(variants)
    keys, owners = np.array(digests, np.int64), np.array(places, np.int64)
    order = np.lexsort((owners, keys))
    keys, owners = keys[order], owners[order]
    starts = np.flatnonzero(np.diff(keys, prepend=keys[:1] - 1)) if len(keys) else keys
    pairs: set[tuple[int, int]] = set()
    ends = np.append(starts[1:], len(keys))
    for begin, end in zip(starts[ends - starts > 1], ends[ends - starts > 1], strict=True):
        pairs.update(_pairs(np.unique(owners[begin:end]).tolist()))
    for left, right in sorted(pairs):
        if likeness := misspelling(names[left], names[right]):
            yield left, right, likeness

"""What of an observation is searched: its passages with their terms, traits and names.

A function of the observation's own text alone, so that it is made once for each file content. Knows nothing of how
documents are stored or scored.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from hashlib import blake2b
from typing import Final, NamedTuple, Protocol

from grail_mem.index.passages import passages
from grail_mem.index.tokens import MAX_TERM_CHARS, marked_terms_of, terms
from grail_mem.index.traits import Traits, capitalised, traits
from grail_mem.index.vectors import text_digest
from grail_mem.model.names import entity_key, session_key
from grail_mem.model.observation import Observation

VERSION: Final = 3
"""Changes when an observation would be searched by something else; an index of another version is made anew."""

GAP: Final = 0
"""Stands between parts of a text that are no neighbours, such as a title and the body."""
MAX_NAME_TERMS: Final = 8
DECLARED: Final = 1
RELATED: Final = 2
OTHER_NAME: Final = 4
_CUT: Final = 200
"""Where the first line is cut when it becomes a title (`write.validate.first_line`)."""
_KEPT: Final = 1 << 18
_KEPT_WORDS: Final = 1 << 16
_MASK: Final = (1 << 64) - 1
# An odd multiplier near 2^64 divided by the golden ratio. Source: Knuth, The Art of Computer Programming 3, 6.4.
MULTIPLIER: Final = 0x9E3779B97F4A7C15
_IN_BRACKETS: Final = re.compile(r"\s*\([^()]*\)\s*$")


class PassageText(NamedTuple):
    """One passage as it is searched.

    Attributes:
        start: Where it begins in the content, in characters.
        length: How many characters it has.
        digest: Digest of the text that is embedded.
        terms: Hashes of its terms in order, `GAP` between parts.
        marks: For each term, whether it may begin a name.
        traits: What its text is like.
        names: Hashes of the names in it, with what is known of each: 0, or bits: `DECLARED`, with `RELATED` when a
            relationship has it, with `OTHER_NAME` when it only is another name of something.
    """

    start: int
    length: int
    digest: int
    terms: list[int]
    marks: list[bool]
    traits: Traits
    names: dict[int, int]


class Document(NamedTuple):
    """One observation as it is searched.

    Attributes:
        key: The first 64 bits of its file's digest.
        session: Hash of its session, 0 for none.
        turn: Its place in the session, -1 for none.
        speaker: The key of who said it, empty for nobody.
        titles: Hashes of the names that it is about: its title, unless that is the beginning of its content.
        others: Hashes of other names that it gives an entity, each with that of the entity's name.
        passages: At least one.
    """

    key: int
    session: int
    turn: int
    speaker: str
    titles: tuple[int, ...]
    others: tuple[tuple[int, int], ...]
    passages: list[PassageText]


def document(o: Observation) -> Document:
    """What of an observation is searched."""
    title = own_title(o)
    names = _declared(o)
    title_name = name_hash(_IN_BRACKETS.sub("", title)) if title else 0
    made: list[PassageText] = []
    for number, passage in enumerate(passages(o.content)):
        found = dict.fromkeys(map(name_hash, capitalised(passage.text, at_start=bool(title))), 0)
        found |= names
        if title_name:
            found.setdefault(title_name, 0)
        found.pop(0, None)
        parts = [title, passage.text, *(_labels(o, passage.text) if number == 0 else ())]
        hashes, marks = _joined(parts)
        made.append(
            PassageText(
                passage.start, len(passage.text), text_digest(embedded_text(title, passage.text)), hashes, marks,
                traits(passage.text), found,
            )
        )  # fmt: skip
    return Document(
        key_of(o.sha256),
        term_hash(f"session\0{session_key(o.session)}") if o.session else 0,
        -1 if o.turn is None else o.turn,
        entity_key(o.speaker) if o.speaker else "",
        (title_name,) if title_name else (),
        tuple(_others(o)),
        made,
    )


def _others(o: Observation) -> Iterator[tuple[int, int]]:
    for entity in o.entities:
        own = name_hash(entity.name)
        for name in entity.aliases:
            if own and (other := name_hash(name)) and other != own:
                yield other, own


def key_of(sha256: str) -> int:
    """The key of a document, from its file's digest."""
    return int(sha256[:16] or "0", 16)


class Texted(Protocol):
    """What has a title and a content, as an observation does."""

    @property
    def title(self) -> str:
        """Its title."""
        ...

    @property
    def content(self) -> str:
        """What it says."""
        ...


def own_title(o: Texted) -> str:
    """The title, empty when it only is the content's first line, as of an observation that was given none.

    A heading is a title also then.
    """
    line = next((line.strip() for line in o.content.splitlines() if line.strip()), "")
    return "" if line[:_CUT] == o.title and not line.startswith("#") else o.title


def embedded_text(title: str, text: str) -> str:
    """The text of a passage that is turned into a vector: behind its observation's title."""
    return f"{title}. {text}" if title else text


def embedded_texts(o: Texted) -> Iterator[str]:
    """The texts of an observation that are turned into vectors, in the order of its passages."""
    title = own_title(o)
    return (embedded_text(title, passage.text) for passage in passages(o.content))


@lru_cache(maxsize=_KEPT)
def term_hash(term: str) -> int:
    """The 64-bit hash by which a term is looked up; never `GAP`."""
    return int.from_bytes(blake2b(term.encode(), digest_size=8).digest(), "little") or 1


@lru_cache(maxsize=_KEPT)
def name_hash(name: str) -> int:
    """The 64-bit hash of a name: of its terms in order; 0 when it has none or more than `MAX_NAME_TERMS`."""
    said = terms(name)
    return phrase_hash(map(term_hash, said)) if 0 < len(said) <= MAX_NAME_TERMS else 0


def phrase_hash(hashes: Iterable[int]) -> int:
    """The hash of terms in order; that of one term is the term's own."""
    made = 0
    for value in hashes:
        made = (made * MULTIPLIER + value) & _MASK
    return made


def _joined(parts: Iterable[str]) -> tuple[list[int], list[bool]]:
    hashes: list[int] = []
    marks: list[bool] = []
    for part in parts:
        begin = len(hashes)
        if begin:
            hashes.append(GAP)
            marks.append(False)
        for word in part.split():
            found = _hashed(word) if len(word) <= MAX_TERM_CHARS else _hashes(word)
            hashes += found[0]
            marks += found[1]
        if begin and len(hashes) == begin + 1:  # nothing was said behind the gap
            del hashes[begin:], marks[begin:]
    return hashes, marks


def _hashes(word: str) -> tuple[tuple[int, ...], tuple[bool, ...]]:
    """The hashes of the terms of what stands between two spaces, and whether each may begin a name."""
    marked = marked_terms_of(word)
    return tuple(term_hash(term) for term, _ in marked), tuple(mark for _, mark in marked)


@lru_cache(maxsize=_KEPT_WORDS)
def _hashed(word: str) -> tuple[tuple[int, ...], tuple[bool, ...]]:
    return _hashes(word)


def _labels(o: Observation, text: str) -> list[str]:
    """Tags and names that the text itself does not say."""
    said = text.casefold()
    return [label for label in (*o.tags, *(e.name for e in o.entities)) if label.casefold() not in said]


def _declared(o: Observation) -> dict[int, int]:
    """Hashes of the entities that an observation declares, with their other names, and of the ends of its relationships."""
    found = {name_hash(name): DECLARED | OTHER_NAME for entity in o.entities for name in entity.aliases}
    found |= {name_hash(entity.name): DECLARED for entity in o.entities}
    for r in o.relationships:
        for name in (r.source, r.target):
            found[name_hash(name)] = DECLARED | RELATED
    found.pop(0, None)
    return found

"""The statements of a store as numbers: the words of every observation, and what is known about it, in little memory.

Texts are read in batches and kept as indexes into one vocabulary; words for people are read again by id. Knows nothing of
what is looked for in them.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from grail_mem.consolidate.reading import Reading
from grail_mem.consolidate.statements.minhash import candidates, code_of, signatures
from grail_mem.index.tokens import STOP_WORDS
from grail_mem.model.times import from_us
from grail_mem.support.wording import (
    TRIFLES,
    Wording,
    essence,
    is_fenced,
    says_something,
    statement_wording,
)

if TYPE_CHECKING:  # a tenth of a second, spent when a detector runs
    import numpy as np
    import numpy.typing as npt

_BATCH: Final = 4_096
"""Observations read in one go; at a thousand characters each, some four megabytes."""
MOST_WORDS: Final = 3_000
"""A longer text, which is a document, is compared as a whole only: it has a digest but no words."""
QUOTED: Final = 200
"""Characters of a quote at most."""

_ROWS: Final = """
SELECT id, kind, status, attribute, scope, session, turn, speaker, source, source_kind,
       epoch_us(observed_at) AS observed_us, epoch_us(recorded_at) AS recorded_us, epoch_us(valid_from) AS from_us,
       epoch_us(valid_until) AS until_us, epoch_us(expires_at) AS expires_us, confidence, len(entities) AS n_entities,
       coalesce(json_array_length(more, '$.evidence'), 0) AS n_evidence, more->>'$.supersedes' AS supersedes,
       title, content
FROM rows WHERE id > ? AND status NOT IN ('superseded', 'archived') ORDER BY id LIMIT ?"""
_TEXTS: Final = """
SELECT id, title, content, category, tags, entities, relationships, more FROM rows WHERE id IN (SELECT unnest(?::VARCHAR[]))"""


class About(NamedTuple):
    """What is known of a statement beside its words; times are microseconds since 1970 UTC.

    Attributes:
        fenced: Whether its body holds a tag of a pack.
        digest: SHA-256 of its words without trifles, hexadecimal.
    """

    id: str
    kind: str
    status: str
    attribute: str | None
    scope: str | None
    session: str | None
    turn: int | None
    speaker: str | None
    source: str | None
    source_kind: str | None
    observed_us: int
    recorded_us: int
    from_us: int | None
    until_us: int | None
    expires_us: int | None
    confidence: float
    n_entities: int
    n_evidence: int
    supersedes: str | None
    fenced: bool
    digest: str

    @property
    def ground(self) -> str:
        """What a finding rests on: 12 digits of the digest."""
        return self.digest[:12]


@dataclass(slots=True)
class Statements:
    """All current observations with a body that says something, by id.

    Attributes:
        about: What is known of each.
        vocabulary: Every word, in the order of its first use.
    """

    about: list[About] = field(default_factory=list)
    vocabulary: dict[str, int] = field(default_factory=dict)
    _words: array[int] = field(default_factory=lambda: array("i"))
    _names: bytearray = field(default_factory=bytearray)
    _starts: array[int] = field(default_factory=lambda: array("q", [0]))
    _spelled: list[str] = field(default_factory=list)
    _n_texts: list[int] = field(default_factory=list)
    _content: array[int] = field(default_factory=lambda: array("q"))

    def add(self, about: About, said: Wording) -> None:
        """Put a statement behind the others."""
        if len(said.words) <= MOST_WORDS:
            self._words.extend([self.vocabulary.setdefault(word, len(self.vocabulary)) for word in said.words])
            self._names.extend(said.names)
        self._starts.append(len(self._words))
        self.about.append(about)

    def said(self, index: int) -> Wording:
        """The words of a statement; none when it is a document."""
        if len(self._spelled) != len(self.vocabulary):
            self._spelled = list(self.vocabulary)
        start, end = self._starts[index], self._starts[index + 1]
        return Wording(tuple(map(self._spelled.__getitem__, self._words[start:end])), tuple(self._names[start:end]))

    def n_words(self, index: int) -> int:
        """How many words a statement has; 0 when it is a document."""
        return self._starts[index + 1] - self._starts[index]

    def n_content(self, index: int) -> int:
        """How many words of a statement say something."""
        import numpy as np

        if len(self._content) != len(self._words) + 1:
            says = [word not in STOP_WORDS and word not in TRIFLES for word in self.vocabulary]
            flat = np.frombuffer(self._words, dtype=np.int32) if self._words else np.empty(0, np.int32)
            self._content = array("q", [0])
            self._content.frombytes(np.cumsum(np.array(says, dtype=np.int64)[flat]).tobytes())
        return self._content[self._starts[index + 1]] - self._content[self._starts[index]]

    def n_texts(self, word: str) -> int:
        """In how many statements a word stands."""
        import numpy as np

        if not self._n_texts:
            sizes = np.diff(np.frombuffer(self._starts, dtype=np.int64)).astype(np.int64)
            owner = np.repeat(np.arange(len(self.about)), sizes)
            flat = np.frombuffer(self._words, dtype=np.int32)
            once = np.unique(owner * len(self.vocabulary) + flat)
            self._n_texts = np.bincount(once % len(self.vocabulary)).tolist()
        number = self.vocabulary.get(word)
        return 0 if number is None else self._n_texts[number]

    def near(self, chosen: Sequence[int], partition: Sequence[str], reading: Reading) -> list[tuple[int, int]]:
        """The pairs of statements whose words are so alike that they may say nearly the same.

        Args:
            chosen: Which statements are looked at.
            partition: For each of them, what must be equal.
            reading: Told how far it is.
        """
        import numpy as np

        codes = np.fromiter(map(code_of, self.vocabulary), dtype=np.uint64, count=len(self.vocabulary))
        trifles = [number for word in TRIFLES if (number := self.vocabulary.get(word)) is not None]
        flat = np.frombuffer(self._words, dtype=np.int32) if self._words else np.empty(0, np.int32)
        kept = ~np.isin(flat, np.array(sorted(trifles), dtype=np.int32))
        parts: list[npt.NDArray[np.int32]] = []
        starts, having = [0], []
        for place, index in enumerate(chosen):
            part = flat[self._starts[index] : self._starts[index + 1]]
            part = part[kept[self._starts[index] : self._starts[index + 1]]]
            if len(part):
                parts.append(part)
                starts.append(starts[-1] + len(part))
                having.append(place)
        if len(having) <= 1:
            return []
        signed = signatures(codes[np.concatenate(parts)], starts, reading.progress)
        keys = np.array([code_of(partition[place]) for place in having], dtype=np.uint64)
        at = [chosen[place] for place in having]
        return sorted(
            (min(pair), max(pair)) for left, right in candidates(signed, keys) for pair in [(at[left], at[right])]
        )


def read_statements(reading: Reading) -> Statements:
    """Every observation that is current and says something, by id."""
    statements = Statements()
    for row in _rows(reading):
        title, content = str(row.pop("title")), str(row.pop("content"))
        if not says_something(content):
            continue
        said = statement_wording(title, content)
        digest = sha256("\x1f".join(essence(said.words)).encode("utf-8", "surrogatepass")).hexdigest()
        statements.add(About(**row, fenced=is_fenced(content), digest=digest), said)
    return statements


def _rows(reading: Reading) -> Iterator[dict[str, Any]]:
    """What is known of observations, with titles and contents, by id."""
    after = ""
    while True:
        found = reading.ask(_ROWS, [after, _BATCH]).to_pylist()
        yield from found
        if len(found) < _BATCH:
            return
        after = found[-1]["id"]


def texts_of(reading: Reading, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Of some observations, what `About` leaves out: titles, contents, categories, tags, entities, relationships, and more as stored."""
    return {row["id"]: row for row in reading.ask(_TEXTS, [list(ids)]).to_pylist()}


def cut(text: str) -> str:
    """A text short enough to quote, on one line."""
    line = " ".join(text.split())
    return line if len(line) <= QUOTED else f"{line[: QUOTED - 1].rstrip()}…"


def day_of(us: int) -> str:
    """The day of a time, such as `2026-06-02`, UTC."""
    return from_us(us).date().isoformat()

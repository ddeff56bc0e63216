"""Cite: the quotes of one observation in the words around them, for people to judge.

Knows nothing of how an observation is found.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from grail_mem.model.observation import Evidence, Observation
from grail_mem.model.untrusted import shown
from grail_mem.query.passages import DOCUMENT, Sources, in_source, is_erased
from grail_mem.query.proof import Status, stands
from grail_mem.query.view import View
from grail_mem.store.sources import Locator, Turn, is_chat, parse_locator

AROUND: Final = 2
"""Turns before and after a quoted one that are shown; chosen."""
_PARAGRAPH: Final = 600
"""Characters before and after a quote in a document that are shown at most, up to an empty line; chosen."""


@dataclass(frozen=True, slots=True)
class Line:
    """A turn, or a paragraph of a document, with hidden characters written out.

    Attributes:
        locator: Where it stands.
        quoted: Whether the quote stands in it.
    """

    locator: str
    role: str
    speaker: str
    at: str
    text: str
    quoted: bool = False

    def to_dict(self) -> dict[str, object]:
        """The line as plain JSON values."""
        return {name: getattr(self, name) for name in self.__slots__ if getattr(self, name) not in ("", False)}


@dataclass(frozen=True, slots=True)
class QuoteInContext:
    """One quote with what stands around it.

    Attributes:
        evidence: As the file has it.
        status: `verified`, `normalised match`, `source changed`, `source missing` or `no source`.
        lines: The turns around it, or the paragraph; empty when it is not there or may not be read.
    """

    evidence: Evidence
    status: Status
    lines: tuple[Line, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The quote as plain JSON values."""
        e = self.evidence
        said: dict[str, Any] = {
            "quote": e.quote, "source": e.source, "span": None if e.span is None else list(e.span), "sha256": e.sha256,
            "match": e.match, "role": e.role, "checker": e.checker, "support": e.support,
        }  # fmt: skip
        kept = {name: value for name, value in said.items() if value not in ("", None)}
        return kept | {"status": self.status, "context": [line.to_dict() for line in self.lines]}


@dataclass(frozen=True, slots=True)
class Cited:
    """An observation with its quotes in context."""

    id: str
    title: str
    path: str
    quotes: tuple[QuoteInContext, ...]

    @property
    def text(self) -> str:
        """All of it for people; what is hidden in the sources is written out."""
        lines = [f"{shown(self.title)}  ({self.id})", self.path]
        if not self.quotes:
            lines.append("\nIt gives no evidence.")
        for quote in self.quotes:
            lines += ["", *_lines_of(quote)]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """The citation as plain JSON values."""
        quotes = [quote.to_dict() for quote in self.quotes]
        return {"id": self.id, "title": self.title, "path": self.path, "evidence": quotes}


def cite(view: View, observation: Observation) -> Cited:
    """The quotes of an observation, each with its place and the words around it."""
    quotes = tuple(_in_context(view, evidence) for evidence in observation.evidence)
    return Cited(observation.id, observation.title, observation.path, quotes)


def _in_context(view: View, evidence: Evidence) -> QuoteInContext:
    sources = Sources(view.layout)
    status, passage = stands(sources, evidence)
    locator = parse_locator(evidence.source)
    if passage is None or locator is None or not in_source(view, locator) or is_erased(view, passage):
        return QuoteInContext(evidence, status)
    if not is_chat(locator.path):
        return QuoteInContext(evidence, status, _paragraph(passage, evidence))
    turns = sources.at(Locator(passage.locator.path))
    place = next((n for n, turn in enumerate(turns) if turn.locator == passage.locator), 0)
    around = [turn for turn in turns[max(place - AROUND, 0) : place + AROUND + 1] if not is_erased(view, turn)]
    return QuoteInContext(
        evidence, status, tuple(_line(turn, quoted=turn.locator == passage.locator) for turn in around)
    )


def _line(passage: Turn, *, quoted: bool) -> Line:
    return Line(
        str(passage.locator), passage.role, shown(passage.speaker), passage.at, shown(passage.text), quoted
    )  # fmt: skip


def _paragraph(passage: Turn, evidence: Evidence) -> tuple[Line, ...]:
    """What stands around a quote in a document, up to an empty line; nothing when the quote is not there."""
    begin = passage.text.find(evidence.quote)
    if begin < 0 and evidence.span is None:
        return ()
    if evidence.span is not None and passage.text[slice(*evidence.span)] == evidence.quote:
        begin = evidence.span[0]
    if begin < 0:
        return ()
    end = begin + len(evidence.quote)
    first = max(passage.text.rfind("\n\n", max(begin - _PARAGRAPH, 0), begin) + 2, begin - _PARAGRAPH, 0)
    last = passage.text.find("\n\n", end, end + _PARAGRAPH)
    words = passage.text[first : last if last >= 0 else end + _PARAGRAPH]
    return (Line(str(passage.locator), DOCUMENT, "", "", shown(words), quoted=True),)


def _lines_of(quote: QuoteInContext) -> list[str]:
    e = quote.evidence
    span = "" if e.span is None else f" characters {e.span[0]} to {e.span[1]}"
    judged = f"; support {e.support:.2f} by {e.checker}" if e.support is not None and e.checker else ""
    lines = [f'"{shown(e.quote)}"', f"  {quote.status}: {shown(e.source) or 'no source'}{span}{judged}"]
    for line in quote.lines:
        who = f"{line.role}{f' {line.speaker}' if line.speaker else ''}{f' {line.at}' if line.at else ''}"
        lines.append(f"  {'>' if line.quoted else ' '} {line.locator.rpartition('#')[2]} {who}: {line.text}")
    return lines

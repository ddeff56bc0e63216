"""The pack: observations as text for a model within a budget of tokens, as data and never as orders.

Knows nothing of how they were found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import regex as re

from grail_mem.errors import InputError
from grail_mem.model.observation import Observation
from grail_mem.model.orders import MEANINGS
from grail_mem.model.untrusted import as_data, flags_of
from grail_mem.recall.budget import Counter, counter_of
from grail_mem.recall.hit import Hit, hit_of
from grail_mem.recall.statement import CUT, FORMS, SECTIONS, Form, Statement, statement_of

_ENDS: Final = re.compile(r"\n|(?<=[.!?।]['\")\]]*)(?=\s)|(?<=[。！？])")
_FAR_OVER: Final = 2
"""When the parts have so many times the budget, the whole need not be counted to know that it does not fit."""
_HALF_ESCAPE: Final = re.compile(r"(?:&[a-z]{0,3}|⟨[U+0-9A-F]{0,8})\Z")


@dataclass(frozen=True, slots=True)
class Pack:
    """What a model is given.

    Attributes:
        text: Markdown or JSON; the same for the same input.
        tokens: How many tokens the text is.
        counter: Whose tokens they are.
        is_estimate: Whether they are an estimate.
        included: Ids in the text, in the order given.
        left_out: Ids that did not fit, in the order given.
        cut: Included ids of which only the beginning fitted, or not the turns around it.
        flags: Included ids whose text reads like something other than data, with the names of what it reads like.
    """

    text: str
    tokens: int
    counter: str
    is_estimate: bool
    included: tuple[str, ...]
    left_out: tuple[str, ...]
    cut: tuple[str, ...]
    flags: Mapping[str, tuple[str, ...]]


def render_pack(
    hits: Sequence[Observation],
    *,
    budget: int | None = None,
    counter: Counter | Callable[[str], int] | None = None,
    form: Literal["markdown", "json"] = "markdown",
    coverage: str | None = None,
    question: str | None = None,
    overview: Sequence[str] = (),
) -> Pack:
    """Observations, best first, as one fenced text in typed sections, each statement labelled with where it comes from.

    Inside a section the order is kept. A statement that does not fit is cut where a line or sentence ends, or left out, and those
    behind it are still tried.

    Args:
        hits: Observations or hits; of one id the first counts.
        budget: Tokens that the text has at most, its frame included; None for no limit.
        counter: Counts tokens; a function from a text to a number, or None for an estimate.
        form: `markdown` or `json`; both say the same.
        coverage: How far the hits answer the question, in a word.
        question: What was asked; said in the frame.
        overview: Lines about all of it, which come first; at most half of the budget is theirs.

    Raises:
        InputError: The budget is too small for the frame alone, which is some 20 tokens without a question.
    """
    if form not in FORMS:
        raise InputError(f"form must be one of {', '.join(FORMS)}, not {form!r}.")
    about = {name: said for name, said in (("question", question), ("coverage", coverage)) if said}
    first: dict[str, Observation] = {}
    for hit in hits:
        first.setdefault(hit.id, hit)
    statements = [statement_of(h if isinstance(h, Hit) else hit_of(h)) for h in first.values()]
    packer = _Packer(FORMS[form], counter_of(counter), about, list(map(_overview_line, overview)), statements)
    return packer.whole() if budget is None else packer.within(budget)


def _overview_line(text: str) -> str:
    flags = flags_of((text,))
    return as_data(text) + (f" [{'; '.join(MEANINGS[name] for name in flags)}]" if flags else "")


class _Packer:
    """Chooses what goes into one pack."""

    def __init__(
        self,
        form: Form,
        counter: Counter,
        about: Mapping[str, str],
        overview: Sequence[str],
        statements: Sequence[Statement],
    ) -> None:
        self._form, self._counter, self._about, self._statements = form, counter, about, statements
        self._overview = overview

    def whole(self) -> Pack:
        """Everything."""
        return self._pack({s.id: self._form.block(s) for s in self._statements}, cut=())

    def within(self, budget: int) -> Pack:
        """What fits, the best first.

        The tokens of parts do not quite add up to those of the whole, so the whole is counted at the end, and if it is over the
        budget the parts get less.
        """
        costs = [self._count(self._form.block(s) + "\n") for s in self._statements]
        if sum(costs) <= _FAR_OVER * budget and (pack := self.whole()).tokens <= budget:
            return pack
        lines, self._overview = self._overview, ()
        least = self._pack({}, cut=())
        if least.tokens > budget:
            raise InputError(
                f"A budget of {budget} tokens is too small: the frame of the pack alone has {least.tokens}.",
                hint="Give a larger budget, or a shorter question.",
            )
        if lines:
            least = self._with_overview(lines, least.tokens + (budget - least.tokens) // 2)
        headings = [self._count(self._form.heading(s)) for s in range(len(SECTIONS))]
        room, step = budget - least.tokens, 1
        while room > 0:
            pack = self._pack(*self._chosen(room, costs, headings))
            if pack.tokens <= budget:
                return pack
            step = max(2 * step, pack.tokens - budget)
            room -= step
        return least

    def _with_overview(self, lines: Sequence[str], most: int) -> Pack:
        """The frame with as many lines of the overview as fit, none of them cut; what is packed next has them too."""

        def with_first(n: int) -> Pack:
            self._overview = () if not n else lines if n == len(lines) else (*lines[:n], CUT)
            return self._pack({}, cut=())

        return with_first(_last_that(lambda n: with_first(n).tokens <= most, 0, len(lines)))

    def _chosen(self, room: int, costs: Sequence[int], headings: Sequence[int]) -> tuple[dict[str, str], list[str]]:
        """Blocks by id, and the ids that were cut; greedy in the order given."""
        blocks: dict[str, str] = {}
        cut: list[str] = []
        sections: set[int] = set()
        used = 0
        for statement, cost in zip(self._statements, costs, strict=True):
            with_it = sections | {statement.section}
            left = room - used - (sum(headings[s] for s in with_it) if len(with_it) > 1 else 0)
            if cost <= left:
                blocks[statement.id] = self._form.block(statement)
            elif block := self._part(statement, left):
                blocks[statement.id] = block
                cut.append(statement.id)
                used -= cost - self._count(block + "\n")
            else:
                continue
            used, sections = used + cost, with_it
        return blocks, cut

    def _part(self, s: Statement, room: int) -> str | None:
        """As much of a statement as fits, up to the end of a line or sentence; None if that is too little to be of use."""

        def fits(n: int) -> bool:
            return self._count(self._form.block(s, body=s.body[:n]) + "\n") <= room

        most = len(s.body) if s.turns else len(s.body) - 1
        if most < s.useful or not fits(s.useful):
            return None
        n = _last_that(fits, s.useful, most)
        return self._form.block(s, body=s.body[: n if n == len(s.body) else _end_before(s.body, s.useful, n)].rstrip())

    def _pack(self, blocks: Mapping[str, str], cut: Iterable[str]) -> Pack:
        by_section: dict[int, list[str]] = {}
        for s in self._statements:
            if s.id in blocks:
                by_section.setdefault(s.section, []).append(blocks[s.id])
        left_out = tuple(s.id for s in self._statements if s.id not in blocks)
        text = self._form.text(self._about, self._overview, by_section, len(left_out))
        return Pack(
            text=text,
            tokens=self._count(text),
            counter=self._counter.name,
            is_estimate=self._counter.is_estimate,
            included=tuple(blocks),
            left_out=left_out,
            cut=tuple(cut),
            flags={s.id: s.flags for s in self._statements if s.flags and s.id in blocks},
        )

    def _count(self, text: str) -> int:
        return self._counter.count(text)


def _last_that(fits: Callable[[int], bool], least: int, most: int) -> int:
    """The last number from `least`, which fits, to `most` that fits; doubled first, so that a long text is not counted whole."""
    step = max(least, 1)
    while least < most and fits(min(least + step, most)):
        least, step = min(least + step, most), 2 * step
    most = min(most, least + step)
    while least < most:
        middle = (least + most + 1) // 2
        least, most = (middle, most) if fits(middle) else (least, middle - 1)
    return least


def _end_before(text: str, least: int, n: int) -> int:
    """The last end of a line or sentence from `least` to `n`, else of a word, else `n` itself."""
    for ends in (_ENDS, _SPACE):
        if found := [m.start() for m in ends.finditer(text, least, n)]:
            return found[-1]
    half = _HALF_ESCAPE.search(text, max(0, n - 12), n)
    return half.start() if half else n


_SPACE: Final = re.compile(r"\s")

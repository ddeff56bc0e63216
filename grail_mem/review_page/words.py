"""Values as people read them: times, counts, shares, and stored text with nothing hidden in it.

Knows nothing of pages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import SequenceMatcher
from typing import Any, Final

from markupsafe import Markup, escape

from grail_mem.model.times import parse_time
from grail_mem.model.untrusted import shown

_SPANS: Final = ((60, 1, "second"), (3600, 60, "minute"), (86400, 3600, "hour"), (604800, 86400, "day"),
                 (2629800, 604800, "week"), (31557600, 2629800, "month"), (float("inf"), 31557600, "year"))  # fmt: skip
"""Below so many seconds, a span is told in this unit of so many."""
_MOST_WORDS: Final = 400
"""Words of a line beyond which changed words are not marked: comparing takes the square of it."""
_LIKE: Final = 0.4
"""Share of words that two lines have in common from which on one is told as the other changed."""
_MOST_LINES: Final = 400
"""Lines of one file's diff that a page shows."""
_WORD: Final = re.compile(r"\s+|[\w'-]+|.", re.DOTALL)


def visible(value: Any) -> Any:
    """What a template prints: text with hidden characters written out; markup of our own as it is."""
    return shown(value) if type(value) is str else "" if value is None else value


def raw(value: object) -> Markup:
    """Text for a field of a form, which is sent back as it is; escaped, and nothing more."""
    return escape("" if value is None else str(value))


def counted(n: int, one: str, many: str = "") -> str:
    """A number with its noun: `1 file`, `1,200 files`."""
    return f"{n:,} {one if n == 1 else many or f'{one}s'}"


def label(name: str) -> str:
    """The name of a kind or field as words: `merge_aliases` is `Merge aliases`."""
    said = name.replace("_", " ").strip()
    return said[:1].upper() + said[1:]


def as_time(value: object) -> datetime | None:
    """A time, or what the ledger has for one, as a time in UTC; None when it is none."""
    if isinstance(value, datetime):
        return value.astimezone(UTC)
    try:
        return parse_time(value).astimezone(UTC) if isinstance(value, str) and value else None
    except ValueError:
        return None


def when(value: object, *, now: datetime | None = None) -> Markup:
    """A time as a `time` element: how long ago, with the exact time as its title."""
    at = as_time(value)
    if at is None:
        return escape(visible(value))
    exact = f"{at:%Y-%m-%d %H:%M:%S} UTC"
    return Markup('<time datetime="{}" title="{}">{}</time>').format(
        at.isoformat(), exact, ago(at, now or datetime.now(UTC))
    )


def day(value: object) -> Markup:
    """A time as a `time` element that shows the day, with the exact time as its title."""
    at = as_time(value)
    if at is None:
        return escape(visible(value))
    return Markup('<time datetime="{}" title="{}">{}</time>').format(
        at.isoformat(), f"{at:%Y-%m-%d %H:%M:%S} UTC", f"{at:%Y-%m-%d}"
    )


def ago(at: datetime, now: datetime) -> str:
    """How long a time is gone, or until it comes, in one unit.

    Example:
        >>> ago(datetime(2026, 6, 1, tzinfo=UTC), datetime(2026, 6, 4, tzinfo=UTC))
        '3 days ago'
    """
    span = (now - at).total_seconds()
    for below, unit, name in _SPANS:
        if abs(span) < below:
            n = int(abs(span) // unit)
            if not n or (name == "second" and n < 45):  # noqa: PLR2004  what people call now
                return "just now" if span >= 0 else "in a moment"
            said = counted(n, name)
            return f"{said} ago" if span > 0 else f"in {said}"
    return ""


def cut(text: str, most: int) -> str:
    """The beginning of a text on one line, with an ellipsis where it goes on."""
    line = " ".join(text[: most * 4].split())
    return line if len(line) <= most and len(text) <= most * 4 else f"{line[: most - 1].rstrip()}…"


def size(n: int) -> str:
    """A number of bytes in the unit that people read: `1.4 MB`."""
    amount = float(n)
    for unit in ("B", "KB", "MB", "GB"):
        if amount < 1000 or unit == "GB":  # noqa: PLR2004  decimal units
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1000
    return ""


@dataclass(frozen=True, slots=True)
class DiffRow:
    """One row of a diff, before beside after.

    Attributes:
        kind: `same`, `changed` (one side may be empty) or `gap`.
        before: The line as it was; None when it is new.
        after: The line as it will be; None when it goes.
    """

    kind: str
    before: Markup | None = None
    after: Markup | None = None


def diff_rows(diff: str) -> list[DiffRow]:
    """A unified diff as rows; changed words of a line are marked."""
    rows: list[DiffRow] = []
    gone: list[str] = []
    new: list[str] = []
    lines = diff.splitlines()[2:]  # the first two name the files, which the page does
    for line in lines[:_MOST_LINES]:
        mark, text = line[:1], line[1:]
        if mark == "-":
            gone.append(text)
        elif mark == "+":
            new.append(text)
        else:
            rows += _pairs(gone, new)
            gone, new = [], []
            rows.append(DiffRow("gap") if mark == "@" else DiffRow("same", _plain(text), _plain(text)))
    rows += _pairs(gone, new)
    return rows[1:] if rows and rows[0].kind == "gap" else rows


def is_cut(diff: str) -> bool:
    """Whether a diff has more lines than are shown."""
    return diff.count("\n") > _MOST_LINES


def _pairs(gone: list[str], new: list[str]) -> Iterator[DiffRow]:
    for at in range(max(len(gone), len(new))):
        before, after = (side[at] if at < len(side) else None for side in (gone, new))
        if before is None or after is None:
            yield DiffRow("changed", *(None if line is None else _plain(line) for line in (before, after)))
        else:
            yield DiffRow("changed", *_marked(before, after))


def _plain(text: str) -> Markup:
    return escape(shown(text))


def _marked(before: str, after: str) -> tuple[Markup, Markup]:
    """Both lines with the words that differ marked, when enough of them is the same."""
    words = _WORD.findall(shown(before)), _WORD.findall(shown(after))
    matcher = SequenceMatcher(None, *words, autojunk=False)
    if max(map(len, words)) > _MOST_WORDS or matcher.ratio() < _LIKE:
        return _plain(before), _plain(after)
    sides = Markup(""), Markup("")
    for tag, *spans in matcher.get_opcodes():
        made = [escape("".join(words[side][slice(*spans[side * 2 : side * 2 + 2])])) for side in (0, 1)]
        if tag != "equal":
            made = [Markup("<mark>{}</mark>").format(part) if part else part for part in made]
        sides = sides[0] + made[0], sides[1] + made[1]
    return sides

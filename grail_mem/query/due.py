"""What somebody should look at: reviews that are due, what ends soon, and tasks whose time has come.

Each observation is told once, with everything that is due of it; nothing is changed. Knows nothing of who looks.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from grail_mem.errors import InputError
from grail_mem.model.times import format_time, from_us, parse_when, to_us
from grail_mem.query.sql import SqlSession
from grail_mem.query.view import View

_DUE: Final = """
WITH times AS (
    SELECT id, title, category, path, scope, status,
           (more->>'$.review_at')::BIGINT AS review_us,
           least(epoch_us(valid_until), epoch_us(expires_at)) AS ends_us,
           CASE WHEN kind = 'prospective' THEN epoch_us(coalesce(valid_from, observed_at)) END AS begins_us
    FROM rows WHERE status IN ('confirmed', 'provisional')
)
SELECT * FROM times
WHERE (ends_us IS NULL OR ends_us > $now)
  AND (review_us <= $now OR ends_us <= $soon OR begins_us <= $soon)
ORDER BY least(review_us, ends_us, begins_us), id
"""


@dataclass(frozen=True, slots=True)
class Due:
    """One observation, or one transcript, that somebody should look at.

    Attributes:
        id: The observation, or by what the ledger knows the transcript.
        title: Its title; the session of a transcript.
        category: Its category; empty for a transcript.
        path: Its file.
        why: `review`, `ends`, `begins` or `undecided`, each with its time; `term` for a transcript.
    """

    id: str
    title: str
    category: str
    path: str
    why: tuple[tuple[str, str], ...]

    def to_dict(self) -> dict[str, Any]:
        """The finding as plain JSON values."""
        return {
            "id": self.id, "title": self.title, "category": self.category, "path": self.path, "why": dict(self.why),
        }  # fmt: skip


def due(view: View, session: SqlSession, *, now: datetime, within: timedelta) -> list[Due]:
    """What is due, the most urgent first.

    Args:
        view: The store.
        session: SQL over its rows.
        now: The time of the asking.
        within: How far ahead ends and beginnings are looked for; reviews are told when their time has come.
    """
    soon = to_us(now + within)
    rows = session.ask(_DUE, {"now": to_us(now), "soon": soon}).to_pylist()
    return [_due(row, to_us(now), soon) for row in rows if view.access.may("read", row["scope"])]


def _due(row: dict[str, Any], now: int, soon: int) -> Due:
    told = (("review", row["review_us"], now), ("ends", row["ends_us"], soon), ("begins", row["begins_us"], soon))
    why = tuple((name, format_time(from_us(us))) for name, us, until in told if us is not None and us <= until)
    return Due(row["id"], row["title"], row["category"], row["path"], why)


def span_ahead(text: object, now: datetime) -> timedelta:
    """How long a span such as `7d` is, counted from now.

    Raises:
        InputError: It is no span.
    """
    if not isinstance(text, str) or (back := parse_when(text, now=now)) > now:
        raise InputError(f"within must be a span such as 7d or 2w, not {text!r}.")
    return now - back

"""What no longer holds by what it says itself: `expire_stale`.

Method: dates only. An observation whose `expires_at` or `valid_until` has passed, and one that is provisional and was not
confirmed within `PROVISIONAL_DAYS`, is proposed for the status `archived`; its file stays. What somebody archived or
superseded already is left alone, and a review that is due is no reason to archive. Knows nothing of what observations say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from grail_mem.consolidate.finding import Finding, Quote
from grail_mem.consolidate.reading import Reading
from grail_mem.model.times import format_time, from_us

PROVISIONAL_DAYS: Final = 30
"""Days after which a provisional observation that nobody confirmed is stale: chosen, a month: long enough to be confirmed in passing."""
_DAY_US: Final = 86_400_000_000
_CONFIDENCE: Final = {"expires_at": 0.95, "valid_until": 0.9, "provisional": 0.7}
"""The first two are the writer's own word; a provisional statement may still be true, so a person should look."""
_QUOTE: Final = 200

_SQL: Final = """
SELECT id, title, content, status, recorded_at, expires_at, valid_until,
       CASE WHEN epoch_us(expires_at) <= $now THEN 'expires_at'
            WHEN epoch_us(valid_until) <= $now THEN 'valid_until'
            WHEN status = 'provisional' AND epoch_us(recorded_at) <= $now - $patience THEN 'provisional' END AS reason
FROM rows
WHERE status NOT IN ('archived', 'superseded') AND reason IS NOT NULL
ORDER BY id
"""


def expire_stale(reading: Reading) -> Iterator[Finding]:
    """One finding an observation that is past its time."""
    rows = reading.ask(_SQL, {"now": reading.now_us, "patience": PROVISIONAL_DAYS * _DAY_US}).to_pylist()
    for number, row in enumerate(rows, start=1):
        yield _finding(row)
        if number % 1000 == 0:
            reading.progress(number, len(rows))


def _finding(row: Mapping[str, Any]) -> Finding:
    reason, id_ = row["reason"], row["id"]
    at = row["recorded_at"] if reason == "provisional" else row[reason]
    said = {
        "expires_at": f"it expired {format_time(at)}",
        "valid_until": f"it held until {format_time(at)}",
        "provisional": f"it is provisional since {format_time(at)} and nobody confirmed it",
    }[reason]
    at_us = int(at.timestamp() * 1_000_000)
    return Finding(
        "expire_stale", _CONFIDENCE[reason], f"'{row['title']}' can be archived: {said}.",
        {"id": id_, "reason": reason, "at": format_time(from_us(at_us))},
        ({"do": "set", "id": id_, "fields": {"status": "archived"}},),
        (id_,), {"reason": reason, "at_us": at_us}, {reason: format_time(from_us(at_us)), "status": row["status"]},
        (Quote(id_, (row["content"] or row["title"])[:_QUOTE], said),), (id_,),
    )  # fmt: skip

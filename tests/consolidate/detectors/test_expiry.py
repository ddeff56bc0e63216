"""What is past its time is proposed for the archive, by its own dates alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from reading_of import findings, reading_of

from grail_mem import Memory
from grail_mem.consolidate.detectors.expiry import PROVISIONAL_DAYS, expire_stale

DAY_US = 86_400_000_000


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"expires_at": "2026-09-01"}, "expires_at"),
        ({"valid_from": "2026-01-01", "valid_until": "2026-09-01"}, "valid_until"),
        ({"expires_at": "2027-01-01"}, None),
        ({"valid_from": "2026-01-01", "valid_until": "2027-01-01"}, None),
        ({"expires_at": "2026-01-01", "status": "archived"}, None),
        ({"expires_at": "2026-01-01", "status": "superseded"}, None),
        ({"review_at": "2026-01-01"}, None),
        ({}, None),
    ],
)
def test_dates_decide(tmp_path: Path, fields: dict[str, Any], reason: str | None) -> None:
    """The own end of an observation counts, once; a review that is due does not."""
    with Memory(tmp_path / "s") as memory:
        made = memory.add_observation(title="One", content="It holds.", **fields)
        found = findings(memory, expire_stale)
        assert [f.payload["reason"] for f in found] == ([reason] if reason else [])
        for finding in found:
            assert finding.changes == ({"do": "set", "id": made.id, "fields": {"status": "archived"}},)
            assert finding.affected == (made.id,)


def test_what_is_provisional_for_a_month_is_stale(tmp_path: Path) -> None:
    """Counted from when it was recorded, not from when it was observed."""
    with Memory(tmp_path / "s") as memory:
        made = memory.add_observation(title="One", content="Perhaps.", status="provisional", observed_at="2020-01-01")
        recorded_us = int(memory.get(made.id).recorded_at.timestamp() * 1_000_000)
        for days, n in ((0, 0), (PROVISIONAL_DAYS - 1, 0), (PROVISIONAL_DAYS + 1, 1)):
            with reading_of(memory, now_us=recorded_us + days * DAY_US) as reading:
                assert len(list(expire_stale(reading))) == n, days


def test_after_applying_nothing_is_left(tmp_path: Path) -> None:
    with Memory(tmp_path / "s") as memory:
        memory.add_observation(title="One", content="It holds.", expires_at="2026-01-01")
        (waiting,) = memory.consolidate(kinds=["expire_stale"])
        assert memory.apply(waiting.id)[0].done
        assert findings(memory, expire_stale) == []
        assert memory.consolidate(kinds=["expire_stale"]).proposals == ()

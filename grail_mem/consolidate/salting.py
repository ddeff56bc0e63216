"""Decisions of old name what they are about, and its pairs, without a salt: they are told again with one, and the old lines emptied.

A chain is never rewritten. The decision is told anew at its end, in the order in which decisions stood, and what the old line
said is taken out of it as an erasure does it. Knows nothing of what the pairs are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from grail_mem.consolidate.decisions import read_decisions
from grail_mem.consolidate.pairs import salted
from grail_mem.model.observation import EPOCH
from grail_mem.model.times import format_time
from grail_mem.query.form import FormChange, Step
from grail_mem.query.view import View
from grail_mem.store.layout import LEDGER
from grail_mem.store.ledger import chains, decisions
from grail_mem.store.ledger_line import Entry
from grail_mem.store.observation_file import instant_in
from grail_mem.store.receipt import new_salt
from grail_mem.store.redaction import Line, redact
from grail_mem.write.recovery import checkpoint
from grail_mem.write.staged import tell

_BARE: Final = re.compile(r"[0-9a-f]{16}")


def _detail(entry: Entry) -> dict[str, Any]:
    """What a decision rests on; nothing when somebody changed the line, or it was emptied."""
    try:
        detail = json.loads(entry.detail or "{}")
    except (ValueError, RecursionError):
        return {}
    return detail if isinstance(detail, dict) and isinstance(detail.setdefault("pairs", []), list) else {}


def _bare(entry: Entry) -> list[str]:
    named = (entry.fingerprint, *_detail(entry).get("pairs", []))
    return [digest for digest in named if isinstance(digest, str) and _BARE.fullmatch(digest)]


def _old(view: View) -> list[Entry]:
    """Decisions with a digest that has no salt, in order of time."""
    return [entry for entry in decisions(view.layout) if _bare(entry)]


def _find(view: View) -> tuple[FormChange, ...]:
    return tuple(
        FormChange(_place(entry), "what it is about gets a salt, in a new line; this one is emptied")
        for entry in _old(view)
    )


def _place(entry: Entry) -> str:
    return f"{LEDGER}/{entry.clone}.jsonl:{entry.seq}"


def _make(view: View) -> None:
    old = _old(view)
    again = list(_again(view))
    if again:
        tell(view, again)
    checkpoint(view)
    view.journal.wipe()  # it may hold the old lines
    for path in chains(view.layout):
        redact(path, (), whole=[Line(entry.clone, entry.seq) for entry in old])


def _again(view: View) -> Iterator[Entry]:
    """The decisions that stand and have a digest without a salt, and all that stand and came later: what lifts what stays so."""
    decided = read_decisions(view.layout)
    last = instant_in(decided.last_at, "UTC") or EPOCH
    at = format_time(
        max(datetime.now(UTC), last + timedelta(microseconds=1))
    )  # behind all others, whatever the clock says
    salt = decided.salt or view.receipts.salt or new_salt()
    latest = {entry.id: entry for entry in decisions(view.layout)}
    begun = False
    for id_ in decided.latest:
        entry = latest[id_]
        begun = begun or bool(_bare(entry))
        if begun:
            yield replace(_salted(entry, salt), at=at, clone="", seq=0)


def _salted(entry: Entry, salt: str) -> Entry:
    detail = _detail(entry)
    if not detail:
        return entry
    pairs = sorted({_with_salt(str(pair), salt) for pair in detail["pairs"]})
    said = {"decided_at": entry.at} | detail | {"pairs": pairs}
    said["also"] = sorted({_with_salt(str(form), salt) for form in detail.get("also", ())})
    return replace(
        entry, fingerprint=_with_salt(entry.fingerprint, salt),
        detail=json.dumps({key: value for key, value in said.items() if value != []} | {"pairs": pairs}, sort_keys=True, separators=(",", ":")),
    )  # fmt: skip


def _with_salt(digest: str, salt: str) -> str:
    return salted(digest, salt) if _BARE.fullmatch(digest) else digest


SALT_PAIRS: Final = Step(3, "gives what old decisions are about a salt", _find, _make)

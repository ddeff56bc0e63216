"""Values of a row as what they can mean here: times, tags, flags, shares, names. Knows nothing of tables."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final

from grail_mem.errors import InputError
from grail_mem.keep.foreign.database import KEPT
from grail_mem.keep.foreign.said import entities_of, tags_of
from grail_mem.model.observation import MAX_TURN
from grail_mem.model.times import format_time, parse_time

_JULIAN: Final = (2_300_000.0, 2_700_000.0)
"""Days of the Julian calendar from 1584 to 2680, one of the three ways in which SQLite keeps times."""
_JULIAN_1970: Final = 2_440_587.5
_UNITS: Final = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))
"""From which number on a time counts nanoseconds, microseconds, milliseconds; below it counts seconds. Chosen: each holds
for the years 1973 to 5138."""
_NO: Final = ("", "0", "false", "no", "n", "f", "null", "none")
_MOST_TAG: Final = 60
_PERCENT: Final = 100


def is_well_formed(text: str) -> bool:
    """Whether a text was UTF-8 where it comes from."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def label(value: object) -> str:
    """A value as a short name: a text or a number; empty for nothing and for bytes."""
    if isinstance(value, bool | int):
        return str(value)
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else str(value)
    return shown(value).strip() if isinstance(value, str) else ""


def shown(text: str) -> str:
    """A text in which what is no UTF-8 is marked."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def kept_value(value: object) -> object:
    """A value as it is kept beside a statement; None for what is not kept."""
    if isinstance(value, bytes) or value is None or (isinstance(value, float) and not math.isfinite(value)):
        return None
    return shown(value)[:KEPT].strip() or None if isinstance(value, str) else value


def time_in(value: object) -> str:
    """A time: ISO, seconds to nanoseconds since 1970, days of the Julian calendar; empty for none.

    Raises:
        InputError: It is something else.
    """
    if value in (None, "", 0) or isinstance(value, bytes):
        return ""
    if isinstance(value, str):
        try:
            return _of_number(float(value))
        except ValueError:
            parse_time(value)
            return value.strip()
    return _of_number(float(value)) if isinstance(value, int | float) else ""


def _of_number(value: float) -> str:
    if _JULIAN[0] <= value <= _JULIAN[1]:
        value = (value - _JULIAN_1970) * 86_400
    else:
        value /= next((unit for most, unit in _UNITS if abs(value) >= most), 1.0)
    try:
        return format_time(datetime.fromtimestamp(round(value, 6), UTC))
    except (ValueError, OverflowError, OSError) as error:
        raise InputError(f"{value} is no time") from error


def flag(value: object) -> bool:
    """Whether a value says yes; a time does, too."""
    if isinstance(value, str):
        return value.strip().lower() not in _NO
    return bool(value)


def share(value: object) -> float | None:
    """A share from 0 to 1, or one of a hundred; None for anything else."""
    try:
        found = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None
    if 1 < found <= _PERCENT:
        found /= _PERCENT
    return found if 0 <= found <= 1 else None


def number(value: object) -> int | None:
    """A place in a session; None for what is none."""
    return value if isinstance(value, int) and 0 <= value <= MAX_TURN else None


def tags_in(value: object) -> list[str]:
    """The tags in a list of JSON, or in a text with commas or semicolons."""
    return tags_of([tag for tag in _named(value) if len(tag) <= _MOST_TAG])


def entities_in(value: object) -> list[dict[str, Any]]:
    """The entities in a list of JSON, of names or of objects with a name and a type; or in a text with commas."""
    return entities_of(_entities(_json(value)))


def _entities(value: object) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict) and "name" not in value:
        value = list(value)
    for item in [value] if isinstance(value, dict) else value if isinstance(value, list) else []:
        if isinstance(item, dict) and isinstance(item.get("name"), str):
            kind = item.get("type")
            yield {"name": item["name"]} | ({"type": kind} if isinstance(kind, str) and kind else {})
        elif isinstance(item, str) and item.strip():
            yield {"name": item.strip()}


def _named(value: object) -> Iterator[str]:
    found = _json(value)
    for item in found if isinstance(found, list) else []:
        said = item.get("name") if isinstance(item, dict) else item
        if isinstance(said, str) and said.strip():
            yield said.strip()


def _json(value: object) -> object:
    """What a text says as JSON; one that is none as the list of its parts between commas or semicolons."""
    if not isinstance(value, str):
        return None
    text = shown(value).strip()
    if text[:1] in ("[", "{"):
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return None
    return [part.strip() for part in text.replace(";", ",").split(",") if part.strip()]

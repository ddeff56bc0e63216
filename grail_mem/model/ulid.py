"""Ids: a ULID for a new observation, and a derived one for a file that has none yet.

A ULID is 26 characters of Crockford base 32: 48 bits of milliseconds, then 80 bits. Source: the ULID specification.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from typing import Final

from grail_mem.model.observation import EPOCH

_ALPHABET: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_TO_PYTHON: Final = str.maketrans(_ALPHABET, "0123456789abcdefghijklmnopqrstuv")
"""From Crockford's digits to those that `int` reads in base 32."""
_FORM: Final = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}", re.ASCII)


def new_id() -> str:
    """A ULID for now; its time part is the moment of recording."""
    from ulid import ULID  # here: the import costs more than a whole recall

    return str(ULID())


def is_id(text: object) -> bool:
    """Whether this is a ULID in its canonical upper-case form."""
    return isinstance(text, str) and _FORM.fullmatch(text) is not None


def derived_id(path: str, sha256: str) -> str:
    """The id of a file that carries none: the same for the same path and bytes, on every machine.

    Its time part is zero, so it can never be mistaken for a time of recording.
    """
    number = int.from_bytes(blake2b(f"{path}\0{sha256}".encode(), digest_size=10).digest(), "big")
    return "0" * 10 + _base32(number, 16)


def id_us(ulid: str) -> int | None:
    """The time part of a ULID in microseconds since 1970, exact to the millisecond; None for a derived id."""
    milliseconds = int(ulid[:10].translate(_TO_PYTHON), 32)
    return milliseconds * 1000 if 0 < milliseconds < _LAST_MS else None


def id_time(ulid: str) -> datetime | None:
    """The time part of a ULID in UTC, exact to the millisecond; None for a derived id."""
    us = id_us(ulid)
    return None if us is None else EPOCH + timedelta(microseconds=us)


_LAST_MS: Final = int(datetime(9999, 12, 31, tzinfo=UTC).timestamp() * 1000)


def _base32(number: int, length: int) -> str:
    digits = []
    for _ in range(length):
        number, rest = divmod(number, 32)
        digits.append(_ALPHABET[rest])
    return "".join(reversed(digits))

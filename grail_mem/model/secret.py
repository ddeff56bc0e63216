"""Secrets in a text: where they stand, what they look like, and the text without them.

Knows nothing of observations, and of what a store does about a secret.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from grail_mem.model.secret_kinds import (
    BEFORE_A_CARD,
    CARD,
    CARD_ISSUERS,
    DATE,
    DIGEST,
    FORMS,
    HEADER,
    IN_URL,
    KEY_LINES,
    NAME,
    NOT_A_CARD,
    OTHER_NAMES,
    PLACEHOLDER,
    PRIVATE_KEY,
    STRONG,
    VALUE,
)

_MARKS: Final = tuple(mark for _, marks, _ in FORMS for mark in marks)
_NAMES: Final = ("pass", "pwd", "secret", "token", "key", "credential")
_NOT_DIGITS: Final = bytes(set(range(256)) - set(b"0123456789"))
_LEAST_CARD: Final = 13
_LEAST_TOKEN: Final = 12
_LEAST_DIGEST: Final = 20
"""Characters from which a digest behind a name that leaves no doubt is a key."""
_LEAST_PASSWORD: Final = 4
_LEAST_WORD: Final = 6
"""Letters that a password has at least that is a plain word."""
_LEAST_BITS: Final = 3.0
"""Bits a character below which a token is a word; chosen on the lines of `tests/benchmarks/screening.py`."""
_LEAST_KEY: Final = 40


@dataclass(frozen=True, slots=True)
class Secret:
    """One secret in a text.

    Attributes:
        kind: What it looks like, such as `aws key`.
        start: Where it begins, in characters.
        end: Where it ends, exclusive.
    """

    kind: str
    start: int
    end: int


def secrets_in(text: str) -> tuple[Secret, ...]:
    """The secrets in a text by place; no two overlap.

    Example:
        >>> secrets_in("export AWS_ACCESS_KEY_ID=AKIAQYLPMN5HHHFPZAM2")
        (Secret(kind='aws key', start=25, end=45),)
    """
    kept: list[Secret] = []
    for one in sorted(_candidates(text), key=lambda secret: secret.start):
        last = kept[-1] if kept else None
        if last is None or one.start >= last.end:
            kept.append(one)
        elif one.end > last.end:
            kept[-1] = Secret(last.kind, last.start, one.end)
    return tuple(kept)


def without_secrets(text: str) -> str:
    """A text with `[redacted: KIND]` in the place of every secret; a second time changes nothing."""
    while found := secrets_in(
        text
    ):  # what stands beside a mark may be one by itself only then; each round takes some away
        text = marked(text, found)
    return text


def marked(text: str, found: tuple[Secret, ...]) -> str:
    """A text with a mark in the place of each of these secrets."""
    parts, at = [], 0
    for one in found:
        parts += [text[at : one.start], f"[redacted: {one.kind}]"]
        at = one.end
    return "".join([*parts, text[at:]])


def _candidates(text: str) -> Iterator[Secret]:
    """What looks like a secret; forms of providers first, so that they name what another rule finds too."""
    marked_by = {mark for mark in _MARKS if mark in text}
    for kind, marks, pattern in FORMS if marked_by else ():
        if not marked_by.isdisjoint(marks):
            yield from _of_form(text, kind, _compiled(pattern))
    if "-----BEGIN " in text:
        yield from _private_keys(text)
    if "://" in text and "@" in text:
        yield from _in_urls(text)
    lowered = text.lower()
    if "authorization" in lowered or "bearer" in lowered:
        yield from _headers(text)
    if any(name in lowered for name in _NAMES):
        yield from _assigned(text, lowered if len(lowered) == len(text) else text)
    if len(text.encode(errors="replace").translate(None, _NOT_DIGITS)) >= _LEAST_CARD:
        yield from _cards(text)


def _of_form(text: str, kind: str, pattern: re.Pattern[str]) -> Iterator[Secret]:
    at = 0
    while found := pattern.search(text, at):
        before = text[found.start() - 1 : found.start()]
        if not (before.isascii() and before.isalnum()):
            yield Secret(kind, *found.span())
        at = found.end()


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)  # when it is first needed: all of them cost more than a write


def _private_keys(text: str) -> Iterator[Secret]:
    for found in PRIVATE_KEY.finditer(text):
        end = found.end()
        if not found["end"]:
            lines = KEY_LINES.match(text, found.start("body"), found.end("body"))
            end = lines.end() if lines else found.start("body")
        if end - found.start("body") >= _LEAST_KEY:
            yield Secret("private key", found.start(), end)


def _in_urls(text: str) -> Iterator[Secret]:
    for found in IN_URL.finditer(text):
        if not PLACEHOLDER.fullmatch(found["value"]):
            yield Secret("password in a url", *found.span("value"))


def _headers(text: str) -> Iterator[Secret]:
    for found in HEADER.finditer(text):
        group = "value" if found["value"] else "bearer"
        value = found[group]
        if not PLACEHOLDER.fullmatch(value) and (
            _is_mixed(value) or (_bits(value) >= _LEAST_BITS and value[-1] == "=")
        ):
            yield Secret("authorization header", *found.span(group))


def _assigned(text: str, lowered: str) -> Iterator[Secret]:
    for name in NAME.finditer(lowered):
        found = VALUE.match(text, name.end())
        if found is None or OTHER_NAMES.search(found["rest"]):
            continue
        group = next(one for one in ("double", "single", "tick", "bare") if found[one] is not None)
        value, start = found[group], found.start(group)
        if group == "bare":
            value = _bare(value)
        if not value or PLACEHOLDER.fullmatch(value):
            continue
        strong = bool(name["strong"] or STRONG.search(lowered, max(0, name.start() - 16), name.start()))
        if (name["password"] and _is_password(value, found["sign"], quoted=group != "bare")) or _is_token(
            value, strong=strong
        ):
            yield Secret("password" if name["password"] else "secret value", start, start + len(value))


def _bare(value: str) -> str:
    """An unquoted value without what closes the sentence or the code around it."""
    value = value.rstrip(".,;:*")
    while (
        value and value[-1] in ")]}" and value.count(value[-1]) > value.count({")": "(", "]": "[", "}": "{"}[value[-1]])
    ):
        value = value[:-1].rstrip(".,;:*")
    return value


_CODE: Final = re.compile(r"[A-Za-z_]\w*(?:(?:\.|::|->)[A-Za-z_]\w*)*(?:[(\[].*)?", re.DOTALL)


def _is_password(value: str, sign: str, *, quoted: bool) -> bool:
    """Whether what stands behind a name of a password is one: it is glued to it, quoted, or no plain word."""
    if (
        len(value) < _LEAST_PASSWORD
        or DATE.fullmatch(value)
        or (DIGEST.fullmatch(value) and len(value) in (32, 40, 64))
    ):
        return False
    classes = sum(bool(re.search(one, value)) for one in ("[a-z]", "[A-Z]", "[0-9]", r"[^\w\s.,;:()-]"))
    mixed = classes > 1 and bool(re.search(r"[0-9]|[^\w\s.,;:()'/-]", value))
    if quoted:
        return mixed or (" " not in value and bool(set("=:") & set(sign)))
    if re.search(r"[(\[]", value) and _CODE.fullmatch(value):
        return False
    if not set("=:") & set(sign):
        return mixed and bool(re.search("[0-9]", value))
    glued = sign in ("=", ":=") and len(value) >= _LEAST_WORD and not set("._") & set(value)
    return mixed or value.isdigit() or glued


def _is_token(value: str, *, strong: bool) -> bool:
    """Whether a value is no word, path, number or digest: long, of letters and digits, and hardly to be guessed."""
    if len(value) < _LEAST_TOKEN or not re.fullmatch(r"[A-Za-z0-9_\-./+=~!@#$%^&*:]+", value):
        return False
    if DATE.fullmatch(value) or (DIGEST.fullmatch(value) and not (strong and len(value) >= _LEAST_DIGEST)):
        return False
    return _is_mixed(value) and _bits(value) >= _LEAST_BITS and not _reads_as_words(value)


def _is_mixed(value: str) -> bool:
    return bool(re.search("[0-9]", value)) and bool(re.search("[A-Za-z]", value))


def _reads_as_words(value: str) -> bool:
    """Whether it is words and numbers with marks between them, such as `user_42/profile-v2`, or a call."""
    parts = [part for part in re.split(r"[_\-./:=+@#]", value) if part]
    return all(
        re.fullmatch(r"[A-Za-z]?[a-z]+|[A-Z]+|\d{1,8}|[A-Za-z]{1,12}\d{1,4}|v\d+\w{0,3}", part) for part in parts
    )


def _bits(value: str) -> float:
    """Shannon entropy a character."""
    n = len(value)
    return -sum(count / n * math.log2(count / n) for count in Counter(value).values())


def _cards(text: str) -> Iterator[Secret]:
    for found in CARD.finditer(text):
        digits = re.sub("[ -]", "", found[0])
        before = text[max(0, found.start() - 40) : found.start()]
        real = CARD_ISSUERS.fullmatch(digits) and _luhn(digits) and len(set(digits)) > 1
        if real and not BEFORE_A_CARD.match(before[-1:]) and not NOT_A_CARD.search(before):
            yield Secret("card number", *found.span())


def _luhn(digits: str) -> bool:
    values = [
        int(digit) if place % 2 else sum(divmod(int(digit) * 2, 10))
        for place, digit in enumerate(reversed(digits), start=1)
    ]
    return sum(values) % 10 == 0

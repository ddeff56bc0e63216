"""Screening: what a caller sends is looked through for secrets and for text that gives orders, before anything is stored.

One function for every way in: `screened` for a draft, `screened_text` for a text that goes somewhere else, `for_ledger` for
what the ledger is told. No message quotes what was found. Knows nothing of files.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache
from typing import Any, Final, TypeVar

from grail_mem.errors import InputError
from grail_mem.model.orders import MEANINGS, reads_like
from grail_mem.model.secret import secrets_in, without_secrets
from grail_mem.settings import Settings
from grail_mem.store.ledger_line import Entry

D = TypeVar("D")

_NAMES: Final = ("category", "scope", "session", "kind", "status", "source_kind")
"""Fields that are names: a secret in one cannot be replaced, so the draft is refused."""
_PASSED: Final = frozenset({
    "observed_at", "valid_from", "valid_until", "expires_at", "review_at", "confidence", "turn", "supersedes", "related_to",
})  # fmt: skip
"""Fields that hold no free text."""
_NOT_SEEN: Final = re.compile(
    "[\u00ad\u0300-\u036f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e01ef]+"
)
_BRACKETS: Final = re.compile("[<＜﹤‹〈《⟨˂ᐸ❮❰]")
"""What may hide a fence: looked at more closely."""
HINT_FOR_SECRETS: Final = (
    "Say where it is kept instead. `screening: redact` in grail.yaml stores the rest of such a text, `warn` all of it."
)
HINT_FOR_ORDERS: Final = (
    "`screening_orders: warn` in grail.yaml stores such texts; they are recalled as data, with a mark."
)


@dataclass(frozen=True, slots=True)
class Screened:
    """What was found in one text.

    Attributes:
        text: The text as it may be stored.
        found: What was found, one sentence each; none quotes it.
        refused: Whether the text may not be stored.
        hints: What to do about it.
    """

    text: str
    found: tuple[str, ...] = ()
    refused: bool = False
    hints: tuple[str, ...] = ()


def screened(draft: D, settings: Settings, *, kept: frozenset[str] = frozenset()) -> tuple[D, tuple[str, ...]]:
    """A draft as it may be stored, and warnings about what was found in it.

    Args:
        draft: What the caller sent: a frozen dataclass whose fields may hold anything.
        settings: What to do about secrets and orders.
        kept: Fields that stand in the file already and are not looked at again.

    Raises:
        InputError: The settings refuse what it holds; `problems` lists everything found.
    """
    looked_at = _looked_at(type(draft))  # type: ignore[arg-type]  # every class is hashable, which mypy doubts
    values: dict[str, Any] = {
        name: value for name in looked_at if name not in kept and (value := getattr(draft, name)) is not None
    }
    if not _suspect("\n".join(_texts(values)), settings):
        return draft, ()
    warnings: list[str] = []
    refused: list[str] = []
    hints: dict[str, None] = {}

    def look(name: str) -> Callable[[str], str]:
        def one(text: str) -> str:
            found = screened_text(name, text, settings)
            (refused if found.refused else warnings).extend(found.found)
            hints.update(dict.fromkeys(found.hints if found.refused else ()))
            return found.text

        return one

    patch = {name: _mapped(value, look(name)) for name, value in values.items()}
    if refused:
        problems = list(dict.fromkeys(refused))
        raise InputError(
            " ".join(["The observation cannot be stored.", *problems]), hint=" ".join(hints), problems=problems
        )
    changed = {name: value for name, value in patch.items() if value != values[name]}
    return replace(draft, **changed), tuple(dict.fromkeys(warnings))  # type: ignore[type-var]  # as above


@cache
def _looked_at(made: type) -> tuple[str, ...]:
    """The fields of a kind of draft that may hold free text."""
    return tuple(item.name for item in fields(made) if item.name not in _PASSED)


def screened_text(name: str, text: str, settings: Settings, *, orders: bool = True) -> Screened:
    """One text as it may be stored, and what was found in it.

    Args:
        name: What the text is, for the messages.
        text: The text.
        settings: What to do about secrets and orders.
        orders: Whether to look for orders, too; a source is full of them, and is data by what it is.
    """
    found: list[str] = []
    refusals: dict[str, None] = {}
    result = text
    secrets = secrets_in(text) if settings.screening != "off" else ()
    if secrets:
        policy = "refuse" if settings.screening == "redact" and name in _NAMES else settings.screening
        ends = {"warn": "it was stored as it is", "redact": "it was replaced by a mark", "refuse": "it was not stored"}
        places = {f"{name}{_line(text, one.start)}: what looks like {_a(one.kind)}; {ends[policy]}." for one in secrets}
        found += sorted(places)
        refusals |= {HINT_FOR_SECRETS: None} if policy == "refuse" else {}
        result = without_secrets(text) if policy == "redact" else text
    flags = order_flags(text) if orders and settings.screening_orders != "off" else ()
    if flags:
        refuses = settings.screening_orders == "refuse"
        ends_ = "it was not stored" if refuses else "it is data to whoever recalls it"
        found += [f"{name}: {MEANINGS[flag]}; {ends_}." for flag in flags]
        refusals |= {HINT_FOR_ORDERS: None} if refuses else {}
    return Screened(result, tuple(found), bool(refusals), tuple(refusals))


def screened_source(name: str, text: str, settings: Settings) -> tuple[str, tuple[str, ...]]:
    """A text that becomes a source or a quote of one as it may be stored, and warnings; looked through for secrets alone.

    Raises:
        InputError: The settings refuse what it holds.
    """
    found = screened_text(name, text, settings, orders=False)
    if found.refused:
        raise InputError(" ".join(found.found), hint=" ".join(found.hints), problems=found.found)
    return found.text, found.found


def screened_quotes(value: Any, settings: Settings) -> Any:
    """Evidence as a caller sends it, with its quotes as the sources have them after they were screened.

    Raises:
        InputError: The settings refuse what it holds.
    """
    if settings.screening == "off":
        return value
    return _mapped(value, lambda text: screened_source("evidence", text, settings)[0])


def screened_bytes(name: str, data: bytes, settings: Settings) -> bytes:
    """A file of text as it may be stored; one that is none is left alone.

    Raises:
        InputError: The settings refuse what it holds.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return data
    kept, _ = screened_source(name, text, settings)
    return data if kept == text else kept.encode()


def screened_name(name: str, text: str, settings: Settings) -> str:
    """A name, such as a category, in which nothing can be replaced.

    Raises:
        InputError: The settings refuse what it holds.
    """
    found = screened_text(name, text, settings) if isinstance(text, str) else Screened(text)
    if found.refused:
        raise InputError(" ".join(found.found), hint=" ".join(found.hints), problems=found.found)
    return text


def order_flags(text: str) -> tuple[str, ...]:
    """What a text reads like other than data: names in `MEANINGS`; hidden characters alone are no order."""
    if text.isascii():
        return reads_like(text.lower()) if "<" not in text else _flags_of(text)
    folded = _NOT_SEEN.sub("", unicodedata.normalize("NFKD", text.casefold()))
    return _flags_of(text) if reads_like(folded) or _BRACKETS.search(text) else ()


def _flags_of(text: str) -> tuple[str, ...]:
    from grail_mem.model.untrusted import flags_of  # here: its tables take longer to load than a write

    return tuple(flag for flag in flags_of((text,)) if flag != "hidden")


def for_ledger(entry: Entry, settings: Settings) -> Entry:
    """An entry whose words hold no secret: what the ledger was told cannot be taken back.

    Raises:
        InputError: The settings refuse secrets, and its reason or actor holds one.
    """
    if settings.screening == "off":
        return entry
    patch: dict[str, Any] = {}
    for name in ("reason", "actor"):
        text = getattr(entry, name)
        if isinstance(text, str) and text and (secrets := secrets_in(text)):
            if settings.screening == "refuse":
                raise InputError(
                    f"{name}: what looks like {_a(secrets[0].kind)}; nothing was changed.", hint=HINT_FOR_SECRETS
                )
            patch[name] = without_secrets(text)
    return replace(entry, **patch) if patch else entry


@contextmanager
def quoting_no_secret() -> Iterator[None]:
    """Let refusals of the block leave with every secret in their words replaced by a mark."""
    try:
        yield
    except InputError as error:
        problems = tuple(map(without_secrets, error.problems))
        if problems == error.problems and without_secrets(error.message) == error.message:
            raise
        raise type(error)(
            without_secrets(error.message), hint=without_secrets(error.hint), problems=problems
        ) from None  # the cause quotes it, too


def _suspect(text: str, settings: Settings) -> bool:
    """Whether all texts of a draft together hold anything: most hold nothing, and one look is enough."""
    return bool(
        (settings.screening != "off" and secrets_in(text)) or (settings.screening_orders != "off" and order_flags(text))
    )


def _texts(value: Any) -> list[str]:
    """Every text in a value, whatever it is made of."""
    if isinstance(value, list | tuple | set | frozenset):
        parts: Iterable[Any] = value
    elif isinstance(value, Mapping):
        parts = value.values()
    elif is_dataclass(value):
        parts = (getattr(value, item.name) for item in fields(value))
    else:
        return [value] if isinstance(value, str) else []
    texts: list[str] = []
    for part in parts:
        if isinstance(part, str):
            texts.append(part)
        else:
            texts += _texts(part)
    return texts


def _mapped(value: Any, look: Callable[[str], str]) -> Any:
    """A value with every text in it replaced by what a function makes of it."""
    if isinstance(value, str):
        return look(value)
    if isinstance(value, Mapping):
        return {key: _mapped(item, look) for key, item in value.items()}
    if isinstance(value, tuple):
        return tuple(_mapped(item, look) for item in value)
    if isinstance(value, list | set | frozenset):
        return [_mapped(item, look) for item in value]
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{item.name: _mapped(getattr(value, item.name), look) for item in fields(value)})
    return value


def _line(text: str, at: int) -> str:
    return f", line {text.count(chr(10), 0, at) + 1}" if "\n" in text else ""


def _a(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"

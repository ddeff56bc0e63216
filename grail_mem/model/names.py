"""Names: entity names, tags and bodies as written, and the keys under which equal ones meet.

Knows nothing of aliases, files or SQL: two names are equal here only when their keys are.
"""

from __future__ import annotations

import json
import re
import unicodedata
from functools import lru_cache

from grail_mem.errors import InputError

__all__ = ["clean_tags", "clean_text", "entity_key", "session_key", "tag_key", "tag_text", "type_key"]

MAX_TAG_CHARS = 200
_KEPT = 16_384
"""Keys kept per kind: the same few names and tags come again and again; chosen, a few megabytes at most."""

_TAGS_HINT = 'Write a list such as ["security", "api"], or text such as security, api.'
_ZERO_WIDTH = re.compile("[\u200b\u2060\ufeff]")
_HASHES = "#\ufe5f\uff03"  # the number sign and its small and full-width forms, which NFKC makes one
_TAG_HEAD = re.compile(rf"[\s{_HASHES}]+")
# A tab is spacing inside a tag; every other control character, line break or lone surrogate is refused.
_CONTROL = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_REPLACEMENT = "\ufffd"


def entity_key(name: str) -> str:
    r"""Take an entity name and return its key for comparing: NFKC, case folded, white space runs as one space.

    Accents and punctuation stay, so Ann is not Änn and v1.2 is not v1.20. Zero-width space, word joiner and byte order
    mark go. The key of a key is itself.

    Example:
        >>> entity_key(" \uff24GX\n H100 ")
        'dgx h100'
    """
    if not isinstance(name, str):
        raise InputError(f"A name must be text such as Acme, not {type(name).__name__}.")
    return _entity_key(name)


@lru_cache(maxsize=_KEPT)
def _entity_key(name: str) -> str:
    if name.isascii():
        return " ".join(name.lower().split())
    key = unicodedata.normalize("NFKD", _ZERO_WIDTH.sub("", name))
    # Two rounds reach the fixed point: Unicode 15, definition D146 (compatibility caseless match).
    for _ in range(2):
        key = unicodedata.normalize("NFKD", key.casefold())
    return " ".join(unicodedata.normalize("NFKC", key).split())


def type_key(name: str) -> str:
    """Take an entity type or relationship type and return its key for comparing, by the rule of `entity_key`.

    Example:
        >>> type_key("Organization") == type_key("ORGANIZATION")
        True
    """
    return entity_key(name)


def tag_text(tag: str) -> str:
    """Take a tag and return how it is shown and stored: no leading `#`, white space runs as one space.

    Example:
        >>> tag_text(" #Data  model ")
        'Data model'
    """
    return " ".join(_TAG_HEAD.sub("", tag, count=1).split()) if _TAG_HEAD.match(tag) else " ".join(tag.split())


def tag_key(tag: str) -> str:
    """Take a tag and return its key for comparing: the `entity_key` of its text.

    Example:
        >>> tag_key("#Security") == tag_key("security")
        True
    """
    return _tag_key(tag)


@lru_cache(maxsize=_KEPT)
def _tag_key(tag: str) -> str:
    return entity_key(tag_text(tag)).lstrip("# ")


def attribute_key(attribute: str) -> str:
    """The form in which attributes are compared: as names, with `_`, `-` and spaces alike.

    Example:
        >>> attribute_key("Acme/Primary_Database")
        'acme/primary database'
    """
    parts = entity_key(attribute).replace("_", " ").replace("-", " ").split("/")
    return "/".join(" ".join(part.split()) for part in parts)


def session_key(session: str) -> str:
    """Take the name of a session and return its key for comparing: NFC, without spaces around it; case counts.

    Example:
        >>> session_key(" chat/2026-06-02 ")
        'chat/2026-06-02'
    """
    return session.strip() if session.isascii() else unicodedata.normalize("NFC", session).strip()


def clean_tags(value: object) -> tuple[str, ...]:
    """Take tags as people, files and models send them and return them clean, in order, each once.

    Args:
        value: A list, tuple or set of texts; one text that holds a JSON list, or tags between commas, or one tag; None
            for no tags. A comma inside an item of a list belongs to the tag.

    Returns:
        The tags as `tag_text`; empty ones dropped, of those with equal `tag_key` the first kept. A set, which has no
        order, is taken by key.

    Raises:
        InputError: Anything else, an item that is not text, a tag longer than 200 characters or one with a control
            character; `problems` has one entry for each.

    Example:
        >>> clean_tags('["security","api"]'), clean_tags("security, #API, api")
        (('security', 'api'), ('security', 'API'))
    """
    tags: dict[str, str] = {}
    problems: list[str] = []
    for item in _items(value):
        problem = _tag_problem(item)
        if problem:
            problems.append(f"tags: {problem}.")
        elif isinstance(item, str) and (key := tag_key(item)):
            tags.setdefault(key, tag_text(item))
    if problems:
        raise InputError(" ".join(problems), hint=_TAGS_HINT, problems=problems)
    by_key = sorted(tags) if isinstance(value, (set, frozenset)) else tags
    return tuple(tags[key] for key in by_key)


def clean_text(text: str) -> tuple[str, bool]:
    r"""Take any text and return it fit to store as UTF-8, and whether a character had to be replaced.

    NUL and lone surrogates become U+FFFD; a surrogate pair becomes the character it stands for. `\r\n` and a lone `\r`
    become `\n`. Neither of the latter two counts as replaced, since nothing is lost.

    Example:
        >>> clean_text("one\r\ntwo")
        ('one\ntwo', False)
        >>> clean_text("a\x00b")
        ('a\ufffdb', True)
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\x00" not in text and (text.isascii() or not _SURROGATE.search(text)):
        return text, False
    text = _PAIR.sub(lambda pair: pair[0].encode("utf-16", "surrogatepass").decode("utf-16"), text)
    text, n_replaced = _UNSTORABLE.subn(_REPLACEMENT, text)
    return text, n_replaced > 0


def _items(value: object) -> list[object]:
    """Take what `clean_tags` takes and return the single tags, still unchecked."""
    if value is None:
        return []
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=str)
    if isinstance(value, (list, tuple)):
        return list(value)
    if not isinstance(value, str):
        raise InputError(f"tags: {str(value)[:80]!r} ({type(value).__name__}) is not a list of tags.", hint=_TAGS_HINT)
    text = value.strip()
    if not text.startswith(("[", "{")):
        return list(text.split(","))
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"tags: {text[:80]!r} is not a JSON list.", hint=_TAGS_HINT) from error
    if not isinstance(parsed, list):
        raise InputError(f"tags: {text[:80]!r} is not a JSON list.", hint=_TAGS_HINT)
    return parsed


def _tag_problem(item: object) -> str:
    """Take one item and return why it cannot be a tag; empty when it can."""
    if not isinstance(item, str):
        return f"{str(item)[:80]!r} ({type(item).__name__}) is not text"
    if len(item) <= MAX_TAG_CHARS and item.isalnum():
        return ""
    if len(tag_text(item)) > MAX_TAG_CHARS:
        return f"{item[:40]!r}... is longer than {MAX_TAG_CHARS} characters"
    if _CONTROL.search(item.strip()):
        return f"{item!r} holds a control character or line break"
    return ""

"""The one canonical form of a frontmatter: written from values, and read back with `re` and `json` alone.

The writer and the reader stand together because they share one grammar: a line is read here only when it is exactly as
written here. Knows nothing of YAML, which reads all the rest.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import chain
from typing import Final

from grail_mem.errors import InputError
from grail_mem.store.frontmatter_text import (
    MAX_DEPTH,
    MAX_FRONTMATTER_CHARS,
    MAX_INT_DIGITS,
    MAX_KEY_CHARS,
    NOT_TEXT,
    SURROGATES,
    body_content,
    clean_text,
)

# One vocabulary for the writer and the fast reader. A plain text starts with an ASCII letter, so it is no indicator,
# number or date; it has no `#`, and `:` only before a letter, digit or `/`; so YAML 1.1 and 1.2 both read it as itself.
_WORD = r"A-Za-z0-9 _./()'&+;@%=!\-"
BLOCK_PLAIN = rf"[A-Za-z][{_WORD},?]*(?::[A-Za-z0-9/][{_WORD},?]*)*(?<! )"
FLOW_PLAIN = rf"[A-Za-z][{_WORD}]*(?<! )"
TIMESTAMP = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z"
_ULID_CHAR = "0-9A-HJKMNP-TV-Z"
ULID = (  # one that no reader takes for a number: not all digits, nor digits E digits, nor 0B or 0X
    rf"(?=[0-7][{_ULID_CHAR}]{{25}}(?![0-9A-Za-z]))(?!0[BX])"
    rf"(?![0-9]{{1,26}}(?:E[0-9]{{0,25}})?(?![0-9A-Z]))[{_ULID_CHAR}]{{26}}"
)
_KEY = r"[A-Za-z_][A-Za-z0-9_-]{0,99}"
INT = rf"-?[1-9][0-9]{{0,{MAX_INT_DIGITS - 1}}}|0"
JSON_FLOAT = r"-?(?:0|[1-9][0-9]*)\.[0-9]+(?:e[-+][0-9]+)?"
_ESCAPED = "\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff"  # legal in JSON, but not the same text, or no text at all, in YAML
STRING = (
    rf'"[^"\\\x00-\x1f{_ESCAPED}{SURROGATES}]*'
    rf'(?:\\(?:["\\bfnrt]|u(?!0000|[dD][89a-fA-F])[0-9a-fA-F]{{4}})[^"\\\x00-\x1f{_ESCAPED}{SURROGATES}]*)*"'
)

_PLAIN_VALUE = re.compile(rf"(?:{BLOCK_PLAIN}|{TIMESTAMP}|{ULID})\Z", re.ASCII)
_PLAIN_ITEM = re.compile(rf"(?:{FLOW_PLAIN}|{ULID})\Z", re.ASCII)
_PLAIN_KEY = re.compile(rf"{_KEY}\Z")
_LINES = re.compile(
    rf"^(?:({_KEY}):(?: (?:({BLOCK_PLAIN}|{TIMESTAMP}|{ULID})|({STRING})|({JSON_FLOAT}|{INT})"
    rf"|(\[{FLOW_PLAIN}(?:, {FLOW_PLAIN})*\])|([\[{{].*)))?"
    rf"|  - (?:(\{{{_KEY}: {FLOW_PLAIN}(?:, {_KEY}: {FLOW_PLAIN})*\}})|(\{{.*)))$",
    re.ASCII | re.MULTILINE,
)
"""Groups: key; its plain text, quoted text, number, list of plain texts, other collection; plain item, other item."""
# A flow collection is JSON but for its plain texts. Every part is possessive, so that both patterns cut it the same way.
_FLOW_TEXT = rf"(?>(?!(?:true|false|null|True|False|Null|TRUE|FALSE|NULL)[\]}},:]){FLOW_PLAIN}|{ULID}(?=[\]}},]))"
_FLOW_JSON = rf"{STRING}|(?:{JSON_FLOAT}|{INT}|true|false|null)(?=[\]}},:])|, |: |[\[\]{{}}]"
_FLOW = re.compile(rf"(?:{_FLOW_JSON}|{_FLOW_TEXT})*+", re.ASCII)
_FLOW_PARTS = re.compile(rf"((?:{_FLOW_JSON})*+)({_FLOW_TEXT}|\Z)", re.ASCII)
"""Groups: JSON; the plain text behind it, empty at the end."""
CONSTANTS: dict[str, bool | None] = {
    word: value
    for name, value in (("true", True), ("false", False), ("null", None))
    for word in (name, name.title(), name.upper())
}
_CONSTANT_WORDS = frozenset(CONSTANTS)
_RESERVED = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null"))
_JSON_ONLY = re.compile(f"[{_ESCAPED}]")
_SHORT: Final = 100


# --- writing ---


def render(fields: Mapping[str, object], content: str) -> bytes:
    """The canonical file for these fields and this content, UTF-8 with LF newlines.

    Args:
        fields: Values as in `Document.fields`; tuples count as lists. NUL and lone surrogates become U+FFFD.
        content: The body; CR LF and CR become LF.

    Raises:
        InputError: A value of another type (a datetime has to be text already), or a key beyond `MAX_KEY_CHARS`.
    """
    return whole([line for key, value in fields.items() for line in field_lines(key, clean_value(value, key))], content)


def whole(lines: Iterable[str], content: str) -> bytes:
    """The canonical file with these frontmatter lines and this content.

    Raises:
        InputError: The lines are more than a frontmatter may have.
    """
    block = "".join(f"{line}\n" for line in lines)
    if len(block) > MAX_FRONTMATTER_CHARS:
        raise InputError(f"The frontmatter would be {len(block)} characters; {MAX_FRONTMATTER_CHARS} is the most.")
    return f"---\n{block}---\n\n{clean_text(content)}\n".encode()


def field_lines(key: str, value: object, indent: str = "") -> list[str]:
    """The canonical lines of one field; a list of mappings takes one line for each, everything else is one line."""
    name = f"{indent}{_key(key)}:"
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        return [name, *(f"{indent}  - {flow(item)}" for item in value)]
    return [f"{name} {block_value(value)}"]


def block_value(value: object) -> str:
    """A value as it stands behind `key: ` or `- `."""
    if isinstance(value, str) and _PLAIN_VALUE.fullmatch(value) and value.lower() not in _RESERVED:
        return value
    return flow(value)


def flow(value: object) -> str:
    """A value on one line, safe inside `[]` and `{}`."""
    match value:
        case str():
            return _short_text(value) if len(value) <= _SHORT else _text(value)
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            return int.__repr__(value)
        case float():
            return _float(value)
        case list():
            return f"[{', '.join(map(flow, value))}]"
        case dict():
            return f"{{{', '.join(f'{_key(key)}: {flow(item)}' for key, item in value.items())}}}"
    raise TypeError(f"not cleaned: {value!r}")


def _text(value: str) -> str:
    plain = _PLAIN_ITEM.fullmatch(value) and value.lower() not in _RESERVED
    return str.__str__(value) if plain else quoted(value)


_short_text: Final = lru_cache(maxsize=16_384)(_text)
"""For names and tags, which come again and again."""


def clean_value(value: object, where: str, depth: int = 0) -> object:
    """A value as it will be read back: text cleaned, tuples as lists.

    Raises:
        InputError: It is of a type that the file format does not have, or too deep, or too long a number.
    """
    if depth > MAX_DEPTH:
        raise InputError(f"The field {where} is nested deeper than {MAX_DEPTH} levels.")
    if isinstance(value, str):
        return value if value.isascii() and "\0" not in value else NOT_TEXT.sub("\ufffd", value)
    if isinstance(value, int) and value.bit_length() > 3.3 * MAX_INT_DIGITS:
        raise InputError(f"The field {where} holds a number of more than {MAX_INT_DIGITS} digits.")
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, list | tuple):
        return [clean_value(item, where, depth + 1) for item in value]
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {NOT_TEXT.sub("\ufffd", key): clean_value(item, where, depth + 1) for key, item in value.items()}
    raise InputError(
        f"The field {where} holds a {type(value).__name__}, which frontmatter cannot hold.",
        hint="Use text, numbers, true or false, lists and mappings with text keys; times as text.",
    )


@lru_cache(maxsize=1024)
def _key(key: str) -> str:
    if _PLAIN_KEY.fullmatch(key) and key.lower() not in _RESERVED:
        return str.__str__(key)
    text = quoted(key)
    if len(text) > MAX_KEY_CHARS:
        raise InputError(f"The key {text[:40]}… is longer than {MAX_KEY_CHARS} characters.")
    return text


def quoted(text: str) -> str:
    """A text in double quotes, the same for JSON and YAML."""
    return _JSON_ONLY.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(text, ensure_ascii=False))


def _float(value: float) -> str:
    text = float.__repr__(value)
    if text[-1] in "fn":  # inf, -inf, nan
        return text.replace("inf", ".inf").replace("nan", ".nan")
    mantissa, exponent, power = text.partition("e")  # YAML 1.1 reads 1e+16 as text, 1.0e+16 as a number
    return f"{mantissa}.0e{power}" if exponent and "." not in mantissa else text


# --- reading ---


def parse_canonical(text: str) -> tuple[dict[str, object], str] | None:
    """Fields and content of a file as `render` writes it; None when anything in its frontmatter is not canonical."""
    start = len("---\n")
    end = text.find("\n---\n", start - 1)
    if end < 0 or end > MAX_FRONTMATTER_CHARS or not text.startswith("---\n"):
        return None
    fields = read_block(text[start:end]) if end >= start else {}
    return None if fields is None else (fields, body_content(text[end + len("\n---\n") :]))


def read_block(block: str) -> dict[str, object] | None:  # noqa: C901  one flat loop over lines: calls would double its time
    """The fields in the lines between the fences; None when any of them is not canonical."""
    rows = _LINES.findall(block)
    if len(rows) != block.count("\n") + 1:
        return None
    fields: dict[str, object] = {}
    n_keys = 0
    items: list[object] | None = None
    value: object
    for key, plain, quoted_text, number, words, collection, pairs, mapping in rows:
        if not key:
            value = _read_pairs(pairs) if pairs else _read_flow(mapping)
            if items is None or value is None:
                return None
            items.append(value)
            continue
        if items == []:
            return None
        n_keys += 1
        items = None
        if plain:
            fields[key] = CONSTANTS.get(plain, plain)
        elif quoted_text:
            fields[key] = json.loads(quoted_text) if "\\" in quoted_text else quoted_text[1:-1]
        elif number:
            fields[key] = float(number) if "." in number else int(number)
        elif words or collection:
            fields[key] = value = _read_words(words) if words else _read_flow(collection)
            if value is None:
                return None
        else:
            fields[key] = items = []
    return None if items == [] or len(fields) < n_keys else fields


def _read_pairs(text: str) -> object | None:
    words = text[1:-1].replace(": ", ", ").split(", ")  # neither stands in a plain key or text
    values = dict(zip(words[::2], words[1::2], strict=True))
    if 2 * len(values) == len(words) and _CONSTANT_WORDS.isdisjoint(words):
        return values
    return _read_flow(text)


def _read_words(text: str) -> object | None:
    words = text[1:-1].split(", ")
    return words if _CONSTANT_WORDS.isdisjoint(words) else _read_flow(text)


def _read_flow(text: str) -> object | None:
    """The list or mapping in a one-line flow collection; None when it is not canonical."""
    if text.count("[") + text.count("{") > MAX_DEPTH or not _FLOW.fullmatch(text):
        return None
    parts = chain.from_iterable(_FLOW_PARTS.findall(text))  # JSON and plain text in turn; three empty parts at the end
    try:
        return _decode_json('"'.join(parts)[:-3])  # type: ignore[no-any-return]  # JSON
    except ValueError:
        return None


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    values = dict(pairs)
    if len(values) < len(pairs) or max(map(len, values), default=0) > MAX_KEY_CHARS // 6:
        raise ValueError("not canonical")
    return values


_decode_json = json.JSONDecoder(object_pairs_hook=_unique).decode

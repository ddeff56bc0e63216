"""The text of an observation file, read into fields and content and written back in one canonical form.

Reading takes two ways with one meaning: lines exactly as `render` writes them are read with `re` and `json` alone;
anything a person wrote goes through YAML, imported only then. Knows nothing of files on disk or of the fields' meaning.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

from grail_mem.errors import InputError
from grail_mem.model.problem import Problem

__all__ = ["Document", "FrontmatterError", "key_line", "parse", "render"]

MAX_FRONTMATTER_CHARS = 1 << 20
"""Longest frontmatter that is read; chosen: a thousand times an ordinary one, still parsed in seconds."""
MAX_EXPANDED_CHARS = 5 * MAX_FRONTMATTER_CHARS
"""Largest sum of values after aliases are followed, each counted as 8 more, so that ten lines are no gigabyte."""
MAX_DEPTH = 50
"""Deepest nesting of lists and mappings, far below Python's and libyaml's own limits."""
MAX_KEY_CHARS = 1000
"""Longest written key; YAML itself stops at 1024."""
MAX_INT_DIGITS = 4000
"""Longest integer; Python refuses to convert more than 4300 digits."""

# One vocabulary for the writer and the fast reader. A plain text starts with an ASCII letter, so it is no indicator,
# number or date; it has no `#`, and `:` only before a letter, digit or `/`; so YAML 1.1 and 1.2 both read it as itself.
_WORD = r"A-Za-z0-9 _./()'&+;@%=!\-"
_BLOCK_PLAIN = rf"[A-Za-z][{_WORD},?]*(?::[A-Za-z0-9/][{_WORD},?]*)*(?<! )"
_FLOW_PLAIN = rf"[A-Za-z][{_WORD}]*(?<! )"
_TIMESTAMP = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z"
_ULID_CHAR = "0-9A-HJKMNP-TV-Z"
_ULID = (  # one that no reader takes for a number: not all digits, nor digits E digits, nor 0B or 0X
    rf"(?=[0-7][{_ULID_CHAR}]{{25}}(?![0-9A-Za-z]))(?!0[BX])"
    rf"(?![0-9]{{1,26}}(?:E[0-9]{{0,25}})?(?![0-9A-Z]))[{_ULID_CHAR}]{{26}}"
)
_KEY = r"[A-Za-z_][A-Za-z0-9_-]{0,99}"
_INT = rf"-?[1-9][0-9]{{0,{MAX_INT_DIGITS - 1}}}|0"
_FLOAT = r"-?(?:(?:0|[1-9][0-9]*)\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
_JSON_FLOAT = r"-?(?:0|[1-9][0-9]*)\.[0-9]+(?:e[-+][0-9]+)?"
_ESCAPED = "\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff"  # legal in JSON, but not the same text, or no text at all, in YAML
_SURROGATES = "\ud800-\udfff"
_STRING = (
    rf'"[^"\\\x00-\x1f{_ESCAPED}{_SURROGATES}]*'
    rf'(?:\\(?:["\\bfnrt]|u(?!0000|[dD][89a-fA-F])[0-9a-fA-F]{{4}})[^"\\\x00-\x1f{_ESCAPED}{_SURROGATES}]*)*"'
)

_PLAIN_VALUE = re.compile(rf"(?:{_BLOCK_PLAIN}|{_TIMESTAMP}|{_ULID})\Z", re.ASCII)
_PLAIN_ITEM = re.compile(rf"(?:{_FLOW_PLAIN}|{_ULID})\Z", re.ASCII)
_PLAIN_KEY = re.compile(rf"{_KEY}\Z")
_LINES = re.compile(
    rf"^(?:({_KEY}):(?: (?:({_BLOCK_PLAIN}|{_TIMESTAMP}|{_ULID})|({_STRING})|({_JSON_FLOAT}|{_INT})"
    rf"|(\[{_FLOW_PLAIN}(?:, {_FLOW_PLAIN})*\])|([\[{{].*)))?"
    rf"|  - (?:(\{{{_KEY}: {_FLOW_PLAIN}(?:, {_KEY}: {_FLOW_PLAIN})*\}})|(\{{.*)))$",
    re.ASCII | re.MULTILINE,
)
"""Groups: key; its plain text, quoted text, number, list of plain texts, other collection; plain item, other item."""
# Groups: quoted text, plain text, number, mark; the rest, in no group, from the first thing that is none of these.
_FLOW_TOKEN = re.compile(
    rf"({_STRING})|({_ULID}(?=[\]}},])|{_FLOW_PLAIN})|((?:{_JSON_FLOAT}|{_INT})(?=[\]}},]))|(, |: |[\[\]{{}}])|.+",
    re.ASCII,
)
_CONSTANTS: dict[str, bool | None] = {
    word: value
    for name, value in (("true", True), ("false", False), ("null", None))
    for word in (name, name.title(), name.upper())
}
_CONSTANT_WORDS = frozenset(_CONSTANTS)
_RESERVED = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null"))

_OPENING = re.compile(r"---[ \t]*\n")
_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.MULTILINE)
_CONFLICT = re.compile(r"^(?:<<<<<<< |>>>>>>> |\|\|\|\|\|\|\| |=======$)", re.MULTILINE)
_QUOTED_KEY = re.compile(r"""("(?:[^"\\]|\\.)*"|'(?:[^']|'')*')[ \t]*(?=:)""")
_COLON = re.compile(r":(?=[ \t]|$)")
_NOT_TEXT = re.compile(rf"[\x00{_SURROGATES}]")
_NOT_YAML = re.compile("[^\t\n\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_JSON_ONLY = re.compile(f"[{_ESCAPED}]")


class FrontmatterError(InputError):
    """The frontmatter of a file cannot be read; the file itself was left alone.

    Args:
        message: What is wrong, in one sentence.
        line: 1-based line in the file, 0 when it concerns the whole.
        remedy: What a person can do, one sentence.
        torn: True when the file looks like a write that never finished (empty, or NUL bytes only).
    """

    code = "frontmatter"

    def __init__(self, message: str, *, line: int = 0, remedy: str = "", torn: bool = False) -> None:
        super().__init__(message, hint=remedy)
        self.line = line
        self.remedy = remedy
        self.torn = torn


@dataclass(frozen=True, slots=True)
class Document:
    """One file, read.

    Attributes:
        fields: Frontmatter as plain values (str, int, float, bool, None, list, dict), in file order. Times are text.
        content: The body with LF newlines, without the empty line after the fence and without the last newline.
        has_frontmatter: False when the file does not start with a closed `---` block.
        problems: Warnings: the file was read as described in each.
    """

    fields: dict[str, object]
    content: str
    has_frontmatter: bool
    problems: tuple[Problem, ...] = ()


def parse(data: bytes) -> Document:
    """The bytes of a file as a Document.

    Raises:
        FrontmatterError: The file is empty (`torn`), or its frontmatter is no readable mapping.
    """
    text, problems = decode(data)
    fast = _parse_canonical(text)
    if fast is not None:
        return Document(fast[0], fast[1], has_frontmatter=True, problems=problems)
    return _parse_any(text, problems)


def render(fields: Mapping[str, object], content: str) -> bytes:
    """The canonical file for these fields and this content, UTF-8 with LF newlines.

    Args:
        fields: Values as in `Document.fields`; tuples count as lists. NUL and lone surrogates become U+FFFD.
        content: The body; CR LF and CR become LF.

    Raises:
        InputError: A value of another type (a datetime has to be text already), or a key beyond `MAX_KEY_CHARS`.
    """
    lines = [line for key, value in fields.items() for line in field_lines(key, clean_value(value, key))]
    block = "".join(f"{line}\n" for line in lines)
    if len(block) > MAX_FRONTMATTER_CHARS:
        raise InputError(f"The frontmatter would be {len(block)} characters; {MAX_FRONTMATTER_CHARS} is the most.")
    return f"---\n{block}---\n\n{clean_text(content)}\n".encode()


def key_line(data: bytes, key: str) -> int:
    """The 1-based line of a top-level key in a file, the last one when it is repeated; 0 when it is not there."""
    text, _ = decode(data)
    bounds = split(text)
    lines = text[bounds[0] : bounds[1]].split("\n") if bounds else []
    keys = {found[0]: number for number, line in enumerate(lines, 2) if (found := _key_and_rest(line))}
    return keys.get(key, 0)


# --- text ---


def decode(data: bytes) -> tuple[str, tuple[Problem, ...]]:
    """File bytes as text without BOM, newlines LF; each byte that is no text becomes U+FFFD, with a warning."""
    problems: tuple[Problem, ...] = ()
    try:
        text = data.decode()
        damaged = "\0" in text
    except UnicodeDecodeError:
        text = data.decode(errors="surrogateescape")
        damaged = True
    text = text.removeprefix("\ufeff")
    if not text.strip("\0") if damaged else not text:
        raise FrontmatterError(
            "The file is empty or holds only NUL bytes: a write that never finished.",
            remedy="Restore it from git or a backup, or delete it.",
            torn=True,
        )
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if damaged:
        problems = (_replaced(text, _NOT_TEXT),)
        text = _NOT_TEXT.sub("\ufffd", text)
    return text, problems


def split(text: str) -> tuple[int, int, int] | None:
    """Where the block between the fences starts and ends, and where the body starts; None without closed frontmatter.

    Not python-frontmatter's own split: it also takes indented fences and `-----`, and so would eat a body that starts
    with a rule.
    """
    opening = _OPENING.match(text)
    closing = _CLOSING.search(text, opening.end()) if opening else None
    return (opening.end(), closing.start(), closing.end()) if opening and closing else None


def clean_text(text: str) -> str:
    """Text that UTF-8, YAML and every table take: NUL and lone surrogates replaced, newlines LF."""
    text = _NOT_TEXT.sub("\ufffd", text)
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def body_content(body: str) -> str:
    """The content of a body below a fence: one leading empty line and one last newline dropped."""
    return body.removeprefix("\n").removesuffix("\n")


def _replaced(text: str, pattern: re.Pattern[str], first_line: int = 1) -> Problem:
    match = pattern.search(text)
    return Problem(
        "replaced_characters",
        "The file holds characters that are not text; they are read as U+FFFD.",
        line=first_line + text.count("\n", 0, match.start() if match else 0),
        remedy="Save the file as UTF-8 without control characters.",
        severity="warning",
    )


# --- canonical lines: writing ---


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
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            return int.__repr__(value)
        case float():
            return _float(value)
        case str():
            plain = _PLAIN_ITEM.fullmatch(value) and value.lower() not in _RESERVED
            return str.__str__(value) if plain else _quoted(value)
        case list():
            return f"[{', '.join(map(flow, value))}]"
        case dict():
            return f"{{{', '.join(f'{_key(key)}: {flow(item)}' for key, item in value.items())}}}"
    raise TypeError(f"not cleaned: {value!r}")


def clean_value(value: object, where: str, depth: int = 0) -> object:
    """A value as it will be read back: text cleaned, tuples as lists.

    Raises:
        InputError: It is of a type that the file format does not have, or too deep, or too long a number.
    """
    if depth > MAX_DEPTH:
        raise InputError(f"The field {where} is nested deeper than {MAX_DEPTH} levels.")
    if isinstance(value, str):
        return _NOT_TEXT.sub("\ufffd", value)
    if isinstance(value, int) and value.bit_length() > 3.3 * MAX_INT_DIGITS:
        raise InputError(f"The field {where} holds a number of more than {MAX_INT_DIGITS} digits.")
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, list | tuple):
        return [clean_value(item, where, depth + 1) for item in value]
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {_NOT_TEXT.sub("\ufffd", key): clean_value(item, where, depth + 1) for key, item in value.items()}
    raise InputError(
        f"The field {where} holds a {type(value).__name__}, which frontmatter cannot hold.",
        hint="Use text, numbers, true or false, lists and mappings with text keys; times as text.",
    )


def _key(key: str) -> str:
    if _PLAIN_KEY.fullmatch(key) and key.lower() not in _RESERVED:
        return str.__str__(key)
    text = _quoted(key)
    if len(text) > MAX_KEY_CHARS:
        raise InputError(f"The key {text[:40]}… is longer than {MAX_KEY_CHARS} characters.")
    return text


def _quoted(text: str) -> str:
    return _JSON_ONLY.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(text, ensure_ascii=False))


def _float(value: float) -> str:
    text = float.__repr__(value)
    if text[-1] in "fn":  # inf, -inf, nan
        return text.replace("inf", ".inf").replace("nan", ".nan")
    mantissa, exponent, power = text.partition("e")  # YAML 1.1 reads 1e+16 as text, 1.0e+16 as a number
    return f"{mantissa}.0e{power}" if exponent and "." not in mantissa else text


# --- canonical lines: reading ---


def _parse_canonical(text: str) -> tuple[dict[str, object], str] | None:
    """Fields and content of a file as `render` writes it; None when anything in its frontmatter is not canonical."""
    start = len("---\n")
    end = text.find("\n---\n", start - 1)
    if end < 0 or end > MAX_FRONTMATTER_CHARS or not text.startswith("---\n"):
        return None
    fields = _read_canonical(text[start:end]) if end >= start else {}
    return None if fields is None else (fields, body_content(text[end + len("\n---\n") :]))


def _read_canonical(block: str) -> dict[str, object] | None:  # noqa: C901  one flat loop over lines: calls would double its time
    rows = _LINES.findall(block)
    if len(rows) != block.count("\n") + 1:
        return None
    fields: dict[str, object] = {}
    n_keys = 0
    items: list[object] | None = None
    value: object
    for key, plain, quoted, number, words, collection, pairs, mapping in rows:
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
            fields[key] = _CONSTANTS.get(plain, plain)
        elif quoted:
            fields[key] = json.loads(quoted) if "\\" in quoted else quoted[1:-1]
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
    if text.count("[") + text.count("{") > MAX_DEPTH:
        return None
    tokens = _FLOW_TOKEN.findall(text)
    if sum(len(token) for parts in tokens for token in parts) != len(text):
        return None
    try:
        return json.loads("".join(map(_json_token, tokens)), object_pairs_hook=_unique)  # type: ignore[no-any-return]  # JSON
    except ValueError:
        return None


def _json_token(parts: tuple[str, str, str, str]) -> str:
    quoted, plain, number, mark = parts
    if plain and plain not in ("true", "false", "null"):
        return f'"{plain}"'
    return quoted or plain or number or mark


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    values = dict(pairs)
    if len(values) < len(pairs) or any(len(key) > MAX_KEY_CHARS // 6 for key in values):
        raise ValueError("not canonical")
    return values


# --- anything else: YAML ---


def _parse_any(text: str, problems: tuple[Problem, ...]) -> Document:
    bounds = split(text)
    if bounds is None:
        if _OPENING.match(text) or text == "---":
            problems += (_UNCLOSED,)
        return Document({}, text.removesuffix("\n"), has_frontmatter=False, problems=problems)
    start, end, body = bounds
    tree = read_tree(text[start:end])
    reader = _Reader(tree.text)
    fields = reader.fields(tree.node)
    problems += tree.problems + tuple(reader.problems)
    return Document(fields, body_content(text[body:]), has_frontmatter=True, problems=problems)


_UNCLOSED = Problem(
    "unclosed_frontmatter",
    "The file starts with --- but no later line closes it; the whole file is read as content.",
    line=1,
    remedy="Put a line --- below the last field.",
    severity="warning",
)


@dataclass(frozen=True, slots=True)
class Tree:
    """A block as YAML nodes.

    Attributes:
        node: The composed node (`yaml.Node`), None for an empty block.
        text: What the marks of the nodes point into: the block, character by character, except in repaired lines.
        repaired: 0-based numbers of the lines whose value had to be quoted before YAML took them.
    """

    node: Any
    text: str
    repaired: frozenset[int]
    problems: tuple[Problem, ...]


def read_tree(block: str) -> Tree:
    """A block as YAML nodes, its unquoted values quoted where YAML needs that.

    Raises:
        FrontmatterError: It is too large or too deep, holds a merge conflict, or is no YAML even so.
    """
    if len(block) > MAX_FRONTMATTER_CHARS:
        message = f"The frontmatter is longer than {MAX_FRONTMATTER_CHARS} characters."
        raise FrontmatterError(message, line=1, remedy=_MOVE_TEXT)
    problems: tuple[Problem, ...] = ()
    if _NOT_YAML.search(block):
        problems = (_replaced(block, _NOT_YAML, 2),)
        block = _NOT_YAML.sub("\ufffd", block)
    if conflict := _CONFLICT.search(block):
        raise FrontmatterError(
            "The frontmatter holds an unsolved merge conflict.",
            line=_line(block, conflict.start()),
            remedy="Keep one side and delete the marker lines.",
        )
    _check_depth(block)
    try:
        return Tree(_compose(block), block, frozenset(), problems)
    except FrontmatterError as error:
        text, repaired = _repair(block)
        if not repaired:
            raise
        try:
            _check_depth(text)
            node = _compose(text)
        except FrontmatterError:
            raise error from None
        problems += tuple(_repaired(number, key) for number, key in repaired.items())
        return Tree(node, text, frozenset(repaired), problems)


_MOVE_TEXT = "Move long text below the closing ---."


def _repaired(number: int, key: str) -> Problem:
    return Problem(
        "repaired_frontmatter",
        f"The value of {key} is no YAML as it stands; everything after the colon is read as text.",
        where=key,
        line=number + 2,
        remedy="Put the value in double quotes.",
        severity="warning",
    )


def _compose(text: str) -> Any:
    import yaml

    try:
        return yaml.compose(text, Loader=_loader())
    except yaml.MarkedYAMLError as error:
        index = getattr(error.problem_mark or error.context_mark, "index", 0)
        raise _unreadable(text, error.problem or error.context or "it is no YAML", index) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise _unreadable(text, str(error).partition("\n")[0], 0) from error


def _unreadable(text: str, reason: str, index: int) -> FrontmatterError:
    remedy = 'Put values with ": ", "#" or a leading sign in double quotes.'
    if "\\t" in reason or "\t" in text[index : index + 1]:
        reason, remedy = "a tab stands where only spaces may", "Indent with spaces."
    line = _line(text, min(index, max(len(text) - 1, 0)))
    return FrontmatterError(f"The frontmatter cannot be read: {reason} (line {line}).", line=line, remedy=remedy)


def _too_deep(text: str, index: int) -> FrontmatterError:
    message = f"The frontmatter is nested deeper than {MAX_DEPTH} levels, or an alias contains itself."
    return FrontmatterError(message, line=_line(text, index), remedy=_MOVE_TEXT)


def _line(block: str, index: int) -> int:
    return block.count("\n", 0, index) + 2


def _check_depth(text: str) -> None:
    """Nothing, or FrontmatterError for a nesting that would overflow the composer, which is recursive C."""
    import yaml

    if sum(text.count(mark) for mark in ("[", "{", "- ", "-\n", "? ", ":")) < _MANY_OPENERS:
        return
    depth = 0
    try:
        for event in yaml.parse(text, Loader=_loader()):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > MAX_DEPTH:
                break
    except yaml.MarkedYAMLError as error:
        if "nesting" in f"{error.problem}":  # libyaml's own limit, met while it looked ahead
            raise _too_deep(text, getattr(error.problem_mark, "index", 0)) from error
    except (yaml.YAMLError, ValueError):
        return  # the composer stops at the same place, and its error says why
    if depth > MAX_DEPTH:
        raise _too_deep(text, getattr(event.start_mark, "index", 0))


@cache
def _loader() -> Any:
    """The C loader, knowing only the plain values that YAML 1.1, YAML 1.2 and a person agree on; all others are text.

    So `no`, `0123`, `12:30:00`, `2026-06-02`, `0x1F`, `1_000`, `=` and `<<` stay what was written.
    """
    import yaml

    resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}
    for kind, pattern, firsts in _RESOLVERS:
        for first in firsts:
            resolvers.setdefault(first, []).append((f"{_TAG}{kind}", re.compile(rf"(?:{pattern})\Z")))
    base = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return type("FrontmatterLoader", (base,), {"yaml_implicit_resolvers": resolvers})


_MANY_OPENERS = 500  # fewer cannot nest deep enough to hurt the composer

_TAG = "tag:yaml.org,2002:"
_RESOLVERS: tuple[tuple[str, str, list[str]], ...] = (
    ("bool", "true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("null", "~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("int", _INT, list("-0123456789")),
    ("float", rf"{_FLOAT}|-?\.inf|\.nan", list("-.0123456789")),
)


class _Reader:
    """Plain values out of nodes; gathers warnings and counts what aliases blow up."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.problems: list[Problem] = []
        self._size = 0
        self._last = (0, 2)

    def fields(self, node: Any) -> dict[str, object]:
        if node is None or node.tag == f"{_TAG}null":
            return {}
        if node.id != "mapping":
            raise FrontmatterError(
                f"The frontmatter is a {'list' if node.id == 'sequence' else 'text'}, not fields.",
                line=_line(self.text, node.start_mark.index),
                remedy="Write one `key: value` a line between the two ---.",
            )
        return self._mapping(node, 0)

    def value(self, node: Any, depth: int) -> object:
        self._size += 8 + (len(node.value) if node.id == "scalar" else 0)
        if depth > MAX_DEPTH:
            raise _too_deep(self.text, node.start_mark.index)
        if self._size > MAX_EXPANDED_CHARS:
            line = _line(self.text, node.start_mark.index)
            raise FrontmatterError("The aliases in the frontmatter expand without bound.", line=line, remedy=_MOVE_TEXT)
        if node.id == "mapping":
            return self._mapping(node, depth)
        if node.id == "sequence":
            return [self.value(item, depth + 1) for item in node.value]
        return _scalar(node.tag, node.value)

    def key(self, node: Any, depth: int) -> str:
        """A key is text, whatever it looks like."""
        return _NOT_TEXT.sub("\ufffd", node.value) if node.id == "scalar" else flow(self.value(node, depth + 1))

    def _line_of(self, node: Any) -> int:
        """The line of a node, counted on from the one before, so that many duplicates take no longer than one."""
        index, (last, line) = int(node.start_mark.index), self._last
        line = line + self.text.count("\n", last, index) if index >= last else _line(self.text, index)
        self._last = (index, line)
        return line

    def _mapping(self, node: Any, depth: int) -> dict[str, object]:
        values: dict[str, object] = {}
        for key_node, value_node in node.value:
            key = self.key(key_node, depth)
            if key in values:
                self.problems.append(_duplicate(key, self._line_of(key_node)))
            values[key] = self.value(value_node, depth + 1)
        return values


def _scalar(tag: str, text: str) -> object:
    """The value of a scalar; a tag that does not fit its text, and any tag unknown here, leaves it text."""
    if tag == f"{_TAG}null":
        return None
    if tag == f"{_TAG}bool" and text in _CONSTANTS:
        return _CONSTANTS[text]
    if tag == f"{_TAG}int" and re.fullmatch(_INT, text):
        return int(text)
    if tag == f"{_TAG}float" and re.fullmatch(rf"{_FLOAT}|{_INT}|-?\.inf|\.nan", text):
        return float(text.replace(".inf", "inf").replace(".nan", "nan"))
    return _NOT_TEXT.sub("\ufffd", text)


def _duplicate(key: str, line: int) -> Problem:
    message = f"The key {key} stands there more than once; the last one counts."
    return Problem("duplicate_key", message, where=key, line=line, remedy="Delete the others.", severity="warning")


def _repair(block: str) -> tuple[str, dict[int, str]]:
    """The block with every top-level value quoted that is no YAML by itself, and the keys of those lines by number."""
    lines = block.split("\n")
    starts = [number for number, line in enumerate(lines) if _key_and_rest(line)]
    repaired: dict[int, str] = {}
    for start, stop in pairwise([*starts, len(lines)]):
        key, written, rest = _key_and_rest(lines[start]) or ("", "", "")
        if rest and not _is_yaml("\n".join(lines[start:stop]), block):
            lines[start] = f"{written}: {_quoted(rest)}"
            repaired[start] = key
    return "\n".join(lines), repaired


def _is_yaml(segment: str, block: str) -> bool:
    """Whether one field is YAML by itself; an alias counts when its anchor stands anywhere in the block."""
    import yaml

    try:
        events = list(yaml.parse(segment, Loader=_loader()))
    except (yaml.YAMLError, ValueError):
        return False
    return all(f"&{event.anchor}" in block for event in events if isinstance(event, yaml.AliasEvent))


def _key_and_rest(line: str) -> tuple[str, str, str] | None:
    """The key of a top-level line, the key as written, and what stands behind the colon; None for any other line."""
    if not line or line[0] in " \t#[]{},?" or line.startswith("- "):
        return None
    quoted = _QUOTED_KEY.match(line)
    colon = _COLON.search(line, quoted.end() if quoted else 0)
    if colon is None or colon.start() == 0:
        return None
    written = quoted[1] if quoted else line[: colon.start()].rstrip()
    return _key_text(written), written, line[colon.end() :].strip()


def _key_text(written: str) -> str:
    if written[0] == '"':
        try:
            return str(json.loads(written))
        except ValueError:
            return written[1:-1]
    return written[1:-1].replace("''", "'") if written[0] == "'" else written

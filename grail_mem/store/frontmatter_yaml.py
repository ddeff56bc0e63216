"""Frontmatter as people write it: read by YAML with our own idea of plain values, repaired where YAML gives up.

YAML and python-frontmatter are imported only when a file needs them. Knows nothing of fences or of the body.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

from grail_mem.model.problem import Problem
from grail_mem.store.frontmatter_canonical import CONSTANTS, INT, flow, quoted
from grail_mem.store.frontmatter_text import (
    MAX_DEPTH,
    MAX_EXPANDED_CHARS,
    MAX_FRONTMATTER_CHARS,
    NOT_TEXT,
    FrontmatterError,
    replaced,
)

_FLOAT = r"-?(?:(?:0|[1-9][0-9]*)\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
_CONFLICT = re.compile(r"^(?:<{7,} |>{7,} |\|{7,} |={7,}$)", re.MULTILINE)
"""Marks of a merge; they are longer than seven signs where a merge stands within another, or files were renamed."""
_QUOTED_KEY = re.compile(r"""("(?:[^"\\]|\\.)*"|'(?:[^']|'')*')[ \t]*(?=:)""")
_COLON = re.compile(r":(?=[ \t]|$)")
_NOT_YAML = re.compile("[^\t\n\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")


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
        problems = (replaced(block, _NOT_YAML, 2),)
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
    from frontmatter.default_handlers import YAMLHandler

    try:
        return YAMLHandler().load(text, Loader=_loader())
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

    So `no`, `0123`, `12:30:00`, `2026-06-02`, `0x1F`, `1_000`, `=` and `<<` stay what was written. It hands out nodes,
    not values: an edit needs their places, and values that drop duplicate keys could not warn of them.
    """
    import yaml

    resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}
    for kind, pattern, firsts in _RESOLVERS:
        for first in firsts:
            resolvers.setdefault(first, []).append((f"{_TAG}{kind}", re.compile(rf"(?:{pattern})\Z")))
    base = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    members = {"yaml_implicit_resolvers": resolvers, "get_single_data": base.get_single_node}
    return type("FrontmatterLoader", (base,), members)


_MANY_OPENERS = 500  # fewer cannot nest deep enough to hurt the composer

_TAG = "tag:yaml.org,2002:"
_RESOLVERS: tuple[tuple[str, str, list[str]], ...] = (
    ("bool", "true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("null", "~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("int", INT, list("-0123456789")),
    ("float", rf"{_FLOAT}|-?\.inf|\.nan", list("-.0123456789")),
)


def read_fields(tree: Tree) -> tuple[dict[str, object], tuple[Problem, ...]]:
    """The fields of a tree as plain values, and a warning for each repeated key.

    Raises:
        FrontmatterError: It is no mapping, too deep, or its aliases expand beyond `MAX_EXPANDED_CHARS`.
    """
    reader = _Reader(tree.text)
    return reader.fields(tree.node), tuple(reader.problems)


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
        return NOT_TEXT.sub("\ufffd", node.value) if node.id == "scalar" else flow(self.value(node, depth + 1))

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
    if tag == f"{_TAG}bool" and text in CONSTANTS:
        return CONSTANTS[text]
    if tag == f"{_TAG}int" and re.fullmatch(INT, text):
        return int(text)
    if tag == f"{_TAG}float" and re.fullmatch(rf"{_FLOAT}|{INT}|-?\.inf|\.nan", text):
        return float(text.replace(".inf", "inf").replace(".nan", "nan"))
    return NOT_TEXT.sub("\ufffd", text)


def _duplicate(key: str, line: int) -> Problem:
    message = f"The key {key} stands there more than once; the last one counts."
    return Problem("duplicate_key", message, where=key, line=line, remedy="Delete the others.", severity="warning")


def _repair(block: str) -> tuple[str, dict[int, str]]:
    """The block with every top-level value quoted that is no YAML by itself, and the keys of those lines by number."""
    lines = block.split("\n")
    starts = [number for number, line in enumerate(lines) if key_and_rest(line)]
    repaired: dict[int, str] = {}
    for start, stop in pairwise([*starts, len(lines)]):
        key, written, rest = key_and_rest(lines[start]) or ("", "", "")
        if rest and not _is_yaml("\n".join(lines[start:stop]), block):
            lines[start] = f"{written}: {quoted(rest)}"
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


def key_and_rest(line: str) -> tuple[str, str, str] | None:
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

"""The smallest edit of an existing file: the changed fields' own text changes, every other byte stays.

Works on whole lines: two top-level fields never share one, so each change replaces a run of lines, and the rest is
copied. Knows nothing of files on disk or of what the fields mean.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import accumulate
from typing import Any

from grail_mem.errors import StoreError
from grail_mem.store.frontmatter_canonical import block_value, clean_value, field_lines, flow
from grail_mem.store.frontmatter_read import Document, parse
from grail_mem.store.frontmatter_text import FrontmatterError, clean_text, decode, split
from grail_mem.store.frontmatter_yaml import read_tree

__all__ = ["edit"]

Change = tuple[int, int, list[str]]
"""Lines `[first, stop)` of the block become these; `first == stop` inserts before `first`."""

_RAW_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_COMMENT = re.compile(r"(?<![ \t])[ \t]+#.*")
_DASH = re.compile(r"^ *-(?=\s)", re.MULTILINE)
_ALIAS = re.compile(r"[\s-]*\*[^\s,\[\]{}]+")


def edit(data: bytes, changes: Mapping[str, object], *, content: str | None = None) -> bytes:
    """The file with some fields changed, added or removed, and everything else byte for byte as it was.

    Unknown keys, order, comments, quoting, block styles, newline style, BOM and a missing last newline stay. New fields
    go before the closing fence, in canonical form; a file without frontmatter gets a block in front.

    Args:
        data: The file.
        changes: New values by key; None removes the key. A value equal to the present one changes nothing.
        content: The new body; None keeps the bytes of the body.

    Raises:
        FrontmatterError: The file cannot be read.
        InputError: A new value is of a type that frontmatter cannot hold.
        StoreError: The edited text would not read as asked for, for instance when another field refers to the old text
            by an alias.
    """
    before = parse(data)
    wanted = {key: None if value is None else clean_value(value, key) for key, value in changes.items()}
    wanted = {key: value for key, value in wanted.items() if not _unchanged(before.fields, key, value)}
    new_content = None if content is None or clean_text(content) == before.content else clean_text(content)
    if not wanted and new_content is None:
        return data
    raw = _Raw.of(data)
    block = raw.block if not wanted else _edited_block(raw, before.fields, wanted)
    result = raw.joined(block, new_content)
    _verify(result, before, wanted, before.content if new_content is None else new_content)
    return result


def _unchanged(fields: Mapping[str, object], key: str, value: object) -> bool:
    if value is None:
        return key not in fields
    return key in fields and _same(fields[key], value)


def _same(left: object, right: object) -> bool:
    """Whether both are of the same types as well, so that 1, 1.0 and true differ; nan is itself."""
    return repr(left) == repr(right)


def _verify(result: bytes, before: Document, wanted: Mapping[str, object], content: str) -> None:
    try:
        after = parse(result)
    except FrontmatterError as error:
        raise _failed(wanted) from error
    fields = _merged(before.fields, wanted)
    same_fields = after.fields.keys() == fields.keys() and all(_same(fields[key], after.fields[key]) for key in fields)
    if not same_fields or after.content != content:
        raise _failed(wanted)


def _merged(fields: Mapping[str, object], wanted: Mapping[str, object]) -> dict[str, object]:
    values = {**fields, **wanted}
    return {key: value for key, value in values.items() if value is not None or key not in wanted}


def _failed(wanted: Mapping[str, object]) -> StoreError:
    return StoreError(
        f"The file cannot be edited without changing more than {', '.join(wanted) or 'its content'}; it is unchanged.",
        hint="Write the frontmatter without anchors and aliases, one `key: value` a line, and try again.",
    )


@dataclass(frozen=True, slots=True)
class _Raw:
    """A file in parts that join to its bytes. Texts may hold surrogates: bytes that are no UTF-8.

    Attributes:
        bom, opening, closing, gap: As they stand; `gap` is the empty line below the fence. Empty without frontmatter.
        block: Lines with their newlines; `text` is the same as the readers see it.
        newline: The newline style of the file.
    """

    bom: str
    opening: str
    block: list[str]
    text: str
    closing: str
    gap: str
    body: str
    newline: str

    @classmethod
    def of(cls, data: bytes) -> _Raw:
        raw = data.decode(errors="surrogateescape")
        bom = "\ufeff" if raw.startswith("\ufeff") else ""
        lines = _RAW_LINE.findall(raw[len(bom) :])
        newline = lines[0][len(_bare(lines[0])) :] or "\n"
        text, _ = decode(data)
        bounds = split(text)
        if bounds is None:
            return cls(bom, "", [], "", "", "", "".join(lines), newline)
        stop = 1 + text.count("\n", bounds[0], bounds[1])
        rest = lines[stop + 1 :]
        gap = rest.pop(0) if rest and not _bare(rest[0]) else ""
        return cls(bom, lines[0], lines[1:stop], text[bounds[0] : bounds[1]], lines[stop], gap, "".join(rest), newline)

    def joined(self, block: list[str], content: str | None) -> bytes:
        """The file with this block and, unless None, this content."""
        body = self.body if content is None else self._body(content)
        opening, closing, gap = self.opening, self.closing, self.gap
        if not opening and (block or body.startswith("---")):
            opening = closing = f"---{self.newline}"
            gap = self.newline
        elif opening and content is not None:
            new_body = not self.gap and not self.body
            gap = self.gap or (self.newline if new_body or content.startswith("\n") else "")
            closing = f"{_bare(closing)}{closing[len(_bare(closing)) :] or self.newline}"
        return f"{self.bom}{opening}{''.join(block)}{closing}{gap}{body}".encode(errors="surrogateescape")

    def _body(self, content: str) -> str:
        ended = not self.body or self.body[-1] in "\r\n" or content.endswith("\n")
        return (content + "\n" * ended).replace("\n", self.newline)


def _bare(line: str) -> str:
    return line.rstrip("\r\n")


def _edited_block(raw: _Raw, fields: Mapping[str, object], wanted: Mapping[str, object]) -> list[str]:
    block = _Block.of(raw)
    if block is None:
        kept = _merged(fields, wanted)
        return [f"{line}{raw.newline}" for key, value in kept.items() for line in field_lines(key, value)]
    changes: list[Change] = []
    added: list[str] = []
    for key, value in wanted.items():
        found = [entry for entry in block.entries if entry.key == key]
        if not found:
            added += field_lines(key, value, " " * block.indent)
        elif value is None:
            changes += [(entry.first, entry.stop, []) for entry in found]
        else:
            changes += _replacement(block, found[-1], fields[key], value)
    return [*_applied(raw, changes), *(f"{line}{raw.newline}" for line in added)]


def _applied(raw: _Raw, changes: list[Change]) -> list[str]:
    lines: list[str] = []
    position = 0
    for first, stop, new in sorted(changes, key=lambda change: change[:2]):
        lines += raw.block[position:first]
        lines += [f"{line}{raw.newline}" for line in new]
        position = stop
    return lines + raw.block[position:]


@dataclass(frozen=True, slots=True)
class _Entry:
    """One top-level field: offsets of its colon and of its value in the block's text, and its lines `[first, stop)`."""

    key: str
    colon: int
    start: int
    end: int
    first: int
    stop: int
    node: Any
    is_alias: bool

    @property
    def is_block(self) -> bool:
        """Whether the value is a list or mapping that stands on lines of its own."""
        return not self.is_alias and self.node.id != "scalar" and not self.node.flow_style

    @property
    def is_block_text(self) -> bool:
        return not self.is_alias and self.node.id == "scalar" and self.node.style in ("|", ">")


@dataclass(frozen=True, slots=True)
class _Block:
    """The block mapping of a file: `text` is what the marks point into, `lines` what is copied from."""

    text: str
    starts: list[int]
    lines: list[str]
    indent: int
    entries: list[_Entry]

    @classmethod
    def of(cls, raw: _Raw) -> _Block | None:
        """None when the fields do not stand on lines of their own (`{a: 1, b: 2}`, `? key`)."""
        tree = read_tree(raw.text)
        texts = tree.text.split("\n")
        starts = list(accumulate((len(line) + 1 for line in texts), initial=0))[:-1]
        lines = [texts[number] if number in tree.repaired else _bare(line) for number, line in enumerate(raw.block)]
        if tree.node is None:
            return cls(tree.text, starts, lines, 0, [])
        if tree.node.id != "mapping" or tree.node.flow_style:
            return None
        entries = list(_entries(tree.node, tree.text, starts))
        heads = {_before(key.start_mark.index, tree.text) for key, _ in tree.node.value}
        if len(entries) < len(tree.node.value) or len(heads) > 1 or any(head.strip(" ") for head in heads):
            return None
        return cls(tree.text, starts, lines, len(heads.pop()), entries)

    def head(self, offset: int) -> str:
        """The line of an offset up to it, as it stands in the file."""
        return self.lines[self.line(offset)][: self._column(offset)]

    def tail(self, offset: int) -> str:
        """The line of an offset from it on."""
        return self.lines[self.line(offset)][self._column(offset) :]

    def line(self, offset: int) -> int:
        """The number of the line of an offset."""
        return bisect_right(self.starts, offset) - 1

    def is_item(self, number: int, dash: str) -> bool:
        """Whether a line starts with this indented dash."""
        start = self.starts[number]
        return self.text.startswith(dash, start) and self.text[start + len(dash)].isspace()

    def _column(self, offset: int) -> int:
        return offset - self.starts[self.line(offset)]


def _before(offset: int, text: str) -> str:
    """The line of an offset up to it."""
    return text[text.rfind("\n", 0, offset) + 1 : offset]


def _entries(node: Any, text: str, starts: list[int]) -> Iterator[_Entry]:
    position = 0
    for key, value in node.value:
        if key.id != "scalar" or key.start_mark.index < position or (colon := text.find(":", key.end_mark.index)) < 0:
            return
        is_alias = value.start_mark.index < key.start_mark.index
        end = _end(value, text, colon + 1)
        start = end - len(text[colon + 1 : end].lstrip()) if is_alias else value.start_mark.index
        first, stop = bisect_right(starts, key.start_mark.index) - 1, bisect_right(starts, end)
        yield _Entry(key.value, colon, start, end, first, stop, value, is_alias)
        position = end


def _end(node: Any, text: str, after: int) -> int:
    """The offset behind the last character of a value that begins at or behind `after`.

    The end mark of a block collection lies behind the comments and empty lines that follow it, so its last part counts.
    """
    start = int(node.start_mark.index)
    if start < after:  # an alias: the node stands where its anchor is
        match = _ALIAS.match(text, after)
        return match.end() if match else after
    if node.id == "scalar" and node.style in ("|", ">"):
        return start + len(text[start : node.end_mark.index].rstrip())
    if node.id == "scalar" or node.flow_style:
        return int(node.end_mark.index)
    end = start
    for part in node.value:
        if node.id == "mapping":
            end = _end(part[0], text, end)
            end = _end(part[1], text, text.index(":", end) + 1)
        else:
            end = _end(part, text, end)
    return end


def _replacement(block: _Block, entry: _Entry, old: object, new: object) -> list[Change]:
    if isinstance(old, list) and isinstance(new, list) and new and entry.is_block:
        return _list_changes(block, entry, old, new)
    if isinstance(old, list) and old and isinstance(new, list) and not entry.is_block:
        text = flow(new)
    else:
        header, *items = field_lines("", new, " " * block.indent)
        if items:
            return [(entry.first, entry.stop, [_header(block, entry), *items])]
        text = header.partition(":")[2][1:]
    if entry.is_block:
        head = block.head(entry.colon + 1)
        return [(entry.first, entry.stop, [f"{head} {text}{_comment(block, entry)}"])]
    head = block.head(entry.start)
    tail = _comment(block, entry) if entry.is_block_text else block.tail(entry.end)
    space = " " if head.endswith(":") else ""
    lines = [*block.lines[entry.first : block.line(entry.start)], f"{head}{space}{text}{tail}"]
    return [(entry.first, entry.stop, lines)]


def _header(block: _Block, entry: _Entry) -> str:
    """The line `key:` with the comment of the line it replaces."""
    return block.head(entry.colon + 1) + _comment(block, entry)


def _comment(block: _Block, entry: _Entry) -> str:
    """The trailing comment of a field: of its first line when the value is a block, else of its last line."""
    if entry.is_block or entry.is_block_text:
        line = block.lines[entry.first]
        match = _COMMENT.search(line, len(block.head(entry.colon + 1)))
        return match[0] if match and entry.first < entry.stop - 1 else ""
    return block.tail(entry.end)


def _list_changes(block: _Block, entry: _Entry, old: list[object], new: list[object]) -> list[Change]:
    """Changes that keep the lines of the items that stay, with their comments, and drop or add those of the others."""
    spans = _item_spans(block, entry)
    dash = block.lines[spans[0][0]].partition("-")[0] + "- "
    matcher = SequenceMatcher(None, list(map(repr, old)), list(map(repr, new)), autojunk=False)
    changes: list[Change] = []
    for kind, old_first, old_stop, new_first, new_stop in matcher.get_opcodes():
        if kind == "equal":
            continue
        changes += [(first, stop, []) for first, stop in spans[old_first:old_stop]]
        lines = [dash + block_value(item) for item in new[new_first:new_stop]]
        at = spans[old_first][0] if old_first < len(spans) else spans[-1][1]
        if lines:
            changes.append((at, at, lines))
    return changes


def _item_spans(block: _Block, entry: _Entry) -> list[tuple[int, int]]:
    """The lines `[first, stop)` of each item of a block list, comments between items left out."""
    stop = block.line(entry.node.start_mark.index)  # perhaps the line of the key, when the list has an anchor or a tag
    dash = _DASH.search(block.text, block.starts[stop])
    indent = dash[0] if dash else ""
    offset = 0
    spans: list[tuple[int, int]] = []
    for item in entry.node.value:
        first = next(number for number in range(stop, len(block.starts)) if block.is_item(number, indent))
        offset = _end(item, block.text, max(offset, block.starts[first] + len(indent)))
        stop = block.line(offset) + 1
        spans.append((first, stop))
    return spans

"""The bytes of an observation file as a Document: canonical files the fast way, all others by YAML, with one meaning.

Knows nothing of files on disk or of the fields' meaning.
"""

from __future__ import annotations

from dataclasses import dataclass

from grail_mem.model.problem import Problem
from grail_mem.store.frontmatter_canonical import parse_canonical
from grail_mem.store.frontmatter_text import OPENING, body_content, decode, split
from grail_mem.store.frontmatter_yaml import key_and_rest, read_fields, read_tree


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
    fast = parse_canonical(text)
    if fast is not None:
        return Document(fast[0], fast[1], has_frontmatter=True, problems=problems)
    return parse_any(text, problems)


def key_line(data: bytes, key: str) -> int:
    """The 1-based line of a top-level key in a file, the last one when it is repeated; 0 when it is not there."""
    text, _ = decode(data)
    bounds = split(text)
    lines = text[bounds[0] : bounds[1]].split("\n") if bounds else []
    keys = {found[0]: number for number, line in enumerate(lines, 2) if (found := key_and_rest(line))}
    return keys.get(key, 0)


def parse_any(text: str, problems: tuple[Problem, ...]) -> Document:
    """The text of a file as a Document by YAML alone, after the warnings of its decoding."""
    bounds = split(text)
    if bounds is None:
        if OPENING.match(text) or text == "---":
            problems += (_UNCLOSED,)
        return Document({}, text.removesuffix("\n"), has_frontmatter=False, problems=problems)
    start, end, body = bounds
    tree = read_tree(text[start:end])
    fields, found = read_fields(tree)
    problems += tree.problems + found
    return Document(fields, body_content(text[body:]), has_frontmatter=True, problems=problems)


_UNCLOSED = Problem(
    "unclosed_frontmatter",
    "The file starts with --- but no later line closes it; the whole file is read as content.",
    line=1,
    remedy="Put a line --- below the last field.",
    severity="warning",
)

"""The text of an observation file: bytes to characters, fences, and the error for what cannot be read.

Knows nothing of keys, values or YAML.
"""

from __future__ import annotations

import re

from grail_mem.errors import InputError
from grail_mem.model.problem import Problem

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

SURROGATES = "\ud800-\udfff"
NOT_TEXT = re.compile(rf"[\x00{SURROGATES}]")

OPENING = re.compile(r"---[ \t]*\n")
_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.MULTILINE)


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
        problems = (replaced(text, NOT_TEXT),)
        text = NOT_TEXT.sub("\ufffd", text)
    return text, problems


def split(text: str) -> tuple[int, int, int] | None:
    """Where the block between the fences starts and ends, and where the body starts; None without closed frontmatter.

    Not python-frontmatter's own split: it also takes indented fences and `-----`, and so would eat a body that starts
    with a rule.
    """
    opening = OPENING.match(text)
    closing = _CLOSING.search(text, opening.end()) if opening else None
    return (opening.end(), closing.start(), closing.end()) if opening and closing else None


def clean_text(text: str) -> str:
    """Text that UTF-8, YAML and every table take: NUL and lone surrogates replaced, newlines LF."""
    text = NOT_TEXT.sub("\ufffd", text)
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def body_content(body: str) -> str:
    """The content of a body below a fence: one leading empty line and one last newline dropped."""
    return body.removeprefix("\n").removesuffix("\n")


def replaced(text: str, pattern: re.Pattern[str], first_line: int = 1) -> Problem:
    """The warning that what the pattern matches was read as U+FFFD; `first_line` is the line where the text starts."""
    match = pattern.search(text)
    return Problem(
        "replaced_characters",
        "The file holds characters that are not text; they are read as U+FFFD.",
        line=first_line + text.count("\n", 0, match.start() if match else 0),
        remedy="Save the file as UTF-8 without control characters.",
        severity="warning",
    )

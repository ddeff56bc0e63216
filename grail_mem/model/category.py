"""Categories: the rule for a folder path on write, its form for comparing, and the globs that pick folders.

Knows nothing of files on disk or SQL; nothing here looks whether a folder exists.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from grail_mem.errors import InputError

__all__ = ["IGNORED_FOLDERS", "CategoryGlob", "category_key", "clean_category", "communities", "compile_glob"]

IGNORED_FOLDERS = frozenset({"node_modules", "__pycache__"})
"""Folders of other tools, compared without case: never scanned, hence never a category either."""

MAX_CHARS = 400
MAX_LEVELS = 20
MAX_SEGMENT_CHARS = 100
MAX_SEGMENT_BYTES = 200
_KEPT = 1024
"""Accepted categories kept, since most writes go to few folders; chosen."""
# Longer input is refused unread: normalising a long run of combining marks takes quadratic time.
_MAX_READ = 10 * MAX_CHARS

_CATEGORY_HINT = "Write folder names joined by /, such as work/clients/acme."
_GLOB_HINT = "Write a folder or a glob, such as work/clients/acme, work/*/acme or work/clients/acme/**."

# Windows keeps these names for devices, with any extension: "Naming Files, Paths, and Namespaces", Microsoft Learn.
_RESERVED = re.compile(r"(?is)(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])\s*(?:\..*)?")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_INVISIBLE = re.compile("[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]")
_GLOB_RULES = (
    (re.compile(r"\A/"), "it starts with '/', and a category is relative"),
    (re.compile(r"\\"), "it holds a backslash"),
    (_CONTROL, "it holds a control character or line break"),
)
_PATH_RULES = (
    *_GLOB_RULES,
    (re.compile(r"\A~"), "it starts with '~'"),
    (re.compile(r"\A[A-Za-z]:"), "it starts with a drive letter"),
    (re.compile(r'[<>:"|?*]'), 'it holds one of < > : " | ? *, which some systems forbid in names'),
    # Double encoding (%252e) counts: whoever decodes twice would see the dot.
    (re.compile(r"(?i)%(?:25)*(?:2e|2f|5c|00)"), "it holds a percent-encoded dot, slash or backslash"),
    (_INVISIBLE, "it holds an invisible or text-direction character"),
)


def clean_category(text: str) -> str:
    """Take a category as a caller wrote it and return the folder path to write to, or refuse it with every reason.

    Spaces at both ends and slashes at the end are dropped and the path is put in NFC; nothing else is repaired. What
    remains must be safe below `memories/` on Linux, macOS and Windows alike, and must look like what it is.

    Returns:
        One to 20 folder names joined by `/`; cleaning it again changes nothing.

    Raises:
        InputError: One entry in `problems` for each rule broken.

    Example:
        >>> clean_category(" work/clients/acme/ ")
        'work/clients/acme'
        >>> clean_category("../etc")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        grail_mem.errors.InputError: '../etc' is not a category: '..' is not a folder name. Write ...
    """
    if not isinstance(text, str):
        raise InputError(f"A category must be text, not {type(text).__name__}.", hint=_CATEGORY_HINT)
    if len(text) > _MAX_READ:
        raise InputError(_refusal(text, f"it is longer than {MAX_CHARS} characters"), hint=_CATEGORY_HINT)
    return _clean_category(text)


@lru_cache(maxsize=_KEPT)
def _clean_category(text: str) -> str:
    path = unicodedata.normalize("NFC", text).lstrip(" ").rstrip("/ ")
    reasons = list(dict.fromkeys(_path_reasons(path)))
    if reasons:
        problems = [_refusal(text, reason) for reason in reasons]
        raise InputError(_refusal(text, "; ".join(reasons)), hint=_CATEGORY_HINT, problems=problems)
    return path


def category_key(text: str) -> str:
    r"""Take a category and return its form for comparing: NFC, case folded; a fixed point.

    Example:
        >>> category_key("Work/Café") == category_key("work/cafe\u0301")
        True
    """
    if text.isascii():
        return text.lower()
    key = unicodedata.normalize("NFC", unicodedata.normalize("NFD", text).casefold())
    # Folding a composed letter can yield one that folds again; two rounds settle every code point (tested).
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", key).casefold())


def communities(category: str) -> tuple[str, ...]:
    """Take a category and return every folder on its path, outermost first: the communities it belongs to.

    Example:
        >>> communities("work/clients/acme")
        ('work', 'work/clients', 'work/clients/acme')
    """
    if not category:
        return ()
    parts = category.split("/")
    return tuple("/".join(parts[: level + 1]) for level in range(len(parts)))


@dataclass(frozen=True, slots=True)
class CategoryGlob:
    """A pattern that picks categories; `compile_glob` makes it.

    Attributes:
        pattern: As the caller wrote it.
        prefix: The literal folders the pattern starts with, as `category_key`; every match is this folder or below it.
        is_subtree: True when the pattern picks exactly `prefix` and everything below; never for an empty `prefix`.
    """

    pattern: str
    prefix: str
    is_subtree: bool
    _parts: tuple[re.Pattern[str] | None, ...] = field(repr=False)  # None is `**`: any number of levels

    def matches(self, category: str) -> bool:
        """Take a category (the root is the empty one) and return whether the pattern picks it.

        Example:
            >>> compile_glob("work/*/acme").matches("Work/Clients/ACME/2026")
            True
        """
        key = category_key(category)
        if self.is_subtree:
            return key == self.prefix or key.startswith(self.prefix + "/")
        # All positions the pattern can be in are followed at once, so the cost is levels times parts at worst.
        reached = self._skip({0})
        for segment in key.split("/") if key else ():
            reached = self._skip(set(self._step(reached, segment)))
            if not reached:
                return False
        return len(self._parts) in reached

    def _step(self, reached: set[int], segment: str) -> Iterator[int]:
        """Take positions in the pattern and the next segment and yield the positions after it."""
        for at in reached:
            if at < len(self._parts):
                part = self._parts[at]
                if part is None:
                    yield at
                elif part.fullmatch(segment):
                    yield at + 1

    def _skip(self, reached: set[int]) -> set[int]:
        """Take positions and return them with those behind a `**`, which may stand for no level at all."""
        return reached | {at + 1 for at in reached if at < len(self._parts) and self._parts[at] is None}


def compile_glob(pattern: str) -> CategoryGlob:
    """Take a category glob and return it ready to match.

    A plain folder, and one followed by `/**`, means that folder and everything below. `*` is one level, or a part of
    one folder name (`cli*`); a pattern that ends in the segment `*` means exactly that level. The segment `**` is any
    number of levels, none included, so `**/acme` means every folder named acme and all below, and `**` everything. `?`
    is one character of the folded name. Brackets mean themselves. Both sides are compared as `category_key`.

    Raises:
        InputError: The pattern is empty, absolute, longer than 400 characters, or holds an empty, `.` or `..` segment,
            a backslash or a control character.

    Example:
        >>> compile_glob("work/*").matches("work/clients"), compile_glob("work/*").matches("work/clients/acme")
        (True, False)
    """
    if not isinstance(pattern, str):
        raise InputError(f"A category glob must be text, not {type(pattern).__name__}.", hint=_GLOB_HINT)
    if len(pattern) > MAX_CHARS:
        raise InputError(f"A category glob may have {MAX_CHARS} characters, not {len(pattern)}.", hint=_GLOB_HINT)
    path = pattern.lstrip(" ").rstrip("/ ")
    reasons = list(_glob_reasons(path))
    if reasons:
        problems = [_refusal(pattern, reason, "category glob") for reason in reasons]
        message = _refusal(pattern, "; ".join(reasons), "category glob")
        raise InputError(message, hint=_GLOB_HINT, problems=problems)
    segments = ["**" if re.fullmatch(r"\*{2,}", segment) else segment for segment in category_key(path).split("/")]
    if segments[-1] not in ("*", "**"):
        segments.append("**")
    segments = [segment for at, segment in enumerate(segments) if segment != "**" or segments[at - 1 : at] != ["**"]]
    literal = next(at for at, segment in enumerate([*segments, "*"]) if "*" in segment or "?" in segment)
    parts = tuple(None if segment == "**" else _segment_regex(segment) for segment in segments)
    return CategoryGlob(pattern, "/".join(segments[:literal]), literal > 0 and segments[literal:] == ["**"], parts)


def _segment_regex(segment: str) -> re.Pattern[str]:
    """Take one glob segment and return its regex, which never backtracks into an earlier star.

    The first place where the text after a star fits is always good enough, since a later star can eat the rest; so each
    star and the text after it is one atomic group, as in `fnmatch.translate`.
    """
    texts = re.split(r"\*+", segment)
    head, *rest = ("".join("." if char == "?" else re.escape(char) for char in text) for text in texts)
    if not rest:
        return re.compile(head, re.DOTALL)
    *middle, tail = rest
    return re.compile(head + "".join(f"(?>.*?{part})" for part in middle) + ".*" + tail, re.DOTALL)


def _path_reasons(path: str) -> Iterator[str]:
    """Take a path in NFC and yield why it cannot be a category."""
    if not path:
        yield "it is empty"
        return
    yield from (reason for rule, reason in _PATH_RULES if rule.search(path))
    if len(path) > MAX_CHARS:
        yield f"it is longer than {MAX_CHARS} characters"
    segments = path.removeprefix("/").split("/")
    if len(segments) > MAX_LEVELS:
        yield f"it has {len(segments)} levels, and {MAX_LEVELS} is the most"
    for segment in segments:
        yield from _segment_reasons(segment)


def _segment_reasons(segment: str) -> Iterator[str]:
    """Take one folder name and yield why it cannot be one."""
    if not segment:
        yield "it holds an empty folder name"
        return
    if segment in (".", ".."):
        yield f"{segment!r} is not a folder name"
        return
    name = repr(segment[:MAX_SEGMENT_CHARS])
    if segment.startswith("."):
        yield f"{name} starts with a dot, so it would be hidden"
    if segment.endswith("."):
        yield f"{name} ends in a dot"
    if segment != segment.strip():
        yield f"{name} starts or ends with a space"
    if _RESERVED.fullmatch(segment):
        yield f"{name} is a device name on Windows"
    if segment.casefold() in IGNORED_FOLDERS:
        yield f"{name} is a folder of other tools, which is never read"
    if len(segment) > MAX_SEGMENT_CHARS or len(segment.encode("utf-8", "surrogatepass")) > MAX_SEGMENT_BYTES:
        yield f"{name} is longer than {MAX_SEGMENT_CHARS} characters or {MAX_SEGMENT_BYTES} bytes"


def _glob_reasons(path: str) -> Iterator[str]:
    """Take a pattern and yield why it cannot be a glob."""
    if not path:
        yield "it is empty"
        return
    yield from (reason for rule, reason in _GLOB_RULES if rule.search(path))
    segments = path.removeprefix("/").split("/")
    if not {"", ".", ".."}.isdisjoint(segments):
        yield "it holds an empty, '.' or '..' segment"


def _refusal(text: str, reason: str, what: str = "category") -> str:
    """Take the input, why it cannot be used and what it was to be, and return the message."""
    return f"{text[:100]!r} is not a {what}: {reason}."

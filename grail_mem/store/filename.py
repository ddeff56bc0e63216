"""File names: what an observation's file is called, and which files and folders below `memories/` are read.

Knows nothing of what is inside a file, nor of whether it exists.
"""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime

from grail_mem.errors import InputError
from grail_mem.model.category import IGNORED_FOLDERS
from grail_mem.model.times import format_time

__all__ = ["date_in_name", "file_name", "fits_everywhere", "is_ignored_dir", "is_observation_file", "slug"]

MAX_TAIL = 64
_UNTITLED = "untitled"
_MAX_NAME_BYTES = 255  # of ext4, APFS and NTFS
_MAX_PATH_BYTES = 1024  # PATH_MAX of macOS, the least of the usual ones
# Only so much of a title is read: normalising a long run of combining marks takes quadratic time.
_MAX_TITLE_READ = 1000
# A cut inside a word moves back to the last word's end when no more than this share of the slug goes with it. Chosen.
_NEAR = 1 / 3
_NOT_WORD = re.compile("[^a-z0-9]+")
_ID = re.compile(r"[0-9A-Za-z_-]+")
# Bare digits may be any number, so there only years that people date notes with count.
_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})(?![0-9])|((?:19|20)[0-9]{2})([0-9]{2})([0-9]{2})(?![0-9])")


def slug(title: str, max_chars: int = 60, max_bytes: int = 120) -> str:
    """Take a title and return the part of a file name that stands for it, portable across systems.

    Lower case; letters and digits of any script stay, Latin ones without accents; marks stay on letters of other
    scripts; anything else becomes one `-`. Different titles may share a slug: the id in the name tells files apart.

    Args:
        title: Any text; the first 1000 characters are read.
        max_chars: Most characters of the result, at least 1.
        max_bytes: Most bytes of the result in UTF-8, at least 8.

    Returns:
        The slug in NFC, never empty (`untitled`); cut between words where one ends near, never inside a letter.

    Example:
        >>> slug("Café: why <Postgres> won?")
        'cafe-why-postgres-won'
    """
    if max_chars < 1 or max_bytes < len(_UNTITLED):
        raise InputError("A slug needs room: max_chars of at least 1 and max_bytes of at least 8, such as 60 and 120.")
    if title.isascii():
        return (
            _cut(_NOT_WORD.sub("-", title[:_MAX_TITLE_READ].lower()).strip("-"), max_chars, max_bytes)
            or _UNTITLED[:max_chars]
        )
    kept: list[str] = []
    for char in unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", title[:_MAX_TITLE_READ]).lower()):
        if char.isalnum():
            kept.append(char)
        elif not unicodedata.category(char).startswith("M"):
            kept.append("-")
        elif kept and _carries_marks(kept[-1]):
            kept.append(char)
    words = re.sub("-+", "-", unicodedata.normalize("NFC", "".join(kept))).strip("-")
    return _cut(words, max_chars, max_bytes) or _UNTITLED[:max_chars]


def file_name(observed_at: datetime, title: str, id: str, tail: int = 6) -> str:  # noqa: A002  the word for it here
    """Take an observation's time, title and id and return its file name, `<YYYY-MM-DD>_<slug>_<id tail>.md`.

    Args:
        observed_at: Aware; the date is the one in UTC.
        title: Any text.
        id: Letters, digits, `-` and `_`, since it becomes part of a path.
        tail: How many characters of the id's end are used, 1 to 64; more when a shorter one is taken.

    Returns:
        A name of at most 200 bytes.

    Example:
        >>> file_name(datetime(2026, 6, 2, tzinfo=UTC), "Acme picked Postgres", "01JXYZ00000000000000ABCDEF")
        '2026-06-02_acme-picked-postgres_abcdef.md'
    """
    if not _ID.fullmatch(id):
        raise InputError(
            f"{id[:80]!r} cannot be part of a file name.",
            hint="Use an id of ASCII letters, digits, - and _, such as 01JXYZ00000000000000ABCDEF.",
        )
    if not 1 <= tail <= MAX_TAIL:
        raise InputError(f"A file name takes 1 to {MAX_TAIL} characters of the id, such as 6, not {tail}.")
    return f"{format_time(observed_at)[:10]}_{slug(title)}_{id[-tail:].lower()}.md"


def fits_everywhere(path: str) -> bool:
    """Whether a path relative to the root can be made on usual systems: 255 bytes a name, and 1,024 all of it.

    Example:
        >>> fits_everywhere("memories/a.md"), fits_everywhere(f"memories/{'é' * 128}.md")
        (True, False)
    """
    as_bytes = path.encode(errors="surrogateescape")
    return len(as_bytes) <= _MAX_PATH_BYTES and all(len(name) <= _MAX_NAME_BYTES for name in as_bytes.split(b"/"))


def date_in_name(name: str) -> datetime | None:
    """Take a file name and return the date it starts with, as midnight UTC; None when it starts with no valid date.

    `2026-06-02` counts for every year, `20260602` for 1900 to 2099; neither when another digit follows.

    Example:
        >>> date_in_name("2026-06-02 Meeting.md")
        datetime.datetime(2026, 6, 2, 0, 0, tzinfo=datetime.timezone.utc)
        >>> date_in_name("2026-02-30 Meeting.md")
    """
    match = _DATE.match(name)
    if match is None:
        return None
    year, month, day = (int(part) for part in match.groups() if part is not None)
    try:
        return datetime(year, month, day, tzinfo=UTC)
    except ValueError:
        return None


def is_observation_file(name: str) -> bool:
    """Take a file name and return whether it is read as an observation: the one rule for what is ignored.

    Read is what ends in `.md`, in any case, unless it starts with `.` (hidden), `~` or `#` (an editor's backup or lock)
    or ends in `.tmp.md` (a write under way). So `note.md~`, `note.md.swp` and `note.txt` are not read, while
    `_index.md` and the conflict copies of sync tools are, since they hold what somebody wrote.

    Example:
        >>> is_observation_file("Plan.MD"), is_observation_file(".plan.md"), is_observation_file("plan.md~")
        (True, False, False)
    """
    folded = name.lower()
    return folded.endswith(".md") and not folded.startswith((".", "~", "#")) and not folded.endswith(".tmp.md")


def is_ignored_dir(name: str) -> bool:
    """Take a folder name and return whether nothing below it is read: hidden, `node_modules` or `__pycache__`.

    Example:
        >>> is_ignored_dir(".obsidian"), is_ignored_dir("work")
        (True, False)
    """
    return name.startswith(".") or name.casefold() in IGNORED_FOLDERS


def _carries_marks(char: str) -> bool:
    """Take the last character kept and return whether marks after it are part of what is kept."""
    if unicodedata.category(char).startswith("M"):
        return True
    return char.isalpha() and not char.isascii() and not unicodedata.name(char, "").startswith("LATIN")


def _joins(char: str) -> bool:
    """Take a character and return whether it belongs to the letter before it: a mark or a conjoining Hangul part."""
    return unicodedata.category(char).startswith("M") or "\u1160" <= char <= "\u11ff"


def _cut(words: str, max_chars: int, max_bytes: int) -> str:
    """Take a slug of any length and return its start within both limits; empty when not even one letter fits."""
    end = len(words[:max_chars].encode()[:max_bytes].decode(errors="ignore"))
    if end == len(words):
        return words
    while end and _joins(words[end]):
        end -= 1
    word_end = words.rfind("-", 0, end + 1)
    if word_end >= end * (1 - _NEAR):
        end = word_end
    return words[:end].strip("-")

"""Transcripts on disk, one line a turn, and where evidence points: into one, or into a document.

A transcript is a few files, so that a long one need not be written anew for every turn. Lines that are torn or that
somebody broke are passed over. Knows nothing of evidence, and of writing only what a file shall hold.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from operator import is_
from threading import Lock
from typing import Any, Final, NamedTuple

from grail_mem.model.names import session_key
from grail_mem.store.filename import slug
from grail_mem.store.layout import CHATS, Layout, is_source_path
from grail_mem.store.receipt import mark_of, text_of_turn
from grail_mem.store.source_file import VERSION, forget_files, kept_as_read, listed

ROLES: Final = ("user", "assistant", "system", "tool")
PART_BYTES: Final = 256 * 1024
"""From this size on a transcript goes on in another file; chosen: rewriting so much costs less than syncing it."""
_RESERVED: Final = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])\Z")
_DIGESTED: Final = re.compile(r".*-[0-9a-f]{16}", re.DOTALL)
"""What the file of a session with a digest is called; a name of this form gets one of its own, or it would be another's."""
_TURN: Final = re.compile(r"(.*)#turn=([0-9]{1,10})", re.DOTALL)
_SESSIONS: Final = 8
"""Sessions whose turns are kept in order; chosen."""


class Locator(NamedTuple):
    """Where evidence points: a file of sources, and a turn where it is a transcript."""

    path: str
    turn: int | None = None

    def __str__(self) -> str:
        return self.path if self.turn is None else f"{self.path}#turn={self.turn}"


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of a transcript as its line says it, or a whole document: what a quote stands in.

    Attributes:
        number: Its place in the session, from 0; -1 for a document.
        id: By what it is known again.
        role: `user`, `assistant`, `system`, `tool`, or `document`.
        at: When, in UTC; empty when not known.
        revision: How often it was corrected.
        quoted: Whether it was recorded from a quote alone, without the rest of the session.
        path: The file in which it stands.
    """

    number: int
    id: str
    role: str
    text: str
    speaker: str = ""
    at: str = ""
    revision: int = 0
    quoted: bool = False
    path: str = ""

    @property
    def locator(self) -> Locator:
        """Where it stands."""
        return Locator(self.path, None if self.number < 0 else self.number)

    def line(self) -> bytes:
        """Its line, newline included."""
        said = {"turn": self.number, "id": self.id, "role": self.role, "speaker": self.speaker, "at": self.at}
        kept = {name: value for name, value in said.items() if value != ""}
        kept |= {"text": self.text, "sha256": digest(self.text)}
        kept |= {"revision": self.revision} if self.revision else {}
        kept |= {"quoted": True} if self.quoted else {}
        return json.dumps(kept, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


@dataclass(frozen=True, slots=True)
class Part:
    """One file of a transcript.

    Attributes:
        path: Relative to the root.
        session: The session's name.
        scope: Whose it is; None is the default scope.
        turns: Every line, former wordings of a turn before later ones.
        data: Its bytes.
        numbered: The lines of each turn.
        id: By what the ledger knows the transcript; empty where its first line gives none.
        erased: What stands in place of turns that were erased, by number; see `erased_line`.
    """

    path: str
    session: str
    scope: str | None
    turns: tuple[Turn, ...]
    data: bytes
    numbered: Mapping[int, tuple[Turn, ...]] = field(default_factory=dict)
    id: str = ""
    erased: Mapping[int, frozenset[str]] = field(default_factory=dict)

    @property
    def last(self) -> int:
        """The highest number of a turn, erased ones included; -1 when there is none."""
        return max((*self.numbered, *self.erased), default=-1)


def digest(text: str) -> str:
    """The SHA-256 of a text in UTF-8."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def parse_locator(text: str) -> Locator | None:
    """Where a text points; None when it does not point into the sources of a store."""
    found = _TURN.fullmatch(text)
    locator = Locator(found[1], int(found[2])) if found else Locator(text)
    if not is_source_path(locator.path) or locator.path.endswith(".meta.json"):
        return None
    return None if found and not is_chat(locator.path) else locator


def is_chat(path: str) -> bool:
    """Whether a source is a transcript."""
    return path.startswith(f"{CHATS}/")


def chat_stem(session: str, scope: str | None) -> str:
    """What the files of a session's transcript are called, before the first dot: portable, and another one for each scope.

    Example:
        >>> chat_stem("2026-06-02", None), chat_stem("Chat/1", None) == chat_stem("chat/1", None)
        ('2026-06-02', False)
    """
    key = session_key(session)
    name = slug(key)
    plain = name == key and key.isascii() and not _RESERVED.match(key) and not _DIGESTED.fullmatch(key)
    if scope is None and plain:
        return key
    return f"{name}-{sha256(json.dumps([scope, key]).encode()).hexdigest()[:16]}"


def part_path(stem: str, number: int) -> str:
    """The path of a part of a transcript; parts are numbered from 1."""
    return f"{CHATS}/{stem}.jsonl" if number == 1 else f"{CHATS}/{stem}.{number}.jsonl"


def part_head(session: str, scope: str | None, id_: str) -> bytes:
    """The first line of every part."""
    said = {"v": VERSION, "session": session_key(session), "id": id_} | ({"scope": scope} if scope is not None else {})
    return json.dumps(said, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def erased_line(number: int, mark: str) -> bytes:
    """What stands in place of a line of a turn that was erased.

    Args:
        number: The turn.
        mark: A digest that tells the very words from others under the same number, should git bring them back.
    """
    return json.dumps({"turn": number, "erased": mark}, separators=(",", ":")).encode() + b"\n"


def turn_in_line(line: bytes) -> Turn | None:
    """The turn in a line of a transcript; None when it is another line."""
    return _turn_in(_object(line))


def without_erased(data: bytes, path: str) -> bytes:
    """The bytes of a file of a transcript without the very turns that it says were erased, which a merge may have brought back."""
    if b'"erased"' not in data:
        return data
    part = part_in(data, path)
    kept = (line for line in data.splitlines(keepends=True) if not _came_back(line, part))
    return b"".join(kept)


def _came_back(line: bytes, part: Part) -> bool:
    turn = turn_in_line(line)
    marks = part.erased.get(turn.number) if turn is not None else None
    return turn is not None and marks is not None and _is_erased(turn, marks, part.session, part.scope)


def chat_paths(layout: Layout) -> list[str]:
    """The files of all transcripts, in order."""
    return listed(layout, CHATS)


def forget_read() -> None:
    """Let go of everything that was kept of what was read of sources."""
    forget_files()
    with _guard:
        _ordered.clear()


def read_session(layout: Layout, session: str, scope: str | None) -> list[Part]:
    """The transcript of a session, part by part; empty when there is none."""
    return _parts(layout, chat_stem(session, scope))


def session_at(layout: Layout, path: str) -> list[Part]:
    """The transcript of which a file is a part."""
    return _parts(layout, stem_of(path))


def stem_of(path: str) -> str:
    """What the files of a transcript are called, before the first dot, from the path of one."""
    return path.rpartition("/")[2].partition(".")[0]


def _parts(layout: Layout, stem: str) -> list[Part]:
    parts: list[Part] = []
    while (part := read_part(layout, part_path(stem, len(parts) + 1))) is not None:
        parts.append(part)
    return parts


def current_turns(parts: Sequence[Part]) -> list[Turn]:
    """The turns as last worded, in their order; merged copies may give one number to several.

    Kept for the sessions read lately, as long as their parts are the very ones, since a long session takes a while.
    """
    if not parts or not parts[0].data:
        return _in_order(parts)
    with _guard:
        known = _ordered.get(parts[0].path)
        if known is not None and len(known[0]) == len(parts) and all(map(is_, known[0], parts)):
            return known[1]
    turns = _in_order(parts)
    with _guard:
        _ordered.pop(parts[0].path, None)
        _ordered[parts[0].path] = (tuple(parts), turns)
        while len(_ordered) > _SESSIONS:
            _ordered.pop(next(iter(_ordered)))
    return turns


def _in_order(parts: Iterable[Part]) -> list[Turn]:
    latest: dict[str, Turn] = {}
    for turn in (turn for part in parts for turn in part.turns):
        known = latest.get(turn.id)
        latest[turn.id] = turn if known is None or turn.revision >= known.revision else known
    return sorted(latest.values(), key=lambda turn: turn.number)


def read_part(layout: Layout, path: str) -> Part | None:
    """One file of a transcript; None when it is not there.

    Raises:
        StoreError: It is there and cannot be read, or is a link.
    """
    part: Part | None = kept_as_read(layout, path, lambda data: part_in(data, path))
    return part


_guard: Final = Lock()
_ordered: dict[str, tuple[tuple[Part, ...], list[Turn]]] = {}


def part_in(data: bytes, path: str) -> Part:
    """A file of a transcript, from its bytes; of several first lines, as a merge leaves them, the first that fits its name counts."""
    heads: list[Head] = []
    turns: list[Turn] = []
    erased: dict[int, set[str]] = {}
    for number, line in enumerate(data.split(b"\n"), start=1):
        value = _object(line)
        if (head := _head_in(value, number)) is not None:
            heads.append(head)
        elif (mark := _erased_in(value)) is not None:
            erased.setdefault(mark[0], set()).add(mark[1])
        elif (turn := _turn_in(value)) is not None:
            turns.append(replace(turn, path=path))
    own = [head for head in heads if head.fits(path)]
    _, session, scope, id_ = (own or heads or [Head(1, "", None, "")])[0]
    turns = [t for t in turns if t.number not in erased or not _is_erased(t, erased[t.number], session, scope)]
    numbered: dict[int, tuple[Turn, ...]] = {}
    for turn in turns:
        numbered[turn.number] = (*numbered.get(turn.number, ()), turn)
    marks = {number: frozenset(some) for number, some in erased.items()}
    return Part(path, session, scope, tuple(turns), data, numbered, id_, marks)


class Head(NamedTuple):
    """What a first line of a transcript says: where it stands, from 1, the session's name, whose it is, and its id."""

    line: int
    session: str
    scope: str | None
    id: str

    def fits(self, path: str) -> bool:
        """Whether a file of that session is called so."""
        return stem_of(path) == chat_stem(self.session, self.scope)


def heads_in(data: bytes) -> list[Head]:
    """All first lines in a file of a transcript."""
    return [
        head
        for number, line in enumerate(data.split(b"\n"), start=1)
        if b'"session"' in line and (head := _head_in(_object(line), number)) is not None
    ]


def _head_in(value: Mapping[str, Any], line: int) -> Head | None:
    if "session" not in value or "turn" in value:
        return None
    session, scope, id_ = value["session"], value.get("scope"), value.get("id")
    return Head(
        line,
        session if isinstance(session, str) else "",
        scope if isinstance(scope, str) else None,
        id_ if isinstance(id_, str) else "",
    )


def lines_passed_over(data: bytes) -> list[int]:
    """The lines of a file of a transcript, from 1, that say nothing: torn ones, and those that somebody broke."""
    return [
        number for number, line in enumerate(data.split(b"\n"), start=1) if line.strip() and not _says(_object(line))
    ]


def _says(value: Mapping[str, Any]) -> bool:
    return _head_in(value, 0) is not None or _erased_in(value) is not None or _turn_in(value) is not None


def _is_erased(turn: Turn, marks: Iterable[str], session: str, scope: str | None) -> bool:
    """Whether these are the very words that were erased under this number, which a merge may have brought back."""
    said = text_of_turn(turn.text, session, scope)
    return any(mark == mark_of(mark.partition(".")[0], said) for mark in marks)


def _erased_in(value: Mapping[str, Any]) -> tuple[int, str] | None:
    number, mark = value.get("turn"), value.get("erased")
    return (number, mark) if type(number) is int and number >= 0 and isinstance(mark, str) else None


def _object(line: bytes) -> dict[str, Any]:
    try:
        value = json.loads(line) if line.strip() else None
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _turn_in(value: Mapping[str, Any]) -> Turn | None:
    number, revision = value.get("turn"), value.get("revision", 0)
    texts = [value.get(name, "") for name in ("id", "role", "text", "speaker", "at")]
    if type(number) is not int or type(revision) is not int or number < 0 or not all(type(t) is str for t in texts):
        return None
    id_, role, text, speaker, at = texts
    if not text or role not in ROLES:
        return None
    return Turn(number, id_ or f"turn-{number}", role, text, speaker, at, revision, value.get("quoted") is True)

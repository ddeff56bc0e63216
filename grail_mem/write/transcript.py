"""What a transcript shall hold: turns as callers send them, made into lines behind those that are there.

Knows nothing of files being written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from hashlib import sha256
from typing import Any, Final

from grail_mem.errors import ConflictError, InputError
from grail_mem.model.names import clean_text, session_key
from grail_mem.model.observation import MAX_TURN
from grail_mem.model.problem import Gather
from grail_mem.model.times import format_time, parse_time
from grail_mem.model.ulid import is_id, new_id
from grail_mem.settings import Settings
from grail_mem.store.receipt import Receipts, text_of_turn
from grail_mem.store.sources import (
    PART_BYTES,
    ROLES,
    Part,
    Turn,
    chat_stem,
    current_turns,
    part_head,
    part_path,
)
from grail_mem.write.screening import screened_source

FIELDS: Final = ("role", "speaker", "text", "at", "id", "partial", "correction")
MAX_ID: Final = 200
MAX_SPEAKER: Final = 1_000


@dataclass(frozen=True, slots=True)
class Sent:
    """A turn that can be used, as a caller sent it.

    Attributes:
        turn: The turn, not numbered yet.
        number: Its place in the call, from 1.
        has_id: Whether the caller gave the id.
        partial: Whether it is not final yet, as voice input is before a pause.
        correction: Whether it shall take the place of another wording.
    """

    turn: Turn
    number: int
    has_id: bool = True
    partial: bool = False
    correction: bool = False


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file of sources as it shall be, and as it is now.

    Attributes:
        path: Relative to the root.
        data: The bytes it shall have; None when it goes.
        former: The bytes it has; empty when it is not there.
        id: By what the ledger knows the source; it says nothing of it.
    """

    path: str
    data: bytes | None
    former: bytes = b""
    id: str = field(default_factory=new_id)


@dataclass(slots=True)
class Appended:
    """A transcript with more turns.

    Attributes:
        files: Bytes by path of every file that is new or longer.
        turns: The lines that are new, each with its number and file.
        n_turns: How many turns of the call stand in it.
        warnings: What was not taken.
        refused: Turns that were left out since they were erased.
        lifted: Digests of turns that were erased and are let in again, by receipt.
    """

    files: dict[str, bytes] = field(default_factory=dict)
    turns: list[Turn] = field(default_factory=list)
    n_turns: int = 0
    warnings: list[str] = field(default_factory=list)
    refused: list[Sent] = field(default_factory=list)
    lifted: dict[str, set[str]] = field(default_factory=dict)


def read_turns(values: Iterable[Any], settings: Settings) -> tuple[list[Sent], list[str]]:
    """The turns that can be used, and what is wrong with the others or was left out of one."""
    sent: list[Sent] = []
    warnings: list[str] = []
    untimed: list[int] = []
    said: dict[tuple[str, ...], int] = {}
    ids: dict[str, int] = {}
    for number, value in enumerate(values, start=1):
        try:
            one, remarks = _read_turn(value, number, settings)
        except InputError as error:
            warnings += [f"turn {number} was left out: {text}" for text in error.problems]
            continue
        warnings += [f"turn {number}: {text}" for text in remarks]
        one = one if one.has_id else _with_id(one, said)
        if not one.partial and not one.correction and (first := ids.setdefault(one.turn.id, number)) != number:
            warnings.append(f"turn {number} was left out: turn {first} has the same id {one.turn.id!r}.")
            continue
        if not one.turn.at:
            untimed.append(number)
        sent.append(one)
    return sent, warnings + _untimed(untimed)


def _untimed(numbers: Sequence[int]) -> list[str]:
    if not numbers:
        return []
    shown = ", ".join(map(str, numbers[:5])) + (f" and {len(numbers) - 5} more" if len(numbers) > 5 else "")  # noqa: PLR2004  as many as a line holds
    return [f"no time is given for turn {shown}; kept without one."]


def _read_turn(value: Any, number: int, settings: Settings) -> tuple[Sent, list[str]]:
    """One turn, and what of it is not used.

    Raises:
        InputError: It cannot be used; `problems` lists every reason.
    """
    if not isinstance(value, Mapping):
        raise InputError(f"a turn must be a mapping with role and text, not {type(value).__name__}.")
    remarks = [f"the field '{name}' is not kept." for name in map(str, value) if name not in FIELDS]
    gather = Gather()
    role = gather.read("role", value.get("role") or "", _role, "")
    text = gather.read("text", value.get("text") or "", lambda said: _text(said, settings, remarks), "")
    id_ = gather.read("id", value.get("id"), _id, None)
    partial, correction = (
        gather.read(name, value.get(name) or None, _flag, None) for name in ("partial", "correction")
    )
    if (correction or partial) and value.get("id") is None:
        gather.found.append("a turn that is partial or a correction needs an id.")
    if gather.found:
        raise InputError(" ".join(gather.found), problems=list(dict.fromkeys(gather.found)))
    speaker = _speaker(value.get("speaker"), remarks)
    turn = Turn(0, id_ or "", role, text, speaker, _time(value.get("at"), settings, remarks))
    return Sent(turn, number, id_ is not None, bool(partial), bool(correction)), remarks


def _role(value: Any) -> str:
    if value not in ROLES:
        raise InputError(f"role must be one of {', '.join(ROLES)}, not {value!r:.60}.")
    return str(value)


def _text(value: Any, settings: Settings, remarks: list[str]) -> str:
    if not isinstance(value, str):
        raise InputError(f"text must be text, not {type(value).__name__}.")
    text, replaced = clean_text(value)
    if not text.strip():
        raise InputError("text is empty.")
    if (size := len(text.encode())) > settings.max_content_bytes:
        raise InputError(
            f"text is {size} bytes long; the setting max_content_bytes allows {settings.max_content_bytes}."
        )
    text, found = screened_source("text", text, settings)
    remarks += found
    if replaced:
        remarks.append("text held NUL characters or half surrogate pairs; they became U+FFFD.")
    return text


def _id(value: Any) -> str:
    text = str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""
    text = clean_text(text)[0].strip()
    if not text or len(text) > MAX_ID:
        raise InputError(f"id must be text of 1 to {MAX_ID} characters.")
    return text


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise InputError("must be true or false.")
    return value


def _speaker(value: Any, remarks: list[str]) -> str:
    if value is None:
        return ""
    if not isinstance(value, str) or len(value) > MAX_SPEAKER:
        remarks.append("speaker is no name; it is left out.")
        return ""
    return " ".join(clean_text(value)[0].split())


def _time(value: Any, settings: Settings, remarks: list[str]) -> str:
    if value is None:
        return ""
    try:
        if isinstance(value, str | date):
            return format_time(parse_time(value, zone=settings.zone))
    except InputError:
        pass
    remarks.append(f"at {value!r:.60} is not a time; write it like 2026-06-02T14:23:00Z.")
    return ""


def _with_id(sent: Sent, said: dict[tuple[str, ...], int]) -> Sent:
    """A turn without an id is known again by what it says and how often that was said before in the same call."""
    what = (sent.turn.role, sent.turn.speaker, sent.turn.at, sent.turn.text)
    said[what] = said.get(what, 0) + 1
    return replace(sent, turn=replace(sent.turn, id=derived_id(*what, str(said[what]))))


def derived_id(*what: str) -> str:
    """The id of a turn that was given none."""
    return f"said-{sha256(chr(0).join(what).encode('utf-8', 'surrogatepass')).hexdigest()[:20]}"


def require_own(parts: Sequence[Part], session: str, scope: str | None) -> None:
    """Refuse to write into a transcript of another session.

    Raises:
        ConflictError: The file's first line names another one, or none.
    """
    for part in parts:
        if (part.session, part.scope) != (session_key(session), scope):
            raise ConflictError(
                f"{part.path} is not the transcript of the session {session!r}: its first line names "
                f"{part.session!r}{f' in {part.scope}' if part.scope else ''}.",
                hint="Move that file away, or name the session otherwise.",
            )


def append(
    parts: Sequence[Part],
    sent: Sequence[Sent],
    *,
    session: str,
    scope: str | None,
    receipts: Receipts,
    again: bool = False,
) -> Appended:
    """What the files of a transcript hold when turns are added to it.

    A turn that is there already adds nothing; another wording of one is a new line behind it when it says that it is a
    correction, and is left out otherwise. So is one of another role, and one that was erased, unless it is told again on
    purpose.

    Raises:
        InputError: The session would have too many turns.
    """
    made = Appended()
    id_ = next((part.id for part in parts if is_id(part.id)), "") or new_id()
    lines = _Lines(parts, chat_stem(session, scope), part_head(session, scope, id_))
    known = {turn.id: turn for turn in current_turns(parts)}
    next_number = max((part.last for part in parts), default=-1) + 1
    for one in sent:
        turn = one.turn
        there = known.get(turn.id)
        if there is not None and (there.role, there.text) == (turn.role, turn.text):
            made.n_turns += 1
            continue
        if there is not None and there.role != turn.role:  # else anybody's words could become the user's
            made.warnings.append(
                f"turn {one.number} was left out: {turn.id!r} is there as words of the role '{there.role}'; "
                "a correction changes the words and never the role."
            )
            continue
        if (there is None or one.correction) and (told := _told(receipts, turn, session, scope)):
            if not again:
                made.refused.append(one)
                continue
            for receipt, digests in told.items():
                made.lifted.setdefault(receipt, set()).update(digests)
        if there is None:
            turn, next_number = replace(turn, number=next_number), next_number + 1
            if turn.number > MAX_TURN:
                raise InputError(f"A session has at most {MAX_TURN} turns.")
        elif one.correction:
            turn = replace(turn, number=there.number, revision=there.revision + 1)
        else:
            made.warnings.append(
                f"turn {one.number} was left out: {turn.id!r} is there with other words; "
                "a turn with `correction: true` takes their place."
            )
            continue
        known[turn.id] = turn
        made.turns.append(replace(turn, path=lines.add(turn.line())))
        made.n_turns += 1
    made.files = {path: bytes(data) for path, data in lines.files.items()}
    return made


def _told(receipts: Receipts, turn: Turn, session: str, scope: str | None) -> dict[str, set[str]]:
    return receipts.told(text_of_turn(turn.text, session_key(session), scope))


class _Lines:
    """Lines behind those of a transcript, in its last file or further ones."""

    def __init__(self, parts: Sequence[Part], stem: str, head: bytes) -> None:
        self.files: dict[str, bytearray] = {}
        self._stem, self._head = stem, head
        self._number = max(len(parts), 1)
        self._last = bytearray(parts[-1].data if parts else head)
        if not self._last.endswith(b"\n"):  # a line that was torn, or that somebody wrote
            self._last += b"\n"

    def add(self, line: bytes) -> str:
        """Put a line behind the others; returns in which file it stands."""
        if len(self._last) >= PART_BYTES:
            self._number, self._last = self._number + 1, bytearray(self._head)
        path = part_path(self._stem, self._number)
        self.files[path] = self._last
        self._last += line
        return path

"""Retention: transcripts whose term has ended lose the turns that no evidence needs.

The term of a transcript ends so many days after its last turn. What goes, goes as an erased turn does, through the same
journal, ledger and sweep; but no receipt keeps it out unless that is asked for. Knows nothing of observations but their
evidence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from itertools import chain
from typing import Any, Final

from grail_mem.errors import InputError
from grail_mem.model.problem import Problem
from grail_mem.model.times import format_time, from_us, parse_time
from grail_mem.model.ulid import id_time, is_id, new_id
from grail_mem.query.due import Due
from grail_mem.query.view import View
from grail_mem.settings import MAX_RETENTION_DAYS
from grail_mem.store.files import read_file
from grail_mem.store.layout import CHATS
from grail_mem.store.ledger import decisions, history
from grail_mem.store.ledger_line import ERASE, INGEST, Entry
from grail_mem.store.sources import Part, parse_locator, part_path, stem_of
from grail_mem.write.candidates import UNCLOSED, damaged, waiting
from grail_mem.write.erase import Erased, Found, carry_out, receipts_of
from grail_mem.write.held_sources import Held
from grail_mem.write.selection import everything
from grail_mem.write.traces import traces_of
from grail_mem.write.unsaid import unneeded
from grail_mem.write.unsaying import Unsaid, read_partial

_NOTHING: Final = b"\0-. \r\n\t"
"""What is left of a file of which nothing is left: the marks of frontmatter among it."""
_CLOCKS: Final = timedelta(days=1)
"""How far the clocks of two clones may differ; chosen."""


@dataclass(frozen=True, slots=True)
class Transcript:
    """A transcript whose term has ended or ends.

    Attributes:
        path: Its first file, relative to the root.
        session: The session.
        scope: Whose it is; None is the default scope.
        last_at: When its last turn was said; where no turn tells, when it was last ingested.
        ends_at: When its term ends.
        n_turns: Its turns, each wording of one counted once.
        quoted: Its turns on which evidence rests, as locators, with the ids of the observations and candidates.
    """

    path: str
    session: str
    scope: str | None
    last_at: str
    ends_at: str
    n_turns: int
    quoted: dict[str, tuple[str, ...]]

    @property
    def n_going(self) -> int:
        """The turns that no evidence needs."""
        return self.n_turns - len(self.quoted)

    def to_dict(self) -> dict[str, Any]:
        """The transcript as plain JSON values."""
        return {
            "path": self.path, "session": self.session, "scope": self.scope, "last_at": self.last_at, "ends_at": self.ends_at,
            "n_turns": self.n_turns, "n_going": self.n_going, "quoted": {name: list(ids) for name, ids in self.quoted.items()},
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Retained:
    """What went of transcripts whose term has ended, or would.

    Attributes:
        days: The term.
        transcripts: Those whose term has ended, the oldest first; such of which nothing goes among them.
        turns: Turns that went, as locators.
        n_unfinished: Turns that never became final and went, too.
        files: Files of transcripts that went, relative to the root.
        n_bytes: How much smaller the transcripts are.
        n_lines: Lines of the ledger about these files that were emptied.
        undated: Transcripts of which nothing tells how old they are; they stay.
        doubtful: Transcripts whose term has ended and that a file may quote of which not all can be read; they stay.
        unreadable: These files, relative to the root.
        beyond: Known places outside the store's files that may still hold it.
        kept_out: Whether receipts keep what went from being ingested again.
        reason: As it stands in the ledger.
        dry_run: Whether nothing was changed.
    """

    days: int
    transcripts: tuple[Transcript, ...]
    turns: tuple[str, ...]
    n_unfinished: int
    files: tuple[str, ...]
    n_bytes: int
    n_lines: int
    undated: tuple[str, ...]
    doubtful: tuple[str, ...]
    unreadable: tuple[str, ...]
    beyond: tuple[str, ...]
    kept_out: bool
    reason: str
    dry_run: bool

    def to_dict(self) -> dict[str, Any]:
        """The result as plain JSON values."""
        values = {name: getattr(self, name) for name in Retained.__slots__}
        plain = {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
        return plain | {"transcripts": [one.to_dict() for one in self.transcripts]}


def retain(
    view: View, *, days: object, now: datetime, reason: str, actor: str, keep_out: bool = False, dry_run: bool = False
) -> Retained:
    """Take the turns that no evidence needs out of transcripts whose term has ended.

    Args:
        view: The store.
        days: The term; None for the setting `retention_days`.
        now: The time of the asking.
        reason: Why, for the ledger.
        actor: Who does it.
        keep_out: Write receipts, so that the turns are refused when they are ingested or imported again.
        dry_run: Only say what would go.

    Raises:
        InputError: There is no term, or it is no number of days.
        StoreError: It is gone, but the disk did not let every trace be removed; the next writer goes on.
    """
    term = _term(view, days)
    said = reason.strip() or f"retention: {term} days"
    planned = _planned(view, term, now, keep_out=keep_out)

    def find() -> Found:
        nonlocal planned
        planned = _planned(view, term, now, keep_out=keep_out)
        return Found(traces_of(view, (), planned.unsaid, said), planned.unsaid, [], ())

    if dry_run or planned.unsaid.is_nothing:
        done = carry_out(view, find, _line, reason=said, actor=actor, dry_run=True)
        return _retained(planned, done, term, keep_out=keep_out, dry_run=dry_run)
    done = carry_out(view, find, receipts_of if keep_out else _line, reason=said, actor=actor, dry_run=False)
    return _retained(planned, done, term, keep_out=keep_out, dry_run=False)


def due_transcripts(view: View, *, now: datetime, within: timedelta) -> list[Due]:
    """Transcripts of which something goes when their term ends, which has happened or happens soon; the most urgent first.

    Args:
        view: The store, brought up to date.
        now: The time of the asking.
        within: How far ahead is looked.
    """
    days = view.settings.retention_days
    if not days:
        return []
    planned = _planned(view, days, now + within, keep_out=False)
    ids = {part.path: part.id for _, parts in planned.held.chats() for part in parts[:1]}
    return [
        Due(ids.get(one.path, ""), one.session, "", one.path, (("term", one.ends_at),))
        for one in planned.transcripts
        if one.n_going and view.access.may("read", one.scope)
    ]


@dataclass(frozen=True, slots=True)
class _Planned:
    held: Held
    transcripts: tuple[Transcript, ...]
    undated: tuple[str, ...]
    doubtful: tuple[str, ...]
    unreadable: tuple[str, ...]
    unsaid: Unsaid
    n_unfinished: int


def _term(view: View, days: object) -> int:
    if days is None and not view.settings.retention_days:
        raise InputError(
            "No term is set for transcripts, so nothing was looked at.",
            hint="Set `retention_days` in grail.yaml, or name one: `--days 90`.",
        )
    term = view.settings.retention_days if days is None else days
    if not isinstance(term, int) or isinstance(term, bool) or not 1 <= term <= MAX_RETENTION_DAYS:
        raise InputError(f"days must be a whole number from 1 to {MAX_RETENTION_DAYS}, not {term!r}.")
    return term


def _planned(view: View, days: int, now: datetime, *, keep_out: bool) -> _Planned:
    """What goes at a time; the view is brought up to date."""
    view.refresh()
    held, until = Held(view.layout), now - timedelta(days=days)
    old, undated = _old(view, held, until)
    doubt = _doubt(view, {stem: _begun(held.chat(stem)) for stem in old})
    doubtful = sorted(set().union(*doubt.values()))
    old = {stem: last for stem, last in old.items() if stem not in doubtful}
    partial = list(_old_partial(view, {stem for stem, _ in held.chats()}, set(old), until))
    needing = chain(everything(view), waiting(view)) if old else ()
    gone = unneeded(view, list(old), partial, needing, keep_out=keep_out)
    quoted: dict[str, dict[str, tuple[str, ...]]] = {}
    for name, ids in gone.kept.items():
        locator = parse_locator(name)
        if locator is not None:
            quoted.setdefault(stem_of(locator.path), {})[name] = ids
    listed = [
        _transcript(stem, held.chat(stem), last, timedelta(days=days), quoted.get(stem, {}))
        for stem, last in old.items()
    ]
    listed.sort(key=lambda one: (one.last_at, one.path))
    unfinished = sum(
        len(read_partial((view.layout.local / "partial" / name).read_bytes()).keys() - {""}) for name in partial
    )
    return _Planned(
        held, tuple(listed), tuple(undated), tuple(part_path(s, 1) for s in doubtful), tuple(doubt), gone, unfinished
    )


def _begun(parts: Sequence[Part]) -> datetime | None:
    """When a transcript came to be, by its id; None when that cannot be told."""
    return id_time(parts[0].id) if parts and is_id(parts[0].id) else None


def _doubt(view: View, stems: Mapping[str, datetime | None]) -> dict[str, set[str]]:
    """By path of a file that is not as it was written the transcripts that it may quote.

    What such a file still names is looked for as text. One of which a part may be gone, such as one that was torn or whose
    frontmatter has no end, may have named any that was there when the ledger was told of it as it is: what came to be later it
    cannot have quoted before.

    Args:
        view: The store, brought up to date.
        stems: Transcripts, each with when it came to be, if that is known.
    """
    found: dict[str, set[str]] = {}
    told: Mapping[tuple[str, str], datetime] | None = None
    for path, problems in _odd_files(view) if stems else ():
        try:
            data = read_file(f"{view.layout.root}/{path}")[0]
        except FileNotFoundError:
            continue
        except (OSError, InputError):
            data = b""
        lost = not data.strip(_NOTHING) or b"\0" in data or any(problem.code == UNCLOSED for problem in problems)
        named = {stem for stem in stems if f"/{stem}.".encode() in data}
        if lost:
            told = _told(view) if told is None else told
            since = told.get((path, sha256(data).hexdigest()))
            named |= {
                stem for stem, begun in stems.items() if since is None or begun is None or begun <= since + _CLOCKS
            }
        if named:
            found[path] = found.get(path, set()) | named
    return found


def _told(view: View) -> dict[tuple[str, str], datetime]:
    """By path and digest of a file when the ledger was last told of it."""
    entries = ((entry, _time(entry.at)) for entry in history(view.layout) if entry.path and entry.digest)
    return {(entry.path, entry.digest): at for entry, at in entries if at is not None}


def _odd_files(view: View) -> Iterator[tuple[str, Sequence[Problem]]]:
    """Files of observations and of candidates that say less than they should, and those whose frontmatter became text."""
    for path, problems in sorted(view.delta.problems.items()):
        if any(p.severity == "error" or p.where == "evidence" or p.code == UNCLOSED for p in problems):
            yield path, problems
    for path, problem in damaged(view):
        yield path, [replace(problem, code=UNCLOSED)]  # whatever it is, a part may be gone
    for o in everything(view):
        text = o.content.strip()
        lost_beginning = "\nevidence:" in o.content and f"{CHATS}/" in o.content
        if lost_beginning or (text and "---".startswith(text)):
            yield o.path, [] if len(text) > len("---") else [Problem(UNCLOSED, "hardly anything is left of it", o.path)]


def _transcript(
    stem: str, parts: Sequence[Part], last: datetime, term: timedelta, quoted: dict[str, tuple[str, ...]]
) -> Transcript:
    n_turns = len({turn.id for part in parts for turn in part.turns})
    return Transcript(
        part_path(stem, 1),
        parts[0].session,
        parts[0].scope,
        format_time(last),
        format_time(last + term),
        n_turns,
        quoted,
    )


def _old(view: View, held: Held, until: datetime) -> tuple[dict[str, datetime], list[str]]:
    """Transcripts whose last turn is from before a time, with that turn's time; and those of which no time is known."""
    told = {entry.path: entry for entry in decisions(view.layout, (INGEST,))}
    old: dict[str, datetime] = {}
    undated: list[str] = []
    for stem, parts in held.chats():
        if not any(part.turns for part in parts):
            continue
        last = _last(parts, [told[part.path] for part in parts if part.path in told])
        partial = _written(view, stem)
        if last is None:
            undated.append(part_path(stem, 1))
        elif max(last, partial or last) < until:
            old[stem] = last
    return old, undated


def _last(parts: Sequence[Part], told: Sequence[Entry]) -> datetime | None:
    """When the last turn was said: never later than it was ingested, where the ledger knows that."""
    said = max(filter(None, (_time(turn.at) for part in parts for turn in part.turns)), default=None)
    heard = max(filter(None, (_time(entry.at) for entry in told)), default=None)
    return min(said, heard) if said is not None and heard is not None else said or heard


def _time(text: str) -> datetime | None:
    try:
        return parse_time(text) if text else None
    except InputError:
        return None


def _old_partial(view: View, there: set[str], old: set[str], until: datetime) -> Iterator[str]:
    """Files of turns that never became final: of transcripts that are old, and old ones without a transcript."""
    folder = view.layout.local / "partial"
    for path in sorted(folder.glob("*.json")) if folder.is_dir() else ():
        if path.stem in old or (path.stem not in there and (_written(view, path.stem) or until) < until):
            yield path.name


def _written(view: View, stem: str) -> datetime | None:
    """When turns that are not final were last written for a transcript; None when there are none."""
    try:
        return from_us((view.layout.local / "partial" / f"{stem}.json").stat().st_mtime_ns // 1000)
    except FileNotFoundError:
        return None


def _line(_found: Found, actor: str, reason: str) -> list[Entry]:
    """The line of the ledger that says that something went; it keeps nothing out."""
    return [Entry(ERASE, new_id(), reason=reason, at=format_time(datetime.now(UTC)), actor=actor)]


def _retained(planned: _Planned, done: Erased, days: int, *, keep_out: bool, dry_run: bool) -> Retained:
    return Retained(
        days, planned.transcripts, done.turns, planned.n_unfinished, done.sources, done.n_bytes, done.n_lines, planned.undated,
        planned.doubtful, planned.unreadable, done.beyond,
        keep_out, done.reason, dry_run,
    )  # fmt: skip

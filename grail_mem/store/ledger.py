"""The ledger: an append-only, hash-chained record of who did what to which observation, one chain per clone.

A line is one JSON object. It is committed to by a digest of all it says, salted in its `open` part (path, content digest,
reason …), and the chain runs over everything but the open part: what must be forgotten can later be taken out of a line
without breaking the chain, and what is left cannot be guessed. Knows nothing of observations beyond their id and path.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Final, NamedTuple

from grail_mem.store.files import FILE_MODE, FOLDER_MODE, read_all, sync_folder, write_all
from grail_mem.store.layout import Layout
from grail_mem.store.ledger_line import (
    DECISIONS,
    GENESIS,
    START,
    Entry,
    Head,
    digest_of,
    is_as_written,
    read_line,
    read_link,
    write_line,
)

TOMBSTONES: Final = frozenset({"hide", "restore"})


class Broken(NamedTuple):
    """A line that is no link of its chain: `torn` by a killed writer (harmless), or `changed` by somebody."""

    clone: str
    line: int
    kind: str
    detail: str


def read_chain(path: Path, head: Head = START, *, thorough: bool = False) -> tuple[list[Entry], Head, list[Broken]]:
    """The entries of one chain after a head, the new head, and what does not belong to the chain.

    Every line must follow the one before it. Whether it is byte for byte what was written is looked at only when
    `thorough`, since it takes as long as everything else.

    Only whole lines are consumed, so a line being written is read next time. A fragment that a killed writer left is
    closed by the next writer's newline and skipped here. So is a line that stands there already: when lines were emptied
    in two clones, a merge that keeps both sides keeps such lines twice.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.lseek(descriptor, head.offset, os.SEEK_SET)
        data = read_all(descriptor, max(0, os.fstat(descriptor).st_size - head.offset))
    finally:
        os.close(descriptor)
    return read_lines(data, path.stem, head, thorough=thorough)


def read_lines(
    data: bytes, clone: str, head: Head = START, *, thorough: bool = False
) -> tuple[list[Entry], Head, list[Broken]]:
    """The same for the bytes of a chain that stand after a head."""
    whole = data[: data.rfind(b"\n") + 1]
    entries: list[Entry] = []
    broken: list[Broken] = []
    seq, digest, at = head.seq, head.digest, head.at
    there: set[str] = set()
    for number, line in enumerate(whole.split(b"\n")[:-1], start=1):
        link = read_link(line, clone)
        if link is None:
            if line:
                broken.append(Broken(clone, number, "torn", "not a whole record"))
            continue
        entry, own = link.entry, digest_of(line)
        if own in there:
            continue
        there.add(own)
        if link.prev != digest or entry.seq != seq + 1:
            broken.append(Broken(clone, number, "changed", f"record {entry.seq} does not follow record {seq}"))
        if thorough and not is_as_written(line):
            broken.append(Broken(clone, number, "changed", f"record {entry.seq} is not what was written"))
        entries.append(entry)
        seq, digest, at = entry.seq, own, entry.at
    return entries, Head(head.offset + len(whole), seq, digest, at), broken


class Drafted(NamedTuple):
    """Entries with the lines they are to become at the end of a chain, and the head after them."""

    entries: list[Entry]
    lines: list[bytes]
    head: Head


class Chain:
    """The end of one chain, open for writing.

    Attributes:
        clone: Its name.
        head: Where it ends.
        written: The entries that came to stand in it since it was opened.
    """

    def __init__(self, layout: Layout, clone: str, descriptor: int, head: Head, written: list[Entry]) -> None:
        self.clone, self.head, self.written = clone, head, written
        self._layout, self._descriptor = layout, descriptor

    def draft(self, entries: Sequence[Entry]) -> Drafted:
        """Entries as they are to be written next."""
        head = self.head
        drafted = Drafted([], [], head)
        for entry in entries:
            line, head = write_line(entry, head)
            drafted.lines.append(line)
            drafted.entries.append(replace(entry, at=head.at, clone=self.clone, seq=head.seq))
        return drafted._replace(head=head)

    def redraft(self, line: bytes) -> Drafted | None:
        """A line that was drafted earlier; None when another one has to be written next."""
        link = read_link(line, self.clone)
        if link is None or (link.entry.seq, link.prev) != (self.head.seq + 1, self.head.digest):
            return None
        head = Head(self.head.offset + len(line), link.entry.seq, digest_of(line), link.entry.at)
        return Drafted([link.entry], [line], head)

    @property
    def _path(self) -> Path:
        return self._layout.ledger / f"{self.clone}.jsonl"

    def entries(self) -> list[Entry]:
        """Every entry in it."""
        return read_chain(self._path)[0]

    def mend(self, lines: Sequence[bytes], *, cut: bool) -> list[bytes]:
        """Find out which lines are missing that were appended to it last.

        Args:
            lines: What was appended, oldest first.
            cut: Cut off what stands behind the last whole link, if it is but parts of these lines, zeros, and lines
                that follow a missing one: a loss of power can leave a hole.

        Returns:
            The lines that are missing now, in order.
        """
        data = self._path.read_bytes()
        there = set(data.splitlines(keepends=True))
        missing = [line for line in lines if line not in there]
        if not (cut and missing):
            return missing
        end, rest = self._last_link(data)
        if all(line in lines or read_link(line, self.clone) is None for line in rest):
            os.ftruncate(self._descriptor, end)
            _, self.head, _ = read_chain(self._path)
            self.written.clear()
            there = set(data[:end].splitlines(keepends=True))
            missing = [line for line in lines if line not in there]
        return missing

    def _last_link(self, data: bytes) -> tuple[int, list[bytes]]:
        """Where the last line ends up to which all follow one another, and the lines behind it."""
        seq, digest, at, end = 0, GENESIS, 0, 0
        pieces = data.splitlines(keepends=True)
        n_good = 0
        for number, line in enumerate(pieces, start=1):
            at += len(line)
            link = read_link(line, self.clone)
            if link is None:
                continue
            if (link.entry.seq, link.prev) != (seq + 1, digest):
                break
            seq, digest, end, n_good = link.entry.seq, digest_of(line), at, number
        return end, pieces[n_good:]

    def write(self, drafted: Drafted) -> None:
        """Write what was drafted last in one call, not yet durable.

        Raises:
            OSError: It could not be written; nothing was appended.
        """
        try:
            write_all(self._descriptor, b"".join(drafted.lines))
        except OSError:
            os.ftruncate(self._descriptor, self.head.offset)
            raise
        self.head = drafted.head
        self.written += drafted.entries


class Ledger:
    """Reads what is new in all chains, and appends to this clone's own; holds only how far it has read."""

    def __init__(self, layout: Layout, heads: Mapping[str, Head] | None = None) -> None:
        self._layout = layout
        self.heads: dict[str, Head] = dict(heads or {})

    def read(self) -> tuple[list[Entry], bool]:
        """The entries not read yet, chain by chain.

        Returns:
            The entries, and whether a chain was rewritten (by git, or to forget): then all of that chain is given
            again, and what was derived from its earlier form is void.
        """
        entries: list[Entry] = []
        grown, gone = self._grown()
        rewritten = bool(gone)
        for clone in gone:
            del self.heads[clone]
        for path, size in grown:
            head = self.heads.get(path.stem, Head())
            new, after, broken = read_chain(path, head if head.offset <= size else Head())
            if head.offset > size or (head.offset and any(item.kind == "changed" for item in broken)):
                rewritten = True
                new, after, _ = read_chain(path)
            self.heads[path.stem] = after
            entries += new
        return entries, rewritten

    def _grown(self) -> tuple[list[tuple[Path, int]], set[str]]:
        """Chains whose size is not as read, with that size; and names of those that are no longer there."""
        try:
            with os.scandir(self._layout.ledger) as folder:
                sizes = {item.name[:-6]: item.stat().st_size for item in folder if item.name.endswith(".jsonl")}
        except FileNotFoundError:
            sizes = {}
        grown = [
            (self._layout.ledger / f"{clone}.jsonl", size)
            for clone, size in sorted(sizes.items())
            if (head := self.heads.get(clone)) is None or head.offset != size
        ]
        return grown, self.heads.keys() - sizes.keys()

    @contextmanager
    def appending(self, clone: str) -> Iterator[Chain]:
        """This clone's chain, ready for lines at its end; the store's write lock must be held, and `read` called under it.

        What was written is not given again by the next `read`: it is in the chain's `written`.
        """
        descriptor = _open_chain(self._layout, clone)
        try:
            head = self.heads.get(clone, START)
            entries: list[Entry] = []
            if head.offset != os.fstat(descriptor).st_size:
                entries, head = self._close_fragment(descriptor, clone)
            chain = Chain(self._layout, clone, descriptor, head, entries)
            yield chain
            self.heads[clone] = chain.head
        finally:
            os.close(descriptor)

    def ends_at(self, clone: str, seq: int, digest: str) -> bool:
        """Whether a chain ends with the line of this number and digest, or further on; it must have been read."""
        head = self.heads.get(clone, Head())
        return head.seq > seq or (head.seq, head.digest) == (seq, digest)

    def _close_fragment(self, descriptor: int, clone: str) -> tuple[list[Entry], Head]:
        """End what a killed writer left at the end of the chain, so that it cannot swallow the next line.

        Returns:
            The entry that was there whole but for its newline, if so, and the new head.
        """
        write_all(descriptor, b"\n")
        entries, head, _ = read_chain(self._layout.ledger / f"{clone}.jsonl", self.heads.get(clone, Head()))
        return entries, head


def _open_chain(layout: Layout, clone: str) -> int:
    flags = os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC
    try:
        return os.open(f"{layout.ledger}/{clone}.jsonl", flags)
    except FileNotFoundError:
        path = layout.ledger / f"{clone}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True, mode=FOLDER_MODE)
        descriptor = os.open(path, flags | os.O_CREAT, FILE_MODE)
        for folder in (path.parent, path.parent.parent, layout.root):
            sync_folder(folder)
        return descriptor


def chains(layout: Layout) -> list[Path]:
    """The chain files, sorted by clone."""
    return sorted(layout.ledger.glob("*.jsonl"))


def verify(layout: Layout) -> list[Broken]:
    """Everything in any chain that is no link of it."""
    return [item for path in chains(layout) for item in read_chain(path, thorough=True)[2]]


def decisions(layout: Layout, actions: Collection[str] = DECISIONS) -> list[Entry]:
    """Every entry of these actions, those that decide on a proposal, in order of time; other lines are passed over unread."""
    needles = [f'"action":"{action}"'.encode() for action in actions]
    found: list[Entry] = []
    for path in chains(layout):
        data = path.read_bytes()
        starts = {data.rfind(b"\n", 0, at) + 1 for needle in needles for at in _places(data, needle)}
        lines = (data[start : data.find(b"\n", start)] for start in sorted(starts) if data.find(b"\n", start) >= 0)
        entries = (read_line(line, path.stem) for line in lines)
        found += [entry for entry in entries if entry is not None and entry.action in actions]
    return sorted(found, key=lambda e: e.order)


_FEW: Final = 2
"""Ids that are looked for one by one in a chain; of more, the ids of all lines are held against them."""
_ID: Final = re.compile(rb'"id" ?: ?"([^"\\]*)"')


def _naming(data: bytes, ids: Collection[str]) -> Iterator[int]:
    """Places in a chain where one of these ids stands, each line's own among them."""
    sought = {id_.encode() for id_ in ids}
    if len(sought) > _FEW:
        yield from (found.start() for found in _ID.finditer(data) if found[1] in sought)
        return
    for id_ in sought:
        yield from _places(data, id_)


def _places(data: bytes, needle: bytes) -> Iterator[int]:
    at = data.find(needle)
    while at >= 0:
        yield at
        at = data.find(needle, at + 1)


def history(layout: Layout) -> list[Entry]:
    """Every entry of every chain in order of time."""
    return sorted((entry for path in chains(layout) for entry in read_chain(path)[0]), key=lambda e: e.order)


def about(layout: Layout, ids: Collection[str]) -> list[Entry]:
    """Every entry of these ids, in order of time; lines that name none of them are passed over unread."""
    found: list[Entry] = []
    for path in chains(layout):
        data = path.read_bytes()
        starts = {data.rfind(b"\n", 0, at) + 1 for at in _naming(data, ids)}
        found += [entry for entry in _entries(data, sorted(starts), path.stem) if entry.id in ids]
    return sorted(found, key=lambda e: e.order)


def newest(layout: Layout, actions: Collection[str] = ()) -> Iterator[Entry]:
    """Every entry of every chain, of these actions if any is named, the newest first; a line is read when it is asked for."""
    needles = [f'"action":"{action}"'.encode() for action in actions]
    held = {path.stem: path.read_bytes() for path in chains(layout)}
    places = [(order, -at) for clone, data in held.items() for order, at in _orders(data, clone)]
    places.sort(reverse=True)
    for clone, lines in groupby(places, key=lambda place: place[0][1]):
        starts = (-at for _, at in lines)
        found = _entries(held[clone], (at for at in starts if not needles or _says(held[clone], at, needles)), clone)
        yield from (entry for entry in found if not actions or entry.action in actions)


def _says(data: bytes, start: int, needles: Sequence[bytes]) -> bool:
    end = data.find(b"\n", start)
    return any(data.find(needle, start, end) >= 0 for needle in needles)


def _orders(data: bytes, clone: str) -> Iterator[tuple[tuple[str, str, int], int]]:
    """The place in the history of each whole line and where it begins, without reading the rest of most."""
    at = 0
    while (end := data.find(b"\n", at)) >= 0:
        begun = _BEGINNING.match(data, at, end)
        if begun is not None:
            yield (begun[2].decode("ascii"), clone, int(begun[1])), at
        elif (entry := read_line(data[at:end], clone)) is not None:
            yield entry.order, at
        at = end + 1


_BEGINNING: Final = re.compile(rb'\{"v":[0-9]+,"seq":([1-9][0-9]{0,17}),"at":"([0-9TZ:.-]*)",')
"""How the lines begin that are written here."""


def _entries(data: bytes, starts: Iterable[int], clone: str) -> Iterator[Entry]:
    """The entries of whole lines that begin at these places; one that stands there twice once."""
    there: set[str] = set()
    for start in starts:
        end = data.find(b"\n", start)
        line = data[start:end]
        entry = read_line(line, clone) if end >= 0 else None
        if entry is not None and (own := digest_of(line)) not in there:
            there.add(own)
            yield entry

"""The kinds of foreign stores: how each is recognised by what is in it, and how it is read.

Knows nothing of the store that takes what is read.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import IO, Any, Final

from grail_mem.keep.foreign import basic_memory, chatgpt, citefold, claude, graphgrail, mcp, mem0, obsidian, sqlite
from grail_mem.keep.foreign.notes import Note, notes
from grail_mem.keep.foreign.place import Place
from grail_mem.keep.foreign.said import Said, skip
from grail_mem.keep.foreign.streamed import MAX_PIECE, READING, Odd, Piece, as_utf8, pieces

_PEEKED: Final = 50
_GRAPH: Final = ("entities", "relations")


def recognised(place: Place) -> str:
    """The kind of what lies in a place; empty for none that is known."""
    if place.shape == "file":
        return sqlite.KIND if sqlite.is_store(place) else _of_file(place)
    if citefold.MARK in place.files:
        return citefold.KIND
    if graphgrail.is_store(place):
        return graphgrail.KIND
    for name in sorted(place.files):
        kind = _of_file(place, name) if name.endswith(".json") and name.count("/") <= 1 else ""
        if kind in (chatgpt.KIND, claude.KIND):
            return kind
    first = [item for item in islice(notes(place), _PEEKED) if isinstance(item, Note)]
    if any(map(basic_memory.is_note, first)):
        return basic_memory.KIND
    vault = any(name.rpartition("/")[2] == ".obsidian" for name in place.hidden)
    if vault or any("[[" in note.plain for note in first):
        return obsidian.KIND
    return sqlite.KIND if sqlite.is_store(place) else ""


def _of_file(place: Place, name: str = "") -> str:
    name = name or next(iter(place.files))
    try:
        with place.open(name) as file:
            for piece in islice(pieces(file), _PEEKED):
                if kind := _of_piece(piece):
                    return kind
        if place.shape != "file":
            return ""
        with place.open(name) as file:
            for _, value in islice(lines(file), _PEEKED):
                if mcp.is_record(value):
                    return mcp.KIND
                if mem0.is_record(value):
                    return mem0.KIND
    except READING:
        return ""
    return ""


def _of_piece(piece: Piece) -> str:
    if not piece.key:
        for kind, tests in _ITEMS.items():
            if any(test(piece.value) for test in tests):
                return kind
    elif piece.number and piece.key in _GRAPH and mcp.is_record(_typed(piece)):
        return mcp.KIND
    elif piece.number and piece.key in ("results", "memories") and mem0.is_record(piece.value):
        return mem0.KIND
    elif piece.key == "mapping" and isinstance(piece.value, dict):
        return chatgpt.KIND
    elif piece.key in ("chat_messages", "conversations_memory", "prompt_template"):
        return claude.KIND
    return ""


_ITEMS: Final[Mapping[str, tuple[Callable[[object], bool], ...]]] = {
    chatgpt.KIND: (chatgpt.is_conversation,),
    claude.KIND: (claude.is_conversation, claude.is_project, claude.is_memories),
    mem0.KIND: (mem0.is_record,),
    mcp.KIND: (mcp.is_record,),
}


def _typed(piece: Piece) -> Any:
    """A record of a graph with the type that its list gives it."""
    return (
        {"type": piece.key[:-1].replace("entitie", "entity")} | piece.value if isinstance(piece.value, dict) else None
    )


def lines(file: IO[bytes]) -> Iterator[tuple[int, Any]]:
    """The values in the lines of a file, each with its number; what is none as what is odd about it."""
    begin = file.read(4)
    file.seek(0)
    wide = begin.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    reading: Any = codecs.EncodedFile(file, "utf-8", "utf-16", errors="replace") if wide else file
    number = 0
    while line := reading.readline(MAX_PIECE + 1):
        number += 1
        if len(line) > MAX_PIECE:
            while line and not line.endswith(b"\n"):
                line = reading.readline(MAX_PIECE)
            yield number, Odd(f"the line is longer than {MAX_PIECE} bytes")
        elif line.strip(b"\xef\xbb\xbf \t\r\n"):
            yield number, _value(line)


def _value(line: bytes) -> Any:
    try:
        value = json.loads(line.removeprefix(codecs.BOM_UTF8))
    except (ValueError, RecursionError):
        return Odd("the line is no JSON")
    return value if isinstance(value, dict) else Odd("the line holds no object")


def _items(place: Place) -> Iterator[tuple[str, str, Any]]:
    """The records of files, whether each is one value or lines of them: where a record stands, its member, and the piece."""
    for name in sorted(place.files):
        begin = "" if place.shape == "file" else f"{name}, "
        if begin and not name.lower().endswith((".json", ".jsonl")):
            yield name, "", Piece("", 0, Odd("it is no file of JSON"))
            continue
        try:
            with place.open(name) as file:
                whole = _is_whole(file)
            with place.open(name) as file:
                for piece in pieces(file) if whole else (Piece("", at, value) for at, value in lines(file)):
                    where = (
                        f"{piece.key or 'item'} {piece.number}".removesuffix(" 0") if whole else f"line {piece.number}"
                    )
                    yield begin + where, piece.key, piece
        except READING as error:
            yield name, "", Piece("", 0, Odd(f"it cannot be read: {error}"))


def _is_whole(file: IO[bytes]) -> bool:
    """Whether a file is one list, or one object with lists in it."""
    begin = as_utf8(file).read(1 << 16).lstrip()
    if begin[:1] != b"{":
        return bool(begin[:1] == b"[")
    first, _, rest = begin.partition(b"\n")
    try:
        value = json.loads(first)
    except (ValueError, RecursionError):
        return not rest.lstrip().startswith(b"{")  # the first of several lines may be broken
    return isinstance(value, dict) and not (mcp.is_record(value) or mem0.is_record(value))


def _mcp(place: Place) -> Iterator[Said]:
    for where, key, piece in _items(place):
        if isinstance(piece.value, Odd):
            yield skip(where, "", piece.value.reason)
        elif key and key not in _GRAPH:
            yield skip(where, key, f"{key[:60]!r} is no part that is read")
        else:
            yield mcp.record(where, _typed(piece) if key else piece.value)


def _mem0(place: Place) -> Iterator[Said]:
    odd: list[Said] = []

    def sound() -> Iterator[tuple[str, str, Any]]:
        for where, key, piece in _items(place):
            if isinstance(piece.value, Odd):
                odd.append(skip(where, "", piece.value.reason))
            else:
                yield where, key, piece.value

    yield from mem0.read(sound())
    yield from odd


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of a foreign store.

    Attributes:
        read: What it says.
        mark: What it is recognised by, for people.
    """

    read: Callable[[Place], Iterator[Said]]
    mark: str


KINDS: Final[Mapping[str, Kind]] = {
    chatgpt.KIND: Kind(chatgpt.read, "conversations.json, a list of conversations with a mapping, alone or in the zip"),
    claude.KIND: Kind(
        claude.read, "conversations.json with chat_messages, projects.json or memories.json, alone or in the zip"
    ),
    mcp.KIND: Kind(_mcp, "lines or lists of entities with observations and of relations"),
    mem0.KIND: Kind(_mem0, "results or lines with id and memory, or events with memory_id"),
    basic_memory.KIND: Kind(
        basic_memory.read, "markdown notes with a permalink or lines like `- [category] statement`"
    ),
    obsidian.KIND: Kind(obsidian.read, "a folder .obsidian, or markdown notes with [[links]]"),
    graphgrail.KIND: Kind(graphgrail.read, "meta.json with the mode memory, and memories/"),
    citefold.KIND: Kind(citefold.read, "citefold-store.json"),
    sqlite.KIND: Kind(sqlite.read, "a SQLite database, by how it begins"),
    sqlite.RETOLD: Kind(
        partial(sqlite.read, form=sqlite.RETOLD), "a SQLite database, by how it begins; it is always named"
    ),
}

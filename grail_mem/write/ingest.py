"""Ingest what evidence points into: turns of conversations, texts and documents.

Files are put in place through the journal as observations are, so a source is there wholly or not at all. Knows nothing of
quotes.
"""

from __future__ import annotations

import json
import mimetypes
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from grail_mem.errors import ConflictError, InputError, NotFoundError, StoreError
from grail_mem.model.names import clean_text, session_key
from grail_mem.model.problem import Gather
from grail_mem.model.scope import clean_scope
from grail_mem.model.times import format_time, parse_when
from grail_mem.model.ulid import new_id
from grail_mem.query.passages import own_scope
from grail_mem.query.view import View
from grail_mem.store.documents import held, meta_path, render_held
from grail_mem.store.files import replace_file, translated
from grail_mem.store.layout import DOCUMENTS, Layout, is_source_path
from grail_mem.store.ledger_line import AGAIN, DISCARD, INGEST, Entry
from grail_mem.store.receipt import EVERYWHERE, detail_of_said, text_of_document, text_of_turn
from grail_mem.store.source_file import read_source
from grail_mem.store.sources import Part, chat_stem, current_turns, part_in, part_path, read_session
from grail_mem.write.permit import meant
from grail_mem.write.screening import screened_name, screened_source
from grail_mem.write.staged import Placing, discard, make_durable, place, stage, staging, writing
from grail_mem.write.transcript import Appended, Sent, SourceFile, append, read_turns, require_own

MAX_SESSION: Final = 1_000
MAX_DOCUMENT_BYTES: Final = 64 * 1024 * 1024
"""A larger document would stand in memory and in the journal whole; chosen."""
_TEXT_TYPES: Final = {"text/markdown": "markdown", "text/plain": "txt", "text/html": "html", "text/csv": "csv"}


@dataclass(frozen=True, slots=True)
class Ingested:
    """What became of sources that were sent.

    Attributes:
        source: Where they are, relative to the root: the first file of the transcript, or the document.
        n_turns: How many of the turns that were sent are there now; 1 for a document.
        n_new: How many of them were not there before.
        warnings: What was left out and why, or is worth knowing.
    """

    source: str
    n_turns: int
    n_new: int
    warnings: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """The result as plain JSON values."""
        return {
            "source": self.source, "n_turns": self.n_turns, "n_new": self.n_new, "warnings": list(self.warnings),
        }  # fmt: skip


def ingest_chat(
    view: View, turns: Iterable[Any], *, session: object, scope: object = None, again: bool = False, actor: str
) -> Ingested:
    """Put turns behind those of a session's transcript; what is there already is passed over.

    Args:
        view: The store.
        turns: Mappings with `role`, `text` and, optionally, `speaker`, `at`, `id`, `partial`, `correction`.
        session: The session's name.
        scope: Whose it is; None is the default scope.
        again: Let in turns that were erased.
        actor: Who does it.

    Raises:
        InputError: Session, scope or the list itself cannot be used; `problems` lists every reason.
        AccessError: The caller may not write there.
        ConflictError: The file is another session's.
        StoreError: The disk did not take it; nothing was stored.
    """
    gather = Gather()
    name = gather.read("session", session, clean_session, "")
    if session is None:
        gather.found.append("session is missing: name the conversation that the turns belong to.")
    name = gather.read("session", name, lambda text: screened_name("session", text, view.settings), "")
    whose = gather.read("scope", meant(view, scope), clean_scope, None)
    if isinstance(turns, str | bytes | Mapping) or not isinstance(turns, Iterable):
        gather.found.append(f"turns must be a list of mappings, not {type(turns).__name__}.")
    gather.stop("Nothing was ingested.")
    whose = own_scope(view.access, whose)
    view.access.require("write", whose)
    sent, warnings = read_turns(turns, view.settings)
    first = part_path(chat_stem(name, whose), 1)
    final = [one for one in sent if not one.partial]
    made = Appended()
    with staging(view.layout) as staging_fd, translated("store the turns"):
        with writing(view):
            view.catch_up()
            parts = read_session(view.layout, name, whose)
            require_own(parts, name, whose)
            made = append(parts, final, session=name, scope=whose, receipts=view.receipts, again=again)
            _put(view, staging_fd, placed(made, parts), actor, lifted=made.lifted)
            known = {turn.id for turn in current_turns(parts)}
            _keep_partial(view, name, whose, [one for one in sent if not _is_erased(view, one, name, whose)], known)
        make_durable(view)
    n_partial = len(sent) - len(final)
    if n_partial:
        warnings.append(f"{n_partial} not final yet; kept apart until the final words come.")
    if made.refused:
        shown = ", ".join(str(one.number) for one in made.refused[:5])
        more = f" and {len(made.refused) - 5} more" if len(made.refused) > 5 else ""  # noqa: PLR2004  as many as a line holds
        warnings.append(f"erased before and left out: turn {shown}{more}; `again=True` lets them in.")
    if made.lifted:
        n_lifted = sum(map(len, made.lifted.values()))
        warnings.append(f"{n_lifted} erased before; kept again.")
    return Ingested(first, made.n_turns, len(made.turns), (*warnings, *made.warnings))


def clean_session(value: object) -> str:
    """The name of a session.

    Raises:
        InputError: It is no line of text, or too long.
    """
    if not isinstance(value, str):
        raise InputError(f"session must be text, not {type(value).__name__}.")
    text = clean_text(value)[0].strip()
    if not text or len(text.splitlines()) > 1 or len(text) > MAX_SESSION:
        raise InputError(f"session must be one line of 1 to {MAX_SESSION} characters.")
    return text


def placed(made: Appended, parts: Sequence[Part]) -> list[SourceFile]:
    """The files of a transcript that are new or longer."""
    former = {part.path: part.data for part in parts}
    return [
        SourceFile(path, data, former.get(path, b""), part_in(data.split(b"\n", 1)[0], path).id or new_id())
        for path, data in made.files.items()
    ]


def placing_of(file: SourceFile, staged: str, *, at: str, actor: str) -> Placing:
    """A staged file of sources with what the ledger is told."""
    before = sha256(file.former).hexdigest() if file.former else ""
    if file.data is None:
        return Placing(staged, file.path, b"", Entry(DISCARD, file.id, file.path, at=at, actor=actor), before)
    entry = Entry(INGEST, file.id, file.path, digest=sha256(file.data).hexdigest(), at=at, actor=actor)
    return Placing(staged, file.path, file.data, entry, before)


def placings_of_sources(files: Sequence[SourceFile], staging_fd: int, *, at: str, actor: str) -> list[Placing]:
    """Files of sources, staged, with what the ledger is told of each."""
    staged = stage(staging_fd, [file.data or b"" for file in files])
    return [placing_of(file, name, at=at, actor=actor) for file, name in zip(files, staged, strict=True)]


def _put(
    view: View,
    staging_fd: int,
    files: Sequence[SourceFile],
    actor: str,
    *,
    lifted: Mapping[str, Iterable[str]] = MappingProxyType({}),
) -> None:
    """Put files of sources in place, all or none; the write lock must be held."""
    at = format_time(datetime.now(UTC))
    placings = placings_of_sources(files, staging_fd, at=at, actor=actor)
    try:
        place(view, placings, staging_fd, beside=lifted_entries(view, lifted, at=at, actor=actor))
    except Exception:  # not an interrupt: what is committed by then is finished by the next writer
        discard(staging_fd, [placing.staged for placing in placings])
        raise


def lifted_entries(view: View, lifted: Mapping[str, Iterable[str]], *, at: str, actor: str) -> list[Entry]:
    """What the ledger is told of turns and documents that were erased and are told again on purpose."""
    salts = {receipt.id: receipt.salt for receipt in view.receipts}
    return [
        Entry(AGAIN, id_, at=at, actor=actor, detail=detail_of_said(sorted(digests), salts[id_]))
        for id_, digests in lifted.items()
    ]


def _is_erased(view: View, one: Sent, session: str, scope: str | None) -> bool:
    return one.partial and view.receipts.tells(text_of_turn(one.turn.text, session_key(session), scope))


def partial_path(layout: Layout, session: str, scope: str | None) -> Path:
    """Where turns that are not final are kept."""
    return layout.local / "partial" / f"{chat_stem(session, scope)}.json"


def _keep_partial(view: View, session: str, scope: str | None, sent: Sequence[Sent], known: set[str]) -> None:
    """Keep turns that are not final beside the store's truth, the latest words of each, until the final ones come."""
    path = partial_path(view.layout, session, scope)
    try:
        before = json.loads(path.read_bytes())
    except (FileNotFoundError, ValueError):
        before = {}
    kept = dict(before) if isinstance(before, dict) else {}
    for one in sent:
        if one.partial and one.turn.id not in known:
            kept[one.turn.id] = {
                "role": one.turn.role,
                "speaker": one.turn.speaker,
                "at": one.turn.at,
                "text": one.turn.text,
            }
        elif not one.partial:
            kept.pop(one.turn.id, None)
    if kept == before:
        return
    if kept.keys() - {""}:
        kept[""] = {"session": session_key(session), "scope": scope or ""}  # the name of the file does not tell them
        replace_file(path, json.dumps(kept, ensure_ascii=False).encode())
    else:
        path.unlink(missing_ok=True)


def ingest_text(
    view: View,
    text: object,
    *,
    title: object = None,
    source: object = None,
    observed_at: object = None,
    scope: object = None,
    again: bool = False,
    actor: str,
) -> Ingested:
    """Keep a text as a document that can be quoted.

    Raises:
        InputError: A value cannot be used; `problems` lists every reason.
        AccessError: The caller may not write there.
        StoreError: The disk did not take it; nothing was stored.
    """
    gather = Gather()
    if not isinstance(text, str) or not text.strip():
        gather.found.append(
            "text is empty." if isinstance(text, str) else f"text must be text, not {type(text).__name__}."
        )
    said = {"title": gather.read("title", title, _line, ""), "from": gather.read("source", source, _line, "")}
    now = datetime.now(UTC)
    at = gather.read("observed_at", observed_at, lambda value: _when(value, now, view), now)
    whose = gather.read("scope", meant(view, scope), clean_scope, None)
    gather.stop("Nothing was ingested.")
    cleaned, replaced = clean_text(str(text))
    warnings = ["text held NUL characters or half surrogate pairs; they became U+FFFD."] if replaced else []
    cleaned, found = screened_source("text", cleaned, view.settings)
    said = {name: screened_source(name, value, view.settings)[0] for name, value in said.items()}
    warnings += found
    about = said | {"media_type": "text/plain", "at": format_time(at)}
    return _keep(view, cleaned.encode(), "txt", about, whose, warnings, actor, again=again)


def ingest_document(
    view: View,
    path: object,
    *,
    title: object = None,
    media_type: object = None,
    scope: object = None,
    again: bool = False,
    actor: str,
) -> Ingested:
    """Keep a file as a document; when it is UTF-8 text it can be quoted.

    Raises:
        InputError: A value cannot be used; `problems` lists every reason.
        NotFoundError: There is no such file.
        AccessError: The caller may not write there.
        StoreError: The file cannot be read, or the disk did not take it; nothing was stored.
    """
    gather = Gather()
    if not isinstance(path, str | Path) or not str(path):
        gather.found.append(f"path must name a file, not {path!r:.60}.")
    said = gather.read("title", title, _line, "")
    kind = gather.read("media_type", media_type, _line, "")
    whose = gather.read("scope", meant(view, scope), clean_scope, None)
    gather.stop("Nothing was ingested.")
    file = _file(str(path))
    data = _bytes_of(file)
    kind = kind or mimetypes.guess_type(file.name)[0] or "application/octet-stream"
    about = {"title": said or file.name, "from": file.name, "media_type": kind, "at": format_time(datetime.now(UTC))}
    about = {name: clean_text(value)[0] for name, value in about.items()}
    about = {name: screened_source(name, value, view.settings)[0] for name, value in about.items()}
    found: tuple[str, ...] = ()
    if _is_text(data):
        text, found = screened_source("the document", data.decode(), view.settings)
        data = data if text == data.decode() else text.encode()
    warnings = [*found] if _is_text(data) else ["it is not UTF-8 text, so nothing in it can be quoted."]
    return _keep(view, data, _extension(file, kind), about, whose, warnings, actor, again=again)


def _names(stem: str, extension: str) -> bool:
    """Whether an extension out of a file that anybody may edit can be one."""
    return is_source_path(f"{stem}.{extension}")


def _file(path: str) -> Path:
    try:
        return Path(path).expanduser()
    except RuntimeError as error:  # the home of nobody
        raise NotFoundError(f"There is no file {path!r:.200}.") from error


def _bytes_of(file: Path) -> bytes:
    try:
        if file.is_dir():
            raise InputError(
                f"{str(file)!r} is a folder, not a file.",
                hint="Name the files in it, one a call. Notes that are to be observations belong below memories/, see `grail sync`.",
            )
        if not file.is_file():
            raise NotFoundError(f"There is no file {str(file)!r}.")
        if (size := file.stat().st_size) > MAX_DOCUMENT_BYTES:
            raise InputError(f"{file.name} has {size} bytes; at most {MAX_DOCUMENT_BYTES} are taken.")
        data = file.read_bytes()
    except OSError as error:
        if isinstance(error, StoreError):
            raise
        raise StoreError(f"{str(file)!r} cannot be read: {error.strerror}.") from error
    if not data:
        raise InputError(f"{file.name} is empty.")
    return data


def _extension(file: Path, kind: str) -> str:
    suffix = file.suffix[1:].lower()
    if suffix == "md":  # `.md` is what observations are read from
        return "markdown"
    usable = suffix.isascii() and suffix.isalnum() and len(suffix) <= 10  # noqa: PLR2004  what a path of a source allows
    return suffix if suffix and usable else _TEXT_TYPES.get(kind, "bin")


def _is_text(data: bytes) -> bool:
    try:
        return "\0" not in data.decode()
    except UnicodeDecodeError:
        return False


def _line(value: object) -> str:
    if not isinstance(value, str):
        raise InputError(f"must be text, not {type(value).__name__}.")
    text = clean_text(value)[0].strip()
    if len(text.splitlines()) > 1 or len(text) > MAX_SESSION:
        raise InputError(f"must be one line of at most {MAX_SESSION} characters.")
    return text


def _when(value: object, now: datetime, view: View) -> datetime:
    if not isinstance(value, str | datetime):
        raise InputError(f"{value!r:.60} is not a time; write it like 2026-06-02T14:23:00Z.")
    return parse_when(value, now=now, zone=view.settings.zone)


def _keep(
    view: View,
    data: bytes,
    extension: str,
    about: Mapping[str, str],
    scope: str | None,
    warnings: list[str],
    actor: str,
    *,
    again: bool,
) -> Ingested:
    """Put a document in place under the digest of its bytes, and what is known of it beside it.

    Raises:
        ConflictError: It was erased, and is not told again on purpose.
    """
    scope = own_scope(view.access, scope)
    view.access.require("write", scope)
    digest = sha256(data).hexdigest()
    stem = f"{DOCUMENTS}/{digest}"
    said = {name: value for name, value in about.items() if value} | {"id": new_id()}
    with staging(view.layout) as staging_fd, translated("store the document"):
        with writing(view):
            view.catch_up()
            known = held(view.layout, f"{stem}.{extension}")
            lifted = view.receipts.told(text_of_document(digest, scope)) if (scope or "") not in known else {}
            everywhere = view.receipts.told(text_of_document(digest, EVERYWHERE))
            lifted = {id_: lifted.get(id_, set()) | everywhere.get(id_, set()) for id_ in {*lifted, *everywhere}}
            if view.receipts.tells(text_of_document(digest, scope)) and lifted and not again:
                raise ConflictError(
                    "Nothing was stored. This document was erased.",
                    hint="To keep it again on purpose: `again=True`, `grail ingest --again`.",
                )
            kept = known.get(scope or "", {}).get("file", "")  # how others keep it is nothing that a caller learns
            extension = kept if _names(stem, kept) else extension
            path = f"{stem}.{extension}"
            files = [] if read_source(view.layout, path) else [SourceFile(path, data, id=said["id"])]
            if (scope or "") not in known:
                former = read_source(view.layout, meta_path(path))
                both = known | {scope or "": said | {"file": extension}}
                files.append(SourceFile(meta_path(path), render_held(both), former[0] if former else b"", said["id"]))
            _put(view, staging_fd, files, actor, lifted=lifted)
        make_durable(view)
    if not files:
        warnings = [*warnings, "the same document was there already; nothing was written."]
    if lifted and again:
        warnings = [*warnings, "the same was erased before; it is kept again."]
    return Ingested(path, 1, int(bool(files)), tuple(warnings))

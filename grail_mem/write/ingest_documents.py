"""Keep texts and files as documents that evidence can point into.

A document is named by the digest of its bytes, so that the same one is kept once. Knows nothing of quotes.
"""

from __future__ import annotations

import mimetypes
from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Final

from grail_mem.errors import ConflictError, InputError, NotFoundError, StoreError
from grail_mem.model.names import clean_text
from grail_mem.model.problem import Gather
from grail_mem.model.refusal import refused
from grail_mem.model.scope import clean_scope
from grail_mem.model.times import format_time, parse_when
from grail_mem.model.ulid import new_id
from grail_mem.query.passages import own_scope
from grail_mem.query.view import View
from grail_mem.store.documents import held, is_as_named, meta_path, render_held
from grail_mem.store.files import translated
from grail_mem.store.layout import DOCUMENTS, is_source_path
from grail_mem.store.receipt import EVERYWHERE, text_of_document
from grail_mem.store.source_file import read_source
from grail_mem.write.ingest import Ingested
from grail_mem.write.permit import meant
from grail_mem.write.placed_sources import put_sources
from grail_mem.write.screening import screened_source
from grail_mem.write.staged import make_durable, staging, writing
from grail_mem.write.transcript import SourceFile

MAX_LINE: Final = 1_000
MAX_DOCUMENT_BYTES: Final = 64 * 1024 * 1024
"""A larger document would stand in memory and in the journal whole; chosen."""
_TEXT_TYPES: Final = {"text/markdown": "markdown", "text/plain": "txt", "text/html": "html", "text/csv": "csv"}


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
    now = datetime.now(UTC)
    at = gather.read("observed_at", observed_at, lambda value: _when(value, now, view), now)
    said, whose = _gathered(gather, view, scope, title=title, source=source)
    cleaned, replaced = clean_text(str(text))
    warnings = ["text held NUL characters or half surrogate pairs; they became U+FFFD."] if replaced else []
    cleaned, found = screened_source("text", cleaned, view.settings)
    warnings += found
    about = _about(view, said["title"], said["source"], "text/plain", at)
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
    said, whose = _gathered(gather, view, scope, title=title, media_type=media_type)
    file = _file(str(path))
    data = _bytes_of(file)
    kind = said["media_type"] or mimetypes.guess_type(file.name)[0] or "application/octet-stream"
    about = _about(view, said["title"] or file.name, file.name, kind, datetime.now(UTC))
    found: tuple[str, ...] = ()
    if _is_text(data):
        text, found = screened_source("the document", data.decode(), view.settings)
        data = data if text == data.decode() else text.encode()
    warnings = [*found] if _is_text(data) else ["it is not UTF-8 text, so nothing in it can be quoted."]
    return _keep(view, data, _extension(file, kind), about, whose, warnings, actor, again=again)


def _gathered(gather: Gather, view: View, scope: object, **lines: object) -> tuple[dict[str, str], str | None]:
    """What is said of a document, by name, empty where nothing is, and whose it is.

    Raises:
        InputError: Something of it, or found before, cannot be used; `problems` lists every reason.
    """
    said = {name: gather.read(name, value, _line, "") for name, value in lines.items()}
    whose = gather.read("scope", meant(view, scope), clean_scope, None)
    gather.stop("Nothing was ingested.")
    return said, whose


def _about(view: View, title: str, source: str, media_type: str, at: datetime) -> dict[str, str]:
    """What is kept beside a document, screened as the document is."""
    said = {"title": title, "from": source, "media_type": media_type, "at": format_time(at)}
    return {name: screened_source(name, clean_text(value)[0], view.settings)[0] for name, value in said.items()}


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
    with staging(view.layout) as staging_fd, translated("store the document", view.layout.root):
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
            there = read_source(view.layout, path)
            files = []
            if there is None or not is_as_named(path, there[0]):  # one that somebody changed is put right
                files.append(SourceFile(path, data, there[0] if there else b"", said["id"]))
            if (scope or "") not in known:
                former = read_source(view.layout, meta_path(path))
                both = known | {scope or "": said | {"file": extension}}
                files.append(SourceFile(meta_path(path), render_held(both), former[0] if former else b"", said["id"]))
            put_sources(view, staging_fd, files, actor, lifted=lifted)
        make_durable(view)
    if not files:
        warnings = [*warnings, "the same document was there already; nothing was written."]
    if lifted and again:
        warnings = [*warnings, "the same was erased before; it is kept again."]
    return Ingested(path, 1, int(bool(files)), tuple(warnings))


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
        raise refused(error, "read the document", file) from error
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
    if len(text.splitlines()) > 1 or len(text) > MAX_LINE:
        raise InputError(f"must be one line of at most {MAX_LINE} characters.")
    return text


def _when(value: object, now: datetime, view: View) -> datetime:
    if not isinstance(value, str | datetime):
        raise InputError(f"{value!r:.60} is not a time; write it like 2026-06-02T14:23:00Z.")
    return parse_when(value, now=now, zone=view.settings.zone)

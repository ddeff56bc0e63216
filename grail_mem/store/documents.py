"""Documents on disk, by the digest of their bytes, and what is known of each in every scope that holds it.

Knows nothing of who may read one, and of writing only what a file shall hold.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256

from grail_mem.store.layout import DOCUMENTS, Layout
from grail_mem.store.source_file import VERSION, kept_as_read, listed


@dataclass(frozen=True, slots=True)
class Document:
    """A document: its bytes, and what is known of it in each scope that holds it.

    Attributes:
        path: Relative to the root.
        text: What it says; None when it is no UTF-8 text, so that nothing in it can be quoted.
        held: By scope that holds it under this ending, where the empty text is the default scope: title, media type, where it is from, and when.
    """

    path: str
    text: str | None
    held: Mapping[str, Mapping[str, str]]

    @property
    def scopes(self) -> list[str | None]:
        """The scopes that hold it."""
        return [scope or None for scope in self.held]


def document_paths(layout: Layout) -> list[str]:
    """The files of all documents, without those of what is known of them, in order."""
    return [path for path in listed(layout, DOCUMENTS) if not path.endswith(".meta.json")]


def read_document(layout: Layout, path: str) -> Document | None:
    """A document; None when it is not there.

    Raises:
        StoreError: It is there and cannot be read, or is a link.
    """
    text = kept_as_read(layout, path, lambda data: (_text_in(data),))
    if text is None:
        return None
    extension = path.partition(".")[2]
    there = {scope: said for scope, said in held(layout, path).items() if said.get("file", extension) == extension}
    return Document(path, text[0], there)


def is_as_named(path: str, data: bytes) -> bool:
    """Whether a file of sources holds what its name says: that of a document is the digest of its bytes, others say nothing."""
    if not path.startswith(f"{DOCUMENTS}/") or path == meta_path(path):
        return True
    return sha256(data).hexdigest() == path.removeprefix(f"{DOCUMENTS}/").partition(".")[0]


def meta_path(path: str) -> str:
    """Where it stands what is known of a document."""
    return f"{path.partition('.')[0]}.meta.json"


def held(layout: Layout, path: str) -> dict[str, dict[str, str]]:
    """What is known of a document, by scope; what somebody broke is passed over."""
    found = kept_as_read(layout, meta_path(path), lambda data: (held_in(data),))
    return dict(found[0]) if found else {}


def render_held(scopes: Mapping[str, Mapping[str, str]]) -> bytes:
    """The file of what is known of a document."""
    text = json.dumps({"v": VERSION, "scopes": scopes}, ensure_ascii=False, indent=1, sort_keys=True)
    return text.encode() + b"\n"


def held_in(data: bytes) -> dict[str, dict[str, str]]:
    """What is known of a document by scope, from the bytes of that file."""
    try:
        scopes = json.loads(data)["scopes"]
        return {
            scope: {name: value for name, value in said.items() if isinstance(value, str)}
            for scope, said in scopes.items()
        }
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def _text_in(data: bytes) -> str | None:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text

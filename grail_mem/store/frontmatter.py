"""Observation files as text: read into fields and content, written in one canonical form, edited in place.

The face of the `frontmatter_*` modules, from the ground up: `text` (characters and fences), `canonical` (the form that
we write), `yaml` (what people write), `read` (both as a Document), `edit` (the smallest change).
"""

from __future__ import annotations

from grail_mem.store.frontmatter_canonical import render
from grail_mem.store.frontmatter_edit import edit
from grail_mem.store.frontmatter_read import Document, key_line, parse
from grail_mem.store.frontmatter_text import FrontmatterError

__all__ = ["Document", "FrontmatterError", "edit", "key_line", "parse", "render"]

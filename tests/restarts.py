"""A restart of the system, as a store sees it.

Knows the header of the journal, and nothing else of it.
"""

from __future__ import annotations

import json
from hashlib import blake2b
from pathlib import Path

from grail_mem.store.layout import Layout


def start_anew(root: Path) -> None:
    """Let the system have been started anew since the journal was written."""
    path = Layout(root).local / "journal"
    data = path.read_bytes()
    _, _, text = data[:4096].rstrip(b"\0\n").partition(b" ")
    said = json.dumps(json.loads(text) | {"boot": "another"}, separators=(",", ":")).encode()
    digest = blake2b(said, digest_size=16).hexdigest().encode()
    path.write_bytes((digest + b" " + said + b"\n").ljust(4096, b"\0") + data[4096:])

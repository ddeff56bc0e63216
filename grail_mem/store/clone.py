"""The name of this copy of a store, under which it keeps its own chain in the ledger.

The name lies outside what git carries, and is bound to the folder it was made in: a copy of the folder makes a name of
its own, so two copies never write the same chain.
"""

from __future__ import annotations

import json
import os
import secrets

from grail_mem.store.files import replace_file
from grail_mem.store.journal import Tip
from grail_mem.store.layout import Layout
from grail_mem.store.ledger import Ledger

_ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789"


def clone_name(layout: Layout, ledger: Ledger, tip: Tip) -> str:
    """The name of this copy, made durably on first use; the write lock must be held.

    Where git put an earlier or another form of the chain into place, a new one is begun: to go on from there would make
    two chains of one name, which do not merge.

    Args:
        layout: Where the store is.
        ledger: Read up to its end.
        tip: Where this copy left its chain.
    """
    path = layout.local / "clone.json"
    bound = {"folder": os.stat(layout.local).st_ino, "root": str(layout.root)}
    try:
        stored = json.loads(path.read_bytes())
        if isinstance(stored, dict) and stored.items() >= bound.items():
            name = str(stored["name"])
            if name != tip.clone or ledger.ends_at(*tip):
                return name
    except (FileNotFoundError, ValueError, KeyError):
        pass
    name = "".join(secrets.choice(_ALPHABET) for _ in range(10))
    replace_file(path, json.dumps({"name": name} | bound).encode())
    return name

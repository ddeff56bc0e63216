"""Take the memory of other programs into a store: look first, import, and ask what came of it.

Run it: `python examples/import_an_old_store.py`. It uses a temporary folder and no network, and leaves nothing behind.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from grail_mem import Memory

FACTS = {
    "results": [
        {
            "id": "9f1c",
            "memory": "Works at Acme as an engineer",
            "user_id": "dev",
            "created_at": "2025-03-01T09:00:00Z",
            "updated_at": "2026-02-01T09:00:00Z",
            "categories": ["work"],
        },
        {"id": "77aa", "memory": None, "user_id": "dev"},
    ],
    "relations": [{"source": "dev", "relationship": "works_at", "target": "acme"}],
}
NOTES = {
    "Projects/Migration.md": "---\ntags: [project]\naliases: [The move]\n---\nLed by [[Ann]], away from [[MySQL]]. #database\n",
    "2025-07-08.md": "Met [[Ann]] to plan [[Migration]].\n",
    "board.canvas": "{}",
}


def main() -> None:
    """Import what mem0 exported and a vault of Obsidian."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "mem0.json").write_text(json.dumps(FACTS))
        for name, text in NOTES.items():
            (place / "vault" / name).parent.mkdir(parents=True, exist_ok=True)
            (place / "vault" / name).write_text(text)
        (place / "vault/.obsidian").mkdir()
        with Memory(place / "store") as memory:
            for old in ("mem0.json", "vault"):
                planned = memory.import_file(place / old, dry_run=True)
                done = memory.import_file(place / old)
                assert (planned.n_added, len(planned.skipped)) == (done.n_added, len(done.skipped))
                assert not memory.import_file(place / old).changed, "a second run brings nothing"
                print(f"{old} is {done.form}: {done.n_records} records, {done.n_added} added")
                for skipped in done.skipped:
                    print(f"  skipped {skipped.place}: {skipped.reason}")
            for found in memory.recall(entity_names=["Ann"]).observations:
                print(f"{found.observed_at:%Y} {found.title}: from {found.extra['imported']['id']}")
            (fact,) = memory.recall(text="engineer").observations
            print(f"{fact.title}: {fact.source_kind}, {fact.scope}")


if __name__ == "__main__":
    main()

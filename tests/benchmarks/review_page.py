"""How long each page of the review page takes over a store of 50,000 observations, made by `add_observations` in batches.

    python tests/benchmarks/review_page.py [FOLDER] [--n 50000]

A folder that holds the store already is used as it is. Every page is asked for three times; the first time and the median are
told, by the clock and by this process's own time on the processors, with the size of what was sent. Knows nothing of browsers.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from pathlib import Path

from starlette.testclient import TestClient

from grail_mem import Memory
from grail_mem.review_page.app import make_app
from grail_mem.review_page.guard import Keys

BATCH = 2_500
FOLDERS = [f"{top}/area{n}" for top in ("work", "home", "ops", "clients", "research") for n in range(40)]


def fill(memory: Memory, n: int) -> None:
    """The store: 4,000 words, 200 folders, up to 9,000 entities, 500 attributes."""
    rng = random.Random(1)
    words = [f"w{number}" for number in range(4_000)]

    def entity() -> str:
        return f"Entity {int(rng.paretovariate(1.1)) % 9_000}"

    for begin in range(0, n, BATCH):
        memory.add_observations([
            {
                "title": f"Note {at} on {' '.join(rng.choices(words, k=4))}", "content": " ".join(rng.choices(words, k=50)),
                "category": rng.choice(FOLDERS), "tags": rng.sample("abcdef", 2),
                "observed_at": f"2026-{1 + at % 11:02d}-{1 + at % 28:02d}T10:00:00Z",
                "entities": [{"name": entity(), "type": rng.choice(["PERSON", "TOOL"])} for _ in range(2)],
                "relationships": [
                    {"source": entity(), "target": entity(), "relationship_type": rng.choice(["USES", "KNOWS"])}
                ],
                **({"attribute": f"thing{at % 500}/state"} if at % 10 == 0 else {}),
            }
            for at in range(begin, min(begin + BATCH, n))
        ])  # fmt: skip
        print(f"{begin + BATCH} written", flush=True)
    memory.compact()


def measure(memory: Memory, only: str = "") -> None:
    """Print one line a page whose address begins so."""
    keys = Keys(8_123)
    client = TestClient(make_app(memory, keys), base_url="http://127.0.0.1:8123")
    client.get(f"/?token={keys.token}")
    o = memory.recall(limit=1).observations[0]
    entity = memory.list_entities(limit=1).items[0]["name"]
    for path in (
        "/proposals", "/candidates", "/observations", "/observations?text=w12", "/observations?category=work/**&tags=a",
        f"/observations?entity_names={entity}", f"/observations/{o.id}", "/communities", "/communities?in=work", "/entities",
        "/entities?text=77", "/graph", f"/graph?entity={entity}", "/graph?community=research", "/timeline",
        f"/timeline?entity={entity}", "/search?q=what+is+w12", "/health", "/log", "/log?action=hide",
    ):  # fmt: skip
        if not path.startswith(only):
            continue
        took: list[float] = []
        used: list[float] = []
        size = 0
        for _ in range(3):
            begin, before = time.perf_counter(), time.process_time()
            answer = client.get(path)
            took.append(time.perf_counter() - begin)
            used.append(time.process_time() - before)
            size = len(answer.content)
            assert answer.status_code == 200, path
        print(
            f"{path:<48} first {took[0]:6.2f} s ({used[0]:5.2f} s processor)   median {statistics.median(took):6.2f} s "
            f"({statistics.median(used):5.2f} s)   {size / 1000:6.0f} KB",
            flush=True,
        )


def main() -> None:
    """Make the store if need be, bring its search index up to date, and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--n", type=int, default=50_000)
    parser.add_argument("--only", default="", help="pages whose address begins so")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as made, Memory(asked.folder or Path(made), embedder="none") as memory:
        if not memory.recall(limit=1).observations:
            memory.init()
            fill(memory, asked.n)
        memory.index()
        measure(memory, asked.only)


if __name__ == "__main__":
    main()

"""One process writes what it learns, another recalls it at once; no server stands between them.

Run it: `python examples/two_processes.py`. It uses a temporary folder and leaves nothing behind.
"""

from __future__ import annotations

import multiprocessing
import tempfile
from multiprocessing.connection import Connection

from grail_mem import Memory


def writer(root: str, told: Connection) -> None:
    """Write three observations, saying when each one is stored."""
    with Memory(root, actor="writer") as memory:
        for step, entity in enumerate(("Postgres", "Redis", "Kafka"), start=1):
            written = memory.add_observation(
                title=f"Step {step}: {entity} was rehearsed",
                content=f"The copy of {entity} was restored and answered.",
                category="migration/rehearsals",
                tags=["rehearsal"],
                entities=[{"name": entity, "type": "TECHNOLOGY"}],
            )
            told.send(written.id)
    told.close()


def main() -> None:
    """Recall each observation in the moment its writer says that it is stored."""
    with tempfile.TemporaryDirectory() as root, Memory(root) as memory:
        hears, tells = multiprocessing.Pipe(duplex=False)
        process = multiprocessing.get_context("spawn").Process(target=writer, args=(root, tells))
        process.start()
        tells.close()
        for _ in range(3):
            id_ = hears.recv()
            found = memory.recall(tags=["rehearsal"], category="migration/**").observations
            written = next((o for o in found if o.id == id_), None)  # the writer may be further on by now
            assert written is not None, "a write that returned is in everybody's next answer"
            print(f"recalled at once: {written.title}")
        process.join()


if __name__ == "__main__":
    main()

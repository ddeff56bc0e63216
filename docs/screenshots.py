"""Takes the pictures of the review page that the docs show: the demo's store, a few notes more, a real browser.

    python docs/screenshots.py [FOLDER]

Needs Chromium (`apt-get install chromium`) and the extra `dev`. Pictures are made small with Pillow, which comes with
matplotlib.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn
from PIL import Image
from playwright.sync_api import Page, sync_playwright

from grail_mem import Memory
from grail_mem.review_page.app import make_app
from grail_mem.review_page.guard import Keys
from grail_mem.review_page.serve import listen

CHROMIUM = "/usr/bin/chromium"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
MOST_BYTES = 200_000

NOTES = (
    {
        "title": "Postgres is slow on the departure board without an index on the pier",
        "content": "With the index it takes 40 ms instead of 3 s. Tobi adds it to the migration script.",
        "category": "migration/database", "tags": ["performance"], "observed_at": "2026-04-20T10:00:00Z",
        "entities": [{"name": "PostgreSQL", "type": "TECHNOLOGY"}, {"name": "Tobi", "type": "PERSON"}],
    },
    {
        "title": "PostgreSQL backups run every four hours now",
        "content": "Leo asked for it after the second rehearsal. They are kept for 30 days.",
        "category": "platform", "tags": ["backup"], "observed_at": "2026-05-20T08:00:00Z",
        "entities": [{"name": "PostgreSQL", "type": "TECHNOLOGY"}, {"name": "Leo", "type": "PERSON"}],
    },
    {
        "title": "PostgreSQL backups run every four hours now.",
        "content": "Leo asked for it, after the second rehearsal. They are kept for 30 days.",
        "category": "team", "tags": ["operations"], "observed_at": "2026-05-20T08:00:00Z",
        "entities": [{"name": "PostgreSQL", "type": "TECHNOLOGY"}, {"name": "Leo", "type": "PERSON"}],
    },
    {
        "title": "Nordlys Hosting AS sends the invoice for the new servers",
        "content": "Ines checks it against the offer of March.", "category": "platform", "tags": ["cost"],
        "observed_at": "2026-05-22T08:00:00Z",
        "entities": [{"name": "Nordlys Hosting AS", "type": "SUPPLIER"}, {"name": "Ines", "type": "PERSON"}],
    },
    {
        "title": "The summer timetable opens on 1 June",
        "content": "Skerry Ferries prints it on 25 May.", "category": "customers/skerry-ferries", "tags": ["date"],
        "observed_at": "2026-05-02T08:00:00Z", "attribute": "timetable/opens-on",
        "entities": [{"name": "Skerry Ferries", "type": "CUSTOMER"}],
    },
    {
        "title": "The summer timetable opens on 8 June",
        "content": "The pier at Skerry is repaired until the 7th.", "category": "customers/skerry-ferries", "tags": ["date"],
        "observed_at": "2026-05-19T08:00:00Z", "attribute": "timetable/opens-on",
        "entities": [{"name": "Skerry Ferries", "type": "CUSTOMER"}],
    },
)  # fmt: skip
TURNS = (
    {"role": "user", "speaker": "Wanjiru", "text": "The rehearsal took two hours and forty minutes this time.", "at": "2026-05-09T15:00:00Z"},
    {"role": "assistant", "text": "Noted. Was anything lost?", "at": "2026-05-09T15:00:10Z"},
    {"role": "user", "speaker": "Wanjiru", "text": "No booking was lost. We rehearse once more before the switch.", "at": "2026-05-09T15:01:00Z"},
)  # fmt: skip


def fill(root: Path) -> Memory:
    """The store that is shown."""
    subprocess.run([sys.executable, "-m", "grail_mem", "demo", str(root)], check=True, stdout=subprocess.DEVNULL)
    memory = Memory(root, embedder="none")
    memory.add_observations(NOTES, actor="demo")
    memory.ingest_chat(TURNS, session="rehearsals")
    memory.remember(
        "No booking was lost.", evidence="No booking was lost. We rehearse once more",
        session="rehearsals", title="The third rehearsal lost no booking", category="migration/cutover",
    )  # fmt: skip
    memory.submit(
        {
            "title": "Leo prefers to be called before eight", "content": "He is on the pier later and does not hear it.",
            "category": "team", "tags": ["preference"],
        },
        origin="agent", actor="agent:assistant/wanjiru",
    )  # fmt: skip
    memory.consolidate()
    return memory


@contextmanager
def served(memory: Memory) -> Iterator[Keys]:
    """The page while it is looked at."""
    listening = listen(0)
    keys = Keys(listening.getsockname()[1])
    server = uvicorn.Server(
        uvicorn.Config(make_app(memory, keys), log_config=None, access_log=False, lifespan="off", ws="none")
    )
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield keys
    finally:
        server.should_exit = True
        thread.join()


def shoot(page: Page, at: str, path: Path, *, full: bool = False) -> None:
    """One picture of one address."""
    page.goto(at)
    page.wait_for_load_state("networkidle")
    page.screenshot(path=path, full_page=full)
    with Image.open(path) as picture:
        small = picture.convert("RGB").quantize(200, dither=Image.Dither.NONE)
    small.save(path, optimize=True)
    if path.stat().st_size > MOST_BYTES:
        raise SystemExit(f"{path} has {path.stat().st_size} bytes; {MOST_BYTES} are allowed.")


def main(folder: Path) -> None:
    """Take all pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as made, fill(Path(made) / "harbour-lights") as memory, served(memory) as keys:
        (rehearsal,) = memory.recall(text="The third rehearsal lost no booking").observations
        where = keys.address.partition("/?")[0]
        with sync_playwright() as played:
            browser = played.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
            for scheme in ("light", "dark"):
                page = browser.new_context(color_scheme=scheme, viewport={"width": 1180, "height": 860}).new_page()
                page.goto(keys.address)
                page.wait_for_url("**/proposals")
                dark = "-dark" if scheme == "dark" else ""
                for name, path in {
                    "proposals": "/proposals", "graph": "/graph", "observation": f"/observations/{rehearsal.id}",
                    "timeline": "/timeline?entity=Lanternbook", "search": "/search?q=Which+database+did+we+pick",
                    **({"health": "/health", "candidates": "/candidates", "browse": "/observations"} if "--all" in sys.argv else {}),
                }.items():  # fmt: skip
                    if not dark or name in ("proposals", "graph") or "--all" in sys.argv:
                        shoot(page, where + path, folder / f"review-{name}{dark}.png", full="--full" in sys.argv)
            if "--all" in sys.argv:
                page = browser.new_context(viewport={"width": 360, "height": 760}).new_page()
                page.goto(keys.address)
                page.wait_for_url("**/proposals")
                for path in (
                    "/proposals",
                    "/graph",
                    f"/observations/{rehearsal.id}",
                    "/search?q=Which+database",
                    "/observations",
                    "/entities",
                    "/communities",
                    "/timeline?entity=Lanternbook",
                    "/health",
                    "/log",
                    "/candidates",
                ):
                    shoot(
                        page,
                        where + path,
                        folder / f"narrow-{path.strip('/').partition('?')[0].replace('/', '-')[:16]}.png",
                        full=True,
                    )
            browser.close()


if __name__ == "__main__":
    named = [word for word in sys.argv[1:] if not word.startswith("--")]
    main(Path(named[0]) if named else Path(__file__).parent / "pictures")

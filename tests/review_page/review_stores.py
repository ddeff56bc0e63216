"""A small store with something of everything the review page shows, and a browser's side of it without a browser."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from grail_mem import Memory
from grail_mem.memory.session import Session
from grail_mem.review_page.app import make_app
from grail_mem.review_page.guard import Keys

PORT = 8123
HOSTILE_TITLE = "<script>alert(1)</script>\u202e txt.exe\u200b"
HOSTILE_CONTENT = (
    "<script>alert(2)</script>\n\n<img src=x onerror=alert(3)>\n\n[click](javascript:alert(4)) [data](data:text/html,x) "
    "[fine](https://example.com/a)\n\n![beacon](https://example.com/pixel.png)\n\npay \u202eegnahc\u2066 now\u200b\n\n"
    '<a href="javascript:alert(5)">x</a> {{ 7*7 }}\n\n' + "long " * 40_000
)


def fill(memory: Memory) -> None:
    """Observations, evidence, a fact that changed, candidates; no proposals yet."""
    memory.ingest_chat(
        [
            {"role": "user", "speaker": "Wanjiru", "text": "No booking was lost in the third rehearsal."},
            {"role": "assistant", "text": "Good to hear."},
        ],
        session="rehearsals",
    )
    memory.remember(
        "No booking was lost in the third rehearsal.", evidence="No booking was lost in the third rehearsal",
        session="rehearsals", title="Third rehearsal", category="work/cutover",
    )  # fmt: skip
    memory.add_observations([
        {
            "title": "Bookings lie in MariaDB", "content": "On **one** rented server.", "category": "work/platform",
            "attribute": "lanternbook/database", "valid_from": "2022-01-01", "valid_until": "2026-05-16",
            "observed_at": "2026-03-03", "tags": ["database"], "confidence": 0.8,
            "entities": [{"name": "Lanternbook", "type": "PRODUCT"}, {"name": "MariaDB", "type": "TECHNOLOGY"}],
            "relationships": [{"source": "Lanternbook", "target": "MariaDB", "relationship_type": "STORES_IN"}],
        },
        {
            "title": "Tickets of the summer line went on sale", "content": "At noon.", "category": "work/sales",
            "valid_until": "2026-02-01", "observed_at": "2026-01-01",
            "entities": [{"name": "Lanternbook", "type": "PRODUCT"}],
        },
        {"title": "Bread from the oven by the pier", "content": "On Sundays.", "category": "home", "observed_at": "2026-02-02"},
        {"title": HOSTILE_TITLE, "content": HOSTILE_CONTENT, "category": "odd", "observed_at": "2026-01-02",
         "tags": ["<b>"], "entities": [{"name": '"><script>alert(6)</script>', "type": "ODD"}, {"name": "MariaDB"}]},
    ])  # fmt: skip
    memory.submit({"title": "Leo likes calls before eight", "content": "He is on the pier later.", "category": "team"})
    memory.submit({"title": HOSTILE_TITLE, "content": "<script>alert(7)</script>"})


class Browser:
    """A client that was let in, and sends the forms that it sees."""

    def __init__(self, store: Memory | Session, *, is_read_only: bool = False, let_in: bool = True) -> None:
        self.keys = Keys(PORT)
        self.app = make_app(store, self.keys, is_read_only=is_read_only)
        self.client = TestClient(self.app, base_url=f"http://127.0.0.1:{PORT}", follow_redirects=False)
        if let_in:
            assert self.client.get(f"/?token={self.keys.token}").status_code == 200

    def get(self, path: str, **more: Any) -> Any:
        return self.client.get(path, **more)

    def post(self, path: str, **fields: Any) -> Any:
        """Send a form as the page would."""
        csrf = fields.pop("csrf", self.keys.csrf)
        headers = {"origin": f"http://127.0.0.1:{PORT}"} | fields.pop("headers", {})
        return self.client.post(path, data={"csrf": csrf, **fields}, headers=headers)

    def after(self, response: Any) -> str:
        """The page that a form led to."""
        assert response.status_code == 303, response.text
        return self.get(response.headers["location"].partition("#")[0]).text


def said_on(page: str) -> str:
    """What a page says that the last form came to, as text."""
    found = re.search(r'<div class="said [^"]*" role="status" id="said">(.*?)</div>', page, re.DOTALL)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", found[1])).strip() if found else ""


def made_store(root: Path) -> Memory:
    """The store, with the proposals that were found in it."""
    memory = Memory(root, embedder="none")
    memory.init()
    fill(memory)
    memory.consolidate(kinds=["expire_stale"])
    return memory

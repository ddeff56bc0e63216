"""The page in a real browser: every act by pointer and by keys, hostile notes, narrow and dark, read by axe."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from review_stores import made_store

from grail_mem import Memory
from grail_mem.review_page.app import make_app
from grail_mem.review_page.guard import Keys
from grail_mem.review_page.serve import listen

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATHS = ("/proposals", "/candidates", "/observations", "/communities", "/entities", "/graph", "/timeline?entity=Lanternbook", "/timeline",
         "/search?q=where+do+the+bookings+lie", "/health", "/log", "/nowhere", "/proposals/confirm?action=apply")  # fmt: skip

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium (apt-get install chromium)"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # playwright's own pipes, when it ends
]


class Looked:
    """One browser window on a store, and everything that went wrong in it."""

    def __init__(self, memory: Memory, keys: Keys, page: Any) -> None:
        self.memory, self.keys, self.page = memory, keys, page
        self.where = keys.address.partition("/?")[0]
        self.dialogs: list[str] = []
        self.elsewhere: list[str] = []
        self.errors: list[str] = []
        page.on("dialog", lambda dialog: (self.dialogs.append(dialog.message), dialog.dismiss()))
        page.on(
            "request",
            lambda request: None if request.url.startswith(self.where) else self.elsewhere.append(request.url),
        )
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on(
            "console",
            lambda said: self.errors.append(said.text) if said.type == "error" and "404" not in said.text else None,
        )
        page.goto(keys.address)
        page.wait_for_url("**/proposals")

    def go(self, path: str) -> None:
        self.page.goto(self.where + path)
        self.page.wait_for_load_state()

    def tells(self, text: str) -> None:
        """Wait until the page says that, as what the last form came to, and its keys work."""
        self.page.locator("#said", has_text=text).wait_for()
        self.page.wait_for_load_state("load")


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with sync_api.sync_playwright() as played:
        browser = played.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@contextmanager
def looked(root: Path, chromium: Any, *, is_read_only: bool = False, **context: Any) -> Iterator[Looked]:
    with Memory(root, embedder="none") as memory:
        listening = listen(0)
        keys = Keys(listening.getsockname()[1])
        app = make_app(memory, keys, is_read_only=is_read_only)
        server = uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False, lifespan="off", ws="none"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        opened = chromium.new_context(**context)
        opened.set_default_timeout(20_000)
        try:
            window = Looked(memory, keys, opened.new_page())
            yield window
            assert window.dialogs == []
            assert window.elsewhere == []
            assert window.errors == []
        finally:
            opened.close()
            server.should_exit = True
            thread.join()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("chromium") / "store"
    made_store(root).close()
    return root


@pytest.fixture
def root(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "store"))


def test_proposals_by_keys_alone(root: Path, chromium: Any) -> None:
    """j, a, u, r with a reason: decided, taken back, decided otherwise, without a pointer."""
    with looked(root, chromium) as it:
        page = it.page
        page.keyboard.press("j")
        first = page.evaluate("document.activeElement.id")
        page.keyboard.press("j")
        assert page.evaluate("document.activeElement.id") != first
        page.keyboard.press("k")
        assert page.evaluate("document.activeElement.id") == first
        page.keyboard.press("a")
        it.tells("Applied")
        assert page.evaluate("document.activeElement.id").startswith("p-")
        assert len(it.memory.proposals(status="applied")) == 1
        page.keyboard.press("Escape")
        page.evaluate("document.activeElement.blur()")
        page.keyboard.press("u")
        it.tells("Took")
        assert len(it.memory.proposals(status="undone")) == 1
        page.keyboard.press("j")
        page.keyboard.press("r")
        page.keyboard.type("It still counts")
        page.keyboard.press("Enter")
        it.tells("Rejected")
        assert it.memory.proposals(status="rejected")[0].decided["reason"] == "It still counts"
        page.keyboard.press("?")
        assert page.locator("#keys").is_visible()
        page.keyboard.press("Escape")
        page.keyboard.press("/")
        page.keyboard.type("where do the bookings lie")
        page.keyboard.press("Enter")
        page.wait_for_url("**/search?*")
        assert page.locator("#h-trace").is_visible()


def test_everything_can_be_done_by_pointer(root: Path, chromium: Any) -> None:
    """Each form, filled in as a person does."""
    with looked(root, chromium) as it:
        page = it.page
        page.click("text=Accept all")
        page.fill("#why", "tidy")
        page.click("form.confirm button.main")
        it.tells("Applied 2 of 2")
        page.click("#said button")
        it.tells("Took")
        page.click("text=Look for more")
        page.wait_for_selector("text=/Looked/", timeout=120_000)
        it.go("/candidates")
        page.click("article.card >> nth=0 >> text=Approve")
        it.tells("Approved")
        page.click("summary:has-text('Decline')")
        page.fill("details.ask input[name=reason]", "not so")
        page.click("details.ask button")
        it.tells("Declined")
        page.fill("#s-content", "Ines is back in June.")
        page.click("button:text-is('Submit')")
        it.tells("Submitted")
        (bread,) = it.memory.recall(text="Bread").observations
        for button, said in (("Pin", "Pinned"), ("Unpin", "No longer"), ("Archive", "Archived"), ("Unarchive", "Back")):
            it.go(f"/observations/{bread.id}")
            page.click(f"aside button:text-is('{button}')")
            it.tells(said)
        it.go(f"/observations/{bread.id}")
        page.click("summary:text-is('Revise')")
        page.select_option("#r-action", "supersede")
        page.fill("#r-reason", "asked the baker")
        page.fill("#r-content", "Bread is baked on Mondays.")
        page.click("button:text-is('Revise')")
        it.tells("Superseded")
        assert "Bread is baked on Mondays" in page.inner_text("main")
        page.click("aside button:text-is('Hide')")
        it.tells("Hidden")
        page.click("#said button")
        it.tells("Restored")
        it.go("/health")
        page.click("text=Look at everything")
        page.wait_for_selector("text=/up to date|behind by/")


def test_filters_and_colours(root: Path, chromium: Any) -> None:
    """Fields left empty stand in no address; the switch goes round."""
    with looked(root, chromium) as it:
        it.go("/observations")
        it.page.fill("#f-text", "Bread")
        it.page.click("text=Show")
        it.page.wait_for_url("**/observations?text=Bread")
        assert it.page.locator("li.row").count() == 1
        for theme in ("dark", "light", "auto"):
            it.page.click("form.theme button")
            it.page.wait_for_selector(f'html[data-theme="{theme}"]')


def test_the_graph_is_explored(root: Path, chromium: Any) -> None:
    """A click chooses and opens the list, the wheel and buttons zoom, dragging moves; the list does it by keys."""
    with looked(root, chromium) as it:
        it.go("/graph")
        page, box = it.page, 'document.querySelector("#graph").getAttribute("viewBox")'
        before = page.evaluate(box)
        page.locator("#graph a[data-node='0'] circle").click()
        assert page.locator("#n-0").get_attribute("open") is not None
        assert page.locator("#graph.picking").count() == 1
        page.click("[data-zoom=in]")
        zoomed = page.evaluate(box)
        assert zoomed != before
        area = page.locator("#graph").bounding_box()
        page.mouse.move(area["x"] + 40, area["y"] + 40)
        page.mouse.down()
        page.mouse.move(area["x"] + 140, area["y"] + 90, steps=4)
        page.mouse.up()
        moved = page.evaluate(box)
        assert moved.split()[:2] != zoomed.split()[:2]
        page.mouse.wheel(0, -300)
        page.wait_for_timeout(50)  # the wheel is told to the page later than keys are
        assert page.evaluate(box) != moved
        page.click("[data-zoom=all]")
        assert [float(part) for part in page.evaluate(box).split()] == [float(part) for part in before.split()]
        page.locator("#n-1 summary").focus()
        page.keyboard.press("Enter")
        assert page.locator("#n-1").get_attribute("open") is not None


@pytest.mark.parametrize("width", [360, 900, 1600])
def test_no_name_is_cut_by_the_edge_of_the_picture(tmp_path: Path, chromium: Any, width: int) -> None:
    """However long names are and wherever they stand, each that is written lies within the picture."""
    names = [f"The {word} harbour board {n}" for n, word in enumerate(["northern", "WWWWWWWW", "eastern", "mm"] * 4)]
    with Memory(tmp_path / "store", embedder="none") as memory:
        memory.add_observations(
            [{"content": f"Meeting {n}.", "entities": [name, names[n * 5 % 16]]} for n, name in enumerate(names)]
        )
    with looked(tmp_path / "store", chromium, viewport={"width": width, "height": 900}) as it:
        it.go("/graph")
        outside = it.page.evaluate(
            """() => { const frame = document.querySelector('#graph').getBoundingClientRect();
            const texts = [...document.querySelectorAll('#graph text')].filter(t => t.getBoundingClientRect().width);
            return [texts.length, texts.filter(t => { const box = t.getBoundingClientRect();
              return box.left < frame.left || box.right > frame.right || box.top < frame.top || box.bottom > frame.bottom;
            }).map(t => t.textContent)]; }"""
        )
        assert outside[0] >= 9
        assert outside[1] == []


def test_a_hostile_note_does_nothing(root: Path, chromium: Any) -> None:
    """No dialog, no script, no request elsewhere, on any page that shows it; `looked` looks at all three."""
    with looked(root, chromium) as it:
        (o,) = it.memory.recall(category="odd").observations
        short = it.memory.add_observation(
            content="![x](https://example.com/x.png) [a](javascript:alert(1)) <img src=x onerror=alert(1)> <svg onload=alert(1)>"
        )
        for path in (f"/observations/{o.id}", f"/observations/{short.id}", f"/observations/{o.id}/text", *PATHS, "/search?q=<script>alert(1)</script>",
                     "/graph?entity=\"><script>alert(1)</script>", "/observations?text=<img src=x onerror=alert(1)>"):  # fmt: skip
            it.go(path)
        it.go(f"/observations/{o.id}")
        assert "⟨U+202E⟩" in it.page.inner_text("h1")
        assert (
            it.page.evaluate(
                "document.querySelectorAll('.prose script, .prose img, .prose a[href^=javascript]').length"
            )
            == 0
        )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_narrow_screen_needs_no_scrolling_aside(root: Path, chromium: Any, scheme: str) -> None:
    with looked(root, chromium, viewport={"width": 360, "height": 740}, color_scheme=scheme) as it:
        (o,) = it.memory.recall(text="Bookings lie in MariaDB", include_history=True).observations
        (odd,) = it.memory.recall(category="odd").observations
        for path in (*PATHS, f"/observations/{o.id}", f"/observations/{odd.id}"):
            it.go(path)
            wide = it.page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
            assert wide[0] <= wide[1], path
        dark = it.page.evaluate("getComputedStyle(document.body.parentElement).backgroundColor")
        assert (dark == "rgb(21, 24, 26)") == (scheme == "dark")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(root: Path, chromium: Any, scheme: str) -> None:
    """Landmarks, labels, names and contrast hold on every page."""
    with looked(root, chromium, color_scheme=scheme, bypass_csp=True, reduced_motion="reduce") as it:
        (o,) = it.memory.recall(text="Bookings lie in MariaDB", include_history=True).observations
        (quoted,) = it.memory.recall(text="Third rehearsal").observations
        one = it.memory.proposals()[0]
        found: dict[str, list[str]] = {}
        for path in (*PATHS, f"/observations/{o.id}", f"/observations/{quoted.id}", f"/proposals/{one.id}"):
            it.go(path)
            it.page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
            for violation in axe.Axe().run(it.page).response["violations"]:
                if violation["impact"] in ("serious", "critical"):
                    nodes = [
                        node["html"][:160] + " | " + node["failureSummary"][:200] for node in violation["nodes"][:3]
                    ]
                    found.setdefault(f"{violation['id']} {path}", []).extend(nodes)
        assert found == {}


def test_everything_is_reached_by_tab_and_shows_where_it_is(root: Path, chromium: Any) -> None:
    """Tab goes through links, fields and buttons in order; each has a ring, and none keeps the focus."""
    with looked(root, chromium) as it:
        it.go("/proposals")
        seen: list[str] = []
        for _ in range(60):
            it.page.keyboard.press("Tab")
            name, ring = it.page.evaluate(
                "(() => { const e = document.activeElement; const s = getComputedStyle(e);"
                " return [e === document.body ? '' : (e.innerText || e.name || e.id || e.tagName).trim(), s.outlineStyle]; })()"
            )
            if not name:  # past the last one
                break
            assert ring != "none", name
            seen.append(name)
        assert {"Skip to the content", "Proposals", "Health", "Accept", "Reject…", "q"} <= set(seen)


def test_without_a_script_the_forms_work(root: Path, chromium: Any) -> None:
    with looked(root, chromium, java_script_enabled=False) as it:
        it.page.click("article.card >> nth=0 >> button:text-is('Accept')")
        it.tells("Applied")
        it.page.click("#said button")
        it.tells("Took back")
        it.go("/graph")
        assert it.page.locator("#graph circle").count() > 0

"""What the pages show: everything that is there, nothing that may not be seen, and stored text that can do nothing."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest
from review_stores import Browser

from grail_mem import Memory

ID = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
PAGES = {
    "/proposals": "Waiting", "/proposals?status=applied": "Nothing is applied", "/proposals?kind=expire_stale": "Expire stale",
    "/proposals/confirm?action=apply": "Accept 2 proposals", "/candidates": "Leo likes calls", "/candidates?status=declined": "Nothing is declined",
    "/observations": "Bread from the oven", "/communities": "work", "/communities?in=work": "platform", "/entities": "Lanternbook",
    "/entities?text=lantern": "Lanternbook", "/entities?text=zzz": "No entity has that name", "/graph": "Lanternbook",
    "/graph?entity=lanternbook": "MariaDB", "/graph?community=work/platform": "MariaDB", "/graph?entity=nobody": "Nothing to draw",
    "/timeline": "lanternbook/database", "/timeline?entity=Lanternbook": "Tickets of the summer line",
    "/timeline?attribute=lanternbook/database": "2022-01-01", "/timeline?entity=nobody": "Nothing is known of it",
    "/search": "Ask something", "/search?q=where+do+the+bookings+lie": "Which retriever brought what",
    "/search?q=quantum+chromodynamics": "Trace", "/search?q=Lanternbook&mode=local": "Answer", "/search?q=what+is+there&mode=global": "Answer",
    "/health": "candidates wait", "/log": "<td>add</td>", "/log?action=ingest": "ingest",
}  # fmt: skip


@pytest.mark.parametrize(("path", "says"), PAGES.items())
def test_page(looking: Browser, path: str, says: str) -> None:
    """Every page is there and says what it is for."""
    answer = looking.get(path)
    assert answer.status_code == 200
    assert says in answer.text
    assert answer.text.count("<h1") == 1
    assert "<main" in answer.text


def test_the_first_page_is_that_of_proposals(looking: Browser) -> None:
    assert looking.get("/").headers["location"] == "/proposals"


def test_an_observation_shows_all_of_it(looking: Browser) -> None:
    """Markdown, frontmatter, relations, history; and the words around a quote."""
    store = looking.app.state.site.store
    (o,) = store.recall(text="Bookings lie in MariaDB", include_history=True).observations
    page = looking.get(f"/observations/{o.id}").text
    for said in ("<strong>one</strong>", "lanternbook/database", "stores in", o.path, "2022", "add</span>"):
        assert said in page
    (quoted,) = store.recall(text="Third rehearsal").observations
    page = looking.get(f"/observations/{quoted.id}").text
    assert "<mark>No booking was lost in the third rehearsal</mark>" in page
    assert "Good to hear." in page
    assert "verified" in page
    assert looking.get(f"/observations/{quoted.id}/text").text.strip() == quoted.content.strip()


def test_a_proposal_shows_what_would_change(looking: Browser) -> None:
    (one, *_) = looking.app.state.site.store.proposals()
    page = looking.get(f"/proposals/{one.id}").text
    assert html.escape(one.rationale, quote=True).replace("&#x27;", "&#39;") in page
    assert "status: archived" in page
    assert one.affected[0].path in page


@pytest.mark.parametrize(
    "path", ["/observations/x", f"/observations/{ID}", f"/observations/{ID}/text", f"/proposals/{ID}", "/nowhere", "/observations/%00", "/observations/..%2f..%2fetc"]
)  # fmt: skip
def test_what_is_not_there_is_one_page(looking: Browser, path: str) -> None:
    """Whatever is asked for, and whether it may be seen or not, the answer is the same."""
    answer = looking.get(path)
    assert answer.status_code == 404
    assert answer.text == looking.get("/also-nowhere").text


@pytest.mark.parametrize("path", [
    "/observations?since=someday", "/observations?min_confidence=high", "/observations?kind=odd", "/observations?cursor=x",
    "/search?q=x&since=someday", "/search?q=x&mode=odd", "/proposals?status=odd", "/candidates?status=odd", "/log?cursor=x",
    "/entities?cursor=x", "/proposals/confirm?action=erase", "/proposals?kind=nothing&page=999999999",
])  # fmt: skip
def test_odd_questions_are_refused_with_a_reason(looking: Browser, path: str) -> None:
    answer = looking.get(path)
    assert answer.status_code == (200 if "kind=nothing" in path else 400)
    assert "<h1" in answer.text


def test_all_problems_of_a_filter_are_said_and_what_was_typed_stays(looking: Browser) -> None:
    page = looking.get("/observations?since=someday&min_confidence=high&text=abc").text
    assert "since" in page
    assert "min_confidence" in page
    assert 'value="someday"' in page
    assert 'value="abc"' in page


def test_stored_text_can_do_nothing(looking: Browser) -> None:
    """Tags, handlers and odd links of a note are shown as text on every page that shows it, and what hides is written out."""
    store = looking.app.state.site.store
    (o,) = store.recall(category="odd").observations
    paths = [
        f"/observations/{o.id}", "/observations", "/observations?text=<script>", "/candidates", "/graph", "/entities", "/timeline",
        "/timeline?entity=MariaDB", "/search?q=pay+now+script", "/log", f"/observations?text={'%22%3E%3Cscript%3E'}", "/health",
        "/search?q=%22%3E%3Cscript%3Ealert(1)%3C/script%3E", "/graph?entity=%22%3E%3Cscript%3E", "/timeline?attribute=%3Cscript%3E",
        "/communities?in=%3Cscript%3E", "/log?action=%3Cscript%3E", "/entities?text=%3Cscript%3E",
    ]  # fmt: skip
    for path in paths:
        text = looking.get(path).text
        assert set(re.findall(r"<script[^>]*>", text)) <= {
            '<script src="/static/review.js" defer>', '<script src="/static/graph.js" defer>',
        }, path  # fmt: skip
        tags = re.findall(r"<[a-zA-Z][^>]*>", text)
        assert not any(re.search(r"\son\w+=|javascript:|data:text", tag, re.IGNORECASE) for tag in tags), path
        assert not any(tag.startswith("<img") for tag in tags), path
        assert not any(hidden in text for hidden in "\u202e\u200b\u2066"), path
    page = looking.get(f"/observations/{o.id}").text
    assert "⟨U+202E⟩" in page
    assert "{{ 7*7 }}" in page  # as it was written, not what a template would make of it


def test_links_of_a_short_note_lead_to_the_web_alone(browser: Browser, memory: Memory) -> None:
    made = memory.add_observation(
        content="[a](javascript:alert(1)) [b](https://example.com) ![c](https://example.com/x.png) [d](file:///etc/passwd) "
        "[e](//example.com) <script>x</script>\n\n# Head\n\n| a | b |\n|---|---|\n| 1 | 2 |"
    )
    page = browser.get(f"/observations/{made.id}").text
    prose = page.split('<div class="prose">')[1].split("</div>")[0]
    assert re.findall(r'href="([^"]*)"', prose) == ["https://example.com"]
    assert 'rel="noopener noreferrer nofollow"' in prose
    assert "<img" not in prose
    assert "[picture: c" in prose
    assert "<h3>Head</h3>" in prose
    assert "<td>1</td>" in prose
    assert "&lt;script&gt;" in prose


def test_paging_reaches_every_observation_once(tmp_path: Path) -> None:
    """The pages together show all that is there; none shows it all."""
    with Memory(tmp_path, embedder="none") as memory:
        memory.add_observations(
            [{"content": f"Note number {n}.", "observed_at": f"2026-01-01T00:00:{n % 60:02d}Z"} for n in range(75)]
        )
        browser = Browser(memory)
        seen: list[str] = []
        path: str | None = "/observations"
        n_pages = 0
        while path:
            page = browser.get(path).text
            seen += re.findall(r'id="o-([0-9A-Z]{26})"', page)
            found = re.search(r'rel="next" href="([^"]+)"', page)
            path = html.unescape(found[1]) if found else None
            n_pages += 1
        assert len(seen) == len(set(seen)) == 75
        assert n_pages == 3


def test_what_was_drawn_is_drawn_anew_when_the_store_changes(browser: Browser, memory: Memory) -> None:
    """The graph is kept while nothing changes, and shows what is new, what is hidden, and each entity and community by itself."""
    before = browser.get("/graph").text
    assert browser.get("/graph").text == before
    made = memory.add_observation(content="A crane came.", category="yard", entities=["Crane 7", "Lanternbook"])
    assert "Crane 7" in browser.get("/graph").text
    assert "MariaDB" not in browser.get("/graph?entity=Crane 7").text
    assert "MariaDB" not in browser.get("/graph?community=yard").text
    memory.hide(made.id)
    assert browser.get("/graph").text == before
    assert "Nothing to draw" in browser.get("/graph?community=yard").text


def test_an_empty_store_says_what_to_do(tmp_path: Path) -> None:
    with Memory(tmp_path, embedder="none") as memory:
        memory.init()
        browser = Browser(memory)
        for path, says in {
            "/proposals": "Nothing waits for you", "/candidates": "Nothing waits for you", "/observations": "Nothing is stored yet",
            "/communities": "No folders yet", "/entities": "No entity yet", "/graph": "Nothing to draw", "/timeline": "No observation names",
            "/search?q=anything": "Nothing stored", "/log": "Nothing is recorded", "/health": "0 observations",
        }.items():  # fmt: skip
            answer = browser.get(path)
            assert answer.status_code == 200, path
            assert says in answer.text, path


def test_colours_are_chosen_without_a_script(looking: Browser) -> None:
    answer = looking.post("/theme", theme="dark", back="/health")
    assert answer.headers["location"] == "/health"
    assert 'data-theme="dark"' in looking.get("/health").text
    looking.post("/theme", theme='odd"><script>', back="/health")
    assert 'data-theme="auto"' in looking.get("/health").text


@pytest.mark.parametrize(
    "back", ["https://evil.example", "//evil.example", "/\\evil.example", "javascript:alert(1)", "/\nX: y", "evil"]
)
def test_a_form_leads_back_to_the_page_alone(looking: Browser, back: str) -> None:
    assert looking.post("/theme", theme="auto", back=back).headers["location"] == "/"

"""What the forms do: every decision and every act, as the owner, read only, and as a session that may not."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from review_stores import Browser, said_on

from grail_mem import Memory

Check = Callable[[Memory], bool]


def test_a_proposal_is_accepted_and_taken_back(browser: Browser, memory: Memory) -> None:
    one, other = memory.proposals()
    path = memory.root / one.affected[0].path
    before = path.read_bytes()
    answer = browser.post("/proposals/decide", action="apply", id=one.id, back="/proposals", then=f"p-{other.id}")
    assert answer.headers["location"].endswith(f"#p-{other.id}")
    page = browser.after(answer)
    assert said_on(page) == "Applied: expire stale (1 file)."
    assert "status: archived" in path.read_text()
    assert [p.id for p in memory.proposals()] == [other.id]
    assert one.id in browser.get("/proposals?status=applied").text
    page = browser.after(browser.post("/proposals/decide", action="undo", id=one.id, back="/proposals"))
    assert said_on(page).startswith("Took back")
    assert path.read_bytes() == before


def test_a_proposal_is_rejected_with_a_reason(browser: Browser, memory: Memory) -> None:
    one, _ = memory.proposals()
    browser.after(
        browser.post("/proposals/decide", action="reject", id=one.id, reason="It still counts", back="/proposals")
    )
    (rejected,) = memory.proposals(status="rejected")
    assert rejected.decided["reason"] == "It still counts"
    assert "It still counts" in browser.get("/proposals?status=rejected").text


def test_all_of_a_kind_are_decided_at_once_and_taken_back_at_once(browser: Browser, memory: Memory) -> None:
    ids = [one.id for one in memory.proposals()]
    page = browser.get("/proposals/confirm?action=apply&kind=expire_stale").text
    assert all(f'name="id" value="{id_}"' in page for id_ in ids)
    page = browser.after(browser.post("/proposals/decide", action="apply", id=ids, back="/proposals"))
    assert said_on(page) == "Applied 2 of 2 proposals (2 files)."
    assert not memory.proposals()
    assert all(f'name="id" value="{id_}"' in page for id_ in ids)
    browser.after(browser.post("/proposals/decide", action="undo", id=ids))
    assert {one.status for one in memory.proposals(status="all")} <= {"pending", "undone"}


def test_a_stale_proposal_is_not_applied_and_says_why(browser: Browser, memory: Memory) -> None:
    one, _ = memory.proposals()
    memory.update(one.affected[0].id, title="Somebody changed it")
    page = browser.after(browser.post("/proposals/decide", action="apply", id=one.id))
    assert said_on(page).startswith("Not done")
    assert one.id in browser.get("/proposals?status=stale").text


def test_looking_for_proposals_runs_beside_the_pages(browser: Browser, memory: Memory) -> None:
    browser.after(browser.post("/proposals/look", back="/proposals"))
    browser.app.state.site.work.wait()
    assert browser.get("/work").json() == {"running": False}
    assert "Looked" in browser.get("/proposals").text
    assert browser.post("/proposals/look", kind="odd").status_code == 400


def test_a_look_that_finds_nothing_says_so(browser: Browser, memory: Memory) -> None:
    """What was taken back does not come again on the same grounds; the page says that it looked."""
    ids = [one.id for one in memory.proposals()]
    memory.apply(ids)
    memory.undo(ids)
    browser.post("/proposals/look", kind="expire_stale")
    browser.app.state.site.work.wait()
    assert "0 new proposals, 2 left out" in browser.get("/proposals").text


def test_candidates_are_submitted_approved_and_declined(browser: Browser, memory: Memory) -> None:
    browser.after(
        browser.post("/candidates/submit", content="Ines is back in June.", tags="team, date", category="team")
    )
    mine = memory.candidates()[-1]
    assert mine.observation is not None
    assert mine.observation.tags == ("team", "date")
    page = browser.after(browser.post("/candidates/decide", action="approve", id=mine.id))
    assert said_on(page) == "Approved 1 candidate."
    (o,) = memory.recall(text="Ines is back").observations
    first = memory.candidates()[0]
    browser.after(browser.post("/candidates/decide", action="decline", id=first.id, reason="not so"))
    assert memory.candidates(status="declined")[0].reason == "not so"
    again = browser.after(
        browser.post("/candidates/submit", content="Ines is back in June.", tags="team, date", category="team")
    )
    assert "submitted before" in said_on(again)
    assert f"/observations/{o.id}/act" in page


ACTS: dict[str, tuple[list[str], Check]] = {
    "hide": (["hide"], lambda m: not m.recall(text="Bread").observations),
    "restore": (["hide", "restore"], lambda m: bool(m.recall(text="Bread").observations)),
    "pin": (["pin"], lambda m: m.recall(text="Bread").observations[0].extra.get("pinned") is True),
    "unpin": (["pin", "unpin"], lambda m: not m.recall(text="Bread").observations[0].extra),
    "archive": (["archive"], lambda m: not m.recall(text="Bread").observations),
    "unarchive": (["archive", "unarchive"], lambda m: bool(m.recall(text="Bread").observations)),
}


@pytest.mark.parametrize("name", ACTS)
def test_an_observation_is(browser: Browser, memory: Memory, name: str) -> None:
    """Each act does what it says, with the reason in the ledger, and offers to take it back."""
    (o,) = memory.recall(text="Bread").observations
    acts, holds = ACTS[name]
    page = ""
    for action in acts:
        answer = browser.post(
            f"/observations/{o.id}/act", action=action, reason=f"because {action}", back=f"/observations/{o.id}"
        )
        page = browser.after(answer)
    assert holds(memory)
    assert memory.log(id=o.id, limit=1).entries[0].reason == f"because {acts[-1]}"
    assert f'action="/observations/{o.id}/act"' in page


def test_what_is_hidden_is_restored_from_the_log(browser: Browser, memory: Memory) -> None:
    (o,) = memory.recall(text="Bread").observations
    memory.hide(o.id)
    assert browser.get(f"/observations/{o.id}").status_code == 404
    assert f'action="/observations/{o.id}/act"' in browser.get("/log").text


REVISIONS = {
    "confirm": {}, "expire": {"at": "2026-03-01"}, "correct": {"content": "Bread is baked on Saturdays."},
    "supersede": {"content": "Bread is baked on Mondays.", "at": "2026-03-01"}, "dispute": {"content": "There is no oven."},
}  # fmt: skip


@pytest.mark.parametrize("action", REVISIONS)
def test_an_observation_is_revised(browser: Browser, memory: Memory, action: str) -> None:
    (o,) = memory.recall(text="Bread").observations
    memory.update(o.id, status="provisional")
    more = REVISIONS[action]
    answer = browser.post(f"/observations/{o.id}/revise", action=action, reason="I was there", **more)
    page = browser.after(answer)
    assert said_on(page)
    steps = memory.history(o.id).steps
    assert "I was there" in {step.reason for step in steps}
    if "content" in more:
        assert len(memory.history(o.id).revisions) == 2
        assert more["content"] in page


@pytest.mark.parametrize(("path", "fields"), [
    ("/observations/{id}/revise", {"action": "correct", "reason": ""}), ("/observations/{id}/revise", {"action": "odd", "reason": "x"}),
    ("/observations/{id}/act", {"action": "erase"}), ("/observations/{id}/act", {"action": "close"}), ("/proposals/decide", {"action": "apply"}),
    ("/proposals/decide", {"action": "odd", "id": "x"}), ("/candidates/decide", {"action": "approve"}), ("/candidates/submit", {"title": "x"}),
])  # fmt: skip
def test_what_cannot_be_done_is_refused_and_nothing_changes(
    browser: Browser, memory: Memory, path: str, fields: dict[str, str]
) -> None:
    (o,) = memory.recall(text="Bread").observations
    before = memory.log(limit=1).entries
    assert browser.post(path.format(id=o.id), **fields).status_code == 400
    assert memory.log(limit=1).entries == before


@pytest.mark.parametrize(("path", "fields"), [
    ("/observations/{id}/act", {"action": "hide"}), ("/observations/{id}/revise", {"action": "confirm", "reason": "x"}),
    ("/proposals/decide", {"action": "apply", "id": "{id}"}), ("/candidates/decide", {"action": "approve", "id": "{id}"}),
])  # fmt: skip
def test_what_is_not_there_is_not_changed(browser: Browser, path: str, fields: dict[str, str]) -> None:
    unknown = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
    sent = {name: value.format(id=unknown) for name, value in fields.items()}
    assert browser.post(path.format(id=unknown), **sent).status_code == 404


def test_a_page_that_only_reads_changes_nothing(memory: Memory) -> None:
    """Every form but colours and the look at everything is refused, and no page offers one."""
    browser = Browser(memory, is_read_only=True)
    one = memory.proposals()[0]
    (o,) = memory.recall(text="Bread").observations
    (*_, candidate) = memory.candidates()
    before = memory.log(limit=1).entries
    for path, fields in {
        "/proposals/decide": {"action": "apply", "id": one.id}, "/proposals/look": {}, "/candidates/submit": {"content": "x"},
        "/candidates/decide": {"action": "approve", "id": candidate.id}, f"/observations/{o.id}/act": {"action": "hide"},
        f"/observations/{o.id}/revise": {"action": "confirm", "reason": "x"},
    }.items():  # fmt: skip
        assert browser.post(path, **fields).status_code == 403, path
    assert memory.log(limit=1).entries == before
    for path in (
        "/proposals",
        f"/proposals/{one.id}",
        "/candidates",
        f"/observations/{o.id}",
        "/log",
        "/proposals/confirm?action=apply",
    ):
        page = browser.get(path).text
        assert 'action="/proposals' not in page, path
        assert 'action="/candidates/' not in page, path
        assert "/act" not in page, path


# -- sessions ----------------------------------------------------------------------------------------------------------


def test_a_session_sees_and_does_what_it_may(memory: Memory) -> None:
    """With the right to read alone, the pages show, the forms are refused, and what is another's is not there."""
    memory.grant("user:u1", "org:store", rights=["read"])
    secret = memory.add_observation(
        content="A plan for another team.", scope="project:other", entities=[{"name": "Skunkworks"}]
    )
    before = memory.log(limit=1).entries
    with memory.session(user_id="u1", agent_id="assistant") as session:
        browser = Browser(session)
        one = memory.proposals()[0]
        for action in ("apply", "reject", "undo"):
            answer = browser.post("/proposals/decide", action=action, id=one.id)
            assert answer.status_code == 403
            assert f"may not apply in the scope {memory.settings.default_scope}" in answer.text
        (o,) = session.recall(text="Bread").observations
        assert browser.post(f"/observations/{o.id}/act", action="hide").status_code == 403
        assert browser.post(f"/observations/{o.id}/revise", action="confirm", reason="x").status_code == 403
        assert (
            browser.get(f"/observations/{secret.id}").text
            == browser.get("/observations/01ARZ3NDEKTSV4RRFFQ69G5FAV").text
        )
        assert browser.post(f"/observations/{secret.id}/act", action="hide").status_code == 404
        for path in ("/observations", "/entities", "/graph", "/graph?entity=Skunkworks", "/timeline", "/log", "/health", "/communities",
                     "/search?q=plan+for+another+team", "/timeline?entity=Skunkworks"):  # fmt: skip
            answer = browser.get(path)
            assert answer.status_code == 200
            assert "another team" not in answer.text.replace("plan for another team", ""), path
        assert "agent:assistant/u1" in browser.get("/health").text
    assert memory.log(limit=1).entries == before


@pytest.mark.slow
def test_what_a_session_may_not_do_is_not_offered_and_why_is_said(memory: Memory) -> None:
    """Without a right its forms are on no page, and each page names the right; with it the forms are there and no word of it."""
    one = memory.proposals()[0]
    (bread,) = memory.recall(text="Bread").observations
    (_, candidate) = memory.candidates()
    pages = {
        "/proposals": ("apply", f'value="{one.id}"'), f"/proposals/{one.id}": ("apply", 'action="/proposals/decide"'),
        "/proposals/confirm?action=apply": ("apply", 'action="/proposals/decide"'),
        f"/observations/{bread.id}": ("write", 'value="pin"'), "/candidates": ("apply", f'value="{candidate.id}"'),
    }  # fmt: skip
    memory.grant("user:reader", "org:store", rights=["read"])
    memory.grant("user:decider", "org:store", rights=["read", "apply", "write", "forget"])
    with (
        memory.session(user_id="reader", agent_id="a") as reads,
        memory.session(user_id="decider", agent_id="a") as may,
    ):
        reader, decider = Browser(reads), Browser(may)
        for path, (right, form) in pages.items():
            page = reader.get(path).text
            assert form not in page, path
            assert f"This session may not {right} in the scope org:store" in page, path
            page = decider.get(path).text
            assert form in page, path
            assert "data-denied" not in page, path
        assert 'value="hide"' not in reader.get(f"/observations/{bread.id}").text
        assert 'value="hide"' in decider.get(f"/observations/{bread.id}").text
        own = reads.add_observation(content="A thought of its own.")
        assert 'value="hide"' in reader.get(f"/observations/{own.id}").text
    assert "data-denied" not in "".join(Browser(memory).get(path).text for path in pages)


def test_a_session_that_may_apply_does(memory: Memory) -> None:
    memory.grant("user:u1", "org:store", rights=["read", "apply", "propose", "write", "forget"])
    with memory.session(user_id="u1", agent_id="assistant") as session:
        browser = Browser(session)
        one = memory.proposals()[0]
        page = browser.after(browser.post("/proposals/decide", action="apply", id=one.id))
        assert said_on(page).startswith("Applied")
        assert memory.proposals(status="applied")[0].decided["actor"] == "agent:assistant/u1"


# -- health ------------------------------------------------------------------------------------------------------------


def test_a_look_at_everything_finds_what_is_wrong(browser: Browser, memory: Memory) -> None:
    """A file that cannot be read, one that nobody recorded, a quote whose source is gone: each is named."""
    (memory.root / "memories" / "home" / "2026-01-01_torn.md").write_text("---\ntitle: [\n---\nx\n")
    (memory.root / "memories" / "home" / "new.md").write_text("Somebody wrote this.\n")
    (source,) = (memory.root / "sources" / "chats").glob("*.jsonl")
    source.unlink()
    browser.after(browser.post("/health/check", back="/health"))
    browser.app.state.site.work.wait()
    page = browser.get("/health").text
    assert "2026-01-01_torn.md" in page
    assert "behind by" in page
    assert "source missing" in page
    assert "holds" in page
    assert "Ledger and grants" in page


def test_a_broken_ledger_is_told(browser: Browser, memory: Memory) -> None:
    (chain,) = (memory.root / ".grail" / "ledger").glob("*.jsonl")
    lines = chain.read_bytes().splitlines(keepends=True)
    chain.write_bytes(b"".join([lines[0].replace(b'"actor":"', b'"actor":"x'), *lines[1:]]))
    browser.post("/health/check", back="/health")
    browser.app.state.site.work.wait()
    assert "broken" in browser.get("/health").text

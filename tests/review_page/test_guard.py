"""Who may talk to the page: nobody without the token, from another name, from another page, or without the page's mark."""

from __future__ import annotations

import logging
import subprocess
import sys

import pytest
from review_stores import PORT, Browser
from starlette.routing import Route

from grail_mem import Memory
from grail_mem.review_page.guard import MAX_BODY_BYTES
from grail_mem.review_page.serve import listen


def forms(browser: Browser) -> list[str]:
    routes = [route for route in browser.app.routes if isinstance(route, Route) and "POST" in (route.methods or ())]
    assert len(routes) >= 8
    return [route.path.replace("{id}", "01ARZ3NDEKTSV4RRFFQ69G5FAV") for route in routes]


def pages(browser: Browser) -> list[str]:
    routes = [route for route in browser.app.routes if isinstance(route, Route) and "GET" in (route.methods or ())]
    return [route.path.replace("{id}", "01ARZ3NDEKTSV4RRFFQ69G5FAV") for route in routes]


def test_nothing_is_shown_without_the_token(looking: Browser, made_root: object) -> None:
    stranger = Browser(looking.app.state.site.store, let_in=False)
    for path in [*pages(stranger), "/static/review.css", "/nowhere"]:
        answer = stranger.get(path)
        assert answer.status_code == 401, path
        assert "Lanternbook" not in answer.text
    for path in forms(stranger):
        assert stranger.post(path).status_code == 401


@pytest.mark.parametrize("token", ["x", "", "é", "0" * 5000])
def test_a_wrong_token_lets_nobody_in(looking: Browser, token: str) -> None:
    stranger = Browser(looking.app.state.site.store, let_in=False)
    assert stranger.get("/", params={"token": token}).status_code == 401
    assert not stranger.client.cookies


def test_the_cookie_is_not_the_token_and_out_of_reach(looking: Browser) -> None:
    stranger = Browser(looking.app.state.site.store, let_in=False)
    set_cookie = stranger.get(f"/?token={stranger.keys.token}").headers["set-cookie"]
    assert "HttpOnly" in set_cookie
    assert "SameSite=strict" in set_cookie
    assert str(PORT) in set_cookie.partition("=")[0]
    assert stranger.keys.token not in set_cookie


@pytest.mark.parametrize("other", ['a={"x": [1]}', 'a="b', "a b=1", "[x]=1", "a", "é=1", f"grail_review_{PORT}=other"])
def test_cookies_of_other_programs_lock_nobody_out(looking: Browser, other: str) -> None:
    """Browsers keep cookies by host and send those of every port, whatever their form."""
    stranger = Browser(looking.app.state.site.store, let_in=False)
    own = f"{stranger.keys.cookie_name}={stranger.keys.cookie}"
    for sent in (f"{other}; {own}", f"{own}; {other}"):
        assert stranger.get("/proposals", headers={"cookie": sent.encode("latin-1")}).status_code == 200
    assert stranger.get("/proposals", headers={"cookie": other.encode("latin-1")}).status_code == 401


@pytest.mark.parametrize(
    "host", ["evil.example", f"evil.example:{PORT}", "127.0.0.1", "127.0.0.1:80", f"127.0.0.1:{PORT}.evil.example"]
)
def test_another_name_is_refused(looking: Browser, host: str) -> None:
    """A name that leads here by a trick of DNS is none of the page's own."""
    assert looking.get("/proposals", headers={"host": host}).status_code == 421
    assert looking.get(f"/?token={looking.keys.token}", headers={"host": host}).status_code == 421


@pytest.mark.parametrize(
    "origin",
    ["https://evil.example", "null", "http://127.0.0.1", f"https://127.0.0.1:{PORT}", f"http://127.0.0.1:{PORT + 1}"],
)
def test_a_form_of_another_page_is_refused(looking: Browser, origin: str) -> None:
    for path in forms(looking):
        assert looking.post(path, headers={"origin": origin}).status_code == 403
    assert looking.get("/proposals", headers={"origin": origin}).status_code == 403


def test_a_form_without_origin_that_another_site_sent_is_refused(looking: Browser) -> None:
    for site in ("cross-site", "same-site", "none"):
        answer = looking.client.post("/theme", data={"csrf": looking.keys.csrf}, headers={"sec-fetch-site": site})
        assert answer.status_code == 403


@pytest.mark.parametrize("csrf", ["", "x", None])
def test_every_form_needs_the_mark_of_the_page(browser: Browser, memory: Memory, csrf: str | None) -> None:
    """No address that takes a form does anything without it."""
    before = memory.log(limit=1).entries
    for path in forms(browser):
        fields = {} if csrf is None else {"csrf": csrf}
        answer = browser.client.post(path, data=fields, headers={"origin": f"http://127.0.0.1:{PORT}"})
        assert answer.status_code in (403, 415), path  # an empty form has no type
    assert memory.log(limit=1).entries == before
    assert browser.app.state.site.work.running is None


def test_what_is_no_form_or_too_much_is_refused(looking: Browser) -> None:
    origin = {"origin": f"http://127.0.0.1:{PORT}"}
    for kind in ("application/json", "text/plain", "multipart/form-data; boundary=x"):
        answer = looking.client.post("/theme", content=b"{}", headers=origin | {"content-type": kind})
        assert answer.status_code == 415
    large = b"csrf=" + looking.keys.csrf.encode() + b"&x=" + b"y" * MAX_BODY_BYTES
    headers = origin | {"content-type": "application/x-www-form-urlencoded"}
    assert looking.client.post("/theme", content=large, headers=headers).status_code == 413
    many = b"csrf=" + looking.keys.csrf.encode() + b"&a=b" * 5000
    assert looking.client.post("/theme", content=many, headers=headers).status_code == 400
    assert looking.client.post("/theme", content=b"csrf=\xff\xfe", headers=headers).status_code in (400, 403)


def test_every_answer_says_what_a_browser_may_do_with_it(looking: Browser) -> None:
    """No script or style in the page, no frame, nothing from elsewhere; on errors too."""
    stranger = Browser(looking.app.state.site.store, let_in=False)
    answers = [
        looking.get(path) for path in ("/proposals", "/static/review.js", "/nowhere", "/observations/x", "/work")
    ]
    for answer in [
        *answers,
        stranger.get("/"),
        looking.get("/", headers={"host": "x"}),
        looking.post("/theme", csrf="x"),
    ]:
        policy = answer.headers["content-security-policy"]
        assert "unsafe" not in policy
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"


def test_pages_hold_no_script_or_style_of_their_own(looking: Browser) -> None:
    """What the policy refuses is not there: no inline script, no style attribute, no handler, nothing from elsewhere."""
    for path in (
        "/proposals",
        "/candidates",
        "/observations",
        "/graph",
        "/health",
        "/search?q=bookings",
        "/timeline?entity=Lanternbook",
    ):
        text = looking.get(path).text
        assert " style=" not in text
        assert "<style" not in text
        assert "<script>" not in text
        assert " onclick=" not in text
        assert 'src="http' not in text
        assert "url(" not in text


@pytest.mark.parametrize(
    "path", ["/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fguard.py", "/static//etc/passwd"]
)
def test_no_file_but_the_page_s_own_is_served(looking: Browser, path: str) -> None:
    answer = looking.get(path)
    assert answer.status_code == 404
    assert "Who may talk" not in answer.text


def test_only_this_machine_is_listened_to() -> None:
    with listen(0) as listening:
        assert listening.getsockname()[0] == "127.0.0.1"


def test_a_fault_of_the_page_tells_no_log_what_is_stored(
    browser: Browser, memory: Memory, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("Lanternbook is a secret")

    monkeypatch.setattr(memory, "candidates", fail)
    with caplog.at_level(logging.DEBUG):
        answer = browser.get("/candidates")
    assert answer.status_code == 500
    assert "Lanternbook" not in answer.text + caplog.text
    assert answer.headers["x-frame-options"] == "DENY"


def test_the_package_without_the_page_loads_no_server() -> None:
    """`import grail_mem` and the help page load nothing of the web."""
    code = (
        "import sys, grail_mem, grail_mem.cli.app\n"
        "print([name for name in ('starlette', 'uvicorn', 'jinja2', 'markdown_it') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

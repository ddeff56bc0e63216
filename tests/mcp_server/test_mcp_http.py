"""The server over HTTP: who is let in, by which name, and that nobody sees what is another's."""

from __future__ import annotations

import json
import shutil
import signal
import ssl
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
import pytest

from grail_mem.mcp_server.tokens import Tokens
from grail_mem.model.scope import make_principal
from grail_mem.store.layout import Layout
from tests.mcp_clients import WAIT_S, command, environment, opening, over_http

JSON = {"content-type": "application/json", "accept": "application/json, text/event-stream"}


class Running(NamedTuple):
    url: str
    tokens: dict[str, str]
    process: subprocess.Popen[bytes]


@contextmanager
def _running(root: Path, *options: str) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    words = [*command(root), "--http", "--port", "0", "--structured", *options]
    with subprocess.Popen(
        words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    ) as process:
        assert process.stderr is not None
        try:
            said = process.stderr.readline().decode()
            assert said.startswith("Serving at http"), said + process.stderr.read().decode()
            yield said.split()[-1], process
        finally:
            process.kill()


@pytest.fixture(scope="module")
def running(store: Path) -> Iterator[Running]:
    """One server with a token for each of two persons."""
    tokens = Tokens(Layout(store))
    made = {user: tokens.add(make_principal(user_id=user, agent_id="helper"))[0] for user in ("u1", "u2")}
    with _running(store) as (url, process):
        yield Running(url, made, process)


def _post(
    running: Running, *, token: str | None = "", method: str = "initialize", params: Any = None, **headers: str
) -> httpx2.Response:
    sent = {"jsonrpc": "2.0", "id": 1, "method": method, "params": opening("2025-06-18") if params is None else params}
    secret = running.tokens["u1"] if token == "" else token
    who = {} if secret is None else {"authorization": f"Bearer {secret}"}
    told: Mapping[str, str] = {**JSON, **who, **{name.replace("_", "-"): value for name, value in headers.items()}}
    return httpx2.post(running.url, headers=dict(told), content=json.dumps(sent), timeout=WAIT_S, trust_env=False)


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_a_token_says_whose_memory_it_is(running: Running, mode: str) -> None:
    """Two clients of two persons at once: each sees their own and nothing of the other."""
    with (
        over_http(running.url, running.tokens["u1"], mode=mode) as one,
        over_http(running.url, running.tokens["u2"], mode=mode) as two,
    ):
        assert one.good("status")["acting_for"] == "helper/u1"
        assert [o["title"] for o in one.good("recall")["observations"]] == ["Secret of u1"]
        assert [o["title"] for o in two.good("recall")["observations"]] == ["Secret of u2"]
        secret = one.good("recall")["observations"][0]["id"]
        assert two.bad("memory_get", id=secret)["code"] == "not_found"
        unknown = secret[:-4] + "0000"
        told, of_none = (json.dumps(two.bad("cite", id=id_)).replace(id_, "ID") for id_ in (secret, unknown))
        assert told == of_none
        assert secret not in json.dumps(two.good("memory_search", query="What may only u1 see?"))
        for name in ("user_id", "agent_id", "scope", "as"):
            assert two.bad("recall", **{name: "u1"})["problems"][0]["field"] == name


def test_progress_comes_over_http(running: Running) -> None:
    """A long call tells how far it is on the stream of its own request."""
    told: list[float] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        told.append(progress)

    with over_http(running.url, running.tokens["u1"]) as held:
        assert not held.do("call_tool", "consolidate", {}, progress_callback=hear).is_error
    assert told
    assert told == sorted(set(told))


def test_a_session_of_one_is_nothing_to_another(running: Running) -> None:
    """The id of a session does not let in; it is as if it were not there."""
    opened = _post(running)
    assert opened.status_code == 200
    session = opened.headers["mcp-session-id"]
    assert _post(running, method="ping", params={}, mcp_session_id=session).status_code == 200
    stolen = _post(running, token=running.tokens["u2"], method="ping", params={}, mcp_session_id=session)
    unknown = _post(running, token=running.tokens["u2"], method="ping", params={}, mcp_session_id="0" * 32)
    assert (stolen.status_code, stolen.content) == (unknown.status_code, unknown.content)
    assert stolen.status_code == 404


@pytest.mark.parametrize("headers", [
    {}, {"authorization": "Bearer"}, {"authorization": "Bearer grail_wrong"}, {"authorization": "Basic dTE6"},
    {"authorization": "Bearer ../../etc/passwd"},
])  # fmt: skip
def test_without_a_token_nobody_comes_in(running: Running, headers: dict[str, str]) -> None:
    """And what came is not looked at."""
    refused = _post(running, token=None, **headers)
    assert refused.status_code == 401
    assert refused.headers["www-authenticate"] == "Bearer"


def test_a_token_that_is_revoked_counts_no_longer(running: Running, store: Path) -> None:
    """From the next request on, in a server that runs."""
    tokens = Tokens(Layout(store))
    secret, made = tokens.add(make_principal(user_id="u3", agent_id="helper"))
    assert _post(running, token=secret).status_code == 200
    tokens.revoke(made.id)
    assert _post(running, token=secret).status_code == 401


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example:80", "localhost:8765@evil", "", "[::1"]
)
def test_a_page_that_lets_its_name_point_here_is_refused(running: Running, host: str) -> None:
    """DNS rebinding: the name in the request is not one of this server."""
    assert _post(running, host=host).status_code in (400, 421)


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://localhost:3000"])
def test_a_web_page_is_refused(running: Running, origin: str) -> None:
    """Unless the one who started the server named it."""
    assert _post(running, origin=origin).status_code == 403
    asked = httpx2.options(running.url, headers={"origin": origin}, trust_env=False)
    assert asked.status_code == 403
    assert "access-control-allow-origin" not in asked.headers


def test_there_is_one_path_and_a_limit(running: Running) -> None:
    """Everything else is not there; a body that is too large is not read."""
    assert httpx2.get(running.url.replace("/mcp", "/etc/passwd"), trust_env=False).status_code == 404
    large = _post(running, params={"x": "x" * 5_000_000})
    assert large.status_code == 413


@pytest.mark.slow
def test_a_token_that_expired_and_one_that_ran_wild_are_turned_away(store: Path) -> None:
    """The first with 401, and why; the second with 429 and when to come again, which another token does not feel."""
    tokens = Tokens(Layout(store))
    ann, ben = (make_principal(user_id=user, agent_id="helper") for user in ("ann", "ben"))
    wild, calm = tokens.add(ann)[0], tokens.add(ben)[0]
    late, made = tokens.add(ann, expires="1d")
    tokens.path.write_text(tokens.path.read_text().replace(made.expires_at, "2020-01-01T00:00:00Z"))
    with _running(store, "--rate", "3") as (url, process):
        held = Running(url, {"u1": wild}, process)
        expired = _post(held, token=late)
        assert (expired.status_code, "expired" in expired.json()["error"]) == (401, True)
        assert "invalid_token" in expired.headers["www-authenticate"]
        answers = [_post(held) for _ in range(4)]
        assert [one.status_code for one in answers] == [200, 200, 200, 429]
        assert 1 <= int(answers[-1].headers["retry-after"]) <= 20
        assert _post(held, token=calm).status_code == 200


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl to make a certificate with")
def test_with_a_certificate_the_server_speaks_tls(store: Path, tmp_path: Path) -> None:
    """To those who trust it; without TLS nobody gets an answer."""
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1", "-subj",
         "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-out", cert, "-keyout", key],
        check=True, capture_output=True,
    )  # fmt: skip
    with _running(store, "--as", "helper/u1", "--tls-cert", str(cert), "--tls-key", str(key)) as (url, _):
        assert url.startswith("https://127.0.0.1:")
        sent: dict[str, Any] = {
            "headers": JSON, "timeout": WAIT_S, "trust_env": False,
            "content": json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": opening("2025-06-18")}),
        }  # fmt: skip
        assert httpx2.post(url, verify=ssl.create_default_context(cafile=str(cert)), **sent).status_code == 200
        for other in (url.replace("https", "http"), url):  # not encrypted; encrypted, but of nobody who is known
            with pytest.raises(httpx2.TransportError):
                httpx2.post(other, **sent)


@pytest.mark.slow
def test_on_loopback_a_server_may_be_for_one(store: Path) -> None:
    """With --as and --read-only, without a token; a page that is named may call; SIGTERM ends it while a stream is open."""
    with _running(store, "--as", "helper/u2", "--read-only", "--allow-origin", "https://app.example") as (url, process):
        with over_http(url, None) as held:
            assert [o["title"] for o in held.good("recall")["observations"]] == ["Secret of u2"]
            tools = {tool.name for tool in held.do("list_tools").tools}
            assert tools == {
                "memory_search",
                "memory_get",
                "recall",
                "list",
                "cite",
                "proposals_list",
                "proposals_show",
                "status",
            }
            assert held.bad("memory_write", content="x")["code"] == "unknown_tool"
            assert held.bad("add_observation", content="x")["code"] == "unknown_tool"
        assert _post(Running(url, {}, process), token="grail_wrong").status_code == 401
        asked = httpx2.options(url, headers={"origin": "https://app.example"}, trust_env=False)
        assert (asked.status_code, asked.headers["access-control-allow-origin"]) == (204, "https://app.example")
        opened = _post(Running(url, {}, process), token=None)
        with httpx2.stream(
            "GET",
            url,
            headers={**JSON, "mcp-session-id": opened.headers["mcp-session-id"]},
            trust_env=False,
            timeout=WAIT_S,
        ):
            process.send_signal(signal.SIGTERM)
            assert process.wait(WAIT_S) == 0
        assert process.stdout is not None
        assert process.stdout.read() == b""

"""Tokens, what opens the door, and what clients want to be told; in this process."""

from __future__ import annotations

import json
import os
import shlex
import tomllib
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

from grail_mem import AccessError, InputError, Memory, NotFoundError
from grail_mem.cli.app import app
from grail_mem.errors import ConflictError, MissingDependencyError, StoreError
from grail_mem.mcp_server import greeting
from grail_mem.mcp_server.clients import CLIENTS, config_for
from grail_mem.mcp_server.door import Door, bearer
from grail_mem.mcp_server.limits import limits
from grail_mem.mcp_server.opening import Opening, read_principal
from grail_mem.mcp_server.pace import Pace
from grail_mem.mcp_server.tls import Tls
from grail_mem.mcp_server.tokens import Tokens
from grail_mem.model.scope import Principal, make_principal
from grail_mem.store.layout import Layout

ANN = make_principal(user_id="ann", agent_id="helper")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """An empty store."""
    with Memory(tmp_path / "store") as memory:
        memory.init()
    return tmp_path / "store"


def _grail(*words: object) -> str:
    done = CliRunner().invoke(app, [str(word) for word in words], prog_name="grail")
    assert done.exit_code == 0, done.output
    return done.stdout


def test_tokens_are_made_listed_and_taken_back(root: Path) -> None:
    """The command shows a token once; the file holds its digest alone, and only its owner may read it."""
    secret = _grail("mcp", "token", "add", root, "helper/ann/p1", "--label", "laptop").strip()
    assert secret.startswith("grail_")
    (listed,) = json.loads(_grail("mcp", "token", "list", root, "--json"))["tokens"]
    assert (listed["agent_id"], listed["user_id"], listed["project_id"], listed["label"]) == (
        "helper",
        "ann",
        "p1",
        "laptop",
    )
    path = Tokens(Layout(root)).path
    assert path.stat().st_mode & 0o777 == 0o600
    assert secret not in path.read_text()
    assert Tokens(Layout(root)).whose(secret) == Principal("ann", "helper", "p1")
    _grail("mcp", "token", "revoke", root, listed["id"])
    assert Tokens(Layout(root)).whose(secret) is None
    assert "no tokens" in _grail("mcp", "token", "list", root)


def test_a_token_ends_when_it_was_to_end(root: Path) -> None:
    """A span counts from now, a date is taken as it is; one whose time is over is listed as expired and counts no longer."""
    tokens = Tokens(Layout(root))
    now = datetime.now(UTC)
    secret, made = tokens.add(ANN, expires="30d")
    assert timedelta(days=29, hours=23) < datetime.fromisoformat(made.expires_at) - now <= timedelta(days=30)
    assert tokens.add(ANN, expires="9000-01-01")[1].expires_at == "9000-01-01T00:00:00Z"
    assert tokens.add(ANN)[1].expires_at == ""
    assert Tokens(Layout(root)).whose(secret) == ANN
    tokens.path.write_text(tokens.path.read_text().replace(made.expires_at, "2020-01-01T00:00:00Z"))
    assert Tokens(Layout(root)).whose(secret) is None
    listed = json.loads(_grail("mcp", "token", "list", root, "--json"))["tokens"]
    assert [one["expired"] for one in listed] == [True, False, False]
    assert "2020-01-01T00:00:00Z (expired)" in _grail("mcp", "token", "list", root)
    _grail("mcp", "token", "revoke", root, made.id)
    assert len(Tokens(Layout(root)).all()) == 2


@pytest.mark.parametrize("wrong", ["2020-01-01", "0d", "soon", "", "30", "now", "yesterday", "99999999999d"])
def test_a_token_cannot_end_before_it_begins(root: Path, wrong: str) -> None:
    """Nor at what is no time; none is made."""
    with pytest.raises(InputError):
        Tokens(Layout(root)).add(ANN, expires=wrong)
    assert not Tokens(Layout(root)).all()


def test_expired_tokens_alone_open_no_door(root: Path) -> None:
    """They would let in nobody."""
    tokens = Tokens(Layout(root))
    made = tokens.add(ANN, expires="1d")[1]
    tokens.path.write_text(tokens.path.read_text().replace(made.expires_at, "2020-01-01T00:00:00Z"))
    with pytest.raises(AccessError):
        Door("127.0.0.1", 0).require_keys(None, tokens)


def test_a_file_of_tokens_that_others_may_write_is_not_believed(root: Path) -> None:
    """Nor is one that is damaged."""
    tokens = Tokens(Layout(root))
    secret, _ = tokens.add(ANN)
    os.chmod(tokens.path, 0o666)
    with pytest.raises(StoreError, match="written by others"):
        tokens.whose(secret)
    os.chmod(tokens.path, 0o600)
    whole = tokens.path.read_bytes()
    for broken in (
        b"{",
        b"[]",
        b'{"tokens": [{"id": 1}]}',
        whole.replace(b"ann", b"a/n"),
        whole.replace(b'"sha256": "', b'"sha256": "zz'),
    ):
        tokens.path.write_bytes(broken)
        with pytest.raises(StoreError, match="damaged"):
            Tokens(Layout(root)).all()


@pytest.mark.parametrize("text", ["helper", "/ann", "helper/", "helper/a b", "helper/ann/p/q", "../x/y/.."])
def test_who_acts_is_an_agent_and_a_person(text: str) -> None:
    """Anything else is nobody."""
    with pytest.raises(InputError):
        read_principal(text)


@pytest.mark.parametrize(("host", "principal", "with_token", "error"), [
    ("127.0.0.1", None, False, AccessError), ("127.0.0.1", ANN, False, None), ("127.0.0.1", None, True, None), ("::1", ANN, False, None),
    ("0.0.0.0", None, False, AccessError), ("192.0.2.1", None, False, AccessError), ("192.0.2.1", ANN, True, InputError),
    ("192.0.2.1", ANN, False, InputError), ("192.0.2.1", None, True, None), ("0.0.0.0", None, True, InputError),
    ("memory.example.org", None, True, None),
    ("memory.example.org", None, False, AccessError),
])  # fmt: skip
def test_beyond_loopback_a_token_is_needed(
    root: Path, host: str, principal: Principal | None, with_token: bool, error: type[Exception] | None
) -> None:
    """Without one the server does not start."""
    tokens = Tokens(Layout(root))
    if with_token:
        tokens.add(ANN)
    door = Door(host, 8765, is_behind_proxy=True)
    if error is None:
        door.require_keys(principal, tokens)
        bare = Door(host, 8765)
        if bare.is_loopback:
            bare.require_keys(principal, tokens)
        else:
            with pytest.raises(InputError, match="could read the tokens"):
                bare.require_keys(principal, tokens)
    else:
        with pytest.raises(error):
            door.require_keys(principal, tokens)


def test_the_command_refuses_to_serve_everybody(root: Path) -> None:
    """With the exit code of what is not permitted."""
    done = CliRunner().invoke(app, ["mcp", str(root), "--http", "--host", "0.0.0.0"], prog_name="grail")
    assert done.exit_code == 4
    assert "grail mcp token add" in done.stderr


@pytest.mark.parametrize("rate", [1, 7, 600])
def test_a_caller_keeps_the_pace(rate: int) -> None:
    """A minute's worth may come at once, then one whenever the pace allows, as long as the answer said; others are not touched."""
    pace = Pace(rate)
    assert [pace.wait_s("a", 100.0) for _ in range(rate)] == [0] * rate
    wait = pace.wait_s("a", 100.0)
    assert wait >= 1
    assert pace.wait_s("b", 100.0) == 0
    assert pace.wait_s("a", 100.0 + wait) == 0
    assert sum(pace.wait_s("a", 1000.0) == 0 for _ in range(2 * rate)) == rate
    assert not any(Pace(0).wait_s("a", 0.0) for _ in range(1000))


@pytest.mark.parametrize("rate", [-1, 1.5, "many", True, 10**9])
def test_a_pace_is_a_number(rate: object) -> None:
    with pytest.raises(InputError, match="--rate"):
        Pace(rate)  # type: ignore[arg-type]


def test_a_certificate_that_cannot_be_used_is_refused(tmp_path: Path) -> None:
    """Before anything listens: one of the two, no file, no certificate; both problems at once, and no words of OpenSSL."""
    (tmp_path / "junk.pem").write_text("no certificate")
    junk, none = str(tmp_path / "junk.pem"), str(tmp_path / "none.pem")
    assert Tls.read(None, None) is None
    for cert, key in ((junk, None), (None, junk)):
        with pytest.raises(InputError, match="go together"):
            Tls.read(cert, key)
    with pytest.raises(InputError) as caught:
        Tls.read(none, str(tmp_path))
    assert len(caught.value.problems) == 2
    with pytest.raises(InputError, match="no certificate with its key") as caught:
        Tls.read(junk, junk)
    assert "PEM" not in caught.value.message


def test_names_and_pages_are_compared_whole() -> None:
    """With a port or without, in any case; nothing that only begins like one."""
    door = Door("127.0.0.1", 1, names=("Memory.Example.org",), origins=("https://app.example",))
    for host in ("localhost", "LOCALHOST:80", "127.0.0.1:1", "[::1]", "[::1]:9", "memory.example.org:443"):
        assert door.refusal([host], []) is None
        assert door.refusal([host], ["https://app.example"]) is None
    for hosts in (
        [],
        ["a", "localhost"],
        ["localhost:x"],
        ["localhost:"],
        ["[::1]x"],
        ["memory.example.org.evil"],
        ["::1"],
    ):
        assert door.refusal(hosts, []) is not None
    for origin in ("https://app.example.evil", "http://app.example", "https://app.example:444", ""):
        assert door.refusal(["localhost"], [origin]) is not None
    assert door.refusal(["localhost"], ["https://app.example", "https://evil"]) is not None


def test_a_port_that_is_taken_is_said(root: Path) -> None:
    """As a conflict, with what to do."""
    with Door("127.0.0.1", 0).listen() as taken, pytest.raises(ConflictError, match="Nothing can listen"):
        Door("127.0.0.1", taken.getsockname()[1]).listen()


def test_one_token_is_read_from_the_headers() -> None:
    """None when there is none, empty when what is there is none."""
    assert bearer([]) is None
    assert bearer(["bearer  x "]) == "x"
    assert bearer(["Basic x"]) == bearer(["Bearer x", "Bearer y"]) == bearer([""]) == ""


@pytest.mark.parametrize("client", CLIENTS)
def test_what_a_client_is_told_starts_the_command(client: str) -> None:
    """The words come out of the client's own format as they went in, odd ones included."""
    words = ["/opt/x y/grail", "mcp", '/home/ann/my "memory"\\ö', "--as", "claude/ann"]
    told, text = config_for(client, name="grail", command=words)
    if told.format == "shell":
        assert shlex.split(text)[-len(words) :] == words
        return
    document = tomllib.loads(text) if told.format == "toml" else json.loads(text)
    ((key, servers),) = document.items()
    server = servers["grail"]
    assert [server["command"], *server["args"]] == words
    assert key == {"vscode": "servers", "codex": "mcp_servers", "zed": "context_servers"}.get(client, "mcpServers")


def test_the_command_prints_a_configuration_with_whole_paths(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From wherever it is called."""
    monkeypatch.chdir(root.parent)
    said = json.loads(_grail("mcp", "config", "store", "cursor", "--read-only", "--json"))
    assert said["command"][-3:] == ["mcp", str(root), "--read-only"]
    assert os.path.isabs(said["command"][0])
    assert json.loads(_grail("mcp", "config", root, "cursor"))["mcpServers"]["grail"]["args"][-1] == str(root)


def test_an_unknown_client_lists_those_that_are_known(root: Path) -> None:
    """All of them."""
    done = CliRunner().invoke(app, ["mcp", "config", str(root), "emacs"], prog_name="grail")
    assert done.exit_code == 2
    assert all(name in done.stderr for name in CLIENTS)


def test_without_the_package_the_extra_is_named(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the store is not touched."""
    monkeypatch.setattr(greeting, "find_spec", lambda name: None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'grail-mem\[mcp\]'"):
        greeting.known_versions()
    done = CliRunner().invoke(app, ["mcp", str(root)], prog_name="grail")
    assert done.exit_code == 7


def test_options_that_exclude_each_other_are_refused(tmp_path: Path) -> None:
    """Before anything is opened."""
    with pytest.raises(InputError):
        limits(read_only=True, allow_apply=True)
    with pytest.raises(InputError, match="--allow-erase"):
        limits(read_only=True, allow_apply=False, allow_erase=True)
    with pytest.raises(InputError):
        limits(read_only=False, allow_apply=False, budget_tokens=10)
    with pytest.raises(NotFoundError):
        Opening(tmp_path / "none")

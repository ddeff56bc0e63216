"""Tokens, what opens the door, and what clients want to be told; in this process."""

from __future__ import annotations

import json
import os
import shlex
import tomllib
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
    ("memory.example.org", None, False, AccessError),
])  # fmt: skip
def test_beyond_loopback_a_token_is_needed(
    root: Path, host: str, principal: Principal | None, with_token: bool, error: type[Exception] | None
) -> None:
    """Without one the server does not start."""
    tokens = Tokens(Layout(root))
    if with_token:
        tokens.add(ANN)
    door = Door(host, 8765)
    if error is None:
        door.require_keys(principal, tokens)
    else:
        with pytest.raises(error):
            door.require_keys(principal, tokens)


def test_the_command_refuses_to_serve_everybody(root: Path) -> None:
    """With the exit code of what is not permitted."""
    done = CliRunner().invoke(app, ["mcp", str(root), "--http", "--host", "0.0.0.0"], prog_name="grail")
    assert done.exit_code == 4
    assert "grail mcp token add" in done.stderr


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
    with pytest.raises(InputError):
        limits(read_only=False, allow_apply=False, budget_tokens=10)
    with pytest.raises(NotFoundError):
        Opening(tmp_path / "none")

"""The process at the other end of stdin and stdout: only frames, and gone with its client."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from grail_mem import Memory
from tests.mcp_clients import WAIT_S, Raw, command, environment, opening, over_stdio

CANARY = "CANARY-7261"
NOISY = """
import ctypes, os, sys, warnings
from grail_mem.mcp_server import leaving, more_calls, stdio, opening, limits, logs

def loud(asked):
    print("printed"); sys.stdout.flush(); os.write(1, b"to the descriptor\\n")
    ctypes.CDLL(None).puts(b"from C"); ctypes.CDLL(None).fflush(None)
    os.system("echo from a child"); warnings.warn("a warning with secret words")
    assert sys.stdin.read() == ""
    raise RuntimeError("secret words of the memory")

more_calls.MORE_CALLS["status"] = loud
logs.to_stderr()
from pathlib import Path
leaving.leave(stdio.serve(opening.Opening(Path(sys.argv[1])), None, limits.Limits()))
"""


@pytest.fixture(scope="module")
def raw(store: Path) -> Iterator[Raw]:
    """One server that has been greeted, in a version of the protocol that is older."""
    with Raw(command(store)) as server:
        assert server.greet("2024-11-05")["result"]["protocolVersion"] == "2024-11-05"
        yield server


def test_an_older_client_is_served(raw: Raw) -> None:
    """F50: by the version that it speaks."""
    assert len(raw.ask(1, "tools/list")["result"]["tools"]) == 13
    said = raw.ask(2, "tools/call", name="list", arguments={"what": "tags"})["result"]
    assert said["isError"] is False
    assert raw.ask(3, "ping")["result"] == {}


def test_what_is_no_message_is_refused_and_the_server_goes_on(raw: Raw) -> None:
    """A broken line and one that is no request have their codes."""
    raw.send(b"{ this is no JSON")
    assert raw.receive()["error"]["code"] == -32700
    raw.send(b'{"jsonrpc": "2.0", "id": 5, "metod": "ping"}')
    assert raw.receive()["error"]["code"] == -32600
    assert raw.ask(6, "tools/destroy")["error"]["code"] == -32601


def test_a_request_that_cannot_be_read_is_answered_under_its_id(raw: Raw) -> None:
    """Half a surrogate pair, which models send now and then, leaves no client waiting."""
    asked = '{"jsonrpc": "2.0", "id": %s, "method": "tools/call", "params": {"name": "list", "arguments": {"what": "\\ud800"}}}'
    for id_, answered in (("7", 7), ('"eight"', "eight"), ("[9]", None), ('"\\ud800"', None)):
        raw.send((asked % id_).encode())
        said = raw.receive()
        assert (said["id"], said["error"]["code"]) == (answered, -32600)
    assert raw.ask(7, "ping")["result"] == {}


def test_pings_are_answered_while_a_call_runs_and_a_call_can_be_taken_back(raw: Raw, store: Path) -> None:
    """The call waits for a lock that this test holds; nothing else waits for it."""
    from grail_mem.store.layout import Layout
    from grail_mem.store.lock import exclusive
    from grail_mem.write.staged import LOCK

    with exclusive(Layout(store).local / LOCK):
        raw.send({"jsonrpc": "2.0", "id": 10, "method": "tools/call",
                  "params": {"name": "add_observation", "arguments": {"content": "Written late."}}})  # fmt: skip
        assert raw.ask(11, "ping")["result"] == {}
        raw.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 10}})
        assert raw.ask(12, "ping")["result"] == {}
    assert raw.ask(13, "tools/call", name="status", arguments={})["result"]["isError"] is False
    assert all(json.loads(line).get("id") != 10 for line in raw.lines)


def test_no_word_of_a_client_is_in_a_log_or_a_command_line(raw: Raw) -> None:
    """F47: a canary in what is stored, asked, mistyped and malformed; the end of this server shows what was logged."""
    raw.ask(
        21, "tools/call", name="add_observation", arguments={"content": CANARY, "confidence": CANARY, CANARY: CANARY}
    )
    raw.ask(22, "tools/call", name="memory_write", arguments={"content": CANARY, "quote": f"{CANARY} was never said"})
    raw.ask(23, "tools/call", name=5, arguments=CANARY)
    raw.ask(24, CANARY, text=CANARY)
    raw.ask(25, "prompts/get", name=CANARY, arguments={CANARY: CANARY})
    raw.ask(26, "resources/read", uri=f"grail://{CANARY}")
    raw.send({"jsonrpc": "2.0", "method": f"notifications/{CANARY}", "params": {"text": CANARY}})
    raw.send(f"{{ {CANARY}".encode())
    assert (
        raw.ask(27, "tools/call", name="add_observation", arguments={"content": CANARY})["result"]["isError"] is False
    )
    for place in ("cmdline", "environ"):
        assert CANARY.encode() not in Path(f"/proc/{raw.process.pid}/{place}").read_bytes()


def test_a_server_ends_when_its_input_does(raw: Raw, store: Path) -> None:
    """F51: closed stdin is the end, with a clean exit code, no words of the client in the log, and no lock held."""
    code, rest, said = raw.end()
    assert (code, rest) == (0, b"")
    assert CANARY.encode() not in said
    with Memory(store) as memory:
        assert memory.add_observation(content="Nothing is locked.").created


@pytest.mark.slow
def test_requests_before_the_end_of_the_input_are_answered(store: Path) -> None:
    """As a script sends them: all at once, and the end."""
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": opening("2025-06-18")},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "prompts/list"},
    ]
    sent = "".join(json.dumps(line) + "\n" for line in lines).encode()
    done = subprocess.run(
        command(store), input=sent, capture_output=True, env=environment(), timeout=WAIT_S, check=True
    )
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [1, 2]
    assert done.stderr == b""


def test_nothing_but_frames_is_on_stdout(store: Path) -> None:
    """F49: prints, C libraries, children, warnings and exceptions go to stderr, and logs quote no words of the memory."""
    with Raw([sys.executable, "-c", NOISY, str(store)]) as server:
        server.greet("2031-01-01")
        answer = server.ask(1, "tools/call", name="status", arguments={})["result"]
        assert answer["isError"]
        assert "secret" not in json.dumps(answer)
        code, rest, said = server.end()
        assert (code, rest) == (0, b"")
        assert all(json.loads(line)["jsonrpc"] == "2.0" for line in server.lines)
    for text in (
        b"printed",
        b"to the descriptor",
        b"from C",
        b"from a child",
        b"status failed with RuntimeError at <string>",
    ):
        assert text in said
    assert b"secret words of the memory" not in said


@pytest.mark.slow
def test_a_server_ends_with_a_signal(store: Path) -> None:
    """F51: SIGTERM ends it with a clean exit code."""
    with Raw(command(store)) as server:
        server.greet()
        server.ask(1, "ping")
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(WAIT_S) == 0


@pytest.mark.parametrize("greeted", [True, False])
def test_a_server_ends_with_its_parent(store: Path, greeted: bool) -> None:
    """F51: whoever started it is killed, while somebody else holds its input open."""
    mine, theirs = os.pipe()
    starter = f"import subprocess, sys; p = subprocess.Popen({command(store)!r}, stdin={mine}); print(p.pid, flush=True); sys.stdin.read()"
    words, pipe = [sys.executable, "-c", starter], subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, pass_fds=[mine], env=environment()) as parent:
        assert parent.stdout is not None
        number = int(parent.stdout.readline())
        if greeted:
            line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": opening("2025-06-18")})
            os.write(theirs, line.encode() + b"\n")
            assert b'"id"' in parent.stdout.readline()
        _wait(lambda: len(os.listdir(f"/proc/{number}/task")) > 1, "The server does not look after its parent.")
        parent.kill()
        assert parent.stdout.read() == b""  # the server holds the other end of it until it is gone
    _wait(lambda: _command_line(Path(f"/proc/{number}")) == b"", "The server outlived its parent.")
    os.close(mine)
    os.close(theirs)


@pytest.mark.slow
def test_loading_is_left_for_after_the_greeting(store: Path) -> None:
    """What is heavy is loaded once the client has its answer."""
    program = (
        "import sys\n"
        "from grail_mem.cli import main\n"
        "import grail_mem.mcp_server.stdio as s\n"
        "def seen(line):\n"
        "    heavy = {'duckdb', 'pyarrow', 'numpy', 'pandas', 'mcp', 'pydantic', 'networkx', 'grail_mem.memory'}\n"
        "    print(sorted(heavy & set(sys.modules)), file=sys.stderr)\n"
        "s.greeting, told = seen, s.greeting\n"
        f"sys.argv = ['grail', 'mcp', {str(store)!r}]\n"
        "main()\n"
    )
    sent = (
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": opening("2025-06-18")}).encode()
        + b"\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], input=sent, capture_output=True, env=environment(), timeout=WAIT_S, check=True
    )
    assert done.stderr.splitlines()[0] == b"[]"


@pytest.mark.slow
def test_the_store_is_loaded_behind_the_greeting_and_nothing_is_written(store: Path) -> None:
    """Without a call; so the first call waits less. A server that nobody asks anything leaves the store as it was."""

    def files() -> dict[str, tuple[int, int]]:
        found = (path for path in store.rglob("*") if path.is_file())
        return {str(path): (path.stat().st_size, path.stat().st_mtime_ns) for path in found}

    before = files()
    with Raw(command(store)) as server:
        server.greet()
        maps = Path(f"/proc/{server.process.pid}/maps")
        until = time.monotonic() + WAIT_S
        while "duckdb" not in maps.read_text():
            assert time.monotonic() < until
            time.sleep(0.1)
        server.ask(1, "tools/call", name="status", arguments={})  # which waits for whatever is under way
        assert server.end()[0] == 0
    assert files() == before


def test_a_folder_without_a_store_is_refused(tmp_path: Path) -> None:
    """With words on stderr, nothing on stdout, and a code."""
    done = subprocess.run(
        command(tmp_path / "none"), input=b"", capture_output=True, env=environment(), timeout=WAIT_S, check=False
    )
    assert (done.returncode, done.stdout) == (3, b"")
    assert b"holds no store" in done.stderr


@pytest.mark.slow
def test_twenty_servers_leave_nothing(store: Path) -> None:
    """F51: no process, no handle of this one, no lock."""

    def ours() -> set[str]:
        return {p.name for p in Path("/proc").glob("[0-9]*") if str(store).encode() in _command_line(p)}

    handles = None
    for number in range(20):
        with over_stdio(store, "--structured") as held:
            if number % 5 == 0:
                held.good("status")
        if number == 1:
            handles = len(os.listdir("/proc/self/fd"))
    assert len(os.listdir("/proc/self/fd")) <= (handles or 0)
    assert not ours()
    with Memory(store) as memory:
        assert memory.add_observation(content="After twenty.").created


@pytest.mark.slow
def test_twenty_thousand_notes_without_vectors(tmp_path: Path) -> None:
    """A store that nothing has indexed is served; calls answer, and the greeting opens nothing."""
    root = tmp_path / "large"
    root.mkdir()
    (root / "grail.yaml").write_text("embedder: none\n", encoding="utf-8")
    with Memory(root) as memory:
        memory.add_observations(
            {"content": f"Note number {n} about topic {n % 97}.", "category": f"c{n % 50}"} for n in range(20_000)
        )
    with over_stdio(root, "--structured") as held:
        assert held.good("status")["observations"] == {"confirmed": 20_000}
        assert held.good("memory_search", query="What is note number 777 about?")["count"] >= 1
        assert held.good("recall", contains="Note number 19999 ")["count"] == 1


def _command_line(process: Path) -> bytes:
    try:
        return (process / "cmdline").read_bytes()
    except OSError:
        return b""


def _wait(happens: Callable[[], bool], otherwise: str) -> None:
    for _ in range(WAIT_S * 10):
        if happens():
            return
        time.sleep(0.1)
    pytest.fail(otherwise)

"""Several servers, the command line and compaction on one store at once, and a server that is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from mcp.shared.exceptions import MCPError

from grail_mem import Memory
from tests.mcp_clients import WAIT_S, Raw, command, environment, over_stdio

EACH = 4


def _grail(*words: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "grail_mem", *words], capture_output=True, env=environment(), timeout=WAIT_S, check=False
    )


@pytest.mark.slow
def test_two_servers_the_command_line_and_a_compaction_at_once(store: Path) -> None:
    """F17: nobody keeps anybody out, and everything that was said to be stored is there for all."""
    with over_stdio(store, "--structured") as one, over_stdio(store, "--structured", "--as", "helper/u1") as two:
        before = one.good("recall", limit=200)["count"]
        compacting = subprocess.Popen(
            [sys.executable, "-m", "grail_mem", "compact", str(store)], env=environment(), stdout=subprocess.DEVNULL
        )
        ids = []
        for number in range(EACH):
            ids.append(one.good("add_observation", content=f"From the first server, {number}.")["id"])
            ids.append(two.good("memory_write", content=f"From the second server, {number}.")["id"])
        added = _grail("add", str(store), "--content", "From the command line.", "--json")
        assert added.returncode == 0, added.stderr
        assert compacting.wait(WAIT_S) == 0
        assert one.good("recall", limit=200)["count"] == before + 2 * EACH + 1
        assert two.good("recall", limit=200)["count"] == 1 + EACH
        assert one.good("recall", contains="From the command line")["count"] == 1
        for id_ in ids:
            assert one.good("memory_get", id=id_)["observation"]["id"] == id_
    assert _grail("check", str(store)).returncode == 0


@pytest.mark.slow
def test_a_server_that_is_killed_leaves_nothing_locked(store: Path) -> None:
    """The client hears of it, and the next server serves."""
    with over_stdio(store, "--structured") as held:
        made = held.good("add_observation", content="Before the kill.")
        os.kill(_server_of(store), signal.SIGKILL)
        with pytest.raises(MCPError):
            held.call("status")
    with over_stdio(store, "--structured") as held:
        assert held.good("memory_get", id=made["id"])["observation"]["id"] == made["id"]
        assert held.good("add_observation", content="After the kill.")["created"]
    with Memory(store) as memory:
        assert memory.check().ok


@pytest.mark.slow
def test_a_client_that_reads_nothing_does_not_keep_a_server_alive(store: Path) -> None:
    """A full pipe holds up no end."""
    with Raw(command(store)) as server:
        server.greet()
        for number in range(1, 60):
            server.send({"jsonrpc": "2.0", "id": number, "method": "tools/list", "params": {}})
        assert server.process.stdin is not None
        server.process.stdin.close()
        assert server.process.wait(WAIT_S) == 0


def _server_of(store: Path) -> int:
    """The process that serves a store."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"mcp" in words and str(store).encode() in words:
            return int(process.name)
    pytest.fail("No server runs.")

"""`grail review`: a process that prints its address, serves until it is told to stop, and refuses what cannot be."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Grail = Callable[..., Any]


def _get(address: str, cookie: str = "") -> tuple[int, str]:
    request = urllib.request.Request(address, headers={"cookie": cookie} if cookie else {})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.headers.get("set-cookie", "") or answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, ""


@pytest.mark.slow
def test_the_printed_address_lets_in_and_ctrl_c_ends_it(demo: Path) -> None:
    """One line of JSON names the address; the process says nothing else, and leaves as asked."""
    command = [sys.executable, "-m", "grail_mem", "review", str(demo), "--no-open", "--json", "--read-only"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        address = json.loads(process.stdout.readline())["address"]
        where = address.partition("/?")[0]
        assert where.startswith("http://127.0.0.1:")
        assert _get(f"{where}/proposals")[0] == 401
        status, cookie = _get(address)
        assert status == 200
        assert "Lanternbook" in _get(f"{where}/observations", cookie.partition(";")[0])[1]
        process.send_signal(signal.SIGINT)
        rest, said = process.communicate(timeout=60)
    assert rest == ""
    assert "Lanternbook" not in said
    assert "Traceback" not in said


@pytest.mark.parametrize(("port", "code"), [("many", 2), ("70000", 2), ("-1", 2)])
def test_a_wrong_port_is_refused(grail_json: Grail, demo: Path, port: str, code: int) -> None:
    said = grail_json("review", demo, "--no-open", f"--port={port}", exit_code=code)
    assert "port must be" in said["error"]["message"]


def test_a_port_in_use_is_a_conflict(grail_json: Grail, demo: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        said = grail_json("review", demo, "--no-open", "--port", taken.getsockname()[1], exit_code=5)
    assert "cannot be used" in said["error"]["message"]


def test_a_folder_without_a_store_is_refused(grail_json: Grail, tmp_path: Path) -> None:
    assert grail_json("review", tmp_path, "--no-open", exit_code=3)["error"]["code"] == "not_found"
    assert not list(tmp_path.iterdir())

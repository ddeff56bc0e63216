"""`grail` as a process of its own: start-up, pipes, signals, completion."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from shutil import which

import pytest

from grail_mem import Memory

GRAIL = (sys.executable, "-m", "grail_mem")
HEAVY = [
    "duckdb",
    "pyarrow",
    "pandas",
    "numpy",
    "onnxruntime",
    "networkx",
    "yaml",
    "watchfiles",
    "pydantic",
    "rich",
    "ulid",
    "grail_mem.memory",
]


def run(*words, env=None, **settings):
    return subprocess.run(
        [*GRAIL, *map(str, words)], capture_output=True, text=True, timeout=60, check=False,
        env=os.environ | (env or {}), **settings,
    )  # fmt: skip


@pytest.mark.slow
def test_python_m_is_the_same_command(demo):
    done = run("list", demo, "categories", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["total"] == 11


@pytest.mark.parametrize("words", [["--help"], ["recall", "--help"], ["search", "--help"], ["--version"]], ids=" ".join)
def test_help_loads_nothing_heavy(words):
    code = f"""
import sys
sys.argv = ["grail", *{words!r}]
from grail_mem.cli import main
try:
    main()
except SystemExit as left:
    assert left.code == 0, left.code
print([name for name in {HEAVY!r} if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.slow
def test_recall_as_json_loads_neither_tables_nor_models_of_options(demo):
    unwanted = ["rich", "pydantic", "pandas", "networkx", "watchfiles", "onnxruntime"]
    code = f"""
import sys
sys.argv = ["grail", "recall", {str(demo)!r}, "--tag", "decision", "--json"]
from grail_mem.cli import main
try:
    main()
except SystemExit:
    pass
print([name for name in {unwanted!r} if name in sys.modules], file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr == "[]\n"


@pytest.mark.slow
def test_a_reader_that_goes_away_ends_it_quietly(demo):
    many = "select a.title, b.content from observations a, observations b, observations c"
    with subprocess.Popen(
        [*GRAIL, "sql", str(demo), many, "--csv"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) == 0


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is full")
def test_output_that_cannot_be_written_is_an_error(demo):
    with open("/dev/full", "w") as full:
        done = subprocess.run([*GRAIL, "list", str(demo)], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 6
    assert "No space left" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_a_terminal_without_unicode_gets_escapes_and_valid_json(tmp_path):
    env = {"PYTHONIOENCODING": "ascii", "GRAIL_ROOT": str(tmp_path)}
    assert run("add", "--title", "東京 😀 é", "--content", "x", env={"GRAIL_ROOT": str(tmp_path)}).returncode == 0
    assert "\\u6771\\u4eac \\U0001f600 \\xe9" in run("recall", env=env).stdout
    assert json.loads(run("recall", "--json", env=env).stdout)["observations"][0]["title"] == "東京 😀 é"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shell_completes_commands_options_and_values(shell):
    def complete(line, **words):
        return run(env={"_GRAIL_COMPLETE": f"complete_{shell}", **words}).stdout

    if shell == "bash":
        assert complete("", COMP_WORDS="grail re", COMP_CWORD="1").split() == [
            "remember", "recall", "restore", "retain", "revise", "rebuild", "revoke", "review",
        ]  # fmt: skip
        assert complete("", COMP_WORDS="grail recall --kind ep", COMP_CWORD="3").split() == ["episodic"]
        assert "categories" in complete("", COMP_WORDS="grail list ", COMP_CWORD="2").split()
    else:
        assert "recall" in complete("", _TYPER_COMPLETE_ARGS="grail re", _TYPER_COMPLETE_FISH_ACTION="get-args")


@pytest.mark.skipif(which("bash") is None, reason="the shell is looked for among the parents of the process")
def test_completion_is_shown_for_the_shell_that_asks():
    line = f"{shlex.join([*GRAIL, '--show-completion'])}; exit 0"  # two commands, so that the shell stays the parent
    assert "_GRAIL_COMPLETE" in subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=True).stdout


@pytest.mark.slow
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_watch_tells_each_change_and_ends_cleanly(demo, ending):
    with subprocess.Popen(
        [*GRAIL, "watch", str(demo), "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        killer = threading.Timer(90, process.kill)  # a watch that does not end must not keep the tests waiting
        killer.start()
        (demo / "memories" / "first.md").write_text("Before.\n")
        assert json.loads(process.stdout.readline())["path"] == "memories/first.md"
        time.sleep(1.0)  # until the watch is on
        (demo / "memories" / "second.md").write_text("While.\n")
        told = {}
        while told.get("path") != "memories/second.md":
            told = json.loads(process.stdout.readline())
        assert told["change"] == "adopted"
        assert set(told) == {"at", "change", "path"}
        process.send_signal(ending)
        _, errors = process.communicate(timeout=30)
        killer.cancel()
        assert (process.returncode, errors) == (0, "")


def test_a_command_that_a_person_stops_says_what_stays(tmp_path: Path) -> None:
    """Ctrl-C in a long command is no fault and no silence."""
    notes = tmp_path / "notes"
    notes.mkdir()
    for n in range(3_000):
        (notes / f"n{n}.md").write_text(f"# Note {n}\n\nOf the day {n}.\n")
    command = [sys.executable, "-m", "grail_mem", "init", str(notes)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as stopped:
        while not (notes / ".grail").exists() and stopped.poll() is None:
            time.sleep(0.001)
        stopped.send_signal(signal.SIGINT)
        said = stopped.communicate(timeout=60)[1]
    assert stopped.returncode == 130
    assert "Stopped. What was stored until then stays; the command can be run again." in said
    assert "Traceback" not in said
    assert subprocess.run(command, check=True, capture_output=True, timeout=120).returncode == 0
    with Memory(notes, embedder="none") as memory:
        memory.sync()
        assert memory.recall(limit=1).observations

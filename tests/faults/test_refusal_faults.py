"""What an operating system refuses reaches a person with its path and what to do: a real other user, a real locked store."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from fault_stores import Child

from grail_mem import Memory

VERBS: Final = (
    "list", "get {id}", "recall", "search two --embedder none", "sql 'select 1'", "add --title x --content y",
    "update {id} --title z", "move {id} beta", "delete {id}", "erase {id} --yes", "remember x --evidence y", "sync",
    "compact", "rebuild", "index --embedder none", "check", "verify", "log", "verify-ledger", "backup create --out {out}",
    "export --out {out}", "consolidate", "proposals list", "candidates list", "grants", "grant assistant/u1 read project:p",
    "history {id}", "ingest {file}", "import {file}", "config show", "retain --days 90", "fade", "due", "scan", "migrate",
)  # fmt: skip
SCRIPT: Final = """
import contextlib, importlib, pkgutil, shlex
from typer.testing import CliRunner
import grail_mem
from grail_mem.cli.app import app
def run(words):
    return CliRunner().invoke(app, words, prog_name="grail")
for found in pkgutil.walk_packages(grail_mem.__path__, "grail_mem."):  # while it may read them
    if not found.name.endswith("__main__") and "adapters" not in found.name:
        with contextlib.suppress(ImportError):
            importlib.import_module(found.name)
with Memory(arg["warm"]) as memory:
    memory.add_observation(title="one", content="body"), memory.compact(), memory.sql("SELECT 1")
    memory.recall("one", mode="cascade"), memory.consolidate(), memory.recall().df()
for name in "list", "check", "log", "backup create --dry-run --out /tmp":
    run([*name.split()[:2 if "backup" in name else 1], arg["warm"], *name.split()[2:]])
os.setgid(65534), os.setuid(65534)
for verb in arg["verbs"]:
    name, *words = shlex.split(verb)
    own = [words.pop(0)] if name in {"backup", "proposals", "candidates", "config"} else []
    done = run([name, *own, root, *words])
    print(json.dumps([verb, done.exit_code, done.stdout, done.stderr]))
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that everybody may enter; pytest closes its own ones whenever another run of it begins."""
    with tempfile.TemporaryDirectory() as made:
        Path(made).chmod(0o755)
        yield Path(made)


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
@pytest.mark.parametrize("locked", ["", "memories/alpha", ".grail", "output"])
def test_whoever_may_not_read_learns_what_and_what_to_do(folder: Path, locked: str) -> None:
    """By whichever verb, and whichever part of the store is locked: no "Permission denied" without its path."""
    store, file, out = (folder / name for name in ("store", "file", "out"))
    with Memory(store) as memory:
        memory.init()
        id_ = memory.add_observation(title="one", content="body", category="alpha").id
        memory.compact()
        memory.add_observation(title="two", content="body", category="alpha")
    (store / "grail.yaml").write_text("zone: UTC\n")
    file.write_text("x")
    out.mkdir()
    subprocess.run(["chmod", "-R", "a+rwX", folder], check=True)
    (store / locked).chmod(0)
    file.chmod(0)
    verbs = [verb.format(id=id_, file=file, out=out) for verb in VERBS]
    lines = Child(SCRIPT, store, {"verbs": verbs, "warm": str(folder / "warm")}).done()
    refused = [one for one in map(json.loads, lines) if "Permission denied" in one[2] + one[3] or one[1] in {1, 6}]
    assert refused
    for verb, code, _, error in refused:
        assert "fault of grail_mem" not in error, (verb, error)
        if error.startswith("error:"):
            assert code == 6, (verb, error)
            assert f"'{folder}" in error or error.startswith("error: memories/"), (verb, error)
            assert "Look at the rights" in error or "Give back the right" in error, (verb, error)

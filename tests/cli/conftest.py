"""`grail` run in this process, and a demo store to look at."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from grail_mem.cli.app import app

Grail = Callable[..., Result]


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GRAIL_ROOT", "GRAIL_DEBUG", "FORCE_COLOR", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)


def _run(*words: object, input: str | bytes | None = None) -> Result:
    return CliRunner().invoke(app, list(map(str, words)), input=input, prog_name="grail")


@pytest.fixture
def grail() -> Grail:
    """Run a command; its result has exit_code, stdout and stderr."""
    return _run


@pytest.fixture
def grail_json() -> Callable[..., Any]:
    """Run a command with --json, and return the one document that it prints."""

    def run(*words: object, exit_code: int = 0, input: str | bytes | None = None) -> Any:
        result = _run(*words, "--json", input=input)
        assert result.exit_code == exit_code, result.output
        assert result.stderr == ""
        assert result.stdout.count("\n") == 1
        return json.loads(result.stdout)

    return run


@pytest.fixture(scope="session")
def _made_demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("made") / "demo"
    assert _run("demo", root).exit_code == 0
    assert _run("compact", root).exit_code == 0
    return root


@pytest.fixture
def demo(_made_demo: Path, tmp_path: Path) -> Path:
    """A demo store of the test's own."""
    return Path(shutil.copytree(_made_demo, tmp_path / "demo"))


@pytest.fixture
def demo_id(demo: Path) -> str:
    """The id of the observation that says that the database will be Postgres."""
    (path,) = demo.glob("memories/**/*_the-database-will-be-postgres_*.md")
    return path.read_text(encoding="utf-8").split("id: ", 1)[1][:26]

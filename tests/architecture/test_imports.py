"""The import contract, and that it can fail."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HEAVY = (
    "duckdb",
    "pyarrow",
    "pandas",
    "numpy",
    "onnxruntime",
    "networkx",
    "yaml",
    "rich.table",
    "watchfiles",
    "ulid",
    "frontmatter",
)


def lint_imports(root: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c(standalone_mode=True)"]
    return subprocess.run(
        [*command, "--no-cache"],
        cwd=root,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(root), "PATH": "/bin"},
    )


def test_imports_go_down_only() -> None:
    """Each layer imports from the layers below it and nothing else, type-only imports included."""
    done = lint_imports(ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_import_contract_fails_on_a_planted_violation(tmp_path: Path) -> None:
    """A rule that cannot fail is worse than none: `store` importing from `query` must be reported."""
    shutil.copytree(ROOT / "grail_mem", tmp_path / "grail_mem", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    planted = tmp_path / "grail_mem" / "store" / "layout.py"
    planted.write_text(planted.read_text() + "\nfrom grail_mem.query import view\n")
    done = lint_imports(tmp_path)
    assert done.returncode != 0
    assert "grail_mem.store.layout -> grail_mem.query.view" in done.stdout


def modules_after(code: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys, json; print(json.dumps(sorted(sys.modules)), file=sys.stderr)"],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    return set(json.loads(done.stderr.splitlines()[-1]))


@pytest.mark.slow
@pytest.mark.parametrize(
    "code",
    [
        "import grail_mem",
        "from grail_mem import Memory",
        "import sys; sys.argv = ['grail', '--help']\ntry:\n    import grail_mem.cli; grail_mem.cli.main()\nexcept SystemExit: pass",
    ],
    ids=["package", "Memory", "help"],
)
def test_importing_loads_nothing_heavy(code: str) -> None:
    """What costs time to import is imported where it is used."""
    loaded = modules_after(code)
    assert not loaded.intersection(HEAVY)


@pytest.mark.slow
def test_opening_and_writing_loads_no_database(tmp_path: Path) -> None:
    """A write needs neither DuckDB nor Arrow."""
    loaded = modules_after(f"from grail_mem import Memory\nMemory({str(tmp_path)!r}).add_observation(content='x')")
    assert not loaded.intersection(("duckdb", "pyarrow", "pandas", "numpy", "networkx"))


def test_there_is_no_cycle_between_modules() -> None:
    """No module imports itself through others, at any depth and inside functions too."""
    import grimp

    graph = grimp.build_graph("grail_mem", cache_dir=None)
    for module in graph.modules:
        for imported in graph.find_modules_directly_imported_by(module):
            chain = graph.find_shortest_chain(importer=imported, imported=module)
            assert chain is None or {module, imported} & {"grail_mem"}, f"{module} -> {imported} -> ... {chain}"

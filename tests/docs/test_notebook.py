"""The notebooks run from top to bottom, and keep their outputs and pictures."""

from __future__ import annotations

import warnings
from pathlib import Path

import nbformat
import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # what these packages say of each other while they are imported
    from nbclient import NotebookClient

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_notebook_keeps_its_outputs(path: Path) -> None:
    """Every cell was run in order without an error, and the pictures are in the file."""
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [output for cell in cells for output in cell.outputs]
    assert not [output for output in outputs if output.output_type == "error"]
    assert [output for output in outputs if "image/png" in output.get("data", {})]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # jupyter's own
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_notebook_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run anew, no cell fails."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    )
    client.execute()
    assert not [o for cell in notebook.cells for o in cell.get("outputs", []) if o.output_type == "error"]

"""What the pages say is so: generated ones are current, code on them runs, links lead somewhere, problems are listed."""

from __future__ import annotations

import ast
import doctest
import importlib
import importlib.util
import re
import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from page_runner import run_page

import grail_mem
from grail_mem.errors import MissingDependencyError

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
RUN = [DOCS / "index.md", DOCS / "getting-started.md", *sorted((DOCS / "how-to").glob("*.md"))]


def pages() -> list[Path]:
    return sorted(path for path in DOCS.rglob("*.md") if path.relative_to(DOCS).parts[0] not in {"site", ".cache"})


def load_generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_generate", DOCS / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


GENERATOR = load_generator()
FIRST = {"index", "write-from-an-agent"}
"""Short pages that a newcomer reads; the others start some ten processes each, and are run with the slow tests."""


@pytest.mark.parametrize("name", list(GENERATOR.PAGES))
def test_generated_pages_are_current(name: str) -> None:
    """A page that repeats the code says what the code says; `python docs/generate.py` writes it anew."""
    assert (DOCS / name).read_text(encoding="utf-8") == GENERATOR.page(name)


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, id=page.stem, marks=() if page.stem in FIRST else pytest.mark.slow) for page in RUN],
)
def test_code_on_pages_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every block of code on a page that teaches runs as it stands there, and prints what the page says."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    if page.stem == "keep-in-git" and shutil.which("git") is None:
        pytest.skip("git is not installed")
    assert run_page(page, folder) > 0


def test_links_resolve() -> None:
    """Every relative link leads to a page, and to a heading on it when it names one."""
    broken = []
    for page in pages():
        text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", text)):
            if re.match(r"[a-z]+:", target):
                continue
            name, _, anchor = target.partition("#")
            there = (page.parent / name).resolve() if name else page
            if not there.is_file() or (anchor and anchor not in headings(there)):
                broken.append(f"{page.relative_to(DOCS)}: {target}")
    assert broken == []


def headings(page: Path) -> set[str]:
    found = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", title.lower()).strip()) for title in found}


def test_every_page_is_in_the_navigation() -> None:
    """No page is left out of the navigation, and it names none that is not there."""
    config = tomllib.loads((DOCS / "zensical.toml").read_text(encoding="utf-8"))
    assert sorted(named(config["project"]["nav"])) == sorted(str(page.relative_to(DOCS)) for page in pages())


def named(nav: list[dict[str, object]]) -> Iterator[str]:
    for item in nav:
        for target in item.values():
            if isinstance(target, str):
                yield target
            elif isinstance(target, list):
                yield from named(target)


def problem_codes() -> set[str]:
    """Every code that the package gives a problem: constants, and names of constants, in the calls that make one."""
    codes: set[str] = set()
    for path in sorted((ROOT / "grail_mem").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        constants = {
            target.id: node.value.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Constant)
            for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
            if isinstance(target, ast.Name)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and node.args and called(node) in {"Problem", "note", "_odd"}:
                first = node.args[0]
                if isinstance(first, ast.Constant):
                    codes.add(str(first.value))
                elif isinstance(first, ast.Name) and first.id in constants:
                    codes.add(str(constants[first.id]))
    return codes


def called(node: ast.Call) -> str:
    if isinstance(node.func, ast.Attribute) and getattr(node.func.value, "id", "") == "output":
        return ""  # what a command prints
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def test_every_problem_is_on_its_page() -> None:
    """The page of problems lists every code that the package uses, and no other."""
    text = (DOCS / "reference" / "problems.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `(\w+)` ", text, re.MULTILINE)) == problem_codes()


def test_every_frontmatter_key_is_on_its_page() -> None:
    """The page of the file format lists every key that the reader knows."""
    from grail_mem.store import observation_file

    text = (DOCS / "concepts" / "file-format.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)) >= set(observation_file._KNOWN)


def test_every_condition_is_on_its_page() -> None:
    """The page of recall lists every condition of the filter."""
    from dataclasses import fields

    from grail_mem.model.filter import Filter

    text = (DOCS / "concepts" / "recall.md").read_text(encoding="utf-8")
    asked = {*Filter(**{f.name: 1 for f in fields(Filter)}).conditions()} - {"current"}
    assert asked <= set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE))


PACKAGE = Path(grail_mem.__file__).parent
MODULES = sorted(
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
    for path in PACKAGE.rglob("*.py")
    if ">>> " in path.read_text(encoding="utf-8")
)


@pytest.mark.filterwarnings("ignore:Cannot set an attribute:ImportWarning")  # a framework that guards its modules
@pytest.mark.parametrize("name", MODULES)
def test_doctests_pass(name: str) -> None:
    """Every example in a docstring is so."""
    try:
        module = importlib.import_module(name)
    except MissingDependencyError as error:  # the adapter of a framework that is not installed; CI runs those apart
        pytest.skip(str(error))
    assert doctest.testmod(module).failed == 0

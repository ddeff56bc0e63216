"""Writes grail_mem/project.pyi: the coroutine signatures of MemoryProject, taken from Memory.

`python docs/stub.py` writes it, `--check` fails when it is stale.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from grail_mem.memory import SESSION_VERBS, VERBS  # noqa: E402

STUB = ROOT / "grail_mem" / "project.pyi"
HEAD = '''"""Generated from memory/ by docs/stub.py; the verbs of Memory as coroutines."""

'''
EXIT = """    async def __aenter__(self) -> Self: ...
    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
"""
CLASS = (
    """class MemoryProject:
    def __init__(
        self,
        path: str | Path,
        *,
        actor: str | None = None,
        embedder: Embedder | Callable[[list[str]], Any] | str | None = None,
        reranker: Reranker | None = None,
    ) -> None: ...
"""
    + EXIT
)
SESSION = (
    """class SessionProject:
    def __init__(self, opening: Callable[[], Session]) -> None: ...
"""
    + EXIT
)


def stub() -> str:
    """The text of the stub file."""
    parts = [ast.parse(path.read_text()) for path in sorted((ROOT / "grail_mem" / "memory").glob("*.py"))]
    tree = ast.Module([node for part in parts for node in part.body], [])
    bodies = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    defined = {
        f"{name}.{node.name}": node
        for name, body in bodies.items()
        for node in body.body
        if isinstance(node, ast.FunctionDef)
    }
    body = "\n".join([*_twin(CLASS, VERBS.values(), defined), "", *_twin(SESSION, SESSION_VERBS.values(), defined)])
    return HEAD + _imports(tree, body) + "\nVERBS: tuple[str, ...]\nSESSION_VERBS: tuple[str, ...]\n\n" + body + "\n"


def _twin(head: str, verbs: Iterable[Callable[..., Any]], defined: Mapping[str, ast.FunctionDef]) -> Iterator[str]:
    """The lines of one class: its head, and every verb as it is defined in the part that has it."""
    yield head.rstrip()
    for verb in (defined[verb.__qualname__] for verb in verbs):
        returns = ast.unparse(verb.returns) if verb.returns else "None"
        if verb.name == "session":  # opens nothing until it is entered
            yield f"    def session({ast.unparse(verb.args)}) -> SessionProject: ..."
        else:
            yield f"    async def {verb.name}({ast.unparse(verb.args)}) -> {returns}: ..."


def _imports(tree: ast.Module, body: str) -> str:
    """The import lines of the parts of Memory, cut down to the names that the stub uses."""
    used = {node.id for node in ast.walk(ast.parse(body)) if isinstance(node, ast.Name)}
    found: list[str] = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        names = [a for a in node.names if (a.asname or a.name) in used]
        if names:
            found.append(ast.unparse(type(node)(**{**vars(node), "names": names})))
    return "\n".join(sorted(set(found))) + "\n"


if __name__ == "__main__":
    made = stub()
    if "--check" in sys.argv:
        sys.exit(0 if STUB.exists() and STUB.read_text() == made else f"{STUB.name} is stale: run python docs/stub.py")
    STUB.write_text(made)

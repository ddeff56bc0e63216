"""Writes grail_mem/project.pyi: the coroutine signatures of MemoryProject, taken from Memory.

`python docs/stub.py` writes it, `--check` fails when it is stale.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from grail_mem.memory import VERBS  # noqa: E402

STUB = ROOT / "grail_mem" / "project.pyi"
HEAD = '''"""Generated from memory/ by docs/stub.py; the verbs of Memory as coroutines."""

'''
CLASS = """class MemoryProject:
    def __init__(
        self,
        path: str | Path,
        *,
        actor: str | None = None,
        embedder: Embedder | Callable[[list[str]], Any] | str | None = None,
        reranker: Reranker | None = None,
    ) -> None: ...
    async def __aenter__(self) -> Self: ...
    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
"""


def stub() -> str:
    """The text of the stub file."""
    parts = [ast.parse(path.read_text()) for path in sorted((ROOT / "grail_mem" / "memory").glob("*.py"))]
    tree = ast.Module([node for part in parts for node in part.body], [])
    methods = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    lines = [CLASS.rstrip()]
    for verb in (methods[name] for name in VERBS):
        returns = ast.unparse(verb.returns) if verb.returns else "None"
        lines.append(f"    async def {verb.name}({ast.unparse(verb.args)}) -> {returns}: ...")
    body = "\n".join(lines)
    return HEAD + _imports(tree, body) + "\nVERBS: tuple[str, ...]\n\n" + body + "\n"


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

"""A coding agent that keeps its notes with Anthropic's memory tool, and people who read them as files.

Run it: `python examples/coding_agent_memory.py`. A script stands for the model, so that no key is needed. With the package
`anthropic`, `client.beta.messages.tool_runner(tools=[MemoryTool(session)], …)` of `grail_mem.adapters.anthropic` is the loop.
"""

from __future__ import annotations

import tempfile
from typing import Any

from grail_mem import Memory
from grail_mem.adapters.memory_commands import MemoryCommands
from grail_mem.adapters.tool_calls import answer

FIRST = [
    {"command": "view", "path": "/memories"},
    {
        "command": "create",
        "path": "/memories/project/build.md",
        "file_text": "# Build\n\nRun `make check` before a commit.\n",
    },
    {"command": "insert", "path": "/memories/project/build.md", "insert_line": 3, "insert_text": "Tests need Redis.\n"},
]
SECOND = [
    {"command": "view", "path": "/memories/project/build.md"},
    {"command": "str_replace", "path": "/memories/project/build.md", "old_str": "Redis", "new_str": "Redis 8"},
    {"command": "view", "path": "/memories/../../etc/passwd"},
]


def run(memory: Memory, script: list[dict[str, Any]]) -> None:
    """One conversation."""
    with memory.session(user_id="ana", agent_id="coder") as session:
        tool = MemoryCommands(session, folder="notes")
        for n, command in enumerate(script):
            block = {"type": "tool_use", "id": f"toolu_{n}", "name": "memory", "input": command}
            result = answer(tool, block)
            print(f"{command['command']}{' refused' if result['is_error'] else ''}: {result['content']}\n")


def main() -> None:
    """Two conversations, and what is on the disk between and after them."""
    with tempfile.TemporaryDirectory() as root, Memory(root) as memory:
        run(memory, FIRST)
        (file,) = (memory.root / "memories").rglob("*.md")
        text = file.read_text()
        file.write_text(text.replace("make check", "make test"))  # a person corrects the note in an editor
        memory.sync()
        run(memory, SECOND)
        print(file.read_text())


if __name__ == "__main__":
    main()

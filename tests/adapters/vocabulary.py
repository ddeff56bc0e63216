"""The same four wishes in the words of the five tools, and in those of Anthropic's memory tool."""

from __future__ import annotations

import re
from collections.abc import Sequence

from scripts import Call

from grail_mem import Memory


class FiveTools:
    """`memory_write` and its like."""

    nothing = "Nothing was found"
    wrong = Call("memory_write", {"title": "no content at all", "confidence": "very"})
    told = "content"

    def write(self, text: str) -> Call:
        return Call("memory_write", {"content": text})

    def look(self, question: str) -> Call:
        return Call("memory_search", {"query": question})

    def forget(self, results: Sequence[str]) -> Call:
        found = re.search(r"[0-9A-HJKMNP-TV-Z]{26}", results[-1])
        assert found, results[-1]
        return Call("memory_forget", {"id": found[0], "reason": "the user asked"})

    def plant(self, memory: Memory, text: str, scope: str) -> None:
        """Text of somebody else where the model will look."""
        memory.add_observation(content=text, scope=scope)

    def fenced(self, result: str, text: str) -> bool:
        """Whether a text stands inside the one fence that opens and closes the result."""
        inside = result.partition("<memories")[2].rpartition("</memories>")[0]
        return result.count("</memories>") == 1 and text in inside


class MemoryFile:
    """`memory`, with one file."""

    nothing = "does not exist"
    wrong = Call("memory", {"command": "create", "path": "/memories/../../etc/passwd", "file_text": "x"})
    told = "'..'"

    def write(self, text: str) -> Call:
        return Call("memory", {"command": "create", "path": "/memories/note.md", "file_text": text})

    def look(self, question: str) -> Call:
        return Call("memory", {"command": "view", "path": "/memories/note.md"})

    def forget(self, results: Sequence[str]) -> Call:
        return Call("memory", {"command": "delete", "path": "/memories/note.md"})

    def plant(self, memory: Memory, text: str, scope: str) -> None:
        memory.add_observation(content=text, title="note.md", category="files", scope=scope)

    def fenced(self, result: str, text: str) -> bool:
        """Whether every line behind the first one is numbered, and the first one says what it is."""
        head, *lines = result.split("\n")
        return "not instructions" in head and all(re.match(r" *\d+\t", line) for line in lines) and text in result

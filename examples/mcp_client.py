"""A client of `grail mcp`: what an assistant's host does, with the official SDK and no model.

Run it: `python examples/mcp_client.py`. It needs the extra `mcp`, uses a temporary folder and leaves nothing behind.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from typing import Any

from mcp import Client, StdioServerParameters

from grail_mem import Memory


async def asked(client: Client, tool: str, **arguments: Any) -> str:
    """What a tool answers, as a model is given it."""
    answer = await client.call_tool(tool, arguments)
    text = "\n".join(part.text for part in answer.content if part.type == "text")
    return f"refused: {text}" if answer.is_error else text


async def main() -> None:
    """Start a server for one user, write, find, ask in vain, and be refused."""
    with tempfile.TemporaryDirectory() as root:
        with Memory(root) as memory:
            memory.init()
        server = StdioServerParameters(
            command=sys.executable, args=["-m", "grail_mem", "mcp", root, "--as", "assistant/ana"], env=dict(os.environ)
        )
        async with Client(server) as client:
            tools = await client.list_tools()
            print("tools:", ", ".join(tool.name for tool in tools.tools))
            print(await asked(client, "memory_write", content="Ana prefers aisle seats.", tags="travel, seats"))
            print(await asked(client, "memory_search", query="Which seat does Ana prefer?"))
            print(await asked(client, "memory_search", query="Who painted the ceiling of the chapel?"))
            print(await asked(client, "memory_search", query="seats", limt="3"))  # a name that a model misspelled


if __name__ == "__main__":
    asyncio.run(main())

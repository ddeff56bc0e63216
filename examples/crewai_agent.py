"""A crew with memory: what one agent writes, the next one finds.

Run it: `pip install 'grail-mem[crewai]'`, then `python examples/crewai_agent.py`. A script stands for the model, so that no
key is needed; put a model's name in its place.
"""

from __future__ import annotations

import json
import os
import tempfile
from typing import Any

os.environ |= {"CREWAI_DISABLE_TELEMETRY": "true", "CREWAI_TRACING_ENABLED": "false", "OTEL_SDK_DISABLED": "true"}
os.environ.setdefault("CREWAI_STORAGE_DIR", tempfile.gettempdir())

from crewai import Agent, BaseLLM, Crew, Task

from grail_mem import Memory
from grail_mem.adapters.crewai import memory_tools

SCRIPT: list[Any] = [
    ("memory_write", {"content": "Acme picked Postgres over DynamoDB.", "category": "work/acme"}),
    "Written down.",
    ("memory_search", {"query": "Which database did Acme pick?"}),
    "Postgres.",
]


class ScriptedLLM(BaseLLM):
    """Says what the script holds."""

    def call(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
        """The next line, or a call of a tool."""
        if messages[-1]["role"] == "tool":
            print(f"  {messages[-1]['content'].splitlines()[0]}")
        said = SCRIPT.pop(0)
        if isinstance(said, str):
            return said
        function = {"name": said[0], "arguments": json.dumps(said[1])}
        return [{"id": f"call_{len(SCRIPT)}", "type": "function", "function": function}]

    def supports_function_calling(self) -> bool:
        """It calls tools."""
        return True


def main() -> None:
    """A scribe and a researcher that share a project's memory."""
    with tempfile.TemporaryDirectory() as root, Memory(root) as memory:
        memory.grant("project:acme", "project:acme", ["read", "write"])
        for role, task in (("scribe", "Write down what was decided."), ("researcher", "Which database did Acme pick?")):
            with memory.session(user_id="ana", agent_id=role, project_id="acme") as session:
                agent = Agent(
                    role=role, goal="Help.", backstory="You keep a memory.", llm=ScriptedLLM(model="scripted"),
                    tools=memory_tools(session),
                )  # fmt: skip
                task_of_it = Task(description=task, expected_output="One sentence.", agent=agent)
                print(f"{role}: {Crew(agents=[agent], tasks=[task_of_it]).kickoff()}")


if __name__ == "__main__":
    main()

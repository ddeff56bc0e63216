"""Agents of CrewAI with a scripted model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scripts import Script

from grail_mem.memory.session import Session


def scripted_llm(script: Script) -> Any:
    """A model of CrewAI that answers by a script."""
    from crewai import BaseLLM

    class ScriptedLLM(BaseLLM):
        def call(self, messages: Any, tools: Any = None, *args: Any, **kwargs: Any) -> Any:
            said = [{"role": "user", "content": messages}] if isinstance(messages, str) else messages
            system = "\n".join(m["content"] for m in said if m["role"] == "system")
            results = [m["content"] for m in said if m["role"] == "tool"]
            answer = script.answer(system, [m for m in said if m["role"] != "system"], results)
            if isinstance(answer, str):
                return answer
            function = {"name": answer.name, "arguments": answer.json}
            return [{"id": f"call_{script.n_asked}", "type": "function", "function": function}]

        async def acall(self, *args: Any, **kwargs: Any) -> Any:
            return self.call(*args, **kwargs)

        def supports_function_calling(self) -> bool:
            return True

        def supports_stop_words(self) -> bool:
            return False

        def get_context_window_size(self) -> int:
            return 100_000

    return ScriptedLLM(model="scripted")


def crewai(caller: Session, script: Script, system: str, said: Sequence[str]) -> None:
    from crewai import Agent, Crew, Task

    from grail_mem.adapters.crewai import memory_tools

    agent = Agent(role="helper", goal="Help.", backstory=system, llm=scripted_llm(script), tools=memory_tools(caller))
    for text in said:
        Crew(agents=[agent], tasks=[Task(description=text, expected_output="An answer.", agent=agent)]).kickoff()

"""Agents of the OpenAI Agents SDK and of LlamaIndex with a scripted model."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from scripts import Script

from grail_mem.memory.session import Session


def agents_model(script: Script) -> Any:
    """A model of the OpenAI Agents SDK that answers by a script."""
    from agents import ModelResponse, Usage
    from agents.models.interface import Model
    from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

    class ScriptedModel(Model):
        async def get_response(self, system_instructions: Any, input: Any, *args: Any, **kwargs: Any) -> Any:
            items = [{"role": "user", "content": input}] if isinstance(input, str) else list(input)
            results = [i["output"] for i in items if i.get("type") == "function_call_output"]
            said = script.answer(system_instructions or "", items, results)
            n = script.n_asked
            output: Any = (
                ResponseOutputMessage(
                    id=f"msg_{n}", role="assistant", status="completed", type="message",
                    content=[ResponseOutputText(text=said, type="output_text", annotations=[])],
                ) if isinstance(said, str) else
                ResponseFunctionToolCall(call_id=f"call_{n}", name=said.name, arguments=said.json, type="function_call")
            )  # fmt: skip
            return ModelResponse(output=[output], usage=Usage(), response_id=None)

        def stream_response(self, *args: Any, **kwargs: Any) -> Any:
            raise NotImplementedError

    return ScriptedModel()


def openai_agents(caller: Session, script: Script, system: str, said: Sequence[str]) -> None:
    from agents import Agent, RunConfig, Runner
    from agents.memory import SQLiteSession

    from grail_mem.adapters.openai_agents import TranscribedSession, memory_tools

    agent = Agent(name="helper", instructions=system, model=agents_model(script), tools=memory_tools(caller))

    async def talk() -> None:
        session = TranscribedSession(SQLiteSession("s1"), caller)
        for text in said:
            await Runner.run(agent, text, session=session, run_config=RunConfig(tracing_disabled=True))

    asyncio.run(talk())


def llama_model(script: Script) -> Any:
    """A function-calling model of LlamaIndex that answers by a script."""
    from llama_index.core.base.llms.types import ChatMessage, ChatResponse, LLMMetadata, MessageRole
    from llama_index.core.llms.function_calling import FunctionCallingLLM
    from llama_index.core.llms.llm import ToolSelection

    class ScriptedLLM(FunctionCallingLLM):
        @property
        def metadata(self) -> LLMMetadata:
            return LLMMetadata(is_chat_model=True, is_function_calling_model=True, model_name="scripted")

        def _prepare_chat_with_tools(
            self, tools: Any, user_msg: Any = None, chat_history: Any = None, **kwargs: Any
        ) -> Any:
            return {"messages": list(chat_history or ())}

        def chat(self, messages: Any, **kwargs: Any) -> ChatResponse:
            system = "\n".join(m.content or "" for m in messages if m.role == MessageRole.SYSTEM)
            behind = [[m.role.value, m.content or ""] for m in messages if m.role != MessageRole.SYSTEM]
            results = [m.content or "" for m in messages if m.role == MessageRole.TOOL]
            said = script.answer(system, behind, results)
            message = ChatMessage(role=MessageRole.ASSISTANT, content=said if isinstance(said, str) else "")
            if not isinstance(said, str):
                selection = ToolSelection(
                    tool_id=f"call_{script.n_asked}", tool_name=said.name, tool_kwargs=said.arguments
                )
                message.additional_kwargs["calls"] = [selection]
            return ChatResponse(message=message)

        async def achat(self, messages: Any, **kwargs: Any) -> ChatResponse:
            return self.chat(messages, **kwargs)

        def get_tool_calls_from_response(self, response: Any, error_on_no_tool_call: bool = True, **kwargs: Any) -> Any:
            return response.message.additional_kwargs.get("calls", [])

        def complete(self, *args: Any, **kwargs: Any) -> Any:
            raise NotImplementedError

        stream_chat = stream_complete = complete

        async def acomplete(self, *args: Any, **kwargs: Any) -> Any:
            raise NotImplementedError

        astream_chat = astream_complete = acomplete

    return ScriptedLLM()


def llama_index(caller: Session, script: Script, system: str, said: Sequence[str]) -> None:
    from llama_index.core.agent.workflow import FunctionAgent
    from llama_index.core.memory import Memory as LlamaMemory

    from grail_mem.adapters.llama_index import memory_tools

    agent = FunctionAgent(tools=memory_tools(caller), llm=llama_model(script), system_prompt=system, streaming=False)

    async def talk() -> None:
        memory = LlamaMemory.from_defaults(session_id="s1", token_limit=100_000)
        for text in said:
            await agent.run(text, memory=memory)
        await memory.sql_store._async_engine.dispose()  # the framework leaves it open

    asyncio.run(talk())

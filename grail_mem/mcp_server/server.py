"""The server as the SDK has it: tools, resources and prompts, each call in a thread of its own so that nothing waits for it.

Knows nothing of stdio and HTTP.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Awaitable, Callable
from functools import partial
from time import monotonic
from typing import Any, Final, TypeVar

import anyio.from_thread
import anyio.to_thread
from mcp import types
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from grail_mem import __version__
from grail_mem.errors import GrailError
from grail_mem.mcp_server import prompts, resources
from grail_mem.mcp_server.greeting import INSTRUCTIONS, NAME, TITLE
from grail_mem.mcp_server.offer import Offer
from grail_mem.model.refusal import without_place
from grail_mem.tools import ToolResult
from grail_mem.tools.result import failed

T = TypeVar("T")

_LOG: Final = logging.getLogger("grail_mem.mcp")
_AT_ONCE: Final = 8
"""Calls that run at the same time; chosen. The store's verbs mostly wait for one another anyhow."""

_BETWEEN_S: Final = 0.1
"""Time between two words of progress; chosen, so that they never are most of what is sent."""
_ALMOST: Final = 0.999


class Cancelled(Exception):  # noqa: N818  it is no error: the client asked for it
    """The client takes a call back."""


def make_server(offer: Offer) -> Server[Any]:
    """The server for one caller."""
    desk = _Desk(offer)
    return Server(
        NAME, version=__version__, title=TITLE, instructions=INSTRUCTIONS,
        on_list_tools=desk.list_tools, on_call_tool=desk.call_tool, on_list_resources=desk.list_resources,
        on_list_resource_templates=desk.list_templates, on_read_resource=desk.read_resource,
        on_list_prompts=desk.list_prompts, on_get_prompt=desk.get_prompt,
    )  # fmt: skip


class _Desk:
    """Answers the requests of one caller."""

    def __init__(self, offer: Offer) -> None:
        self._offer = offer
        self._at_once = anyio.CapacityLimiter(_AT_ONCE)

    async def list_tools(self, ctx: Any, params: Any) -> types.ListToolsResult:  # noqa: ARG002  the SDK's signature
        offered = await self._in_thread(_or_refused(self._offer.tools))
        return types.ListToolsResult(tools=[types.Tool.model_validate(tool.definition("mcp")) for tool in offered])

    async def call_tool(self, ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        """The answer of a tool; a fault of the model is an answer, too, and so is one of this program."""
        told = _Telling(ctx)
        try:
            done = await self._in_thread(self._answer, params.name, params.arguments or {}, told)
        finally:
            told.over.set()
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=done.text)],
            structured_content={**done.structured, "text": done.text} if self._offer.is_structured else None,
            is_error=done.is_error,
        )

    def _answer(self, name: str, arguments: dict[str, Any], told: _Telling) -> ToolResult:
        try:
            return self._offer.call(name, arguments, told)
        except Cancelled:
            return failed(name, "cancelled", "the call was taken back.")
        except Exception as error:  # noqa: BLE001  the last boundary: a client gets an answer, and the server goes on
            _log_fault(name, error)
            return failed(name, "unexpected", f"something went wrong here ({type(error).__name__}).", hint="Try again.")

    async def list_resources(self, ctx: Any, params: Any) -> types.ListResourcesResult:  # noqa: ARG002  the SDK's signature
        listed = types.Resource(
            uri=resources.CATEGORIES, name="categories", title="Categories", mime_type="application/json",
            description="Every folder of the memory with how many observations are in it.",
        )  # fmt: skip
        return types.ListResourcesResult(resources=[listed])

    async def list_templates(self, ctx: Any, params: Any) -> types.ListResourceTemplatesResult:  # noqa: ARG002  the SDK's signature
        listed = types.ResourceTemplate(
            uri_template=resources.OBSERVATION, name="observation", title="One observation", mime_type="text/markdown",
            description="An observation with the words that it rests on.",
        )  # fmt: skip
        return types.ListResourceTemplatesResult(resource_templates=[listed])

    async def read_resource(self, ctx: Any, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        """What stands behind an address."""
        uri, told = str(params.uri), _Telling(ctx)
        try:
            read = await self._in_thread(_or_refused(partial(resources.read, self._offer, uri, told)))
        finally:
            told.over.set()
        content = types.TextResourceContents(uri=uri, text=read.text, mime_type=read.media_type)
        return types.ReadResourceResult(contents=[content])

    async def list_prompts(self, ctx: Any, params: Any) -> types.ListPromptsResult:  # noqa: ARG002  the SDK's signature
        return types.ListPromptsResult(prompts=[
            types.Prompt(name=p.name, title=p.title, description=p.description, arguments=[
                types.PromptArgument(name=p.argument[0], description=p.argument[1], required=False)
            ])
            for p in prompts.PROMPTS.values()
        ])  # fmt: skip

    async def get_prompt(self, ctx: Any, params: types.GetPromptRequestParams) -> types.GetPromptResult:  # noqa: ARG002  the SDK's signature
        prompt = _or_refused(partial(prompts.prompt_named, params.name))()
        told = _or_refused(partial(prompt.told, params.arguments or {}))()
        message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=told))
        return types.GetPromptResult(description=prompt.description, messages=[message])

    def _in_thread(self, call: Callable[..., T], *args: Any) -> Awaitable[T]:
        """Run something that may take long beside everything else; when it is cancelled, nobody waits for its end."""
        return anyio.to_thread.run_sync(call, *args, abandon_on_cancel=True, limiter=self._at_once)


class _Telling:
    """Tells the client how far a call is, from the thread that it runs in; ends the call when it is taken back."""

    def __init__(self, ctx: Any) -> None:
        self._ctx = ctx
        self.over = threading.Event()
        self._stage, self._stages, self._at = "", 0, 0.0

    def __call__(self, what: str, done: int, total: int) -> None:
        if self.over.is_set():
            raise Cancelled
        now = monotonic()
        if what == self._stage and now - self._at < _BETWEEN_S:
            return
        if what != self._stage:
            self._stage, self._stages = what, self._stages + 1
        self._at = now
        part = (
            min(done / total, _ALMOST) if total > 0 else 0.0
        )  # each stage counts from 0; what a client hears only grows
        said = f"{what}: {done} of {total}" if total > 0 else what
        anyio.from_thread.run(self._ctx.session.report_progress, self._stages + part, None, said)


def _or_refused(call: Callable[[], T]) -> Callable[[], T]:
    """What a call gives; what the store refuses becomes the protocol's own error."""

    def refused() -> T:
        try:
            return call()
        except GrailError as error:
            raise MCPError(code=types.INVALID_PARAMS, message=" ".join(without_place(error)).rstrip()) from error

    return refused


def _log_fault(name: str, error: Exception) -> None:
    """Where something went wrong; never with words of the memory, which a message may hold."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}" if trace is not None else "unknown"
    _LOG.error("%s failed with %s at %s", name, type(error).__name__, place)

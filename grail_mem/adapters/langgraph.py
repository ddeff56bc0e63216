"""LangGraph's store over a memory, so that what graphs keep there is kept in files that people read.

A namespace is a folder, an item an observation whose content is the value as JSON. Its tools are those of LangChain.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from grail_mem.adapters.frameworks import missing
from grail_mem.adapters.keyed import Kept, Keyed
from grail_mem.adapters.langchain import memory_tools
from grail_mem.errors import InputError
from grail_mem.memory import Memory
from grail_mem.memory.session import Session

try:
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        Item,
        ListNamespacesOp,
        MatchCondition,
        Op,
        PutOp,
        Result,
        SearchItem,
        SearchOp,
        validate_op_namespace,
    )
except ImportError as error:
    raise missing("langgraph", "langgraph") from error

__all__ = ["GrailStore", "memory_tools"]


class GrailStore(BaseStore):
    """A store of LangGraph: namespaces, keys and JSON values, in one scope of a memory.

    A value comes back as it was put; one that JSON cannot hold as it is, is refused. `delete` hides, so `restore` brings a value
    back. `search` with a query brings what answers it, and nothing when nothing does; `index` has no effect, since all of a
    value is searched. Items do not expire: a `ttl` is refused.

    Args:
        caller: Whose memory it is; what a session may not read is as if it were not there.
        folder: The category below which namespaces are folders.
        scope: The scope that items are in; of a session its own when left out, else the store's default.

    Raises:
        InputError: Folder or scope cannot be used.
        MissingDependencyError: On import: the extra `langgraph` is not installed.
    """

    supports_ttl = False

    def __init__(self, caller: Memory | Session, *, folder: str = "langgraph", scope: str | None = None) -> None:
        self._kept = Keyed(caller, folder=folder, mark="langgraph", scope=scope)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out operations in their order; one result each.

        Raises:
            InputError: A value or name cannot be kept; what came before it was carried out.
        """
        wanted = list(ops)
        for op in wanted:
            validate_op_namespace(op)
            if isinstance(op, PutOp) and op.ttl is not None:
                raise NotImplementedError("GrailStore keeps items until they are deleted: leave ttl out.")
        return [self._carried_out(op) for op in wanted]

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """The same, in a thread of its own."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _carried_out(self, op: Op) -> Result:
        if isinstance(op, GetOp):
            kept = self._kept.get(op.namespace, op.key)
            return None if kept is None else Item(**_item(kept))
        if isinstance(op, PutOp):
            if op.value is None:
                self._kept.delete(op.namespace, op.key)
            else:
                self._kept.put(op.namespace, op.key, op.value)
            return None
        if isinstance(op, SearchOp):
            return self._found(op)
        if isinstance(op, ListNamespacesOp):
            return self._namespaces(op)
        raise InputError(f"{type(op).__name__} is no operation of a store.")

    def _found(self, op: SearchOp) -> list[SearchItem]:
        ranked: Sequence[tuple[Kept, float | None]]
        if op.query:
            ranked = self._kept.search(op.namespace_prefix, op.query)
        else:
            ranked = [(kept, None) for kept in self._kept.below(op.namespace_prefix)]
        fits = [SearchItem(**_item(kept), score=score) for kept, score in ranked if _meets(kept.value, op.filter or {})]
        return fits[op.offset : op.offset + op.limit]

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        found = {kept.namespace for kept in self._kept.below()}
        fits = (name for name in found if all(_matches(name, condition) for condition in op.match_conditions or ()))
        return sorted({name[: op.max_depth] for name in fits})[op.offset : op.offset + op.limit]


def _item(kept: Kept) -> dict[str, Any]:
    return {
        "namespace": kept.namespace, "key": kept.key, "value": kept.value, "created_at": kept.created_at,
        "updated_at": kept.updated_at,
    }  # fmt: skip


def _matches(namespace: tuple[str, ...], condition: MatchCondition) -> bool:
    path = condition.path
    if len(path) > len(namespace):
        return False
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(wanted in ("*", label) for wanted, label in zip(path, part, strict=True))


_COMPARED: Final = {
    "$eq": lambda value, other: value == other,
    "$ne": lambda value, other: value != other,
    "$gt": lambda value, other: value > other,
    "$gte": lambda value, other: value >= other,
    "$lt": lambda value, other: value < other,
    "$lte": lambda value, other: value <= other,
}


def _meets(value: Any, wanted: Any) -> bool:
    """Whether a value is as a filter wants it: parts of mappings, whole lists, `$eq` and its like, else the same value."""
    if not isinstance(wanted, Mapping):
        return bool(value == wanted)
    if any(str(name).startswith("$") for name in wanted):
        return all(_compared(value, name, other) for name, other in wanted.items())
    return isinstance(value, Mapping) and all(_meets(value.get(name), other) for name, other in wanted.items())


def _compared(value: Any, name: str, other: Any) -> bool:
    if name not in _COMPARED:
        raise InputError(f"There is no comparison {name!r}; there are {', '.join(_COMPARED)}.")
    try:
        return bool(_COMPARED[name](value, other))
    except TypeError:  # a text and a number have no order
        return False

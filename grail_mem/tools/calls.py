"""What each tool does with its arguments: one call of a verb, and the answer made of it.

Knows nothing of what a model sent: the arguments are read by then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from grail_mem.errors import InputError, NotFoundError
from grail_mem.memory import Memory
from grail_mem.memory.session import Session
from grail_mem.model.ulid import is_id
from grail_mem.tools import answers
from grail_mem.tools.result import ToolResult

Caller = Memory | Session
Targets = Mapping[str, str | None]
Call = Callable[[Caller, dict[str, Any], int, Targets], ToolResult]

_LEAST_TAIL: Final = 6
_INFERRED: Final = "agent_inference"
_SEARCH_LIMIT: Final = 10


def search(caller: Caller, values: dict[str, Any], budget: int, _targets: Targets) -> ToolResult:
    """Recall, ranked by a query or exact by filters alone."""
    asked = dict(values)
    asked["text"] = asked.pop("contains", None)
    asked.setdefault("limit", _SEARCH_LIMIT)
    return answers.found(caller, caller.recall(asked.pop("query", None), **asked), values, budget)


def get(caller: Caller, values: dict[str, Any], budget: int, _targets: Targets) -> ToolResult:
    """One observation with its evidence and conflicts."""
    observation = caller.get(_full_id(caller, values["id"]))
    history = caller.history(observation.id) if values.get("history") else None
    return answers.one(observation, caller.cite(observation.id), history, budget)


def write(caller: Caller, values: dict[str, Any], budget: int, targets: Targets) -> ToolResult:
    """A claim with its quote, or a conclusion of the agent's own."""
    asked = dict(values)
    target = asked.pop("target", None) or next(iter(targets))
    quote, role = asked.pop("quote", None), asked.pop("said_by", None)
    if quote is None:
        if role is not None:
            raise InputError("said_by belongs to quote; send both or none.")
        done = caller.add_observation(source_kind=_INFERRED, scope=targets[target], **_capped(asked))
        return answers.written(caller, done, target, budget)
    claim = asked.pop("content")
    remembered = caller.remember(claim, evidence=quote, role=role or "user", scope=targets[target], **asked)
    return answers.written(caller, remembered, target, budget)


def _capped(asked: dict[str, Any]) -> dict[str, Any]:
    """A conclusion is no surer than one can be."""
    most = answers.MOST_INFERRED
    return asked | {"confidence": min(asked.get("confidence", most), most)}


def revise(caller: Caller, values: dict[str, Any], budget: int, _targets: Targets) -> ToolResult:
    """One observation judged."""
    asked = dict(values)
    id_ = _exact_id(caller, asked.pop("id"))
    done = caller.revise(id_, evidence=asked.pop("quote", None), **asked)
    return answers.revised(done, budget)


def forget(caller: Caller, values: dict[str, Any], budget: int, _targets: Targets) -> ToolResult:
    """Observations hidden, or erased."""
    ids = list(dict.fromkeys(_exact_id(caller, text) for text in values["id"]))
    preview, reason = values.get("preview", False), values["reason"]
    if values.get("erase"):
        return answers.erased(caller.erase(ids, reason=reason, dry_run=preview), budget)
    there = [caller.get(id_) for id_ in ids]
    changed = [] if preview else [caller.hide(id_, reason=reason) for id_ in ids]
    return answers.hidden(there, changed, budget)


CALLS: Final[Mapping[str, Call]] = {
    "memory_search": search, "memory_get": get, "memory_write": write, "memory_revise": revise, "memory_forget": forget,
}  # fmt: skip


def _full_id(caller: Caller, text: str) -> str:
    """The id that a whole id or the end of one means."""
    word = text.strip().upper()
    if is_id(word):
        return word
    ends = _ending(caller, word)
    if len(ends) == 1:
        return ends[0]
    raise _unclear(text, ends)


def _exact_id(caller: Caller, text: str) -> str:
    """A whole id; nothing less may change anything."""
    word = text.strip().upper()
    if is_id(word):
        return word
    raise _unclear(text, _ending(caller, word))


def _ending(caller: Caller, word: str) -> list[str]:
    """The ids that end so and that the caller may see; none for an end too short to mean anything."""
    found = caller.ids_ending(word) if len(word) >= _LEAST_TAIL else []
    return [id_ for id_ in found if _is_there(caller, id_)]


def _is_there(caller: Caller, id_: str) -> bool:
    try:
        caller.get(id_)
    except NotFoundError:
        return False
    return True


def _unclear(text: str, ends: list[str]) -> NotFoundError:
    if ends:
        return NotFoundError(
            f"{text[:40]!r} is no whole id; it may mean {', '.join(ends[:5])}.", hint="Send one of these, whole."
        )
    return NotFoundError(
        f"There is no memory {text[:40]!r}.", hint="An id has 26 characters; memory_search shows them."
    )

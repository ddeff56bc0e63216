"""What each tool does with its arguments: one call of a verb, and the answer made of it.

Knows nothing of what a model sent: the arguments are read by then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from grail_mem.errors import InputError
from grail_mem.memory.session import Session
from grail_mem.tools import answers
from grail_mem.tools.naming_ids import Caller, exact_id, full_id, seen
from grail_mem.tools.result import ToolResult

Targets = Mapping[str, str | None]
Call = Callable[[Caller, dict[str, Any], int, Targets], ToolResult]

ERASE: Final = "erase"
"""The argument that takes observations away for good."""
_INFERRED: Final = "agent_inference"
_SEARCH_LIMIT: Final = 10


def search(caller: Caller, values: dict[str, Any], budget: int, _targets: Targets) -> ToolResult:
    """Recall, ranked by a query or exact by filters alone."""
    if values.get("mode") == "recall" and "query" in values:
        raise _wrong("mode", "recall goes by filters alone and takes no query.", "Leave mode or query out.")
    asked = dict(values)
    asked["text"] = asked.pop("contains", None)
    asked.setdefault("limit", _SEARCH_LIMIT)
    return answers.found(caller, caller.recall(asked.pop("query", None), **asked), values, budget)


def get(caller: Caller, values: dict[str, Any], budget: int, _targets: Targets) -> ToolResult:
    """One observation with its evidence and conflicts."""
    observation = caller.get(full_id(caller, values["id"]))
    history = caller.history(observation.id) if values.get("history") else None
    against = seen(caller, observation.conflicts_with)
    return answers.one(observation, caller.cite(observation.id), history, against, budget)


def _wrong(field: str, problem: str, remedy: str) -> InputError:
    return InputError("nothing was done.", problems=[f"{field}: {problem} {remedy}"])


def write(caller: Caller, values: dict[str, Any], budget: int, targets: Targets) -> ToolResult:
    """A claim with its quote, or a conclusion of the agent's own."""
    asked = dict(values)
    target = asked.pop("target", None) or next(iter(targets))
    quote, role = asked.pop("quote", None), asked.pop("said_by", None)
    if quote is None:
        if role is not None:
            raise _wrong("said_by", "says who spoke the quote, and there is none.", "Send both or none.")
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
    id_ = exact_id(caller, asked.pop("id"))
    talk = (caller.conversation if isinstance(caller, Session) else None) or f"remembered-{datetime.now(UTC):%Y-%m-%d}"
    done = caller.revise(id_, evidence=asked.pop("quote", None), session=talk, source_kind=_INFERRED, **asked)
    return answers.revised(done, budget)


def forget(caller: Caller, values: dict[str, Any], budget: int, _targets: Targets) -> ToolResult:
    """Observations hidden, or erased; all of them or none."""
    ids = list(dict.fromkeys(exact_id(caller, text) for text in values["id"]))
    preview, reason = values.get("preview", False), values["reason"]
    if values.get(ERASE):
        return answers.erased(caller.erase(ids, reason=reason, dry_run=preview), budget)
    there = [caller.get(id_) for id_ in ids]
    caller.hide_selected(ids, reason=reason, dry_run=preview)
    return answers.hidden(there, preview=preview, budget=budget)


CALLS: Final[Mapping[str, Call]] = {
    "memory_search": search, "memory_get": get, "memory_write": write, "memory_revise": revise, "memory_forget": forget,
}  # fmt: skip

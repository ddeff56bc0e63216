"""What each of the server's further tools does with its arguments: one call of a verb, and the answer made of it.

Knows nothing of the protocol.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from grail_mem import __version__
from grail_mem.errors import NotFoundError
from grail_mem.memory import Memory
from grail_mem.memory.session import Session
from grail_mem.model.untrusted import as_data, as_label
from grail_mem.recall.pack import render_pack
from grail_mem.tools import ToolResult, answers
from grail_mem.tools.targets import targets_of

Tell = Callable[[str, int, int], None]
"""Hears what is under way, how much of it is done, and how much there is."""

_LIMIT: Final = 50
_INFERRED: Final = "agent_inference"


@dataclass(frozen=True, slots=True)
class Asked:
    """What a call works with.

    Attributes:
        caller: The store as the caller may use it.
        values: The arguments, read.
        budget: Tokens that the text of the answer has at most.
        tell: Hears of progress.
        may: What the server was started with, for `status`.
    """

    caller: Memory | Session
    values: dict[str, Any]
    budget: int
    tell: Tell
    may: Mapping[str, Any]


def add_observation(asked: Asked) -> ToolResult:
    """One observation; without evidence it is a conclusion of the agent's."""
    values = dict(asked.values)
    targets = targets_of(asked.caller)
    target = values.pop("target", None) or next(iter(targets))
    if not values.get("evidence"):
        most = answers.MOST_INFERRED
        values |= {"source_kind": _INFERRED, "confidence": min(values.get("confidence", most), most)}
    done = asked.caller.add_observation(scope=targets[target], **values)
    return _named(answers.written(asked.caller, done, target, asked.budget), "add_observation")


def recall(asked: Asked) -> ToolResult:
    """What meets the conditions, one page."""
    values = dict(asked.values)
    values["text"] = values.pop("contains", None)
    values.setdefault("limit", _LIMIT)
    found = asked.caller.recall(mode="recall", **values)
    return _named(answers.found(asked.caller, found, asked.values, asked.budget), "recall")


def list_(asked: Asked) -> ToolResult:
    """One page of a list, or the candidates."""
    caller, values = asked.caller, asked.values
    limit = values.get("limit", _LIMIT)
    if values["what"] == "candidates":
        listed = caller.candidates(status=values.get("status"))
        lines = [_line(c.id, c.status, c.origin, c.observation.title if c.observation else "") for c in listed[:limit]]
        return _lines(asked, "list", lines, {"what": "candidates", "total": len(listed), "items": [
            {"id": c.id, "status": c.status, "origin": c.origin, "title": c.observation.title if c.observation else None}
            for c in listed[:limit]
        ]})  # fmt: skip
    lister = {
        "categories": caller.list_categories, "communities": caller.list_communities, "entities": caller.list_entities,
        "tags": caller.list_tags, "sources": caller.list_sources,
    }[values["what"]]  # fmt: skip
    page = lister(limit=limit, cursor=values.get("cursor")).to_dict()
    lines = [
        _line(*(f"{name}: {_flat(value)}" for name, value in item.items() if name != "key")) for item in page["items"]
    ]
    more = f'There is more: repeat the call with cursor "{page["cursor"]}".' if page["cursor"] else ""
    return _lines(asked, "list", lines, {"what": values["what"], **page}, f"{page['total']} in all. {more}".rstrip())


def cite(asked: Asked) -> ToolResult:
    """The quotes of one observation in context."""
    cited = asked.caller.cite(asked.values["id"])
    return _lines(asked, "cite", cited.text.splitlines(), {"citation": cited.to_dict()})


def consolidate(asked: Asked) -> ToolResult:
    """A run over everything, which writes proposals."""
    values = asked.values
    floor = {"min_confidence": values["min_confidence"]} if "min_confidence" in values else {}
    made = asked.caller.consolidate(
        kinds=values.get("kinds"), dry_run=values.get("preview", False), progress=asked.tell, **floor
    )
    new = [p for p in made.proposals if p.id in set(made.new)]
    head = f"{len(made)} wait for a decision, {len(new)} of them new. No observation was changed."
    return _lines(asked, "consolidate", [_line(p.id, p.kind, f"{p.confidence:.2f}", p.rationale) for p in new], {
        "waiting": len(made), "new": [_brief(p) for p in new[:_LIMIT]], "ran": list(made.ran), "skipped": dict(made.skipped),
        "declined_before": made.n_declined, "problems": [str(problem) for problem in made.problems],
    }, head)  # fmt: skip


def proposals_list(asked: Asked) -> ToolResult:
    """Proposals in short."""
    values = dict(asked.values)
    limit = values.pop("limit", _LIMIT)
    found = asked.caller.proposals(**values)
    lines = [_line(p.id, p.kind, p.status, f"{p.confidence:.2f}", p.rationale) for p in found[:limit]]
    head = f"{len(found)} proposals." if len(found) <= limit else f"{len(found)} proposals, of which these are {limit}."
    return _lines(
        asked, "proposals_list", lines, {"total": len(found), "proposals": [_brief(p) for p in found[:limit]]}, head
    )


def proposals_show(asked: Asked) -> ToolResult:
    """One proposal whole."""
    wanted = asked.values["id"].strip().upper()
    one = next((p for p in asked.caller.proposals(status="all") if p.id == wanted), None)
    if one is None:
        raise NotFoundError(f"There is no proposal {asked.values['id']!r}.", hint="proposals_list shows their ids.")
    lines = [
        _line(one.id, one.kind, one.status, f"{one.confidence:.2f}"), one.rationale,
        *(f"would {change.get('do', 'change')}: {_flat(change)}" for change in one.changes),
        *(f"evidence {quote.id}: {quote.text} {quote.note}".rstrip() for quote in one.evidence.quotes),
        *(f"changed since: {text}" for text in one.stale), *(f"conflicts with {id_}" for id_ in one.conflicts),
    ]  # fmt: skip
    return _lines(asked, "proposals_show", lines, {"proposal": one.to_dict()})


def proposals_apply(asked: Asked) -> ToolResult:
    """Proposals carried out, each wholly or not at all."""
    values = asked.values
    ids = list(dict.fromkeys(text.strip().upper() for text in values["ids"]))
    preview = values.get("preview", False)
    done = asked.caller.apply(
        ids, dry_run=preview, reason=values["reason"], progress=lambda n: asked.tell("apply", n, len(ids))
    )
    n_done = sum(one.done for one in done)
    said = "would be applied; nothing was changed" if preview else "applied"
    lines = [_line(one.id, one.kind, one.status, *one.reasons, *(f.path for f in one.files)) for one in done]
    return _lines(asked, "proposals_apply", lines, {"preview": preview, "outcomes": [one.to_dict() for one in done]},
                  f"{n_done} of {len(done)} {said}.")  # fmt: skip


def status(asked: Asked) -> ToolResult:
    """How the store is, as far as the caller may know."""
    caller = asked.caller
    counts = caller.sql("SELECT status, count(*) AS n FROM observations GROUP BY status ORDER BY status").to_pylist()
    said = {
        "version": __version__, **asked.may, "observations": {row["status"]: row["n"] for row in counts},
        "categories": caller.list_categories(limit=1).total, "entities": caller.list_entities(limit=1).total,
        "candidates_waiting": len(caller.candidates()), "proposals_waiting": len(caller.proposals()),
        "embedder": caller.settings.embedder, "targets": list(targets_of(caller)),
    }  # fmt: skip
    return _lines(asked, "status", [f"{name}: {_flat(value)}" for name, value in said.items()], said)


MORE_CALLS: Final[Mapping[str, Callable[[Asked], ToolResult]]] = {
    "add_observation": add_observation, "recall": recall, "list": list_, "cite": cite, "consolidate": consolidate,
    "proposals_list": proposals_list, "proposals_show": proposals_show, "proposals_apply": proposals_apply, "status": status,
}  # fmt: skip


def _lines(asked: Asked, tool: str, lines: Iterable[str], said: Mapping[str, Any], head: str = "") -> ToolResult:
    """Lines of stored words as one fenced text, and the same as values."""
    listed = list(lines)
    fenced = render_pack((), overview=listed, budget=asked.budget).text if listed else "Nothing."
    return ToolResult(f"{head}\n{fenced}".lstrip(), {"ok": True, "tool": tool, **_plain(said)})


def _named(result: ToolResult, tool: str) -> ToolResult:
    return ToolResult(result.text, {**result.structured, "tool": tool}, result.is_error)


def _line(*parts: object) -> str:
    return "  ".join(str(part) for part in parts if part not in ("", None))


def _brief(proposal: Any) -> dict[str, Any]:
    return {
        "id": proposal.id, "kind": proposal.kind, "status": proposal.status, "confidence": round(proposal.confidence, 2),
        "rationale": proposal.rationale,
    }  # fmt: skip


def _flat(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_flat(part)}" for name, part in value.items() if part not in (None, "", []))
    if isinstance(value, list | tuple):
        return "; ".join(_flat(part) for part in value)
    return " ".join(str(value).split())


def _plain(value: Any) -> Any:
    """Values as JSON has them, every text so that it can stand in a prompt."""
    if isinstance(value, str):
        return as_data(value)
    if isinstance(value, Mapping):
        return {as_label(str(name)): _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return value

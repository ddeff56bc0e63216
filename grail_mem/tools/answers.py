"""Answers of the tools: text for a model within its budget, stored words fenced, and the same as plain values in short.

Knows nothing of how they were found.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from grail_mem.model.lineage import predecessors
from grail_mem.model.observation import Observation
from grail_mem.model.times import format_time
from grail_mem.model.untrusted import as_label
from grail_mem.query.history import History
from grail_mem.recall.budget import Estimate
from grail_mem.recall.cite import Cited, QuoteInContext
from grail_mem.recall.hit import Hit
from grail_mem.recall.pack import render_pack
from grail_mem.recall.result import Recall
from grail_mem.tools.naming_ids import Caller, seen
from grail_mem.tools.result import ToolResult, failed
from grail_mem.write.erase import Erased
from grail_mem.write.evidence import CAPS
from grail_mem.write.placed_facts import Written
from grail_mem.write.remember import Remembered
from grail_mem.write.revise import Revised

MOST_INFERRED: Final = CAPS["agent_inference"]
_TITLE: Final = 80
_QUESTION: Final = 200
_NEAR: Final = 3
_NOTE: Final = 300


def found(caller: Caller, recall: Recall, asked: Mapping[str, Any], budget: int) -> ToolResult:
    """What a search found, or why nothing."""
    steps = _steps(recall, asked)
    structured: dict[str, Any] = {
        "ok": True, "tool": "memory_search", "count": len(recall.observations),
        "observations": [brief(o) for o in recall.observations],
        "coverage": recall.coverage, "cursor": recall.cursor,
        "abstention": recall.abstention.to_dict() if recall.abstention else None,
        "next": steps, "warnings": list(recall.warnings),
    }  # fmt: skip
    lines = [*steps, *_notes(recall.warnings)]
    if recall.abstention is not None:
        head = f"Nothing was found ({recall.abstention.reason}): {as_label(recall.abstention.detail, at_most=_NOTE)}"
        near = fenced(seen(caller, recall.abstention.near_misses[:_NEAR]), budget // 2, "near miss: ")
        return ToolResult(_joined([head, *near, *lines], budget), structured)
    tail = _joined(lines, budget // 3) if lines else ""
    question = recall.question[:_QUESTION] if recall.question else None
    pack = replace(recall, question=question, budget=_left(budget, tail)).pack()
    structured["left_out"] = list(pack.left_out)
    if pack.flags:
        structured["flags"] = {id_: list(names) for id_, names in pack.flags.items()}
    return ToolResult(f"{pack.text}\n{tail}".rstrip(), structured)


def _notes(warnings: Sequence[str]) -> list[str]:
    return [f"Note: {as_label(text, at_most=_NOTE)}" for text in warnings]


def _steps(recall: Recall, asked: Mapping[str, Any]) -> list[str]:
    """What a model can do next, in words."""
    steps: list[str] = []
    conditions = [name for name in asked if name not in ("query", "limit", "context", "mode", "cursor")]
    if recall.abstention is not None:
        if recall.abstention.near_misses:
            steps.append("memory_get shows a near miss whole; it is not an answer until you have checked it.")
        if conditions:
            steps.append(f"Search again without {', '.join(conditions)} to look wider.")
        elif "query" in asked:
            steps.append("Search again in other words, or with filters alone, such as since or tags.")
        steps.append("Say that you do not know rather than guess.")
    elif recall.cursor:
        steps.append(f'There is more: repeat the call with cursor "{recall.cursor}".')
    elif recall.coverage == "partial":
        steps.append("This answers the question in part only.")
    return steps


def one(
    observation: Observation, cited: Cited, history: History | None, against: Sequence[Observation], budget: int
) -> ToolResult:
    """One observation, the words it rests on, what disagrees with it, and its history."""
    lines = [
        f"evidence ({quote.status}): {_one_line(quote.evidence.quote)} [{quote.evidence.role or 'unknown'}; {quote.evidence.source}]"
        for quote in cited.quotes
    ]
    lines += [f"disagrees: {o.id} {_one_line(o.title)}" for o in against]
    if history is not None:
        lines += [f"version {o.id} ({o.status}, {_day(o)}): {_one_line(o.title)}" for o in history.revisions]
        lines += [f"{step.at[:19]} {step.action} by {step.actor}: {_one_line(step.reason)}" for step in history.steps]
    structured = {
        "ok": True, "tool": "memory_get", "observation": brief(observation) | _lineage(observation, against),
        "citation": [_quoted(quote) for quote in cited.quotes],
        "history": None if history is None else [brief(o) | _lineage(o, history.revisions) for o in history.revisions],
    }  # fmt: skip
    tail = ""
    if observation.superseded_by:
        tail = f"It no longer holds; memory_get {observation.superseded_by} shows what does."
    elif against:
        tail = f"It is disputed: look at {', '.join([o.id for o in against][:_NEAR])} before you rely on it."
    pack = render_pack([observation], overview=lines, budget=_left(budget, tail))
    return ToolResult(f"{pack.text}\n{tail}".rstrip(), structured)


def _quoted(quote: QuoteInContext) -> dict[str, Any]:
    e = quote.evidence
    return {
        "quote": as_label(e.quote, at_most=_NOTE),
        "source": as_label(e.source),
        "role": e.role,
        "status": quote.status,
    }


def written(caller: Caller, done: Written | Remembered, target: str, budget: int) -> ToolResult:
    """What became of a write."""
    stored = caller.get(done.id)
    said = _DECIDED.get(done.decision, "Remembered.")
    head = f"{said} Its id is {done.id}, in {target}, as {stored.source_kind or 'unlabelled'}, confidence {stored.confidence:g}."
    structured: dict[str, Any] = {
        "ok": True, "tool": "memory_write", "id": done.id, "created": done.created, "decision": done.decision,
        "others": list(done.others), "target": target, "source_kind": stored.source_kind, "status": stored.status,
        "confidence": stored.confidence, "warnings": list(done.warnings),
    }  # fmt: skip
    if isinstance(done, Remembered):
        structured["support"] = {
            "verdict": done.support.verdict,
            "score": done.support.score,
            "checker": done.support.checker,
        }
    lines = [head, *_notes(done.warnings)]
    if done.others:
        lines.append(f"It is about {', '.join(done.others)}; memory_get shows one.")
    return ToolResult(_joined(lines, budget), structured)


_DECIDED: Final = {
    "new": "Remembered.",
    "known": "This is remembered already; nothing was added.",
    "reinforced": "This was known; the memory that says it is surer now.",
    "supersedes": "Remembered; it takes the place of an earlier statement, which stays as history.",
    "superseded_on_arrival": "Remembered as history: a later or weightier statement says otherwise.",
    "conflict": "Remembered, but it disagrees with another statement, and neither outweighs the other. Ask the user which is so.",
    "coexists": "Remembered beside a statement that still holds.",
}


def revised(done: Revised, budget: int) -> ToolResult:
    """What became of a revision."""
    head = f"Done: {done.action} {done.id}."
    if done.new_id:
        head += f" What is said now is {done.new_id}."
    structured = {"ok": True, "tool": "memory_revise", **done.to_dict()}
    structured.pop("path")
    return ToolResult(_joined([head, *_notes(done.warnings)], budget), structured)


def hidden(there: Sequence[Observation], *, preview: bool, budget: int) -> ToolResult:
    """What was hidden, or would be."""
    ids = [o.id for o in there]
    head = f"Would be hidden, nothing was changed: {', '.join(ids)}." if preview else f"Hidden: {', '.join(ids)}."
    structured = {"ok": True, "tool": "memory_forget", "ids": ids, "erased": False, "preview": preview,
        "observations": [brief(o) for o in there]}  # fmt: skip
    return ToolResult(_joined([head, *(fenced(there, budget) if preview else [])], budget), structured)


def unclear(tool: str, message: str, hint: str, candidates: Sequence[Observation], budget: int) -> ToolResult:
    """A word that means no one observation, with those that it may mean."""
    made = failed(tool, "not_found", as_label(message), hint=hint)
    error = made.structured["error"] | {"candidates": [brief(o) for o in candidates]}
    text = _joined([made.text, *fenced(candidates, budget)], budget)
    return replace(made, text=text, structured=made.structured | {"error": error})


def fenced(named: Sequence[Observation], budget: int, what: str = "") -> list[str]:
    """Ids with titles, as data."""
    lines = [f"{what}{o.id} {_one_line(o.title)}" for o in named]
    return [render_pack((), overview=lines, budget=budget).text] if lines else []


def erased(done: Erased, budget: int) -> ToolResult:
    """What was erased, or would be."""
    said = "Would be erased, nothing was changed" if done.dry_run else "Erased for good"
    structured = {
        "ok": True, "tool": "memory_forget", "ids": list(done.ids), "erased": not done.dry_run, "preview": done.dry_run,
        "still_said": {id_: list(others) for id_, others in done.still_said.items()}, "turns": list(done.turns),
        "sources": list(done.sources), "beyond": list(done.beyond), "warnings": list(done.warnings),
    }  # fmt: skip
    lines = [f"{said}: {', '.join(done.ids)}.", *_notes(done.warnings)]
    return ToolResult(_joined(lines, budget), structured)


def brief(o: Observation) -> dict[str, Any]:
    """An observation in short: what names it and what speaks for it, without its content."""
    said: dict[str, Any] = {
        "id": o.id, "title": as_label(o.title, at_most=_TITLE), "category": o.category, "observed_at": format_time(o.observed_at),
        "status": o.status, "confidence": o.confidence, "source_kind": o.source_kind, "scope": o.scope, "path": o.path,
    }  # fmt: skip
    if isinstance(o, Hit):
        said |= {"score": o.score, "reasons": [as_label(text) for text in o.reasons], "via": list(o.via)}
    return said


def _lineage(o: Observation, seen_: Iterable[Observation]) -> dict[str, Any]:
    """What an observation is joined to, as far as it may be seen."""
    known = {one.id for one in seen_}
    return {
        "supersedes": list(predecessors(o)), "superseded_by": o.superseded_by, "conflicts_with": [id_ for id_ in o.conflicts_with if id_ in known],
        "attribute": o.attribute,
    }  # fmt: skip


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 4 * _TITLE else f"{line[: 4 * _TITLE - 1]}…"


def _day(o: Observation) -> str:
    return format_time(o.observed_at)[:10]


def _left(budget: int, tail: str) -> int:
    return budget - Estimate().count(tail) - 1


def _joined(lines: Sequence[str], budget: int) -> str:
    """As many lines as fit, the first whatever it is."""
    count = Estimate().count
    made = lines[0]
    for line in lines[1:]:
        if count(more := f"{made}\n{line}") <= budget:
            made = more
    return made

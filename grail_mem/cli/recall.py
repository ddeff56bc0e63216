"""`grail recall`: the observations that meet every condition, or the reason for none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from grail_mem.cli import options as o
from grail_mem.cli import output
from grail_mem.cli.grouped import CONDITIONS, Group, grouped
from grail_mem.cli.misnamed import misnamed
from grail_mem.cli.which import short_id, which

if TYPE_CHECKING:  # most of a command's start-up
    from grail_mem.model.observation import Observation
    from grail_mem.recall.result import Recall


@grouped("conditions", CONDITIONS)
def recall_command(
    directory: o.Dir = None,
    *,
    conditions: Group,
    history: o.History = False,
    limit: o.Limit = None,
    order: o.Order = None,
    cursor: o.Cursor = None,
    full: Annotated[bool, typer.Option("--full", help="Print contents too.")] = False,
    text_pack: Annotated[bool, typer.Option("--text-pack", help="Print the answer as an agent receives it.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Print how long each stage took.")] = False,
    seen_by: o.As = None,
    root: o.Root = None,
    as_json: o.AsJson = False,
) -> None:
    """Print what meets every condition, or why nothing does.

    Conditions are exact and all hold on everything returned; without any, all observations are.
    """
    with which(directory, root).read_as(seen_by) as memory:
        found = memory.recall(
            **conditions, include_history=history,
            limit=o.number(limit), order=order, cursor=cursor,
        )  # fmt: skip
        near = misnamed(memory, found, conditions)
    if as_json:
        output.show_json(found.to_dict() | ({"text": found.text} if text_pack else {}))
        return
    if text_pack:
        output.say(found.text)
    else:
        show_recall(found, full=full)
    for sentence in near:
        output.note(sentence)
    if explain:
        output.say()
        output.table(["stage", "ms"], [[name, f"{stage['ms']:.1f}"] for name, stage in found.trace.items()])


def show_recall(found: Recall, *, full: bool = False) -> None:
    """Print an answer for people: a table, or whole observations, or the reason for none."""
    for warning in found.warnings:
        output.note(f"warning: {warning}")
    if found.abstention is not None:
        output.say(f"{found.abstention.reason}: {found.abstention.detail}")
    elif full:
        for number, observation in enumerate(found.observations):
            output.say() if number else None
            show_observation(observation)
    else:
        rows = [
            [f"{it.observed_at:%Y-%m-%d}", it.category, headline(it), ", ".join(it.tags), short_id(it.id)]
            for it in found.observations
        ]
        output.table(["date", "category", "title", "tags", "id"], rows, wide="title")
    if found.cursor is not None:
        output.note(f"There are more: repeat with --cursor {found.cursor}")


def headline(o: Observation) -> str:
    """The title, with who said it where somebody did and it does not begin with that."""
    is_said = not o.speaker or o.title.casefold().startswith(o.speaker.casefold())
    return o.title if is_said else f"{o.speaker}: {o.title}"


def show_observation(observation: Observation) -> None:
    """Print one observation with everything it says."""
    values = {name: value for name, value in observation.to_dict().items() if value not in ([], "")}
    output.say(values.pop("title", ""), style="bold")
    content = str(values.pop("content", ""))
    for name, value in values.items():
        if name != "sha256":
            output.say(f"{name + ':':<15}{output.safe(_shown(name, value))}", style="dim")
    output.say()
    output.say(content.strip("\n"))


def _shown(name: str, value: Any) -> str:
    """A field's value on one line."""
    if name == "entities":
        return ", ".join(f"{it['name']} ({it['type']})" if "type" in it else it["name"] for it in value)
    if name == "relationships":
        return "; ".join(f"{it['source']} —{it['relationship_type']}→ {it['target']}" for it in value)
    if isinstance(value, list):
        return ", ".join(str(it.get("quote", it)) if isinstance(it, Mapping) else str(it) for it in value)
    return str(value)

"""`grail search`: the observations that answer a question in words best, or what is known of an entity, of folders, of a document."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from grail_mem.cli import options as o
from grail_mem.cli import output
from grail_mem.cli.grouped import CONDITIONS, Group, grouped
from grail_mem.cli.misnamed import misnamed
from grail_mem.cli.recall import headline
from grail_mem.cli.which import short_id, split
from grail_mem.errors import InputError, NotFoundError

if TYPE_CHECKING:  # most of a command's start-up
    from grail_mem.memory import Memory
    from grail_mem.memory.session import Session
    from grail_mem.model.observation import Observation
    from grail_mem.recall.overview import Card
    from grail_mem.recall.result import Recall

FORMS = ("markdown", "json")
_NOT_FOUND_BY = frozenset({"ms", "all"})


@grouped("conditions", CONDITIONS)
def search_command(
    words: o.QuestionWords = None,
    *,
    also: o.Also = None,
    mode: o.Mode = None,
    document: o.Document = None,
    conditions: Group,
    history: o.History = False,
    limit: o.BestLimit = None,
    asked_at: o.AskedAt = None,
    context: o.TurnsAround = None,
    strict: o.Strict = False,
    dates: o.Dates = None,
    budget: o.Budget = None,
    embedder: o.EmbedderName = None,
    ranking: o.RankingName = None,
    full: Annotated[bool, typer.Option("--full", help="Print what matched, and the turns around it.")] = False,
    text_pack: Annotated[bool, typer.Option("--text-pack", help="Print the answer as an agent receives it.")] = False,
    form: Annotated[
        str,
        typer.Option(
            "--format", metavar="FORM", autocompletion=lambda: list(FORMS), help="Of the text pack: markdown or json.",
            show_default=False,
        ),
    ] = "markdown",
    explain: Annotated[
        bool, typer.Option("--explain", help="Print how it was understood, found, weighed and judged.")
    ] = False,
    seen_by: o.As = None,
    root: o.Root = None,
    as_json: o.AsJson = False,
) -> None:  # fmt: skip
    """Print what answers a question best, or why nothing does.

    QUESTION is one word of the command line: put it in quotes. Conditions are those of `grail recall`; they are exact and
    all hold on everything returned. The modes local (with --entity), global and document need no question.
    """
    wanted = mode or ("document" if document is not None else "cascade")
    place, asked = split("search", words, root, ["QUESTION"], may_lack=wanted != "cascade")
    if form not in FORMS:
        raise InputError(f"--format must be markdown or json, not {form!r}.")
    with place.read_as(seen_by, embedder=embedder) as memory, output.stages() as show:
        found = memory.recall(
            [*asked, *also] if also else asked[0] if asked else None,
            mode=wanted, document=_named_as_path(document, memory.root),
            **conditions, include_history=history,
            limit=o.number(limit), asked_at=asked_at, context=o.number(context), strict=strict, dates=dates, budget=o.number(budget),
            ranking=ranking, progress=show,
        )  # fmt: skip
        near = list(_near_misses(memory, found))
        meant = misnamed(memory, found, conditions)
    pack = _pack(found, form) if text_pack else ""
    if as_json:
        output.show_json(found.to_dict() | ({"text": pack} if text_pack else {}))
        return
    output.say(pack) if text_pack else show_found(found, near, full=full)
    for sentence in meant:
        output.note(sentence)
    if explain:
        show_explanation(found)


def _named_as_path(document: str | None, root: Path) -> str | None:
    """A document as the store names it: a path that is typed from where one stands leads from the root."""
    with suppress(OSError, ValueError):
        if document is not None and (path := Path(document).expanduser().resolve()).is_file():
            return path.relative_to(root).as_posix()
    return document


def _pack(found: Recall, form: Any) -> str:
    return found.text if found.abstention is not None else found.pack(form=form).text


def _near_misses(memory: Memory | Session, found: Recall) -> Iterable[Observation]:
    for id_ in found.abstention.near_misses if found.abstention is not None else ():
        with suppress(NotFoundError):  # it went away since
            yield memory.get(id_)


def show_found(found: Recall, near: Iterable[Observation] = (), *, full: bool = False) -> None:
    """Print a ranked answer for people: a table, or what matched, or the reason for none with what came closest."""
    for warning in found.warnings:
        output.note(f"warning: {warning}")
    if found.abstention is not None:
        output.say(f"{found.abstention.reason}: {found.abstention.detail}")
        if rows := [[f"{it.observed_at:%Y-%m-%d}", it.category, headline(it), short_id(it.id)] for it in near]:
            output.say()
            output.say("Closest, but not returned:")
            output.table(["date", "category", "title", "id"], rows, wide="title")
        return
    if found.overview:
        _show_overview(found.overview)
    hits = [(it, it.to_dict()) for it in found.observations]
    if full:
        for number, (hit, said) in enumerate(hits):
            output.say() if number else None
            _show_hit(hit, said)
    else:
        _show_table(hits)
    lacking = found.trace.get("silence", {}).get("lacking", ())
    if found.coverage is not None:
        output.say()
        output.say(f"coverage: {found.coverage}" + (f": {'; '.join(lacking)}" if lacking else ""))


def _show_overview(cards: Iterable[Card]) -> None:
    from grail_mem.recall.overview import card_lines  # part of what the memory loads, which is loaded by now

    for card in cards:
        first, *rest = card_lines([card])
        output.say(first, style="bold")
        for line in rest:
            output.say(line)
    output.say()


def _show_table(hits: Sequence[tuple[Observation, Mapping[str, Any]]]) -> None:
    """The hits as a table; without scores where nothing was ranked."""
    is_ranked = any(said.get("score") for _, said in hits)
    rows = [
        [
            *([f"{said['score']:.2f}" if said.get("score") else ""] if is_ranked else []),
            f"{hit.observed_at:%Y-%m-%d}", hit.category, headline(hit), _why(said), short_id(hit.id),
        ]
        for hit, said in hits
    ]  # fmt: skip
    names = [*(["score"] if is_ranked else []), "date", "category", "title", "why", "id"]
    output.table(names, rows, wide=("title", "why"))


def _why(said: Mapping[str, Any]) -> str:
    return "; ".join(said.get("reasons", ()))


def _show_hit(hit: Observation, said: Mapping[str, Any]) -> None:
    output.say(headline(hit), style="bold")
    about = {
        "score": f"{said['score']:.2f}" if said.get("score") else "", "why": _why(said), "found by": ", ".join(said.get("via", ())),
        "observed_at": f"{hit.observed_at:%Y-%m-%d}", "session": hit.session, "path": hit.path, "id": hit.id,
    }  # fmt: skip
    for name, value in about.items():
        if value:
            output.say(f"{name + ':':<15}{output.safe(value)}", style="dim")
    output.say()
    around = [(turn.turn or 0, f"  {_said(turn, turn.content)}") for turn in getattr(hit, "context", ())]
    own = (hit.turn or 0, f"{'> ' if around else ''}{_said(hit, said.get('passage') or hit.content)}")
    for _, line in sorted([*around, own]):
        output.say(line)


def _said(o: Observation, text: str) -> str:
    return f"{o.speaker}: {text.strip()}" if o.speaker else text.strip(chr(10))


# -- the explanation ---------------------------------------------------------------------------------------------------


def show_explanation(found: Recall) -> None:
    """Print how a question was understood, what each stage did, how the answer was judged, and what each score is made of."""
    trace = found.trace
    if "question" in trace:
        _section("How the question was understood")
    for name, value in trace.get("question", {}).items():
        if value not in (None, [], ""):
            output.say(f"{name + ':':<15}{', '.join(map(str, value)) if isinstance(value, list) else value}")
    _section("What each stage did")
    rows = [[name, f"{said['ms']:.1f}", _did(name, said)] for name, said in trace.items() if "ms" in said]
    output.table(["stage", "ms", "did"], rows, wide="did")
    judged = trace.get("silence", {})
    if "signals" in judged:
        _section("How the answer was judged")
        output.table(["what", "value", "floor", "sure"], list(_judged(judged)))
    rank = trace.get("rank", {})
    if added := rank.get("added"):
        _section(f"What each score is made of, by the weights '{rank['recipe']}', before age counts")
        groups = list(dict.fromkeys(group for shares in added.values() for group in shares))
        rows = [
            [short_id(id_), *(f"{shares[g]:.2f}" if g in shares else "" for g in groups), f"{sum(shares.values()):.2f}"]
            for id_, shares in added.items()
        ]
        output.table(["id", *groups, "sum"], rows)


def _section(title: str) -> None:
    output.say()
    output.say(title, style="bold")


def _did(name: str, said: Mapping[str, Any]) -> str:
    """The counts of a stage, in words."""
    if name == "silence":
        return ""
    if name == "candidates":
        by = ", ".join(f"{n} by {way}" for way, n in said.items() if way not in _NOT_FOUND_BY)
        return f"{output.counted(said.get('all', 0), 'passage')}: {by}"
    return ", ".join(
        f"{what}: {', '.join(map(str, n))}" if isinstance(n, list) else f"{n} {what}"
        for what, n in said.items()
        if what != "ms"
    )


def _judged(judged: Mapping[str, Any]) -> Iterable[list[str]]:
    for name, value in judged["signals"].items():
        yield [name, f"{value:.2f}", "", ""]
    if "topic" in judged:
        yield ["topic", f"{judged['topic']:.2f}", f"{judged['floor']:.2f}", f"{judged['sure']:.2f}"]
    if "speaker" in judged:
        yield ["speaker", f"{judged['speaker']:.2f}", f"{judged['speaker_floor']:.2f}", ""]

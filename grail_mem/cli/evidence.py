"""`grail ingest`, `remember`, `verify`, `cite`: sources, claims with quotes, and whether the quotes still stand."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from grail_mem.cli import drafts, output
from grail_mem.cli import options as o
from grail_mem.cli.which import full_id, split, which
from grail_mem.errors import InputError

if TYPE_CHECKING:  # most of a command's start-up
    from grail_mem.write.ingest import Ingested
    from grail_mem.write.verify import Verified

_FINE: Final = ("verified", "normalised match")

FileWords = Annotated[list[str] | None, typer.Argument(metavar="[DIR] FILE", hidden=True)]
ClaimWords = Annotated[list[str] | None, typer.Argument(metavar="[DIR] CLAIM", hidden=True)]
Chat = Annotated[
    str | None,
    typer.Option("--session", metavar="NAME", help="FILE holds turns of this conversation, as JSON or JSON lines."),
]
MediaType = Annotated[
    str | None, typer.Option("--media-type", metavar="TYPE", help="What FILE is, such as text/plain.")
]
Quotes = Annotated[
    list[str] | None, typer.Option("--evidence", metavar="QUOTE", help="Words that say it, as they stand; repeatable.")
]
Where = Annotated[
    str | None, typer.Option("--in", metavar="SOURCE", help="Where the quote stands, as `grail ingest` printed it.")
]


def ingest_command(
    words: FileWords = None,
    *,
    session: Chat = None,
    title: o.Title = None,
    source: o.Source = None,
    media_type: MediaType = None,
    observed_at: o.ObservedAt = None,
    scope: o.Scope = None,
    again: Annotated[bool, typer.Option("--again", help="Keep what was erased before.")] = False,
    observing: Annotated[
        bool, typer.Option("--observe", help="Make every turn an observation, so that search finds it.")
    ] = False,
    extracting: Annotated[
        bool, typer.Option("--extract", help="Suggest what the turns state, by rules, as candidates.")
    ] = False,
    root: o.Root = None,
    actor: o.Actor = None,
    as_json: o.AsJson = False,
) -> None:
    """Keep a conversation or a document that evidence can quote.

    FILE is a document, or with --session a list of turns: objects with role, text and, optionally, speaker, at, id. A FILE of - is stdin, taken as text. What is there already is passed over; a turn that cannot be used is listed and the rest goes in.

    By itself nothing of it is in an answer: --observe makes the turns of a conversation observations, --extract suggests what they state.
    """
    place, (file,) = split("ingest", words, root, ["FILE"])
    given = {"title": title, "source": source, "media_type": media_type, "observed_at": observed_at}
    turns = None if session is None else _read_turns(file)
    _refuse(session, file, given | {"observe": observing or None, "extract": extracting or None})
    observed, found = None, None
    with place.write(actor=actor, as_json=as_json) as memory:
        if turns is not None and session is not None:
            done = memory.ingest_chat(turns, session=session, scope=scope, again=again)
            observed = memory.observe(session, scope=scope) if observing else None
            found = memory.extract(session, scope=scope) if extracting else None
        elif file == "-":
            text = drafts.read_content(file)
            done = memory.ingest_text(
                text, title=title, source=source, observed_at=observed_at, scope=scope, again=again
            )
        else:
            done = memory.ingest_document(file, title=title, media_type=media_type, scope=scope, again=again)
    if as_json:
        more = {"observed": observed and observed.to_dict(), "extracted": found and found.to_dict()}
        output.show_json(done.to_dict() | {name: value for name, value in more.items() if value is not None})
        return
    _show_ingested(done, what="turn" if turns is not None else "document")
    if observed is not None:
        n_new = sum(one.created for one in observed.written)
        output.say(f"observed {output.counted(n_new, 'new turn')} of {observed.n_turns}")
    if found is not None:
        output.say(f"suggested {output.counted(sum(one.created for one in found), 'new candidate')}")
    for warning in (*(observed.warnings if observed else ()), *(found.warnings if found else ())):
        output.note(f"note: {warning}")


def _refuse(session: str | None, file: str, given: dict[str, Any]) -> None:
    """Refuse options that what is ingested has no use for."""
    of_text = {"title", "source", "observed_at"} if file == "-" else {"title", "media_type"}
    used = {"observe", "extract"} if session is not None else of_text
    unused = [name for name, value in given.items() if value is not None and name not in used]
    if unused:
        what = "a conversation" if session is not None else "stdin" if file == "-" else "a document"
        problems = [f"--{name.replace('_', '-')} says nothing of {what}." for name in unused]
        raise InputError(" ".join(problems), problems=problems)


def _read_turns(file: str) -> list[Any]:
    """The turns in a file of JSON or of JSON lines; a line that is none counts as a turn that cannot be used.

    Raises:
        InputError: There is no turn among them.
    """
    text = drafts.read_content(file)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = [_turn(line) for line in text.split("\n") if line.strip()]
    if isinstance(value, dict) and isinstance(value.get("turns"), list):
        value = value["turns"]
    turns = value if isinstance(value, list) else [value]
    if turns and not any(isinstance(turn, dict) for turn in turns):
        raise InputError(
            f"{file!r} holds no turns.", hint='Each is an object of JSON, such as {"role": "user", "text": "Yes."}.'
        )
    return turns


def _turn(line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return line


def _show_ingested(done: Ingested, *, what: str) -> None:
    output.say(f"ingested {output.counted(done.n_new, f'new {what}')} of {done.n_turns}  {done.source}")
    for warning in done.warnings:
        output.note(f"note: {warning}")


WHERE_QUOTES_GO: Final = (
    "Give the words that say it with --evidence, once for each quote; `grail add` takes a statement without any."
)


def remember_command(
    words: ClaimWords = None,
    *,
    evidence: Quotes = None,
    source: Where = None,
    session: o.Session = None,
    role: Annotated[
        str,
        typer.Option(
            "--role",
            metavar="ROLE",
            help="Who says a quote of a session without turns: user, assistant, system or tool.",
        ),
    ] = "user",
    allow_inference: Annotated[
        bool, typer.Option("--allow-inference", help="Keep it for 30 days even if the quote does not support it.")
    ] = False,
    attribute: o.Attribute = None,
    title: o.Title = None,
    category: Annotated[str | None, typer.Option("--category", metavar="PATH", help="Folder under memories/.")] = None,
    tags: o.Tags = None,
    entities: o.Entities = None,
    confidence: o.Confidence = None,
    scope: o.Scope = None,
    root: o.Root = None,
    actor: o.Actor = None,
    as_json: o.AsJson = False,
) -> None:
    """Store a claim with the words that support it.

    The quote is looked up in the conversation or source, and the claim is refused when it does not stand there or does not say it. In a conversation of which no turn was ingested, the quote is recorded as one.
    """
    place, (claim,) = split("remember", words, root, ["CLAIM"])
    fields, problems = drafts.read_fields(
        {"title": title, "category": category, "tags": tags, "entities": entities, "confidence": o.number(confidence)}
    )
    if problems:
        raise InputError(" ".join(problems), problems=problems)
    with place.write(actor=actor, as_json=as_json) as memory:
        try:
            done = memory.remember(
                claim, evidence=list(evidence or ()), attribute=attribute, source=source, session=session, role=role,
                allow_inference=allow_inference, scope=scope, **fields,
            )  # fmt: skip
        except InputError as error:
            if not evidence:
                error.hint = f"{error.hint} {WHERE_QUOTES_GO}".strip()
            raise
    if as_json:
        output.show_json(done.to_dict())
        return
    output.say(f"{'remembered' if done.created else 'there already'}  {done.id}  {done.path}")
    output.say(f"{done.status}: {done.support.verdict} ({done.support.checker}, {done.support.score:.2f})")
    for warning in done.warnings:
        output.note(f"note: {warning}")


def verify_command(
    directory: o.Dir = None,
    *,
    every: Annotated[bool, typer.Option("--all", help="List every quote, also those that stand.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only report.")] = False,
    root: o.Root = None,
    actor: o.Actor = None,
    as_json: o.AsJson = False,
) -> None:
    """Look up every quote again, and say which still stand.

    What rests on evidence that is gone is out of every answer until it is there again and this command is run. The exit code is 0 when every quote with a source stands there, and 1 when one does not.
    """
    with which(directory, root).read() as memory:
        done = memory.verify(dry_run=dry_run, actor=actor)
    if as_json:
        output.show_json(done.to_dict())
    else:
        _show_verified(done, every=every, dry_run=dry_run)
    if not done.ok:
        raise typer.Exit(1)


def _show_verified(done: Verified, *, every: bool, dry_run: bool) -> None:
    rows = [[q.status, q.title, q.quote, q.source] for q in done.quotes if every or q.status not in _FINE]
    if rows:
        output.table(["status", "observation", "quote", "source"], rows)
    counts = ", ".join(f"{n} {status}" for status, n in sorted(done.counts.items()))
    output.say(f"{output.counted(len(done.quotes), 'quote')}{f': {counts}' if counts else ''}.")
    would = "would be " if dry_run else ""
    for ids, said in ((done.suspended, "out of answers now"), (done.reinstated, "part of answers again")):
        if ids:
            output.say(f"{output.counted(len(ids), 'observation')} {would}{said}: {', '.join(ids)}")


def cite_command(words: o.IdWords = None, *, root: o.Root = None, as_json: o.AsJson = False) -> None:
    """Print the quotes of an observation in context.

    ID may be the last 4 or more characters of it. Characters that are drawn as nothing are written out.
    """
    place, (named,) = split("cite", words, root, ["ID"])
    with place.read() as memory:
        cited = memory.cite(full_id(memory, named))
    if as_json:
        output.show_json(cited.to_dict())
        return
    for line in cited.text.split("\n"):
        output.say(line)

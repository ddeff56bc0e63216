"""Options that several commands share, with their help, and how a usage line is written.

Knows nothing of what the commands do with them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from typer.core import TyperCommand

if TYPE_CHECKING:  # a name of the parser's own types, which no command needs
    from typer._click import Context as ParserContext

DIR: Final = "DIR is the store; without it $GRAIL_ROOT counts, then the nearest folder upward that holds a grail.yaml."


def take_as_written(params: Iterable[Any]) -> None:
    """Let parameters that were not given, or are plain text, pass without a check of their type.

    typer builds a pydantic model for every parameter of the command on every run: a fifth of a second, most of it the
    import. Memory checks the values anyway, and says everything that is wrong with them at once.
    """
    for param in params:
        if not isinstance(param.process_value, partial):
            param.process_value = partial(_process, param, param.process_value)


def _process(param: Any, check: Callable[[ParserContext, Any], Any], ctx: ParserContext, value: Any) -> Any:
    if value is None:
        return () if getattr(param, "multiple", False) or param.nargs != 1 else None
    return value if param.callback is None and isinstance(value, str | list | tuple) else check(ctx, value)


def number(text: str | None) -> Any:
    """The number that a text writes; the text itself when it is none, for Memory to refuse beside all else."""
    if text is None:
        return None
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text


class OneCommand(TyperCommand):
    """A command whose values pass as written, and whose usage line shows its arguments as they were written."""

    def get_params(self, ctx: ParserContext) -> list[Any]:
        """The parameters with --help, which the parser makes by itself."""
        params = super().get_params(ctx)
        take_as_written(params)
        return params

    def collect_usage_pieces(self, ctx: ParserContext) -> list[str]:
        """The pieces of the usage line after the command's name."""
        named = (param.metavar for param in self.get_params(ctx) if param.param_type_name == "argument")
        return ["[OPTIONS]", *(text for text in named if text)]


# Arguments stand in the usage line as written here; the parser's own way of showing them puts braces around brackets.
Dir = Annotated[str | None, typer.Argument(metavar="[DIR]", hidden=True)]
Root = Annotated[str | None, typer.Option("--root", metavar="DIR", help="The store, instead of the argument.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
As = Annotated[
    str | None,
    typer.Option(
        "--as", metavar="AGENT/USER", help="Answer as this agent for this person would see it; /PROJECT may follow."
    ),
]
Actor = Annotated[str | None, typer.Option("--actor", metavar="NAME", help="Who stands in the ledger for this.")]
Reason = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why, for the ledger.", show_default=False)]
OfSource = Annotated[
    str | None, typer.Option("--source", metavar="TEXT", help="All with this source, or evidence from it.")
]
OfSession = Annotated[str | None, typer.Option("--session", metavar="NAME", help="All of this session.")]
OfSpeaker = Annotated[str | None, typer.Option("--speaker", metavar="NAME", help="All that this one said.")]
OfUser = Annotated[str | None, typer.Option("--user", metavar="ID", help="All in the scopes user:ID and agent:…/ID.")]
OfScope = Annotated[str | None, typer.Option("--scope", metavar="SCOPE", help="All in this scope.")]
IdWords = Annotated[list[str] | None, typer.Argument(metavar="[DIR] ID", hidden=True)]


def _words(name: str) -> Callable[[], list[str]]:
    """What completes the value of an option: a list of the program's, `module.NAME`, loaded when somebody asks for it."""

    def listed() -> list[str]:
        module, _, constant = name.rpartition(".")
        return list(getattr(import_module(f"grail_mem.{module}"), constant))

    return listed


_KINDS: Final = _words("model.observation.KINDS")
_STATUSES: Final = _words("model.observation.STATUSES")
_SOURCE_KINDS: Final = _words("model.observation.SOURCE_KINDS")

# -- the fields of an observation, for add and update ------------------------------------------------------------------

Title = Annotated[str | None, typer.Option("--title", metavar="TEXT", help="One line.")]
Content = Annotated[str | None, typer.Option("--content", metavar="TEXT", help="The statement, markdown.")]
File = Annotated[str | None, typer.Option("--file", metavar="FILE", help="Take the content from a file; - is stdin.")]
Tags = Annotated[list[str] | None, typer.Option("--tag", metavar="TAG", help="A tag; repeatable.")]
Entities = Annotated[
    list[str] | None, typer.Option("--entity", metavar="NAME[:TYPE]", help="What it mentions; repeatable.")
]
Relationships = Annotated[
    list[str] | None,
    typer.Option("--relationship", metavar="'A|TYPE|B'", help="What it states between two entities; repeatable."),
]
ObservedAt = Annotated[
    str | None, typer.Option("--observed-at", metavar="TIME", help="When it was seen: instant, date, or `2d` ago.")
]
Confidence = Annotated[str | None, typer.Option("--confidence", metavar="0..1", help="How sure it is.")]
Source = Annotated[str | None, typer.Option("--source", metavar="TEXT", help="Where it comes from, in words.")]
Kind = Annotated[
    str | None,
    typer.Option(
        "--kind", metavar="KIND", autocompletion=_KINDS,
        help="semantic, episodic, procedural, prospective or summary.",
    ),
]  # fmt: skip
Attribute = Annotated[
    str | None, typer.Option("--attribute", metavar="NAME", help="The current fact it states, such as acme/database.")
]
Status = Annotated[
    str | None,
    typer.Option(
        "--status", metavar="STATUS", autocompletion=_STATUSES, help="provisional, confirmed, superseded or archived."
    ),
]
ValidFrom = Annotated[str | None, typer.Option("--valid-from", metavar="TIME", help="From when it holds.")]
ValidUntil = Annotated[str | None, typer.Option("--valid-until", metavar="TIME", help="Until when, exclusive.")]
ExpiresAt = Annotated[str | None, typer.Option("--expires-at", metavar="TIME", help="After which it is not valid.")]
ReviewAt = Annotated[str | None, typer.Option("--review-at", metavar="TIME", help="When to look at it again.")]
Supersedes = Annotated[str | None, typer.Option("--supersedes", metavar="ID", help="What it replaces.")]
RelatedTo = Annotated[list[str] | None, typer.Option("--related-to", metavar="ID", help="Another one; repeatable.")]
Scope = Annotated[str | None, typer.Option("--scope", metavar="SCOPE", help="Whose memory it is.")]
Session = Annotated[str | None, typer.Option("--session", metavar="NAME", help="The conversation it belongs to.")]
Turn = Annotated[str | None, typer.Option("--turn", metavar="N", help="Its place in the session, from 0.")]
Speaker = Annotated[str | None, typer.Option("--speaker", metavar="NAME", help="Who said it.")]
SourceKind = Annotated[
    str | None,
    typer.Option(
        "--source-kind", metavar="KIND", autocompletion=_SOURCE_KINDS,
        help="user_statement, system, tool_result, session_summary or agent_inference.",
    ),
]  # fmt: skip

Evidence = Annotated[
    list[str] | None,
    typer.Option("--evidence", metavar="QUOTE", help="Words of the session that say it; repeatable."),
]

# -- the conditions of a recall ----------------------------------------------------------------------------------------

Since = Annotated[
    str | None, typer.Option("--since", metavar="TIME", help="Observed at or after: instant, date, or `7d`, `3mo`.")
]
Before = Annotated[str | None, typer.Option("--before", metavar="TIME", help="Observed before.")]
AnyCategory = Annotated[
    list[str] | None,
    typer.Option("--category", metavar="GLOB", help="Folder with all below; `*` is one level. Repeat: any of them."),
]
AnyTag = Annotated[list[str] | None, typer.Option("--tag", metavar="TAG", help="Has it. Repeat: any of them.")]
AllTags = Annotated[list[str] | None, typer.Option("--all-tags", metavar="TAG", help="Has it. Repeat: all of them.")]
AnyEntity = Annotated[list[str] | None, typer.Option("--entity", metavar="NAME", help="Mentions it. Repeat: any.")]
AnyEntityType = Annotated[
    list[str] | None, typer.Option("--entity-type", metavar="TYPE", help="Mentions an entity of it. Repeat: any.")
]
AnyRelationship = Annotated[
    list[str] | None,
    typer.Option("--relationship-type", metavar="TYPE", help="States a relationship of it. Repeat: any."),
]
MinConfidence = Annotated[str | None, typer.Option("--min-confidence", metavar="0..1", help="At least so sure.")]
AnyKind = Annotated[
    list[str] | None,
    typer.Option("--kind", metavar="KIND", autocompletion=_KINDS, help="Of this kind. Repeat: any of them."),
]
AnyStatus = Annotated[
    list[str] | None,
    typer.Option("--status", metavar="STATUS", autocompletion=_STATUSES, help="Of this status. Repeat: any."),
]
AnySourceKind = Annotated[
    list[str] | None,
    typer.Option("--source-kind", metavar="KIND", autocompletion=_SOURCE_KINDS, help="From there. Repeat: any."),
]
AnySession = Annotated[
    list[str] | None, typer.Option("--session", metavar="NAME", help="In the session of that name. Repeat: any.")
]
AnySpeaker = Annotated[list[str] | None, typer.Option("--speaker", metavar="NAME", help="Said by them. Repeat: any.")]
AnyScope = Annotated[
    list[str] | None, typer.Option("--scope", metavar="SCOPE", help="In that scope, such as user:u1. Repeat: any.")
]
Containing = Annotated[str | None, typer.Option("--text", metavar="TEXT", help="Title or content contain it.")]
AnyAttribute = Annotated[list[str] | None, typer.Option("--attribute", metavar="NAME", help="States it. Repeat: any.")]
AsOf = Annotated[str | None, typer.Option("--as-of", metavar="TIME", help="Valid then, as is known now.")]
BelievedAt = Annotated[
    str | None, typer.Option("--believed-at", metavar="TIME", help="Recorded by then, and valid as was known.")
]
History = Annotated[bool, typer.Option("--history", help="Also what is superseded, archived or over.")]
Limit = Annotated[str | None, typer.Option("--limit", metavar="N", help="At most so many; 50 when left out.")]
Order = Annotated[
    str | None,
    typer.Option(
        "--order",
        metavar="ORDER",
        autocompletion=_words("model.filter.ORDERS"),
        help="newest (default), oldest, recorded or confidence.",
    ),
]
Cursor = Annotated[str | None, typer.Option("--cursor", metavar="TEXT", help="Continue an earlier answer.")]

ProposalKinds = Annotated[
    list[str] | None,
    typer.Option(
        "--kind",
        metavar="KIND",
        autocompletion=_words("consolidate.finding.KINDS"),
        help="Of this kind, such as merge_aliases. Repeat: any.",
    ),
]

# -- a question in words -----------------------------------------------------------------------------------------------

QuestionWords = Annotated[list[str] | None, typer.Argument(metavar="[DIR] QUESTION", hidden=True)]
Also = Annotated[
    list[str] | None, typer.Option("--also", metavar="TEXT", help="Another wording of the question; at most 2.")
]
Mode = Annotated[
    str | None,
    typer.Option(
        "--mode", metavar="MODE", autocompletion=lambda: ["cascade", "local", "global", "document"],
        help="cascade (default), local (about entities), global (a map of folders) or document.",
    ),
]  # fmt: skip
Document = Annotated[
    str | None,
    typer.Option("--document", metavar="NAME", help="Of one document: an id, a path, a source or a session."),
]
BestLimit = Annotated[
    str | None, typer.Option("--limit", metavar="N", help="At most so many; 10 when left out, 50 without a question.")
]
AskedAt = Annotated[
    str | None, typer.Option("--asked-at", metavar="TIME", help="When it is asked, for `last week`; now when left out.")
]
Dates = Annotated[
    str | None,
    typer.Option(
        "--dates", metavar="HOW", autocompletion=lambda: ["boost", "filter", "off"],
        help="What days do that the question names: boost (default), filter or off.",
    ),
]  # fmt: skip
Budget = Annotated[str | None, typer.Option("--budget", metavar="N", help="Tokens that the text pack has at most.")]
TurnsAround = Annotated[
    str | None, typer.Option("--context", metavar="N", help="Turns before and after each hit of a conversation.")
]
Strict = Annotated[
    bool, typer.Option("--strict", help="Nothing, too, when somebody else than the one asked for said it.")
]
EmbedderName = Annotated[
    str | None,
    typer.Option(
        "--embedder", metavar="NAME", help="auto, local, none or sentence-transformers:MODEL; else as grail.yaml says."
    ),
]
RankingName = Annotated[
    str | None,
    typer.Option(
        "--ranking", metavar="NAME", autocompletion=_words("settings.RANKINGS"),
        help="weighted, words, vectors, lexical or reciprocal_rank; else as grail.yaml says.",
    ),
]  # fmt: skip

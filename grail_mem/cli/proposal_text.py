"""How proposals and what became of them are printed: lists, one in full, diffs, outcomes.

Knows nothing of how they are chosen and decided.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from grail_mem.cli import output
from grail_mem.cli.which import Which, short_id

if TYPE_CHECKING:  # most of a command's start-up
    from grail_mem.consolidate.outcome import FileChange, Outcome
    from grail_mem.consolidate.proposal import Proposal
    from grail_mem.consolidate.propose import ProposalSet

SHOWN: Final = 20
"""Proposals and files that are listed without being asked for more."""
_LINE_STYLES: Final = {"+": "green", "-": "red", "@": "cyan"}


def show_set(done: ProposalSet, place: Which) -> None:
    """Print what a run came to: by kind, then the new proposals, the surest of each kind first."""
    new = set(done.new)
    if done.proposals:
        waiting = Counter(p.kind for p in done.proposals)
        fresh = Counter(p.kind for p in done.proposals if p.id in new)
        output.table(["kind", "waiting", "new"], [[kind, n, fresh[kind]] for kind, n in waiting.items()])
        output.say()
    shown = [p for p in done.proposals if p.id in new]
    show_list(shown[:SHOWN], with_status=False)
    if len(shown) > SHOWN:
        output.say(f"… and {len(shown) - SHOWN} more new ones.")
    if shown:
        output.say()
    for kind, reason in done.skipped.items():
        output.note(f"note: {kind} was not looked for: {reason}")
    for problem in done.problems:
        output.note(f"note: {problem}")
    said = f"{output.counted(len(done.proposals), 'proposal')} waiting, {len(new)} new"
    declined = f"; {done.n_declined} left out that were declined before" if done.n_declined else ""
    output.say(f"{said}{declined}. No observation was changed.")
    if done.proposals:
        output.note(f"`{place.command('proposals review')}` steps through them; `proposals show ID` tells all of one.")


def show_list(proposals: Sequence[Proposal], *, with_status: bool) -> None:
    """Print proposals, one a line."""
    if not proposals:
        return
    columns = ["id", "kind", "confidence", "what", *(["status"] if with_status else [])]
    rows = [
        [short_id(p.id), p.kind, f"{p.confidence:.2f}", p.rationale, *([p.status] if with_status else [])]
        for p in proposals
    ]
    output.table(columns, rows, wide="what")


def show_one(proposal: Proposal, planned: Outcome | None) -> None:
    """Print all of a proposal: what it says, what speaks for it, and what applying it would do to each file."""
    output.say(f"{proposal.id}  {proposal.kind}  confidence {proposal.confidence:.2f}  {proposal.status}", style="bold")
    output.say(proposal.rationale)
    for line in (*_standing(proposal), *(f"different since it was declined: {said}" for said in proposal.again)):
        output.say(f"  {line}", style="yellow")
    figures = proposal.evidence.figures
    if figures:
        output.say()
        output.table(["figure", "value"], [[name, value] for name, value in figures.items()])
    if proposal.evidence.quotes:
        output.say()
    for quote in proposal.evidence.quotes:
        output.say(f"  {short_id(quote.id)}{f'  ({quote.note})' if quote.note else ''}", style="dim")
        output.say("".join(f"    | {line}\n" for line in quote.text.splitlines()).rstrip("\n") or "    |")
    if planned is not None:
        output.say()
        show_files(planned.files)


def _standing(proposal: Proposal) -> Iterable[str]:
    if proposal.decided:
        why = f": {proposal.decided['reason']}" if proposal.decided.get("reason") else ""
        yield f"{proposal.status} {proposal.decided['at']} by {proposal.decided['actor'] or 'nobody named'}{why}"
    for said in proposal.stale:
        yield f"stale: {said}"
    if proposal.conflicts:
        others = ", ".join(map(short_id, proposal.conflicts[:5]))
        more = f" and {len(proposal.conflicts) - 5} more" if len(proposal.conflicts) > 5 else ""  # noqa: PLR2004  as above
        yield f"changes the same files as {others}{more}; applying one makes the others stale"


def show_files(files: Sequence[FileChange], *, limit: int = SHOWN) -> None:
    """Print what happens to files, with the lines that change."""
    for file in files[:limit]:
        where = f"{file.was} → {file.path}" if file.action == "move" else file.path or file.was
        output.say(f"{file.action:<7} {where}", style="bold")
        for line in file.diff.splitlines():
            if not line.startswith(("--- ", "+++ ")):
                output.say(f"  {line}", style=_LINE_STYLES.get(line[:1], ""))
    if len(files) > limit:
        output.say(f"… and {output.counted(len(files) - limit, 'more file')}; --json lists them all.")


def show_outcomes(outcomes: Sequence[Outcome], place: Which, *, verb: str, dry_run: bool) -> None:
    """Print what became of proposals, and how to take it back."""
    for one in outcomes:
        said = (
            (f"would be {one.status if verb != 'apply' else 'applied'}" if dry_run else one.status)
            if one.done
            else f"not {verb_past(verb)}"
        )
        output.say(f"{said}  {short_id(one.id)}  {one.kind}  {output.counted(len(one.files), 'file')}")
        for reason in one.reasons:
            output.say(f"  {reason}", style="" if one.done else "yellow")
        if dry_run:
            show_files(one.files)
    n_done = sum(one.done for one in outcomes)
    if len(outcomes) > 1:
        output.say(
            f"{n_done} of {output.counted(len(outcomes), 'proposal')}{' would be' if dry_run else ''} {verb_past(verb)}."
        )
    if verb == "apply" and n_done and not dry_run:
        ids = [short_id(one.id) for one in outcomes if one.done]
        if len(ids) == 1:
            output.note(f"`{place.command('proposals undo', *ids)}` takes it back.")
        else:
            output.note(f"`{place.command('proposals undo', 'ID')}` takes one back.")


def verb_past(verb: str) -> str:
    """What a proposal is after a verb."""
    return {"apply": "applied", "reject": "rejected", "undo": "undone"}[verb]

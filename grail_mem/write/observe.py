"""Turns of a conversation as observations, one each, so that recall and search find what was said.

Each rests on its turn, word by word, and is no surer than its speaker allows. Knows nothing of what is worth keeping.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from grail_mem.errors import InputError
from grail_mem.model.filter import Filter, Page
from grail_mem.model.names import session_key
from grail_mem.model.observation import Evidence, Observation, fingerprints
from grail_mem.model.problem import Gather
from grail_mem.model.quote import is_long_enough
from grail_mem.model.scope import clean_scope
from grail_mem.query.find import who_says
from grail_mem.query.passages import in_session, is_erased, own_scope
from grail_mem.query.select import select
from grail_mem.query.view import View
from grail_mem.store.parts import MAX_NAME
from grail_mem.store.sources import Turn, digest, stem_of
from grail_mem.write.add import add
from grail_mem.write.evidence import CAPS, KIND_OF_ROLE
from grail_mem.write.ingest import clean_session
from grail_mem.write.permit import for_caller, meant
from grail_mem.write.placed_facts import Written
from grail_mem.write.receipts import blocks
from grail_mem.write.validate import Draft, make_observation

ROLES: Final = ("user", "assistant")
"""Whose turns become observations: what tools and systems say is no memory of anybody."""
VERBATIM: Final = "verbatim"
"""The checker of a turn that is observed as it is: there is nothing to judge."""
_KIND: Final = "episodic"
_MOST: Final = 1_000_000
"""Observations of one session that are looked through; no session has so many turns."""


@dataclass(frozen=True, slots=True)
class Observed:
    """What became of the turns of a conversation.

    Attributes:
        written: One result for each observation that was written.
        n_turns: Turns of users and assistants.
        n_known: Turns that had an observation already.
        warnings: What was left out, and why.
    """

    written: tuple[Written, ...] = ()
    n_turns: int = 0
    n_known: int = 0
    warnings: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """The result as plain JSON values."""
        return {
            "written": [one.to_dict() for one in self.written], "n_turns": self.n_turns, "n_known": self.n_known,
            "warnings": list(self.warnings),
        }  # fmt: skip


def observe(view: View, session: object, *, scope: object, category: object, actor: str) -> Observed:
    """Make every turn of users and assistants an observation; one that has one already is passed over.

    A turn that was corrected since replaces the observation of its former words. What somebody hid or erased stays so.

    Args:
        view: The store.
        session: The conversation.
        scope: Whose it is; None is the caller's own, or the default scope.
        category: The folder; None is `chats/` and the name of the transcript.
        actor: Who does it.

    Raises:
        InputError: A value cannot be used; `problems` lists every reason.
        AccessError: The caller may not write there.
        StoreError: The disk did not take it; nothing was stored.
    """
    gather = Gather()
    name = gather.read("session", session, clean_session, "")
    whose = gather.read("scope", meant(view, scope), clean_scope, None)
    if session is None:
        gather.found.append("session is missing: name the conversation.")
    gather.stop("Nothing was stored.")
    view.absorb()
    view.access.require("write", own_scope(view.access, whose))
    turns = in_session(view, name, whose)
    told = [turn for turn in turns if turn.role in ROLES and not is_erased(view, turn)]
    if not told:
        return Observed(warnings=(f"There are no turns of the conversation {name!r} that can be observed.",))
    there = _there(view, name, whose)
    drafts = [
        (turn, _draft(turn, name, whose, category, there.get(turn.number, ())))
        for turn in told
        if not any(_is_of(o, turn) for o in there.get(turn.number, ()))
    ]
    wanted, left_out = _wanted(view, drafts)
    written = add(view, wanted, actor=actor)
    passed = len(turns) - len(told)
    warnings = (
        *left_out,
        *([f"what tools and systems said was passed over: {passed} of {len(turns)} turns."] if passed else ()),
    )
    return Observed(tuple(written), len(told), len(told) - len(drafts), warnings)


def _there(view: View, session: str, scope: str | None) -> dict[int, list[Observation]]:
    """The observations of the turns of a conversation, by turn; those that were replaced included."""
    whose = own_scope(view.access, scope)
    found: dict[int, list[Observation]] = {}
    for row in select(view, Filter(session=(session_key(session),)), Page(limit=_MOST)):
        o = row.observation
        if o.turn is not None and own_scope(view.access, o.scope) == whose:
            found.setdefault(o.turn, []).append(o)
    return found


def _is_of(o: Observation, turn: Turn) -> bool:
    """Whether an observation is of a turn as it is worded now; what a person wrote over it since does not matter."""
    is_said = _flat(o.content) == _flat(turn.text)
    if quotes := [_flat(e.quote) for e in o.evidence if _is_own(e, turn)]:
        is_quoted = _flat(turn.text[:MAX_NAME]) in quotes
        return is_quoted and (is_said or not turn.revision or len(turn.text) <= MAX_NAME)
    return o.kind == _KIND and (is_said or (o.source == str(turn.locator) and not turn.revision))


def _is_own(e: Evidence, turn: Turn) -> bool:
    """Whether evidence is that of an observed turn and not of a claim that quotes it."""
    return e.checker == VERBATIM and e.source == str(turn.locator)


def _flat(text: str) -> str:
    return " ".join(text.split())


def _draft(turn: Turn, session: str, scope: str | None, category: object, there: Sequence[Observation]) -> Draft:
    """The observation of a turn: of a long one the quote is its beginning, a short one has none, since so few words stand anywhere."""
    kind, where = KIND_OF_ROLE[turn.role], str(turn.locator)
    words = turn.text[:MAX_NAME]
    quote = Evidence(words, where, (0, len(words)), digest(words), "exact", turn.role, VERBATIM, 1.0)
    rests: dict[str, Any] = {"evidence": (quote,)} if is_long_enough(words) else {"source": where}
    former = [
        o for o in there if o.superseded_by is None and (o.source == where or any(_is_own(e, turn) for e in o.evidence))
    ]
    return Draft(
        content=turn.text, category=category if category is not None else f"chats/{stem_of(turn.path)}", kind=_KIND,
        session=session, turn=turn.number, speaker=turn.speaker or turn.role, observed_at=turn.at or None, scope=scope,
        source_kind=kind, confidence=CAPS[kind], supersedes=former[0].id if former else None, **rests,
    )  # fmt: skip


def _wanted(view: View, drafts: Sequence[tuple[Turn, Draft]]) -> tuple[list[Draft], list[str]]:
    """The drafts that nothing stands against, and why others are left out: somebody hid or erased the same."""
    made: list[tuple[Turn, Draft, Observation]] = []
    left_out: list[str] = []
    for turn, draft, o in _made(view, drafts):
        if (receipt := blocks(view, o)) is not None:
            left_out.append(f"turn {turn.number} was left out: the same was erased on {receipt.at[:10]}.")
        else:
            made.append((turn, draft, o))
    said = who_says(view, [(fingerprints(o, view.access.default_scope), o) for _, _, o in made])
    wanted: list[Draft] = []
    for (turn, draft, _), one in zip(made, said, strict=True):
        if one.hidden:
            left_out.append(f"turn {turn.number} was left out: an observation that says it is hidden.")
        else:
            wanted.append(draft)
    return wanted, left_out


def _made(view: View, drafts: Sequence[tuple[Turn, Draft]]) -> Iterator[tuple[Turn, Draft, Observation]]:
    now, problems = datetime.now(UTC), []
    for turn, draft in drafts:
        try:
            yield turn, draft, make_observation(for_caller(view, draft), now=now, settings=view.settings)[0]
        except InputError as error:
            problems += [f"turn {turn.number}: {problem}" for problem in error.problems]
    if problems:
        raise InputError(f"{problems[0]} Nothing was stored.", problems=problems)

"""Facts that change: a new statement about an attribute meets what is known of it, and each gets its place.

The decision itself is `model.fact`; this finds the statements it is about and says what changes in their files. Knows nothing of
how files are written.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from grail_mem.model.authority import DERIVED, authority_of
from grail_mem.model.fact import standings
from grail_mem.model.filter import Filter
from grail_mem.model.lineage import ALSO, predecessors
from grail_mem.model.names import attribute_key
from grail_mem.model.observation import Observation
from grail_mem.model.times import from_us, to_us
from grail_mem.model.validity import is_lasting
from grail_mem.query.view import View
from grail_mem.write.as_given import as_given
from grail_mem.write.edited import Edited, read_all, with_values
from grail_mem.write.fact import Fact
from grail_mem.write.left_out import left_out
from grail_mem.write.saying import REINFORCED, begins_at, claim_of, is_claim, is_for_a_time, repeated

Key = tuple[str, str]
"""The scope and the attribute's key: whose fact it is, and which."""
DECISIONS: Final = ("new", "known", "reinforced", "supersedes", "superseded_on_arrival", "conflict", "coexists")
_AT_ONCE: Final = 500
_NEAR: Final = 80
"""Likeness of two attributes, of 100, from which on one is taken for the other written differently; chosen."""
_WITHIN: Final = 95
"""The same where one has words that the other has not."""


@dataclass(frozen=True, slots=True)
class Decided:
    """What became of one new statement.

    Attributes:
        decision: One of `DECISIONS`.
        others: Ids of the statements that it is about.
        stored: The statement as it is stored; None when another one holds it now.
        warnings: The decision in words, and what is worth knowing of it; empty for `new`.
    """

    decision: str
    others: tuple[str, ...]
    stored: Observation | None
    warnings: tuple[str, ...] = ()


def decide(view: View, made: Sequence[Observation]) -> tuple[list[Decided], dict[str, tuple[Observation, Observation]]]:
    """What becomes of new statements, in order; the write lock must be held.

    Args:
        view: The store, which has heard the ledger.
        made: New observations, each with an attribute, or with what it replaces.

    Returns:
        One decision a statement, and by id what is stored already and changes: as it is and as it shall be.
    """
    stating = [o for o in made if o.attribute is not None]
    facts = _facts(view, [key_of(view, o) for o in stating])
    _hear_given(view, facts, stating)
    wait = timedelta(days=view.settings.provisional_days)
    told = {o.id: _decide(facts[key_of(view, o)], o, wait) for o in stating}
    told = {o.id: _with_near(view, facts, o, told[o.id]) for o in stating}
    named = _named(view, [o for o in made if o.attribute is None])
    replaced = {now.superseded_by: id_ for id_, (_, now) in named.items()}
    told |= {
        o.id: _told("supersedes", [replaced[o.id]], o) if o.id in replaced else Decided("new", (), o)
        for o in made
        if o.attribute is None
    }
    decided = [told[o.id] for o in made]
    new = {o.id for o in made}
    after = {o.id: o for o in made} | {id_: o for fact in facts.values() for id_, o in fact.now.items()}
    settled = [_in_the_end(one, after) for one in decided]
    changed = {
        id_: (was, fact.now[id_])
        for fact in facts.values()
        for id_, was in fact.found.items()
        if fact.now[id_] != was and id_ not in new
    }
    return settled, named | changed


def settle(
    view: View, revised: Sequence[Observation], new: Observation | None
) -> dict[str, tuple[Observation, Observation]]:
    """What changes in the facts that observations state after some were revised by a person; the write lock must be held.

    Args:
        view: The store, which has heard the ledger.
        revised: Observations of one fact that are stored, as they shall be.
        new: The observation that is added beside them.

    Returns:
        By id, what is stored already and changes, and the new one: as it is and as it shall be.
    """
    asked = [*revised, *([new] if new is not None else [])]
    facts = _facts(view, [key_of(view, o) for o in asked if o.attribute is not None])
    changed: dict[str, tuple[Observation, Observation]] = {}
    for o in asked:
        fact = facts.get(key_of(view, o))
        if fact is None:
            changed[o.id] = (o, o)
        else:
            fact.found.setdefault(o.id, o)
            fact.put(o)
    for fact in facts.values():
        _settle(fact)
        changed |= {id_: (was, fact.now[id_]) for id_, was in fact.found.items()}
    return changed


def _hear_given(view: View, facts: Mapping[Key, Fact], stating: Sequence[Observation]) -> None:
    """Find out, at once for all, which statements were made without an end and have one since."""
    made: dict[Key, list[Observation]] = {}
    for o in stating:
        made.setdefault(key_of(view, o), []).append(o)
    asked = {key: facts[key].in_doubt(listed) for key, listed in made.items()}
    given = as_given(view, set().union(*asked.values()))
    for key, ids in asked.items():
        facts[key].tell_lasting([id_ for id_ in ids if id_ not in given or is_lasting(given[id_])])


def key_of(view: View, o: Observation) -> Key:
    """Which fact a statement is about."""
    return (o.scope or view.access.default_scope, attribute_key(o.attribute or ""))


def _facts(view: View, keys: Iterable[Key]) -> dict[Key, Fact]:
    """What is known of facts; what the caller may not change is left alone."""
    facts = {key: Fact() for key in keys}
    wanted = sorted({attribute for _, attribute in facts})
    for first in range(0, len(wanted), _AT_ONCE):
        for o in _stating(view, tuple(wanted[first : first + _AT_ONCE])):
            fact = facts.get(key_of(view, o))
            if fact is not None and view.access.may("write", o.scope):
                fact.found[o.id] = o
                fact.put(o)
    return facts


def _stating(view: View, attributes: tuple[str, ...]) -> list[Observation]:
    """The observations that state attributes, those that are current as their files say now."""
    view.absorb()
    f = Filter(attribute=attributes)
    changes = view.look_at(o.path for o in matching(view, f) if o.status != "superseded")
    for change in changes:
        view.note(change)
    return matching(view, f)


def matching(view: View, f: Filter) -> list[Observation]:
    """The observations that meet a filter, as they are known."""
    reader = view.live_base()
    rids = [rid for rid in reader.rids(f).tolist() if rid not in reader.dead] if reader is not None else []
    below = reader.observations(sorted(set(rids))) if reader is not None and rids else []
    return [*below, *(found.row.observation for found in view.loose().matching(f))]


def _decide(fact: Fact, made: Observation, wait: timedelta) -> Decided:
    """Let one statement take its place among the others."""
    if not is_claim(made):
        fact.put(made)
        current = (id_ for id_, claim in fact.claims.items() if claim.ended_us is None)
        beside = tuple(sorted(current)) if is_for_a_time(made) else ()
        return _told("coexists" if beside else "new", beside, made)
    if (holder := fact.holder(made)) is not None:
        return _told("known", (holder,), None, left_out(fact.now[holder], made))
    if (same := fact.same(made)) is not None:
        fact.put(repeated(fact.now[same], made, provisional=wait))
        _settle(fact, to_us(begins_at(made)))
        return _told("reinforced", (same,), None, left_out(fact.now[same], made))
    before = dict(fact.now)
    fact.put(made)
    _settle(fact, to_us(begins_at(made)), made)
    after = fact.now[made.id]
    if after.superseded_by is not None:
        return _told("superseded_on_arrival", (after.superseded_by,), made)
    beaten = [id_ for id_, o in fact.now.items() if o.superseded_by == made.id]
    if after.conflicts_with:
        more = [f"it takes the place of {', '.join(sorted(beaten))}."] if beaten else []
        return _told("conflict", after.conflicts_with, made, more)
    beside = (
        ()
        if beaten
        else tuple(sorted(id_ for id_, o in before.items() if id_ not in fact.lasting and _is_beside(o, made)))
    )
    decision = "supersedes" if beaten else "coexists" if beside else "new"
    return _told(decision, tuple(sorted(beaten)) or beside, made)


_WORDS: Final[Mapping[str, str]] = {
    "known": "this is known already from {ids}; nothing was written.",
    "reinforced": "the same is known from {ids}, which now holds this date and source too; nothing else was written.",
    "supersedes": "this takes the place of {ids}, kept as history.",
    "superseded_on_arrival": "{ids} is newer and no less reliable; this is kept as history.",
    "conflict": "{ids} says otherwise and neither outweighs the other; both are kept and marked.",
    "coexists": "this stands beside {ids}; one of them holds for a time only.",
}


def _in_the_end(one: Decided, after: Mapping[str, Observation]) -> Decided:
    """A decision with the statement as it is stored, after what came behind it in the same batch settled a conflict."""
    if one.stored is None:
        return one
    stored = after[one.stored.id]
    if one.decision != "conflict" or stored.conflicts_with:
        return replace(one, stored=stored)
    if stored.superseded_by is not None:
        return _told("superseded_on_arrival", (stored.superseded_by,), stored)
    beaten = sorted(id_ for id_, o in after.items() if o.superseded_by == stored.id)
    return _told("supersedes" if beaten else "new", beaten, stored)


def _is_beside(o: Observation, made: Observation) -> bool:
    """Whether what holds for a time only is not over when a new statement begins."""
    is_over = o.valid_until is not None and o.valid_until <= begins_at(made)
    return o.status != "superseded" and is_for_a_time(o) and not is_over


def _told(decision: str, others: Sequence[str], stored: Observation | None, more: Sequence[str] = ()) -> Decided:
    words = _WORDS.get(decision, "").format(ids=", ".join(others))
    return Decided(decision, tuple(others), stored, (*([words] if words else []), *more))


def _settle(fact: Fact, since_us: int | None = None, explicit: Observation | None = None) -> None:
    """Give every claim its standing, and every claim that supersedes others the ids of those.

    Args:
        fact: Changed in place.
        since_us: The time of what was said last; what was superseded before it is not touched by it.
        explicit: A statement that may name what it replaces.
    """
    if explicit is not None and explicit.supersedes in fact.claims:
        _supersede(fact, explicit.supersedes or "", explicit)
    claims = dict(fact.claims)
    if since_us is not None:
        claims = {id_: it for id_, it in claims.items() if it.ended_us is None or it.ended_us > since_us}
    for id_, standing in standings(list(claims.values())).items():
        o = fact.now[id_]
        if standing.by is None:
            if o.conflicts_with != standing.conflicts:
                fact.put(replace(o, conflicts_with=standing.conflicts))
        elif standing.ended_us is not None and standing != (claims[id_].by, claims[id_].ended_us, o.conflicts_with):
            until = from_us(standing.ended_us)
            fact.put(replace(o, status="superseded", superseded_by=standing.by, valid_until=until, conflicts_with=()))
    _name_predecessors(fact, claims)
    for id_, o in list(
        fact.now.items()
    ):  # what takes no part any more, such as an archived one, is in conflict with what names it
        if o.conflicts_with and id_ not in fact.claims:
            fact.put(replace(o, conflicts_with=tuple(other for other in o.conflicts_with if _names(fact, other, id_))))


def _names(fact: Fact, one: str, other: str) -> bool:
    """Whether a statement names another one as in conflict with it; of what is not known here, that is not asked."""
    return one not in fact.now or other in fact.now[one].conflicts_with


def _supersede(fact: Fact, old: str, new: Observation) -> None:
    """Let a statement take the place of one that its writer named, whatever their times."""
    if _gives_way(fact.now[old], new):
        fact.put(superseded(fact.now[old], new))


def _gives_way(o: Observation, new: Observation) -> bool:
    """Whether an observation that is named as replaced gives way: to what an agent says, not when its word counts for more."""
    outweighed = new.source_kind in DERIVED and _authority(o) > authority_of(new.source_kind)
    return o.status != "superseded" and not outweighed


def _named(view: View, made: Sequence[Observation]) -> dict[str, tuple[Observation, Observation]]:
    """What new observations of no fact replace, by id: as it is and as it shall be; what is of another scope stays."""
    default = view.access.default_scope
    by_old = {o.supersedes: o for o in made if o.supersedes is not None}
    there = {id_: edited.made for id_, edited in read_all(view, list(by_old)).items()} if by_old else {}
    return {
        id_: (o, superseded(o, by_old[id_]))
        for id_, o in there.items()
        if (o.scope or default) == (by_old[id_].scope or default) and _gives_way(o, by_old[id_])
    }


def _authority(o: Observation) -> int:
    """The most that a word for a statement counts."""
    return max(saying.authority for saying in claim_of(o).sayings)


def superseded(o: Observation, new: Observation) -> Observation:
    """An observation whose place another one takes; it held until that one begins, or never when that is no later."""
    begins = begins_at(new)
    until = begins if begins > begins_at(o) else None
    if until is not None and o.valid_until is not None:
        until = min(until, o.valid_until)
    return replace(o, status="superseded", superseded_by=new.id, valid_until=until, conflicts_with=())


def _name_predecessors(fact: Fact, among: Collection[str]) -> None:
    """Let every claim name what it supersedes, the latest first; what it names elsewhere is kept."""
    mine: dict[str, list[str]] = {}
    for id_, o in fact.now.items():
        if o.superseded_by in among and o.status == "superseded":
            mine.setdefault(o.superseded_by or "", []).append(id_)
    for id_ in among:
        o = fact.now[id_]
        own = sorted(mine.get(id_, ()), key=lambda it: (_until(fact.now[it]), it), reverse=True)
        kept = [other for other in predecessors(o) if other not in among and other not in own]
        listed = (*own, *kept)
        if listed != predecessors(o):
            extra = {name: value for name, value in o.extra.items() if name != ALSO}
            extra |= {ALSO: list(listed[1:])} if listed[1:] else {}
            fact.put(replace(o, supersedes=listed[0] if listed else None, extra=extra))


def _until(o: Observation) -> datetime:
    return o.valid_until or begins_at(o)


def _with_near(view: View, facts: Mapping[Key, Fact], made: Observation, decided: Decided) -> Decided:
    """A decision that names a known attribute of the same subject that may be this one in other words."""
    if decided.decision != "new" or facts[key_of(view, made)].found:
        return decided
    near = near_attribute(view, made)
    said = f"there is a fact with the attribute '{near}' already; if this is about the same, use that one."
    return replace(decided, warnings=(said,)) if near else decided


def near_attribute(view: View, made: Observation) -> str:
    """The attribute of the same subject and scope that is most like an observation's own; empty when none is near."""
    scope, own = key_of(view, made)
    subject, slash, rest = own.partition("/")
    reader = view.reader
    known = {*view.loose().attributes(), *(reader.attributes() if reader is not None else ())} - {own, ""}
    of_subject = (
        [key for key in known if key.startswith(f"{subject}/")] if slash else [k for k in known if "/" not in k]
    )
    if not of_subject:
        return ""
    from rapidfuzz import fuzz, process  # here: few writes state an attribute that is not there yet

    names = {key: key.removeprefix(f"{subject}/") if slash else key for key in sorted(of_subject)}
    scorers = ((fuzz.token_sort_ratio, _NEAR), (fuzz.token_set_ratio, _WITHIN))
    asked = rest if slash else own
    near = [
        found[2]
        for scorer, least in scorers
        for found in process.extract(asked, names, scorer=scorer, score_cutoff=least, limit=3)
    ]
    for key in near:
        for o in matching(view, Filter(attribute=(key,))):
            if (o.scope or view.access.default_scope) == scope and view.access.may("read", o.scope):
                return o.attribute or ""
    return ""


_OURS: Final = (
    "status",
    "superseded_by",
    "valid_until",
    "supersedes",
    "conflicts_with",
    "confidence",
    "source_kind",
    "expires_at",
    "evidence",
)


def edits(view: View, changed: Mapping[str, tuple[Observation, Observation]]) -> list[Edited]:
    """The smallest edits that bring decisions into the files of observations; what else their files say stays."""
    there = read_all(view, list(changed)) if changed else {}
    return [_edit(there[id_], was, now) for id_, (was, now) in changed.items() if id_ in there]


def _edit(edited: Edited, was: Observation, now: Observation) -> Edited:
    values = {name: getattr(now, name) for name in _OURS if getattr(now, name) != getattr(was, name)}
    extra = {name: value for name, value in edited.made.extra.items() if name not in (ALSO, REINFORCED)}
    extra |= {name: now.extra[name] for name in (ALSO, REINFORCED) if name in now.extra}
    return with_values(edited, **values, extra=extra)

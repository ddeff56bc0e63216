"""Finds names of entities that are one thing: `Acme Inc.` and `Acme`, `Bob Smith` and `Robert Smith`.

Method: names that have something in common are compared (`alias_candidates`, `likeness`), what the store says for and
against each pair is gathered (`alias_evidence`), weighed (`alias_verdict`), and pairs are joined to groups (`alias_groups`).
Likeness alone is never enough where names of different things are alike; being named together as two things refutes it.

Knows nothing of proposals and of how names are changed in files.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import combinations, pairwise
from typing import Any, Final

from grail_mem.consolidate.finding import Finding, Quote, in_scopes
from grail_mem.consolidate.names.candidates import candidates
from grail_mem.consolidate.names.entity_table import EntityRow, EntityTable, pair, read_entities
from grail_mem.consolidate.names.evidence import evidence_of, expansions, listed_pairs
from grail_mem.consolidate.names.groups import Group, groups
from grail_mem.consolidate.names.likeness import Likeness, Named, is_person
from grail_mem.consolidate.names.name_form import is_cut_out, name_form
from grail_mem.consolidate.names.nicknames import Nicknames, nicknames
from grail_mem.consolidate.names.surroundings import nearness
from grail_mem.consolidate.names.texts import texts, window
from grail_mem.consolidate.names.verdict import LEAST, SURE, Verdict, judge, verdicts
from grail_mem.consolidate.reading import Reading

KIND: Final = "merge_aliases"
DECLARED: Final = "declared"
MAX_QUOTES: Final = 12
"""Quotes of one finding at most."""
QUOTE_CHARS: Final = 200
"""Characters of one quote at most."""
STAGES: Final = 6

BECAUSE: Final = {
    "declared": "an observation says so",
    "normal": "they differ only in case, accents, punctuation or spaces",
    "normal+plural": "one is the plural of the other",
    "normal+possessive": "one is the possessive of the other",
    "normal+article": "they differ only in the article",
    "suffix": "they differ only in the legal form",
    "order": "one has the surname first",
    "acronym+expansion": "a text spells the acronym out",
    "acronym": "one has the initials of the other",
    "nickname": "one given name is a nickname of the other",
    "initials": "one has an initial where the other has a name",
    "partial": "one is part of the other and of no other name",
    "spelling": "they differ in one letter of a long word",
}
"""What speaks for two names being one thing, by signal, in words."""


def merge_aliases(reading: Reading) -> Iterator[Finding]:
    """The groups of names that are likely one thing, each with a confidence of .5 or more, in order of scope and key."""
    table = read_entities(reading)
    reading.progress(1, STAGES)
    names = named(table, nicknames())
    alike = _alike(reading, table, names, nicknames())
    reading.progress(2, STAGES)
    spelled = expansions(
        reading, table, names, [p for p, some in alike.items() if any(o.code == "acronym" for o in some)]
    )
    for places in spelled:
        alike[places] = [*alike[places], Likeness("expansion")]
    reading.progress(3, STAGES)
    at_best = dict.fromkeys(alike, 1.0) if reading.vectors is not None else {}
    best = evidence_of(table, alike, set(), at_best)
    hopeful = [p for p, evidence in best.items() if judge(alike[p], evidence).confidence >= LEAST]
    near = nearness(reading, table, hopeful)
    listed = listed_pairs(reading, table, hopeful)
    reading.progress(4, STAGES)
    judged = verdicts(alike, evidence_of(table, alike, listed, near))
    accepted = {places: v.confidence for places, v in judged.items()}

    def are_two(left: int, right: int) -> bool:
        return _are_two(reading, table, names, judged, left, right)

    found = list(groups(accepted, are_two, SURE))
    reading.progress(5, STAGES)
    quoted = _quoted(reading, table, found)
    for group in found:
        yield _finding(table, group, judged, spelled, quoted)
    reading.progress(STAGES, STAGES)


def named(table: EntityTable, known: Nicknames) -> list[Named]:
    """The entities of a table as names are compared."""
    made = []
    for entity in table.entities:
        form, types = name_form(entity.name), frozenset(entity.types)
        is_upper = any(sum(map(str.isupper, name)) > 1 for name in entity.written)
        made.append(
            Named(entity.name, form, types, len(entity.seen), is_person(entity.name, form, types, known), is_upper)
        )
    return made


def _alike(
    reading: Reading, table: EntityTable, names: list[Named], known: Nicknames
) -> dict[tuple[int, int], list[Likeness]]:
    """The pairs worth judging, scope by scope, without those that were rejected."""
    found: dict[tuple[int, int], list[Likeness]] = {}
    first_of: dict[str, int] = {}
    for number, entity in enumerate(table.entities):
        first_of.setdefault(entity.scope, number)
    firsts = [*first_of.values(), len(names)]
    for begin, end in pairwise(firsts):
        for (left, right), likenesses in candidates(names[begin:end], known).items():
            found[begin + left, begin + right] = likenesses
    for left, right in table.declared:
        sides = [
            side
            for side, (one, other) in enumerate(((left, right), (right, left)))
            if other in table.claims.get(one, ())
        ]
        found.setdefault((left, right), []).extend(Likeness(DECLARED, side) for side in sides)
    return {p: found[p] for p in sorted(found) if not _is_rejected(reading, table, p, found[p])}


def _is_rejected(
    reading: Reading, table: EntityTable, two: tuple[int, int], likenesses: Collection[Likeness] = ()
) -> bool:
    """Whether somebody said that two names are two things, and nobody wrote down since that one is the other."""
    left, right = (table.entities[number] for number in two)
    before = reading.rejected_on(KIND, left.key, right.key, left.scope)
    if before is None:
        return False
    declared = any(likeness.code == DECLARED for likeness in likenesses)
    return not declared or DECLARED in str(before.get("signals", DECLARED))


def _are_two(
    reading: Reading,
    table: EntityTable,
    names: list[Named],
    judged: Mapping[tuple[int, int], Verdict],
    left: int,
    right: int,
) -> bool:
    """Whether two entities must not be in one group, even when a third is like both."""
    places = pair(left, right)
    if places in judged:
        return False
    if _is_rejected(reading, table, places):
        return True
    a, b = names[left], names[right]
    return bool(
        places in table.related
        or (a.types and b.types and not a.types & b.types)
        or (a.form.legal and b.form.legal and a.form.legal != b.form.legal)
        or (a.form.numbers and b.form.numbers and a.form.numbers != b.form.numbers)
        or not set(table.entities[left].seen).isdisjoint(table.entities[right].seen)
    )


def _quoted(reading: Reading, table: EntityTable, found: list[Group]) -> dict[str, tuple[str, str]]:
    """Title and content of the observations that findings quote, by id."""
    ids = [table.ids[o] for group in found for m in group.members for o in table.entities[m].seen[:2]]
    return {id_: (title, content) for id_, title, content in texts(reading, ids)}


def _finding(
    table: EntityTable, group: Group, judged: Mapping[tuple[int, int], Verdict], spelled: Mapping[tuple[int, int], str],
    quoted: Mapping[str, tuple[str, str]],
) -> Finding:  # fmt: skip
    entities = [table.entities[m] for m in group.members]
    main = min(entities, key=lambda e: (is_cut_out(e.name), -len(e.seen), -len(e.name), e.name))
    others = [entity for entity in entities if entity is not main]
    ids = sorted({table.ids[o] for entity in others for o in entity.seen})
    rests_on = [table.ids[table.declared[p]] for p in group.joints if judged[p].code == DECLARED]
    rests_on += [spelled[p] for p in group.joints if judged[p].code == "expansion"]
    keys = [entity.key for entity in entities]
    signals = ",".join(sorted({judged[p].signal for p in group.joints}))
    scope = {"scope": main.scope} if main.scope else {}
    types = sorted({type_ for entity in entities for type_ in entity.types})
    return Finding(
        kind=KIND,
        confidence=group.confidence,
        rationale=_rationale(main, others, [judged[p] for p in group.joints], types),
        payload={
            "name": main.name,
            "aliases": [entity.name for entity in others],
            "type": _type(main, types),
            "keys": keys,
            **scope,
        },
        changes=({"do": "rename_entity", "ids": ids, "names": _spellings(others), "to": main.name},),
        meaning=(*keys, *in_scopes([main.scope])),
        grounds={"signals": signals, "n_names": len(keys)},
        figures=_figures(entities, [judged[p] for p in group.joints], types),
        quotes=tuple(_quotes(table, entities, quoted)),
        affected=tuple(sorted({*ids, *rests_on})),
        same=tuple(combinations(keys, 2)),
        scope=main.scope,
    )


def _spellings(entities: list[EntityRow]) -> list[str]:
    return sorted({name for entity in entities for name in entity.written})


def _type(main: EntityRow, types: list[str]) -> str:
    return min(main.types) if main.types else (types[0] if len(types) == 1 else "")


def _rationale(main: EntityRow, others: list[EntityRow], verdicts_: list[Verdict], types: list[str]) -> str:
    signals = sorted({verdict.signal.removesuffix("+said").removesuffix("+neighbours") for verdict in verdicts_})
    because = "; ".join(BECAUSE[signal] for signal in signals)
    n = max((verdict.evidence.shared.n for verdict in verdicts_ if verdict.has_company), default=0)
    near = f"; they share {n} neighbours" if n > 1 else "; they share a neighbour" if n else ""
    said = "; the same is said around them" if any(v.is_said_alike for v in verdicts_) else ""
    clash = f"; but their types differ ({', '.join(types)})" if any(v.evidence.clash for v in verdicts_) else ""
    names = ", ".join(f"'{entity.name}'" for entity in others)
    return f"{names} and '{main.name}' are likely one thing: {because}{near}{said}{clash}."


def _figures(entities: list[EntityRow], verdicts_: list[Verdict], types: list[str]) -> dict[str, Any]:
    return {
        "observations": {entity.name: len(entity.seen) for entity in entities},
        "shared_neighbours": max(verdict.evidence.shared.n for verdict in verdicts_),
        "neighbourhood_share": min(verdict.evidence.shared.share for verdict in verdicts_),
        "nearness": min((v.evidence.nearness for v in verdicts_ if v.evidence.nearness is not None), default=None),
        "named_together": max(verdict.evidence.n_together for verdict in verdicts_),
        "types": types,
        "types_differ": any(verdict.evidence.clash for verdict in verdicts_),
    }


def _quotes(table: EntityTable, entities: list[EntityRow], quoted: Mapping[str, tuple[str, str]]) -> Iterator[Quote]:
    """An observation or two for every name, each once."""
    ids: dict[str, str] = {}
    for entity in entities:
        for observation in entity.seen[:2]:
            ids.setdefault(table.ids[observation], entity.name)
    for id_, name in list(ids.items())[:MAX_QUOTES]:
        title, content = quoted.get(id_, ("", ""))
        text = content if name.casefold() in content.casefold() or not title else f"{title}: {content}"
        yield Quote(id_, window(text, name, QUOTE_CHARS), f"names {name}")

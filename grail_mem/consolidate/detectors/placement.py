"""Observations and entities that lie in one folder and belong in another.

Method: the entities of an observation vote for the folders in which others mention them (`votes`). It is to be moved when
practically all votes go to one other folder, when so many of those who share its entities lie there that this is no
chance, and when both folders are about subjects: a folder whose own observations would mostly be voted out of it, such
as one of meetings or decisions, is arranged by something else. Tags, kinds and words that are those of the folder it
lies in keep it there. Knows nothing of what words mean.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from grail_mem.consolidate.finding import Finding, Quote
from grail_mem.consolidate.graph.places import Places, read_places
from grail_mem.consolidate.graph.wording import Wording, words_of
from grail_mem.consolidate.reading import Reading

LEAST_SHARE: Final = 0.65
"""Share of the votes, and of those who share its entities, that the other folder must have; chosen by
`tests/benchmarks/clusters.py`, as are the next three."""
MOST_OWN: Final = 0.1
"""Share that the folder it lies in may have."""
LEAST_ENTITIES: Final = 3
"""Entities that live in the other folder, each in two or more other observations."""
LEAST_ENTITIES_INBOX: Final = 2
"""The same for what lies in the inbox, where nothing belongs."""
FALSE_ALARMS: Final = 0.01
"""Moves that chance alone may propose in a whole store whose entities are spread at random; the bound is divided by
observations times folders (Bonferroni)."""
LEAST_OF_ENTITY: Final = 2
"""Observations of an entity in the wrong folder, from which on the entity is moved and not each by itself."""
LEAST_AT_HOME: Final = 3
"""Observations of the entity in the other folder."""
MOST_OF_FOLDER: Final = 0.5
"""Share of a folder that may be moved out of it as one entity: more, and it is a folder about that entity."""
_NAMED: Final = 6
_QUOTES: Final = 6

_WORDS: Final = """
    SELECT id, title, content[:200] AS words, coalesce(tags, []) AS tags, kind FROM rows
    WHERE id IN (SELECT unnest($ids)) ORDER BY id"""


@dataclass(frozen=True, slots=True)
class _Move:
    """Observations that belong elsewhere.

    Attributes:
        observations: Their numbers, ascending.
        source: The folder they lie in.
        target: The folder they belong in.
        entities: Entities that live there, rarest first.
        n_there: Other observations that share these entities and lie there.
        n_others: All others that share any entity and lie in folders that count.
        about: The entity that is moved; None for a single observation.
    """

    observations: list[int]
    source: int
    target: int
    entities: list[int]
    n_there: int
    n_others: int
    about: int | None = None


def move_observation(reading: Reading) -> Iterator[Finding]:
    """Observations whose entities live in another folder, by id; those that move with an entity are left out."""
    for places in read_places(reading):
        gone = {at for move, _ in _approved(places, _entity_moves(places)) for at in move.observations}
        moves = [move for move in _single_moves(places) if move.observations[0] not in gone]
        for move, rows in _approved(places, moves):
            yield _finding(places, move, rows)


def move_entity(reading: Reading) -> Iterator[Finding]:
    """Entities some of whose observations lie in a folder where neither they nor what they go with is at home, by key."""
    for places in read_places(reading):
        for move, rows in _approved(places, _entity_moves(places)):
            yield _finding(places, move, rows)


def _single_moves(places: Places) -> Iterator[_Move]:
    import numpy as np

    network, found = places.network, places.votes
    likely = (found.winner >= 0) & (found.winner != network.folder) & (found.share >= LEAST_SHARE) & (network.talk < 0)
    likely &= (found.own <= MOST_OWN) | (network.folder == places.inbox)
    for at in np.flatnonzero(likely).tolist():
        source, target = int(network.folder[at]), int(found.winner[at])
        least = LEAST_ENTITIES_INBOX if source == places.inbox else LEAST_ENTITIES
        if places.may_leave(source) and places.may_go(source, target):
            move = _weighed(places, [at], source, target)
            if move and len(move.entities) >= least:
                yield move


def _entity_moves(places: Places) -> list[_Move]:
    """Moves of entities, no observation in two of them: the entity with more of them first, then by key."""
    network = places.network
    moves = [move for entity in range(len(network.keys)) for move in _moves_of(places, entity)]
    moves.sort(key=lambda move: (-len(move.observations), move.about))
    used: set[int] = set()
    kept = []
    for move in moves:
        if used.isdisjoint(move.observations):
            used.update(move.observations)
            kept.append(move)
    return sorted(kept, key=lambda move: (move.about, move.source))


def _moves_of(places: Places, entity: int) -> Iterator[_Move]:
    """The folders out of which an entity may be moved."""
    by_folder = places.homes.of(entity)
    inbox = places.inbox
    here = places.mentioning(entity)
    where = places.network.folder[here]
    if not by_folder:
        return
    target = max(by_folder, key=lambda folder: (by_folder[folder], -folder))
    if by_folder[target] < LEAST_AT_HOME or not places.is_subject[target]:
        return
    for source in sorted({*by_folder, inbox} - {target}):
        members = here[where == source].tolist()
        others = sum(count for folder, count in by_folder.items() if folder != source)
        if (
            len(members) >= LEAST_OF_ENTITY
            and by_folder[target] >= LEAST_SHARE * others
            and places.may_leave(source)
            and places.may_go(source, target)
            and (source == inbox or len(members) <= MOST_OF_FOLDER * places.sizes[source])
            and not any(places.network.talk[at] >= 0 for at in members)
            and all(_belongs(places, at, members, target) for at in members)
        ):
            move = _weighed(places, members, source, target, about=entity)
            if move and len(move.entities) > 1:  # what it goes with lives there too
                yield move


def _belongs(places: Places, at: int, members: Sequence[int], target: int) -> bool:
    """Whether an observation is voted to the folder when none of those that go with it votes."""
    total = there = 0.0
    for entity in places.entities(at):
        counts = places.others(entity, members)
        if (n := sum(counts.values())) > 0:
            weight = math.log(len(places.network.ids) / places.network.spread[entity])
            total += weight
            there += weight * counts[target] / n
    return total > 0 and there >= LEAST_SHARE * total


def _weighed(places: Places, members: list[int], source: int, target: int, *, about: int | None = None) -> _Move | None:
    """The move, if those who share its entities lie in the other folder, and not by chance."""
    import numpy as np

    network = places.network
    entities = sorted({entity for at in members for entity in places.entities(at)})
    near = np.unique(np.concatenate([places.mentioning(entity) for entity in entities]))
    near = near[~np.isin(near, members)]
    folders = network.folder[near]
    folders = folders[~places.silent[folders]]
    n_there, n_others = int((folders == target).sum()), len(folders)
    usual = places.sizes[target] / places.sizes[~places.silent].sum()
    tries = len(network.ids) * len(network.folders)
    if n_there < LEAST_SHARE * n_others or _surprise(n_there, n_others, usual) < math.log(tries / FALSE_ALARMS):
        return None
    if source != places.inbox and int((folders == source).sum()) > MOST_OWN * n_others:
        return None
    living = [
        entity
        for entity in entities
        if (counts := places.others(entity, members))[target] >= max(2, LEAST_SHARE * sum(counts.values()))
    ]
    living.sort(key=lambda entity: (network.spread[entity], entity))
    return _Move(members, source, target, living, n_there, n_others, about)


def _surprise(n_there: int, n_others: int, usual: float) -> float:
    """Nats by which it is unlikely that so many of some lie in a folder that holds such a share of all: Chernoff's bound."""
    share = n_there / n_others if n_others else 0.0
    if share <= usual:
        return 0.0
    rest = (1 - share) * math.log((1 - share) / (1 - usual)) if share < 1 else 0.0
    return n_others * (share * math.log(share / usual) + rest)


def _approved(places: Places, moves: Sequence[_Move]) -> Iterator[tuple[_Move, list[dict[str, Any]]]]:
    """The moves against which nothing in the observations speaks, with these."""
    ids = [places.network.ids[at] for move in moves for at in move.observations]
    words = {row["id"]: row for row in places.reading.ask(_WORDS, {"ids": ids}).to_pylist()} if ids else {}
    wording = Wording(places.reading, places.network.scope)
    for move in moves:
        rows = [words[places.network.ids[at]] for at in move.observations]
        kept_there = any(places.keeps(move.source, move.target, row["tags"], row["kind"]) for row in rows)
        if not kept_there and _is_worded(places, wording, move, rows):
            yield move, rows


def _is_worded(places: Places, wording: Wording, move: _Move, rows: Sequence[dict[str, Any]]) -> bool:
    """Whether the words, apart from names, speak rather for the other folder, or for neither."""
    if move.source == places.inbox:
        return True
    source, target = places.network.folders[move.source], places.network.folders[move.target]
    names = [places.network.names[entity] for at in move.observations for entity in places.entities(at)]
    words = set().union(*(words_of(f"{row['title']}\n{row['words']}", names) for row in rows))
    return wording.leans(words, source, target, tuple(row["id"] for row in rows)) >= 0


def _finding(places: Places, move: _Move, rows: Sequence[dict[str, Any]]) -> Finding:
    network = places.network
    source, target = network.folders[move.source], network.folders[move.target]
    ids = [network.ids[at] for at in move.observations]
    entities = [network.names[at] for at in move.entities[:_NAMED]]
    share = move.n_there / move.n_others
    what, kind = f"“{rows[0]['title']}”", "move_observation"
    meaning: tuple[str, ...] = (ids[0], target)
    payload: dict[str, Any] = {"id": ids[0]}
    if move.about is not None:
        name = network.names[move.about]
        what, kind = f"{len(ids)} observations about {name}", "move_entity"
        meaning = (network.keys[move.about], source, target)
        payload = {"entity": name, "ids": ids, "how": "move"}
    return Finding(
        kind=kind,
        confidence=round(min(0.95, 0.5 + 0.45 * share * min(1.0, move.n_there / 10)), 2),
        rationale=f"{what} in {source}: what is mentioned there, such as {' and '.join(entities[:3])}, lives in {target}.",
        payload={**payload, "from": source, "to": target, "entities": entities},
        changes=tuple({"do": "move", "id": identifier, "category": target} for identifier in ids),
        meaning=meaning,
        grounds={"entities": len(move.entities), "share_tenths": int(share * 10)},
        figures={"others_there": move.n_there, "others": move.n_others, "others_share": round(share, 2)},
        quotes=tuple(Quote(row["id"], row["words"], f"in {source}") for row in rows[:_QUOTES]),
        affected=tuple(ids),
    )  # fmt: skip

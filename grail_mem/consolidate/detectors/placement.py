"""Observations and entities that lie in one folder and belong in another.

Method: the entities of an observation vote for the folders in which others mention them (`votes`). It is to be moved when
practically all votes go to one other folder, when so many of those who share its entities lie there that this is no
chance, and when both folders are about subjects: a folder whose own observations would mostly be voted out of it, such
as one of meetings or decisions, is arranged by something else. Tags, kinds and words that are those of the folder it
lies in keep it there. Knows nothing of what words mean.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from grail_mem.consolidate.finding import Finding, Quote
from grail_mem.consolidate.naming import is_dated
from grail_mem.consolidate.network import LIVING, Network, read_networks
from grail_mem.consolidate.reading import Reading
from grail_mem.consolidate.votes import Homes, Votes, homes, votes
from grail_mem.consolidate.wording import Wording, words_of
from grail_mem.model.names import tag_key

if TYPE_CHECKING:
    import numpy as np

LEAST_SHARE: Final = 0.65
"""Share of the votes, and of those who share its entities, that the other folder must have; chosen by
`tests/benchmarks/clusters.py`, as are the next four."""
MOST_OWN: Final = 0.1
"""Share that the folder it lies in may have."""
LEAST_ENTITIES: Final = 3
"""Entities that live in the other folder, each in two or more other observations."""
LEAST_ENTITIES_INBOX: Final = 2
"""The same for what lies in the inbox, where nothing belongs."""
LEAST_FIRM: Final = 0.7
"""Share of a folder's observations whose votes go to it, for a folder of one subject."""
LEAST_FIRM_TO_VOTE: Final = 0.5
"""Below it a folder is arranged by something else than subjects, such as one of meetings, and its votes do not count."""
LEAST_VOTED_ON: Final = 8
"""Observations of a folder on which somebody votes, from which on that share means something."""
FALSE_ALARMS: Final = 0.01
"""Moves that chance alone may propose in a whole store whose entities are spread at random; the bound is divided by
observations times folders (Bonferroni)."""
OF_THE_FOLDER: Final = 0.6
ELSEWHERE: Final = 0.2
"""A tag or kind that this share of a folder has, and less than that of the other, is what the folder is for."""
LEAST_OF_ENTITY: Final = 2
"""Observations of an entity in the wrong folder, from which on the entity is moved and not each by itself."""
LEAST_AT_HOME: Final = 3
"""Observations of the entity in the other folder."""
MOST_OF_FOLDER: Final = 0.5
"""Share of a folder that may be moved out of it as one entity: more, and it is a folder about that entity."""
_NAMED: Final = 6
_QUOTES: Final = 6

_FACETS: Final = f"""
    SELECT scope, category, facet, count(*) AS n
    FROM (SELECT scope, category, unnest(list_distinct(list_append(
                 list_transform(coalesce(tags, []), lambda tag: '#' || tag), 'kind ' || kind))) AS facet
          FROM rows WHERE {LIVING})
    GROUP BY scope, category, facet"""  # noqa: S608  our own codes
_WORDS: Final = """
    SELECT id, title, content[:200] AS words, coalesce(tags, []) AS tags, kind FROM rows
    WHERE id IN (SELECT unnest($ids)) ORDER BY id"""


@dataclass(frozen=True, slots=False)
class _Places:
    """A network with what is known of its folders."""

    reading: Reading
    network: Network
    facets: dict[tuple[str | None, str], Counter[str]]

    @cached_property
    def inbox(self) -> int:
        """The number of the inbox, -1 when nothing is there."""
        names = self.network.folders
        return names.index(self.reading.inbox) if self.reading.inbox in names else -1

    @cached_property
    def silent(self) -> np.ndarray:
        """Folders that say nothing of where things live, bool [folders]: the inbox, those of dates, those of no subject."""
        import numpy as np

        names = self.network.folders
        always = np.array([not name or is_dated(name) or at == self.inbox for at, name in enumerate(names)])
        first = votes(self.network, homes(self.network, always))
        return always | (first.firmness(self.network, LEAST_VOTED_ON) < LEAST_FIRM_TO_VOTE)

    @cached_property
    def homes(self) -> Homes:
        return homes(self.network, self.silent)

    @cached_property
    def votes(self) -> Votes:
        return votes(self.network, self.homes)

    @cached_property
    def sizes(self) -> np.ndarray:
        """Observations in each folder, int64 [folders]."""
        import numpy as np

        return np.bincount(self.network.folder, minlength=len(self.network.folders))

    @cached_property
    def is_subject(self) -> np.ndarray:
        """Whether each folder is about a subject, bool [folders]."""
        return ~self.silent & (self.votes.firmness(self.network, LEAST_VOTED_ON) >= LEAST_FIRM)

    @cached_property
    def postings(self) -> tuple[np.ndarray, np.ndarray]:
        """Where the observations of each entity begin, and they, ascending; int64."""
        import numpy as np

        order = np.lexsort((self.network.links[:, 0], self.network.links[:, 1]))
        entities = self.network.links[order, 1]
        return np.searchsorted(entities, np.arange(len(self.network.keys) + 1)), self.network.links[order, 0]

    def entities(self, observation: int) -> list[int]:
        """The entities of an observation."""
        first, last = self.network.starts[observation : observation + 2]
        return list(self.network.links[first:last, 1].tolist())

    def mentioning(self, entity: int) -> np.ndarray:
        """The observations that mention an entity."""
        first, observations = self.postings
        return observations[first[entity] : first[entity + 1]]

    def may_leave(self, folder: int) -> bool:
        return folder == self.inbox or bool(self.is_subject[folder])

    def may_go(self, source: int, target: int) -> bool:
        """Whether the other folder is about a subject and does not lie above this one."""
        names = self.network.folders
        return bool(self.is_subject[target]) and not names[source].startswith(f"{names[target]}/")


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
    for places in _places(reading):
        gone = {at for move, _ in _approved(places, _entity_moves(places)) for at in move.observations}
        moves = [move for move in _single_moves(places) if move.observations[0] not in gone]
        for move, rows in _approved(places, moves):
            yield _finding(places, move, rows)


def move_entity(reading: Reading) -> Iterator[Finding]:
    """Entities some of whose observations lie in a folder where neither they nor what they go with is at home, by key."""
    for places in _places(reading):
        for move, rows in _approved(places, _entity_moves(places)):
            yield _finding(places, move, rows)


def _places(reading: Reading) -> Iterator[_Places]:
    facets: dict[tuple[str | None, str], Counter[str]] = {}
    networks = [network for network in read_networks(reading) if len(network.folders) > 1]
    if networks:
        for row in reading.ask(_FACETS).to_pylist():
            counts = facets.setdefault((row["scope"], row["category"]), Counter())
            counts[_facet(row["facet"])] += row["n"]
    for network in networks:
        yield _Places(reading, network, facets)


def _facet(text: str) -> str:
    return f"#{tag_key(text[1:])}" if text.startswith("#") else text


def _single_moves(places: _Places) -> Iterator[_Move]:
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


def _entity_moves(places: _Places) -> list[_Move]:
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


def _moves_of(places: _Places, entity: int) -> Iterator[_Move]:
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


def _belongs(places: _Places, at: int, members: Sequence[int], target: int) -> bool:
    """Whether an observation is voted to the folder when none of those that go with it votes."""
    total = there = 0.0
    for entity in places.entities(at):
        counts = _others(places, entity, members)
        if (n := sum(counts.values())) > 0:
            weight = math.log(len(places.network.ids) / places.network.spread[entity])
            total += weight
            there += weight * counts[target] / n
    return total > 0 and there >= LEAST_SHARE * total


def _others(places: _Places, entity: int, members: Iterable[int]) -> Counter[int]:
    """Observations by folder that mention an entity, without some observations and folders that do not count."""
    counts = Counter(places.homes.of(entity))
    mentioning = places.mentioning(entity)
    for at in members:
        folder = int(places.network.folder[at])
        if not places.silent[folder] and (mentioning == at).any():
            counts[folder] -= 1
    return counts


def _weighed(
    places: _Places, members: list[int], source: int, target: int, *, about: int | None = None
) -> _Move | None:
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
        if (counts := _others(places, entity, members))[target] >= max(2, LEAST_SHARE * sum(counts.values()))
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


def _approved(places: _Places, moves: Sequence[_Move]) -> Iterator[tuple[_Move, list[dict[str, Any]]]]:
    """The moves against which nothing in the observations speaks, with these."""
    ids = [places.network.ids[at] for move in moves for at in move.observations]
    words = {row["id"]: row for row in places.reading.ask(_WORDS, {"ids": ids}).to_pylist()} if ids else {}
    wording = Wording(places.reading, places.network.scope)
    for move in moves:
        rows = [words[places.network.ids[at]] for at in move.observations]
        kept_there = any(_is_what_the_folder_is_for(places, move, row) for row in rows)
        if not kept_there and _is_worded(places, wording, move, rows):
            yield move, rows


def _is_worded(places: _Places, wording: Wording, move: _Move, rows: Sequence[dict[str, Any]]) -> bool:
    """Whether the words, apart from names, speak rather for the other folder, or for neither."""
    if move.source == places.inbox:
        return True
    source, target = places.network.folders[move.source], places.network.folders[move.target]
    names = [places.network.names[entity] for at in move.observations for entity in places.entities(at)]
    words = set().union(*(words_of(f"{row['title']}\n{row['words']}", names) for row in rows))
    return wording.leans(words, source, target, tuple(row["id"] for row in rows)) >= 0


def _is_what_the_folder_is_for(places: _Places, move: _Move, row: dict[str, Any]) -> bool:
    """Whether an observation has a tag or kind of its folder that the other folder has not."""
    if move.source == places.inbox:
        return False
    scope, names = places.network.scope, places.network.folders
    here, there = places.facets[scope, names[move.source]], places.facets[scope, names[move.target]]
    n_here, n_there = places.sizes[move.source], places.sizes[move.target]
    facets = {f"kind {row['kind']}", *(f"#{tag_key(tag)}" for tag in row["tags"])}
    return any(here[facet] >= OF_THE_FOLDER * n_here and there[facet] < ELSEWHERE * n_there for facet in facets)


def _finding(places: _Places, move: _Move, rows: Sequence[dict[str, Any]]) -> Finding:
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

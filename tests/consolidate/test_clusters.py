"""Partitions, networks and names: the same for the same store, and right where the answer is known."""

from __future__ import annotations

import random
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from planted_notes import NOTES, write
from reading_of import reading_of

from grail_mem import Memory
from grail_mem.consolidate.graph.clusters import find_clusters, lasting
from grail_mem.consolidate.graph.naming import free_category, is_dated
from grail_mem.consolidate.graph.network import Network, read_networks
from grail_mem.consolidate.graph.partition import in_order, leiden, places
from grail_mem.consolidate.graph.votes import homes, votes
from grail_mem.errors import MissingDependencyError
from grail_mem.model.category import category_key, clean_category

TWO_CLIQUES = np.array([(a + 5 * c, b + 5 * c) for c in range(2) for a in range(5) for b in range(a + 1, 5)] + [(0, 5)])


def network_of(mentions: list[tuple[int, int]], folder: list[int]) -> Network:
    """A network of observations and entities by number."""
    links = np.unique(np.array(mentions, dtype=np.int64).reshape(-1, 2), axis=0)
    n_entities = int(links[:, 1].max()) + 1 if len(links) else 0
    return Network(
        None, [f"id{at:03}" for at in range(len(folder))], np.array(folder), [f"f{at}" for at in range(max(folder) + 1)],
        np.full(len(folder), -1), [f"e{at:03}" for at in range(n_entities)], [f"E{at:03}" for at in range(n_entities)], links,
    )  # fmt: skip


def test_two_cliques_are_two_groups() -> None:
    assert leiden(10, TWO_CLIQUES).tolist() == [0] * 5 + [1] * 5


def test_partitions_leave_the_random_numbers_of_others_alone() -> None:
    random.seed(1)
    expected = random.random()
    random.seed(1)
    leiden(10, TWO_CLIQUES, seed=5)
    places(10, TWO_CLIQUES, np.ones(len(TWO_CLIQUES)), seed=5)
    assert random.random() == expected


def test_places_are_the_same_for_the_same_seed() -> None:
    first, again = (places(10, TWO_CLIQUES, np.ones(len(TWO_CLIQUES)), seed=3) for _ in range(2))
    assert (first == again).all()


@given(st.lists(st.integers(0, 6), max_size=30))
def test_groups_are_numbered_as_they_come_and_stay_the_same_groups(groups: list[int]) -> None:
    found = in_order(np.array(groups, dtype=np.int64))
    assert list(dict.fromkeys(found.tolist())) == list(range(len(set(groups))))
    assert len({*zip(groups, found.tolist(), strict=True)}) == len(set(groups))


def test_without_the_extra_the_hint_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "igraph", None)
    with pytest.raises(MissingDependencyError, match=r"grail-mem\[graph\]"):
        leiden(10, TWO_CLIQUES)


MENTIONS = st.lists(st.tuples(st.integers(0, 19), st.integers(0, 7)), min_size=1, max_size=80)
FOLDERS = st.lists(st.integers(0, 3), min_size=20, max_size=20)


@given(MENTIONS, FOLDERS)
def test_clusters_are_disjoint_and_their_figures_are_within_bounds(mentions: list, folder: list[int]) -> None:
    network = network_of(mentions, folder)
    clusters = find_clusters(network, 1.0, 2)
    members = [at for cluster in clusters for at in cluster.observations.tolist()]
    assert len(members) == len(set(members))
    for cluster in clusters:
        inside = network.links[
            np.isin(network.links[:, 0], cluster.observations) & np.isin(network.links[:, 1], cluster.entities)
        ]
        assert cluster.n_links == len(inside)
        assert 0 <= cluster.conductance <= 1
        assert -1 <= cluster.closeness <= 1 + 1e-9
    assert all(0 <= value <= 1 for value in lasting(network, 1.0, clusters))


@given(MENTIONS, FOLDERS, st.integers(0, 5))
def test_rewiring_keeps_who_mentions_how_much_at_most(mentions: list, folder: list[int], seed: int) -> None:
    network = network_of(mentions, folder)
    rewired = network.rewired(seed)
    assert (rewired.degree <= network.degree).all()
    assert (rewired.spread <= network.spread).all()


@given(MENTIONS, FOLDERS, st.sets(st.integers(0, 19), min_size=1))
def test_a_part_of_a_network_has_the_mentions_of_its_observations(
    mentions: list, folder: list[int], chosen: set[int]
) -> None:
    network = network_of(mentions, folder)
    part = network.only(np.array(sorted(chosen)))
    said = {(network.ids[a], network.keys[b]) for a, b in network.links.tolist() if a in chosen}
    shared = {key for _, key in said if sum(other == key for _, other in said) > 1}
    assert {(part.ids[a], part.keys[b]) for a, b in part.links.tolist()} == {
        (i, key) for i, key in said if key in shared
    }


@given(MENTIONS, FOLDERS, st.lists(st.booleans(), min_size=4, max_size=4))
def test_votes_are_those_counted_one_by_one(mentions: list, folder: list[int], silent: list[bool]) -> None:
    network = network_of(mentions, folder)
    network = network.narrowed(most=len(folder))
    n = len(network.folders)
    found = votes(network, homes(network, np.array(silent[:n])))
    for at in range(len(folder)):
        shares = np.zeros(n)
        for entity in network.links[network.links[:, 0] == at, 1].tolist():
            others = [
                o for o in network.links[network.links[:, 1] == entity, 0].tolist() if o != at and not silent[folder[o]]
            ]
            for other in others:
                shares[folder[other]] += np.log(len(folder) / network.spread[entity]) / len(others)
        if shares.sum() < 1e-12:
            assert found.winner[at] == -1
            continue
        shares /= shares.sum()
        assert found.share[at] == pytest.approx(shares.max())
        assert shares[found.winner[at]] == pytest.approx(shares.max())
        assert found.own[at] == pytest.approx(shares[folder[at]])


def test_the_ends_of_relationships_are_mentioned_too(memory: Memory) -> None:
    drafts = [
        {"title": f"N{at}", "content": "x", "category": "a",
         "relationships": [{"source": "ACME ", "target": "Globex", "relationship_type": "OWNS"}]}
        for at in range(12)
    ]  # fmt: skip
    memory.add_observations(drafts)
    with reading_of(memory) as reading:
        (network,) = read_networks(reading)
    assert network.keys == ["acme", "globex"]
    assert len(network.links) == 24


def test_what_is_everywhere_in_a_large_store_is_left_out(memory: Memory) -> None:
    write(memory, [(folder, text, (*names, "The Company")) for folder, text, names in NOTES])
    with reading_of(memory) as reading:
        (network,) = read_networks(reading)
    assert "the company" not in network.keys
    assert "tom" in network.keys


@given(
    st.lists(st.text(max_size=60), max_size=4), st.lists(st.sampled_from(["topics/a", "topics/a-b", "Topics/GROUP"]))
)
def test_new_names_of_folders_are_clean_and_free(names: list[str], taken: list[str]) -> None:
    path = free_category("topics", names, taken)
    assert clean_category(path) == path
    assert category_key(path) not in {category_key(other) for other in taken}


def test_a_folder_that_cannot_be_made_has_no_name() -> None:
    assert free_category("/".join("a" * 20), ["b"], []) == ""


def test_folders_called_after_times_are_dated() -> None:
    dated = ("2026", "2026-06", "journal/2026-06-02", "2026-W23", "week 12", "session_3", "Q3", "2026q1")
    assert [name for name in dated if not is_dated(name)] == []
    assert [name for name in ("apollo", "rack-7", "clients/3m", "q", "") if is_dated(name)] == []

"""What cannot both hold, which side is kept, and what can hold together."""

from __future__ import annotations

import itertools
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reading_of import findings, kept

from grail_mem import Memory
from grail_mem.consolidate.detectors.contradictions import resolve_contradiction
from grail_mem.consolidate.finding import Finding

OLD, NEW = "2026-01-10", "2026-05-20"


def add(memory: Memory, *drafts: dict[str, Any]) -> list[str]:
    """Observations by a user, in one folder, the first long ago and the others later; their ids."""
    days = itertools.chain([OLD], itertools.repeat(NEW))
    return [
        memory.add_observation(**{"source_kind": "user_statement", "observed_at": day, **draft}).id
        for draft, day in zip(drafts, days, strict=False)
    ]


def found(folder: Path, *drafts: dict[str, Any]) -> list[Finding]:
    with kept(folder) as memory:
        add(memory, *drafts)
        return findings(memory, resolve_contradiction)


def fact(content: str, attribute: str = "acme/primary-database", **more: Any) -> dict[str, Any]:
    return {"content": content, "attribute": attribute, **more}


def about(content: str, *entities: str, **more: Any) -> dict[str, Any]:
    return {"content": content, "entities": list(entities or ("Acme",)), **more}


def relation(content: str, source: str, name: str, target: str, **more: Any) -> dict[str, Any]:
    stated = {"source": source, "relationship_type": name, "target": target}
    return {"content": content, "relationships": [stated], **more}


def test_the_newer_of_equal_authority_holds_and_the_older_held_until_then(tmp_path: Path) -> None:
    """A change in time is no error: the older statement gets an end and a status, the newer one names it."""
    with kept(tmp_path) as memory:
        older, newer = add(
            memory, fact("Acme's primary database is MySQL."), fact("Acme's primary database is PostgreSQL.")
        )
        (finding,) = findings(memory, resolve_contradiction)
    assert finding.payload == {
        "keep": newer,
        "supersede": [older],
        "about": "acme/primary-database",
        "values": {newer: "postgresql", older: "mysql"},
    }
    assert finding.changes == (
        {"do": "set", "id": older, "fields": {"status": "superseded", "valid_until": "2026-05-20T00:00:00Z"}},
        {"do": "set", "id": newer, "fields": {"supersedes": older}},
    )
    assert finding.confidence >= 0.8
    assert {quote.id for quote in finding.quotes} == {older, newer}
    assert all(day in finding.rationale for day in (OLD, NEW))


def test_the_older_one_holds_until_the_newer_one_begins(tmp_path: Path) -> None:
    """When the newer statement says from when it holds, that is the end of the older one."""
    drafts = (
        fact("Acme's primary database is MySQL."),
        fact("Acme's primary database is PostgreSQL.", valid_from="2026-03-01"),
    )
    (finding,) = found(tmp_path, *drafts)
    assert finding.changes[0]["fields"]["valid_until"] == "2026-03-01T00:00:00Z"


def test_a_person_is_believed_before_a_newer_inference_and_less_surely(tmp_path: Path) -> None:
    """Where authority is against time, the person's statement stays, and the confidence is lower."""
    with kept(tmp_path) as memory:
        said, concluded = add(
            memory,
            fact("Acme's primary database is MySQL."),
            fact("Acme's primary database is PostgreSQL.", source_kind="agent_inference"),
        )
        (finding,) = findings(memory, resolve_contradiction)
    assert (finding.payload["keep"], finding.payload["supersede"]) == (said, [concluded])
    assert 0.5 <= finding.confidence < 0.8
    assert finding.changes == ({"do": "set", "id": concluded, "fields": {"status": "superseded"}},)


def test_the_newest_of_several_sets_all_aside(tmp_path: Path) -> None:
    """Three values one after the other are one finding."""
    values = [fact(f"Acme has {n} employees.", "acme/headcount", observed_at=f"2026-0{n}-01") for n in (2, 3, 4)]
    (finding,) = found(tmp_path, *values)
    assert list(finding.payload["values"].values()) == ["4", "3", "2"]
    assert len(finding.payload["supersede"]) == 2


def test_a_taken_place_is_not_overwritten(tmp_path: Path) -> None:
    """What the newer statement supersedes already stays named there."""
    with kept(tmp_path) as memory:
        first, _ = add(
            memory, fact("Old.", status="superseded"), fact("Acme's primary database is MySQL.", observed_at=OLD)
        )
        add(memory, fact("Acme's primary database is Oracle.", observed_at=NEW, supersedes=first))
        (finding,) = findings(memory, resolve_contradiction)
    assert [change["fields"].keys() for change in finding.changes] == [{"status", "valid_until"}]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Acme's primary database is MySQL.", "Acme's primary database is not MySQL."),
        ("The primary database is on port 5432.", "The primary database is on port 5433."),
        ("PostgreSQL is the primary database.", "We run everything on MySQL."),
        ("The primary database is in Berlin.", "The primary database is in Paris."),
        ("The migration is due on 2026-03-01.", "The migration is due on 2026-04-01."),
    ],
)
def test_two_values_of_one_attribute_conflict(tmp_path: Path, one: str, other: str) -> None:
    """A name, number, date or negation that differs under one attribute is another value of it."""
    assert len(found(tmp_path, fact(one), fact(other))) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (fact("The primary database is Postgres."), fact("The primary database is PostgreSQL.")),
        (fact("The primary database is PostgreSQL."), fact("The primary database is PostgreSQL, hosted on AWS.")),
        (fact("The primary database is PostgreSQL on AWS."), fact("We chose PostgreSQL in 2024.")),
        (fact("The Berlin office uses PostgreSQL."), fact("The Paris office uses PostgreSQL.")),
        (fact("The primary database is MySQL."), fact("This week the primary database is PostgreSQL.")),
        (fact("The primary database is MySQL."), fact("The primary database might be PostgreSQL.")),
        (fact("The primary database is MySQL."), fact("The primary database was formerly PostgreSQL.")),
        (fact("The primary database is MySQL."), fact("Another primary database is PostgreSQL.")),
        (fact("The primary database is MySQL."), fact("Is the primary database PostgreSQL?")),
        (
            fact("The primary database is MySQL.", scope="user:a"),
            fact("The primary database is PostgreSQL.", scope="user:b"),
        ),
        (fact("The primary database is MySQL.", valid_until="2026-02-01"), fact("The primary database is PostgreSQL.")),
        (fact("The primary database is MySQL."), fact("The primary database is PostgreSQL.", valid_from="2036-02-01")),
        (fact("The primary database is MySQL.", status="archived"), fact("The primary database is PostgreSQL.")),
        (fact("My database is MySQL.", speaker="Ann"), fact("My database is PostgreSQL.", speaker="Bob")),
        (fact("My database is MySQL.", speaker="Ann"), fact("My database is PostgreSQL.")),
        (fact("Ann keeps a dog.", "ann/pets"), fact("Ann keeps a cat.", "ann/pets")),
        (fact("Ann's favourite is tea.", "ann/a"), fact("Ann's favourite is coffee.", "ann/b")),
        (fact("The primary database is PostgreSQL."), fact("The primary database is fast.")),
        (fact("It rained.", kind="episodic"), fact("It did not rain.", kind="episodic")),
    ],
)
def test_what_can_hold_together_is_left_alone(tmp_path: Path, one: dict[str, Any], other: dict[str, Any]) -> None:
    """Spellings, additions, other subjects, the past, the possible, the passing, lists, scopes, periods and speakers."""
    assert found(tmp_path, one, other) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The API of Acme allows 100 requests a minute for every key.", "The API of Acme allows 200 requests a minute for every key."),
        ("Each backup of Acme is limited to 5 GB on the server.", "Each backup of Acme is limited to 5 MB on the server."),
        ("The contract with Acme ends on March 5 at noon.", "The contract with Acme ends on April 7 at noon."),
        ("Acme supports single sign on for all users of the product.", "Acme does not support single sign on for all users of the product."),
        ("Remote access to the Acme cluster is enabled for contractors.", "Remote access to the Acme cluster is disabled for contractors."),
    ],
)  # fmt: skip
def test_one_value_changed_in_the_same_words_conflicts(tmp_path: Path, one: str, other: str) -> None:
    """A number, unit, date, negation or opposite in otherwise equal texts about the same entities."""
    (finding,) = found(tmp_path, about(one), about(other))
    assert 0.5 <= finding.confidence < 0.8


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (about("Release 5 of Acme is limited to 10 users for now here."), about("Release 6 of Acme is limited to 10 users for now here.")),
        (about("Release 5 of the Acme server is written in Go and Rust."), about("Release 6 of the Acme server is written in Go and Rust.")),
        (about("The API allows 100 requests a minute for every key.", "Acme"), about("The API allows 200 requests a minute for every key.", "Globex")),
        (about("The Acme backup took 5 minutes and was successful."), about("The Acme backup took 7 minutes and was successful.")),
        (about("The Acme office has room for 40 people.", session="s", turn=1), about("The Acme office has room for 50 people.", session="s", turn=2)),
        (about("The Acme office has room for about 40 people."), about("The Acme office has room for about 50 people.")),
        (about("Ann likes the green tea that Acme sells."), about("Ann likes the black tea that Acme sells.")),
    ],
)  # fmt: skip
def test_like_texts_about_other_things_do_not_conflict(
    tmp_path: Path, one: dict[str, Any], other: dict[str, Any]
) -> None:
    """A number that names the thing, other entities, events, turns, rough numbers and plain words are no contradiction."""
    assert found(tmp_path, one, other) == []


def test_an_exclusive_relation_has_one_target(tmp_path: Path) -> None:
    """Where somebody lives changes: the same words, or others, with another place."""
    one = relation("Ann lives in Berlin.", "Ann", "LIVES_IN", "Berlin")
    (sure,) = found(tmp_path / "a", one, relation("Ann lives in Lisbon.", "Ann", "lives in", "Lisbon"))
    (unsure,) = found(tmp_path / "b", one, relation("Ann moved to Lisbon.", "Ann", "LIVES_IN", "Lisbon"))
    assert sure.confidence >= 0.8 > unsure.confidence >= 0.5
    assert list(sure.payload["values"].values()) == ["Lisbon", "Berlin"]


@pytest.mark.parametrize("name", ["LIKES", "KNOWS", "USES"])
def test_relations_with_many_targets_coexist(tmp_path: Path, name: str) -> None:
    """Nobody likes one thing only."""
    assert found(tmp_path, relation("Ann: tea.", "Ann", name, "Tea"), relation("Ann: milk.", "Ann", name, "Milk")) == []


def test_a_place_within_a_place_and_a_longer_name_coexist(tmp_path: Path) -> None:
    """Berlin lies in Germany, and Acme Inc is Acme."""
    one = relation("Ann lives in Berlin.", "Ann", "LIVES_IN", "Berlin")
    other = relation("Ann lives in Germany.", "Ann", "LIVES_IN", "Germany")
    inside = relation("Berlin is the capital.", "Berlin", "PART_OF", "Germany")
    assert found(tmp_path / "a", one, other, inside) == []
    work = [relation(f"Ann is at {name}.", "Ann", "WORKS_AT", name) for name in ("Acme", "Acme Inc")]
    assert found(tmp_path / "b", *work) == []


def test_a_relation_is_learned_to_be_exclusive_from_the_store(tmp_path: Path) -> None:
    """A type that nearly every source has with one target is exclusive; with fewer sources, or several targets, it is not."""

    def store(n_sources: int, n_mixed: int) -> list[dict[str, Any]]:
        return [
            relation(
                f"Box {n} belongs on shelf {shelf} ({copy}).",
                f"Box {n}",
                "STORED_ON",
                f"Shelf {shelf}",
                observed_at=day,
            )
            for n in range(n_sources)
            for copy, day in enumerate((OLD, NEW))
            for shelf in [n + 1000 * copy if n < n_mixed else n]
        ]

    assert len(found(tmp_path / "a", *store(25, 1))) == 1
    assert found(tmp_path / "b", *store(10, 1)) == []
    assert found(tmp_path / "c", *store(25, 5)) == []


def test_a_page_is_not_set_aside_for_one_of_its_sentences(tmp_path: Path) -> None:
    """A long text, or one that states several relations, says more than the one thing."""
    long = "Acme's primary database is MySQL. " + " ".join(f"Its part number {n} holds." for n in range(20))
    assert found(tmp_path / "a", fact(long), fact(long.replace("MySQL", "PostgreSQL"))) == []
    two = relation("Ann lives in Berlin.", "Ann", "LIVES_IN", "Berlin")
    two["relationships"].append({"source": "Ann", "relationship_type": "KNOWS", "target": "Bob"})
    assert found(tmp_path / "b", two, relation("Ann lives in Lisbon.", "Ann", "LIVES_IN", "Lisbon")) == []


DRAFTS = [
    fact("Acme's primary database is MySQL.", observed_at=OLD),
    fact("Acme's primary database is PostgreSQL.", observed_at=NEW),
    fact("Acme's primary database is fast."),
    about("The API of Acme allows 100 requests a minute for every key.", observed_at=OLD),
    about("The API of Acme allows 200 requests a minute for every key.", observed_at=NEW),
    relation("Ann lives in Berlin.", "Ann", "LIVES_IN", "Berlin", observed_at=OLD),
    relation("Ann lives in Lisbon.", "Ann", "LIVES_IN", "Lisbon", observed_at=NEW),
]


@pytest.mark.slow
@settings(max_examples=10)
@given(st.permutations(range(len(DRAFTS))))
def test_the_order_of_writing_decides_nothing(order: list[int]) -> None:
    """What was observed later holds, whenever it was written."""
    with tempfile.TemporaryDirectory() as folder, kept(Path(folder)) as memory:
        ids = dict(zip(add(memory, *(DRAFTS[n] for n in order)), order, strict=True))
        made = findings(memory, resolve_contradiction)
        assert made == findings(memory, resolve_contradiction)
    assert sorted((ids[f.payload["keep"]], *map(ids.get, f.payload["supersede"])) for f in made) == [
        (1, 0),
        (4, 3),
        (6, 5),
    ]


def test_what_is_superseded_is_not_found_again(tmp_path: Path) -> None:
    """After the changes are made there is nothing left to find."""
    with kept(tmp_path) as memory:
        add(memory, *DRAFTS)
        for finding in findings(memory, resolve_contradiction):
            for change in finding.changes:
                memory.update(change["id"], **change["fields"])
        assert findings(memory, resolve_contradiction) == []

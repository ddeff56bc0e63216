"""Attributes that are one, and those that only look alike."""

from __future__ import annotations

import tempfile
from pathlib import Path
from time import sleep

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reading_of import findings, kept

from grail_mem import Memory
from grail_mem.consolidate.detectors.attributes import canonicalise_attribute
from grail_mem.consolidate.statements.attribute_words import attribute_form, is_plural


def add(memory: Memory, *attributes: str, scope: str | None = None) -> list[str]:
    return [
        memory.add_observation(content=f"Fact {n} of {name}.", attribute=name, scope=scope).id
        for n, name in enumerate(attributes)
    ]


def test_the_spelling_of_most_is_kept(tmp_path: Path) -> None:
    """Case and separators do not make another fact; the others are changed to what most are."""
    with kept(tmp_path) as memory:
        ids = add(
            memory, "Acme/primary database", "acme/primary_database", "acme/primary-database", "acme/primary-database"
        )
        (finding,) = findings(memory, canonicalise_attribute)
    assert finding.payload["attribute"] == "acme/primary-database"
    assert finding.payload["spellings"] == ["Acme/primary database", "acme/primary_database"]
    assert finding.changes == tuple(
        {"do": "set", "id": id_, "fields": {"attribute": "acme/primary-database"}} for id_ in ids[:2]
    )
    assert finding.confidence >= 0.8


def test_of_equally_many_the_first_is_kept(tmp_path: Path) -> None:
    """The older spelling stays, and a change made is not undone by the next run."""
    with kept(tmp_path) as memory:
        for name in ("acme/primaryDatabase", "acme/primary-database"):
            add(memory, name)
            sleep(0.002)  # times of recording are told apart to the millisecond
        (finding,) = findings(memory, canonicalise_attribute)
        assert finding.payload["attribute"] == "acme/primaryDatabase"
        for change in finding.changes:
            memory.update(change["id"], **change["fields"])
        assert findings(memory, canonicalise_attribute) == []


def test_a_plural_is_less_sure(tmp_path: Path) -> None:
    """One of them may be a list."""
    with kept(tmp_path) as memory:
        add(memory, "ann/pet", "ann/pets")
        (finding,) = findings(memory, canonicalise_attribute)
    assert 0.5 <= finding.confidence < 0.8


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("acme/database", "globex/database"),
        ("acme/primary-database", "acme/main-database"),
        ("acme/database", "acme/data/base"),
        ("acme/version-1", "acme/version-11"),
        ("ann/status", "ann/statu"),
        ("a/änn", "a/ann"),
    ],
)
def test_other_words_are_other_facts(tmp_path: Path, one: str, other: str) -> None:
    """Synonyms, levels, numbers and accents are not guessed away."""
    with kept(tmp_path) as memory:
        add(memory, one, other)
        assert findings(memory, canonicalise_attribute) == []


def test_scopes_are_never_mixed(tmp_path: Path) -> None:
    """Each memory spells as it likes."""
    with kept(tmp_path) as memory:
        add(memory, "acme/Database", scope="user:ann")
        add(memory, "acme/database", scope="user:bob")
        add(memory, "acme/DATABASE")
        assert findings(memory, canonicalise_attribute) == []


def test_rejected_spellings_stay_apart(tmp_path: Path) -> None:
    """What somebody said is another fact is not suggested again."""
    with kept(tmp_path) as memory:
        add(memory, "acme/Database", "acme/database")
        (finding,) = findings(memory, canonicalise_attribute)
        assert findings(memory, canonicalise_attribute, forbidden=finding.pairs) == []


@given(st.text(alphabet="abÄß /_-.:S1", max_size=12))
def test_the_form_of_a_form_is_itself(text: str) -> None:
    """One form is reached at once, so that a changed attribute is not changed again."""
    form = attribute_form(text)
    assert attribute_form(form) == form


@pytest.mark.parametrize(
    "name", ["ann/status", "ann/address", "ann/diagnosis", "ann/os", "ann/alias", "ann/news", "ann/bus"]
)
def test_what_only_ends_in_s_is_no_plural(name: str) -> None:
    """Such attributes have one value."""
    assert not is_plural(name)


def test_everything_is_the_same_in_any_order() -> None:
    """Findings depend on what is there."""
    names = ["acme/db-host", "acme/db_host", "acme/db_host", "ann/City", "ann/city", "ann/city"]
    payloads = []
    for order in (names, names[::-1]):
        with tempfile.TemporaryDirectory() as folder, kept(Path(folder)) as memory:
            add(memory, *order)
            made = findings(memory, canonicalise_attribute)
            payloads.append([(f.fingerprint, f.payload["attribute"], f.payload["spellings"]) for f in made])
    assert payloads[0] == payloads[1]
    assert len(payloads[0]) == 2

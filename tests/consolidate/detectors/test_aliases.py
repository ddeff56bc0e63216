"""Names that are one thing: what is found, what never is, and what a finding says."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reading_of import reading_of

from grail_mem import Memory
from grail_mem.consolidate.detectors.aliases import merge_aliases
from grail_mem.consolidate.finding import Finding

Store = list[dict[str, Any]]


def note(number: int, *names: Any, text: str = "", **more: Any) -> dict[str, Any]:
    """A draft that mentions names."""
    return {"content": text or f"Note {number}.", "title": f"Note {number}", "entities": list(names), **more}


def person(name: str) -> dict[str, str]:
    return {"name": name, "type": "PERSON"}


def among(left: Any, right: Any, *around: str) -> Store:
    """Two names that are each mentioned once with each of some others."""
    names = [(name, other) for name in (left, right) for other in around]
    return [note(n, name, other) for n, (name, other) in enumerate(names)]


def found(folder: Path, drafts: Store, *, forbidden: tuple[str, ...] = ()) -> list[Finding]:
    with Memory(folder) as memory:
        memory.add_observations(drafts)
        with reading_of(memory, forbidden=forbidden) as reading:
            return list(merge_aliases(reading))


def names_found(folder: Path, drafts: Store) -> list[tuple[str, ...]]:
    return [tuple(finding.payload["keys"]) for finding in found(folder, drafts)]


@pytest.mark.parametrize(
    ("left", "right", "signals"),
    [
        ("Acme Robotics", "Acme Robotics, Inc.", "suffix"),
        ("Müller Maschinen GmbH & Co. KG", "Muller Maschinen", "suffix"),
        ("OpenAI", "Open-AI", "normal"),
        ("São Paulo", "Sao Paulo", "normal"),
        ("GPT-4", "GPT 4", "normal"),
        ("U.S.A.", "USA", "normal"),
        ("vector databases", "vector database", "normal+plural"),
        ("LLM", "LLMs", "normal+plural"),
        ("The Rolling Stones", "Rolling Stones", "normal+article"),
        ("Parkinson's disease", "Parkinson disease", "normal+possessive"),
        ("Smith, John", "John Smith", "order"),
        ("Kubernetes", "Kuberentes", "spelling"),
        ("Schlumberger", "Schlumbeger", "spelling"),
    ],
)
def test_ways_of_writing_one_name_are_found(tmp_path: Path, left: str, right: str, signals: str) -> None:
    """Case, accents, punctuation, plural, article, legal form, order and a slip in a long word make no other thing."""
    finding = found(tmp_path, [note(1, left), note(2, left), note(3, right)])[0]
    assert finding.grounds == {"signals": signals, "n_names": 2}
    assert finding.confidence >= 0.5
    assert finding.payload["name"] == left


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Java", "JavaScript"), ("C", "C++"), ("C++", "C#"), (".NET", "Net"), ("Disney", "Disney+"), ("Team A", "Team B"),
        ("North Carolina", "South Carolina"), ("iPhone 12", "iPhone 13"), ("v1.2", "v1.20"), ("Llama 2 7B", "Llama 27B"),
        ("Topic1", "Topic10"), ("microeconomics", "macroeconomics"), ("symmetry", "asymmetry"), ("Window", "Windows"),
        ("Acme Inc.", "Acme GmbH"), ("Maria Rossi", "Mario Rossi"), ("Ann", "Anna"), ("Jon Smith", "Joan Smith"),
        ("We'll", "Well"), ("Phase II", "Phase III"), ("McDonald", "McDonald Douglas"), ("Team 🦊", "Team 🐻"),
        ("conservation", "conversation"), ("Ann Smith", "Anna Smith"), ("का", "की"), ("marital law", "martial law"),
    ],
)  # fmt: skip
def test_names_of_different_things_are_never_one_even_in_one_company(tmp_path: Path, left: str, right: str) -> None:
    """Signs, numbers, endings and prefixes tell things apart, whatever they share."""
    assert found(tmp_path, among(left, right, "Rig", "Lab", "Dock")) == []


def test_nicknames_need_no_other_company(tmp_path: Path) -> None:
    """Bob and Robert Smith are one where they keep one company, and two where they keep different ones."""
    pytest.importorskip("nicknames")
    same = among(person("Bob Smith"), person("Robert Smith"), "Rig", "Lab", "Dock")
    [finding] = found(tmp_path / "same", same)
    assert (finding.grounds["signals"], finding.confidence >= 0.8) == ("nickname+neighbours", True)
    apart = [note(n, person("Bob Smith"), f"Rig {n}") for n in range(4)]
    apart += [note(n + 4, person("Robert Smith"), f"Boat {n}") for n in range(4)]
    assert found(tmp_path / "apart", apart) == []


def test_without_the_table_no_name_has_nicknames(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The package is an extra: everything else works without it."""
    import sys

    from grail_mem.consolidate.names.nicknames import nicknames

    nicknames.cache_clear()
    monkeypatch.setitem(sys.modules, "nicknames", None)
    try:
        drafts = [
            *among(person("Bob Smith"), person("Robert Smith"), "Rig", "Lab"),
            note(9, "Acme Inc."), note(10, "Acme"),
        ]  # fmt: skip
        assert names_found(tmp_path, drafts) == [("acme", "acme inc.")]
    finally:
        nicknames.cache_clear()


def test_named_together_as_two_they_are_two(tmp_path: Path) -> None:
    """One observation that lists both, a relationship between them or a text that puts one beside the other refutes a nickname."""
    pytest.importorskip("nicknames")
    same = among(person("Bob Smith"), person("Robert Smith"), "Rig", "Lab", "Dock")
    listed = note(90, person("Bob Smith"), person("Robert Smith"))
    related = note(
        91, relationships=[{"source": "Bob Smith", "target": "Robert Smith", "relationship_type": "SON_OF"}],
        text="A family.",
    )  # fmt: skip
    said = note(92, person("Bob Smith"), text="Bob Smith and Robert Smith came.")
    assert len(found(tmp_path / "0", same)) == 1
    for n, against in enumerate((listed, related, said)):
        assert found(tmp_path / str(n + 1), [*same, against]) == []


def test_an_exclusive_fact_that_differs_tells_them_apart(tmp_path: Path) -> None:
    """Nobody is born in two places."""
    pytest.importorskip("nicknames")
    same = among(person("Bob Smith"), person("Robert Smith"), "Rig", "Lab", "Dock")
    for n, (name, place) in enumerate((("Bob Smith", "Rome"), ("Robert Smith", "Oslo"))):
        stated = [{"source": name, "target": place, "relationship_type": "BORN_IN"}]
        same.append(note(90 + n, person(name), relationships=stated))
    assert found(tmp_path, same) == []


def test_an_initial_that_two_people_have_is_nobodys(tmp_path: Path) -> None:
    """J. Smith is John Smith as long as no other J is there, but for one whose company alone fits."""
    one = among(person("J. Smith"), person("John Smith"), "Rig", "Lab")
    two = [*one, *(note(50 + n, person("James Smith"), f"Boat {n}") for n in range(4))]
    unclear = [*one, *(note(50 + n, person("James Smith"), other) for n, other in enumerate(("Rig", "Lab")))]
    assert found(tmp_path / "one", one)[0].confidence >= 0.8
    [finding] = found(tmp_path / "two", two)
    assert (finding.payload["keys"], finding.confidence < 0.8) == (["j. smith", "john smith"], True)
    assert found(tmp_path / "unclear", unclear) == []


def test_a_given_name_is_the_only_full_name_with_it_and_its_company(tmp_path: Path) -> None:
    """John is John Smith only where they keep one company and nobody else is called John."""
    one = among(person("John"), person("John Smith"), "Rig", "Lab", "Dock")
    assert names_found(tmp_path / "one", one) == [("john", "john smith")]
    brown = [note(50 + n, person("John Brown"), other) for n, other in enumerate(("Rig", "Lab", "Dock"))]
    assert found(tmp_path / "two", [*one, *brown]) == []
    assert found(tmp_path / "none", [note(1, person("John")), note(2, person("John Smith"))]) == []


def test_initials_alone_are_weak_and_a_text_that_spells_them_out_is_strong(tmp_path: Path) -> None:
    """`Name (NM)` in any observation of the scope makes an acronym sure; the letters alone make no finding."""
    drafts = [note(1, "SLA"), note(2, "Service Level Agreement")]
    assert found(tmp_path / "letters", drafts) == []
    said = note(3, text="The new Service Level Agreement (SLA) holds.")
    [finding] = found(tmp_path / "said", [*drafts, said])
    assert (finding.grounds["signals"], finding.confidence >= 0.8) == ("acronym+expansion", True)
    elsewhere = {**said, "scope": "user:ann"}
    assert found(tmp_path / "elsewhere", [*drafts, elsewhere]) == []
    turned = note(3, text="An SLA (Service Level Agreement) holds.")
    assert len(found(tmp_path / "turned", [*drafts, turned])) == 1


def test_what_an_observation_declares_counts_unless_two_claim_it(tmp_path: Path) -> None:
    """An alias that is an entity of its own is the same thing; one that two unlike things claim is neither."""
    claim = note(1, {"name": "International Business Machines", "aliases": ["Big Blue"]})
    drafts = [claim, note(2, "Big Blue")]
    [finding] = found(tmp_path / "one", drafts)
    assert finding.grounds["signals"] == "declared"
    assert len(finding.affected) == 2
    other = note(3, {"name": "Blue Whale", "aliases": ["Big Blue"]})
    assert found(tmp_path / "two", [*drafts, other]) == []
    stated = [{"source": "Zed", "target": "Zero Day Team", "relationship_type": "ALSO_KNOWN_AS"}]
    assert names_found(tmp_path / "stated", [note(1, relationships=stated)]) == [("zed", "zero day team")]


def test_other_types_refute_all_but_spelling_and_declaration(tmp_path: Path) -> None:
    """With types that differ, only the same name otherwise written is still suggested, never as sure, and says so."""
    tool = {"name": "Open AI", "type": "TOOL"}
    [finding] = found(tmp_path / "normal", [note(1, {"name": "OpenAI", "type": "ORGANIZATION"}), note(2, tool)])
    assert finding.confidence < 0.8
    assert finding.figures["types_differ"]
    assert "types differ" in finding.rationale
    place = {"name": "Acme", "type": "PLACE"}
    assert found(tmp_path / "suffix", [note(1, {"name": "Acme Inc.", "type": "ORGANIZATION"}), note(2, place)]) == []


def test_nothing_is_matched_across_scopes_or_with_what_no_longer_counts(tmp_path: Path) -> None:
    """Names of two scopes are two things; hidden, superseded and archived observations are not read."""
    assert found(tmp_path / "scopes", [note(1, "Acme", scope="user:ann"), note(2, "Acme Inc.", scope="user:bob")]) == []
    assert found(tmp_path / "default", [note(1, "Acme"), note(2, "Acme Inc.", scope="user:bob")]) == []
    [finding] = found(tmp_path / "one", [note(1, "Acme", scope="user:bob"), note(2, "Acme Inc.", scope="user:bob")])
    assert finding.payload["scope"] == "user:bob"
    for status in ("superseded", "archived"):
        assert found(tmp_path / status, [note(1, "Acme"), note(2, "Acme Inc.", status=status)]) == []
    with Memory(tmp_path / "hidden") as memory:
        made = memory.add_observations([note(1, "Acme"), note(2, "Acme Inc.")])
        memory.hide(made[1].id)
        with reading_of(memory) as reading:
            assert list(merge_aliases(reading)) == []


def test_a_rejected_pair_never_meets_again_not_even_through_a_third(tmp_path: Path) -> None:
    """What was rejected stays apart; the others may still be joined, without one of the two."""
    drafts = [note(1, "Acme Tools"), note(2, "Acme Tools"), note(3, "ACME-Tools"), note(4, "Acme Tools Inc.")]
    [finding] = found(tmp_path / "all", drafts)
    assert finding.payload["keys"] == ["acme tools", "acme tools inc.", "acme-tools"]
    assert len(finding.same) == 3
    pair = next(
        f
        for f in found(tmp_path / "pair", [drafts[2], drafts[3]])
        if f.payload["keys"] == ["acme tools inc.", "acme-tools"]
    )
    left = found(tmp_path / "left", drafts, forbidden=pair.pairs)
    assert all(not {"acme tools inc.", "acme-tools"} <= set(f.payload["keys"]) for f in left)
    assert len(left) == 1
    assert found(tmp_path / "none", drafts, forbidden=finding.pairs) == []


def test_a_finding_renames_what_mentions_an_alias_and_keeps_the_fullest_of_equals(tmp_path: Path) -> None:
    """The name mentioned most stays, of equals the fuller; every spelling of the others is named; the rest is not touched."""
    with Memory(tmp_path) as memory:
        made = memory.add_observations([
            note(1, "Acme"), note(2, "acme"), note(3, "Acme Inc."), note(4, "Acme Inc."), note(5, "Elsewhere"),
        ])  # fmt: skip
        with reading_of(memory) as reading:
            [finding] = merge_aliases(reading)
    ids = sorted(written.id for written in made[:2])
    assert finding.payload == {"name": "Acme Inc.", "aliases": ["Acme"], "type": "", "keys": ["acme", "acme inc."]}
    assert finding.changes == ({"do": "rename_entity", "ids": ids, "names": ["Acme", "acme"], "to": "Acme Inc."},)
    assert finding.affected == tuple(ids)
    assert finding.meaning == ("acme", "acme inc.")
    assert finding.same == (("acme", "acme inc."),)
    assert {quote.id for quote in finding.quotes} == {written.id for written in made[:4]}


def test_more_mentions_change_neither_meaning_nor_grounds(tmp_path: Path) -> None:
    """A store that grows makes no new suggestion of an old one."""
    drafts = [note(1, "Acme"), note(2, "Acme Inc.")]
    [before] = found(tmp_path / "a", drafts)
    [after] = found(tmp_path / "b", [*drafts, *(note(n, "Acme") for n in range(5, 9))])
    assert (before.fingerprint, before.grounds) == (after.fingerprint, after.grounds)


def test_what_is_sure_does_not_wait_for_what_is_not(tmp_path: Path) -> None:
    """A slip without company is not added to a sure group: rejecting one would reject both."""
    drafts = [
        *(note(n, "Kubernetes Tools") for n in range(4)), note(5, "Kubernetes Tools Inc."), note(6, "Kuberentes Tools"),
    ]  # fmt: skip
    assert names_found(tmp_path, drafts) == [("kubernetes tools", "kubernetes tools inc.")]


NAMES = [
    "Acme", "Acme Inc.", "ACME GmbH", "OpenAI", "Open AI", "open-ai", "Kubernetes", "Kuberentes", "Bob Smith", "Robert Smith",
    "B. Smith", "Smith, Bob", "Bob", "SLA", "Service Level Agreement", "Ann", "Anna", "Topic1", "Topic10", "Team 'A'", "%", "(", "😀",
]  # fmt: skip
STORES = st.lists(
    st.tuples(
        st.lists(st.sampled_from(NAMES), min_size=1, max_size=3, unique=True), st.sampled_from([None, "user:ann"]),
        st.sampled_from(["One.", "The Service Level Agreement (SLA).", "Bob and Robert Smith", "Ann, Anna and ("]),
    ), max_size=14,
)  # fmt: skip


@pytest.mark.slow
@settings(max_examples=15)
@given(STORES, st.randoms(use_true_random=False))
def test_findings_do_not_depend_on_the_order_of_writing(rows: list[Any], random: Any) -> None:
    """The same observations in any order, compacted or not, make the same findings in the same order; groups are disjoint."""
    drafts = [
        note(n, *names, text=f"{text} {n}", scope=scope, observed_at="2026-06-02")
        for n, (names, scope, text) in enumerate(rows)
    ]
    shuffled = random.sample(drafts, len(drafts))
    said = []
    for some, compacted in ((drafts, False), (shuffled, True)):
        with TemporaryDirectory() as folder, Memory(folder) as memory:
            memory.add_observations(some)
            if compacted:
                memory.compact()
            with reading_of(memory) as reading:
                first, again = list(merge_aliases(reading)), list(merge_aliases(reading))
            assert first == again
            said.append([(f.payload, f.confidence, f.grounds, f.fingerprint, f.figures) for f in first])
            for scope in (None, "user:ann"):
                keys = [key for f in first if f.payload.get("scope") == scope for key in f.payload["keys"]]
                assert len(keys) == len(set(keys))
    assert said[0] == said[1]


def test_a_name_cut_out_of_a_sentence_is_never_the_one_that_stays(tmp_path: Path) -> None:
    """However often it is written so, a possessive or half a quote at the end is no name to keep."""
    cut = [
        {"title": f"Note {i}", "content": f"Said {i}.", "entities": ["Northwind Traders'", "Mara Lind"]}
        for i in range(3)
    ]
    whole = [{"title": "Whole", "content": "Said once.", "entities": ["Northwind Traders", "Mara Lind"]}]
    (finding,) = found(tmp_path, cut + whole)
    assert (finding.payload["name"], finding.payload["aliases"]) == ("Northwind Traders", ["Northwind Traders'"])

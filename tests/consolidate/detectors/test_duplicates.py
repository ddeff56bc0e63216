"""What counts as one statement said twice, and what does not."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reading_of import findings

from grail_mem import Memory
from grail_mem.consolidate.detectors.duplicates import merge_duplicates
from grail_mem.consolidate.finding import Finding

TEXT = "Acme stores all of its customer records in PostgreSQL 14 since March."


def found(folder: Path, *drafts: dict[str, Any] | str) -> list[Finding]:
    with Memory(folder) as memory:
        add(memory, *drafts)
        return findings(memory, merge_duplicates)


def add(memory: Memory, *drafts: dict[str, Any] | str) -> list[str]:
    """Observations that differ in their folder, so that none is refused as said already; their ids."""
    made = [{"content": draft} if isinstance(draft, str) else draft for draft in drafts]
    return [
        memory.add_observation(**{"category": f"folder-{number}", "observed_at": "2026-06-02", **draft}).id
        for number, draft in enumerate(made)
    ]


@pytest.mark.parametrize(
    "copy",
    [
        TEXT,
        f"  {TEXT.replace(' ', '  ')}\n",
        "- **Acme** stores all of its *customer records* in `PostgreSQL 14` since March",
        "# Acme stores all of its customer records in PostgreSQL 14, since March!",
        "ACME stores all of its customer records in PostgreSQL 14 since March.",
        "Acme really stores all of its customer records in the PostgreSQL 14 since March.",
        "Acme stores all of its [customer records]() in PostgreSQL 14 since March.",
        '<observation id="01" category="a">\nAcme stores all of its customer records in PostgreSQL 14 since March.\n</observation>',
    ],
)
def test_careless_copies_are_one(tmp_path: Path, copy: str) -> None:
    """White space, case, markdown, punctuation, trifling words and the fence of a pack do not make another statement."""
    (finding,) = found(tmp_path, TEXT, copy)
    assert finding.confidence >= 0.8
    assert len(finding.payload["merge"]) == 1


@pytest.mark.parametrize(
    "other",
    [
        TEXT.replace("14", "15"),
        TEXT.replace("14", "1.4"),
        TEXT.replace("Acme", "Acne"),
        TEXT.replace("PostgreSQL", "MySQL"),
        TEXT.replace("March", "May"),
        TEXT.replace("stores all", "does not store all"),
        TEXT.replace("all of its", "none of its"),
        TEXT.replace("stores", "will store"),
        TEXT.replace("stores", "stored"),
        TEXT.replace("records", "record"),
        TEXT.replace("since", "until"),
        TEXT.replace("customer records in PostgreSQL", "PostgreSQL records in customer"),
        TEXT.replace(".", "?"),
        f"~~{TEXT}~~",
        f"- [ ] {TEXT}",
        TEXT + " 👎",
        TEXT.replace("14", "-14"),
    ],
)
def test_another_detail_is_another_statement(tmp_path: Path, other: str) -> None:
    """A number, name, date, unit, negation, tense, order of words, question or sign makes another statement."""
    assert found(tmp_path, TEXT, other) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "In the last quarter Ann Lee bought shares of Bob Ray",
            "In the last quarter Bob Ray bought shares of Ann Lee",
        ),
        ("The weight of the whole shipment is 5 kg exactly", "The weight of the whole shipment is 5 g exactly"),
        (
            "The price of the whole shipment stays at $40 forever",
            "The price of the whole shipment stays at €40 forever",
        ),
        ("The whole team writes its services in C++ here", "The whole team writes its services in C# here"),
        (
            "Every deployment needs latency < 5 and error rate low",
            "Every deployment needs latency > 5 and error rate low",
        ),
        ("Martina leads our whole data platform team", "Marina leads our whole data platform team"),
        ("毎朝東京駅で友人とコーヒーを飲む", "毎朝京都駅で友人とコーヒーを飲む"),
    ],
)
def test_near_misses_are_not_one(tmp_path: Path, one: str, other: str) -> None:
    """Direction, unit, currency, operator, one sign of a script without spaces and similar names tell statements apart."""
    assert found(tmp_path, one, other) == []


def test_a_typing_error_is_the_same_statement_and_less_sure(tmp_path: Path) -> None:
    """One wrong letter within a long word that no other statement has is an error; confidence rises with what is known."""
    (unsure,) = found(tmp_path / "a", TEXT, TEXT.replace("customer", "custommer"))
    assert 0.5 <= unsure.confidence < 0.8
    (sure,) = found(
        tmp_path / "b", TEXT, TEXT.replace("customer", "custommer"), "One customer left.", "Another customer came."
    )
    assert sure.confidence >= 0.8


def test_a_chain_of_errors_does_not_join_two_statements(tmp_path: Path) -> None:
    """Statements of one group are each the same as every other, not only as the next."""
    words = "The consultant recommended migrating warehouses towards continental operators quickly"
    other = words.replace("consultant", "consulttant")
    third = other.replace("continental", "continenttal").replace("warehouses", "warehousses")
    for finding in found(tmp_path, words, other, third):
        assert len(finding.affected) == 2


def test_a_phrase_of_time_may_stand_at_either_end(tmp_path: Path) -> None:
    """A phrase of time moves without changing the statement; one that says who does what to whom does not."""
    (finding,) = found(
        tmp_path, "On June 10 Acme published the annual report", "Acme published the annual report on June 10."
    )
    assert finding.confidence >= 0.8
    assert found(tmp_path / "b", "By Acme published the annual report", "Acme published the annual report by") == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"scope": "user:ann"}, {"scope": "user:bob"}),
        ({"scope": "user:ann"}, {}),
        ({"kind": "semantic"}, {"kind": "procedural"}),
        ({"attribute": "a/x"}, {"attribute": "b/x"}),
        ({"speaker": "Ann"}, {"speaker": "Bob"}),
        ({"session": "s", "turn": 1}, {"session": "s", "turn": 2}),
        ({"session": "s", "turn": 1}, {"session": "t", "turn": 1}),
        ({"valid_from": "2026-01-01"}, {"valid_from": "2026-02-01"}),
        ({"valid_until": "2027-01-01"}, {}),
        ({"kind": "episodic", "observed_at": "2026-01-01"}, {"kind": "episodic", "observed_at": "2026-02-01"}),
        ({"title": "Berlin office"}, {"title": "Paris office"}),
        ({"status": "superseded"}, {}),
        ({"status": "archived"}, {}),
    ],
)
def test_equal_words_said_of_other_things_are_not_one(
    tmp_path: Path, one: dict[str, Any], other: dict[str, Any]
) -> None:
    """Scope, kind, attribute, speaker, turn, validity, the day of an episode, title and status keep equal texts apart."""
    assert found(tmp_path, {"content": TEXT, **one}, {"content": TEXT, **other}) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"speaker": "Ann"}, {"speaker": " ann "}),
        ({"speaker": "Ann"}, {}),
        ({"session": "s", "turn": 1}, {"session": "s", "turn": 1}),
        ({"session": "s", "turn": 1}, {}),
        ({"attribute": "a/x"}, {}),
        ({"observed_at": "2026-01-01"}, {"observed_at": "2026-02-01"}),
        ({"title": "Customer records"}, {}),
    ],
)
def test_what_is_not_said_does_not_keep_apart(tmp_path: Path, one: dict[str, Any], other: dict[str, Any]) -> None:
    """The same speaker, place or fact, or none, is no difference; nor is another day of a lasting statement."""
    assert len(found(tmp_path, {"content": TEXT, **one}, {"content": TEXT, **other})) == 1


def test_an_unsigned_copy_of_two_speakers_belongs_to_neither(tmp_path: Path) -> None:
    """When two people said it, nobody knows whose copy an unsigned one is."""
    drafts = [{"content": TEXT, "speaker": "Ann"}, {"content": TEXT, "speaker": "Bob"}, {"content": TEXT}]
    assert found(tmp_path, *drafts) == []


def test_words_of_the_day_are_one_on_one_day_only(tmp_path: Path) -> None:
    """What is said of today is said of another day a week later."""
    text = "Ann went running in the park with her sister today"
    first, second, third = ({"content": text, "observed_at": f"2026-06-{day}"} for day in ("01", "01T20:00:00Z", "08"))
    (finding,) = found(tmp_path, first, second, third)
    assert len(finding.affected) == 2


def test_short_texts_must_be_equal_and_no_turns(tmp_path: Path) -> None:
    """`Thanks!` in two turns is said twice; a short note is one only when every word is equal."""
    turns = [{"content": "Thanks!", "session": f"s{n}", "turn": 1} for n in range(3)]
    assert found(tmp_path / "a", *turns, {"content": "Thanks!", "session": "s", "turn": 2}) == []
    assert len(found(tmp_path / "b", "Ann likes tea.", "ann likes tea")) == 1
    assert found(tmp_path / "c", "Ann likes the tea.", "Ann likes tea") == []
    assert found(tmp_path / "d", "Continue", "continue", "OK.", "ok") == []


def test_nothing_is_lost_in_merging(tmp_path: Path) -> None:
    """Tags, entities, relationships and links are united, and each that is hidden is noted with when, where and by whom."""
    relation = {"source": "Acme", "target": "PostgreSQL", "relationship_type": "USES"}
    with Memory(tmp_path) as memory:
        (linked,) = add(memory, "Another thing altogether.")
        kept, other = add(
            memory,
            {"content": TEXT, "tags": ["db"], "source_kind": "user_statement", "confidence": 0.7, "category": "x"},
            {
                "content": TEXT, "tags": ["DB", "acme"], "entities": ["Acme"], "relationships": [relation], "source": "minutes",
                "related_to": [linked], "observed_at": "2026-01-01", "session": "chat", "speaker": "Ann", "confidence": 0.9,
                "category": "y",
            },
        )  # fmt: skip
        (finding,) = findings(memory, merge_duplicates)
    assert finding.payload == {"keep": kept, "merge": [other], "echoes": []}
    patch, note, hide = finding.changes
    fields = patch["fields"]
    assert fields["tags"] == ["db", "acme"]
    assert {entity["name"] for entity in fields["entities"]} == {"Acme", "PostgreSQL"}
    assert fields["relationships"] == [relation]
    assert fields["related_to"] == [linked]
    assert fields["confidence"] == 0.9
    assert hide == {"do": "hide", "id": other}
    assert note["id"] == kept
    (merged,) = note["merged"]
    assert merged["id"] == other
    assert (merged["observed_at"], merged["source"], merged["session"], merged["speaker"]) == (
        "2026-01-01T00:00:00Z", "minutes", "chat", "Ann",
    )  # fmt: skip


def test_the_weightiest_is_kept(tmp_path: Path) -> None:
    """What a person said is kept before what an agent wrote, whenever each was written; then what says more."""
    with Memory(tmp_path) as memory:
        ids = add(
            memory,
            {"content": TEXT, "source_kind": "agent_inference", "entities": ["Acme", "PostgreSQL"]},
            {"content": TEXT, "source_kind": "user_statement"},
            {"content": TEXT, "source_kind": "user_statement", "entities": ["Acme"]},
        )
        (finding,) = findings(memory, merge_duplicates)
    assert finding.payload["keep"] == ids[2]
    assert [change["fields"].keys() for change in finding.changes if change["do"] == "set"] == [{"entities"}]


def test_echoes_support_nothing(tmp_path: Path) -> None:
    """What an agent writes after it was said is an echo, however often: only independent statements count."""
    drafts = [
        {"content": TEXT, "source_kind": "user_statement", "session": "a"},
        {"content": TEXT, "source_kind": "user_statement", "session": "b"},
        *({"content": TEXT, "source_kind": kind, "session": kind, "confidence": 1.0} for kind in ("agent_inference", "tool_result")),
    ]  # fmt: skip
    with Memory(tmp_path) as memory:
        ids = add(memory, *drafts)
        (finding,) = findings(memory, merge_duplicates)
    assert sorted(finding.payload["echoes"]) == sorted(ids[2:])
    assert finding.figures["n_support"] == 2
    assert finding.figures["n_echoes"] == 2
    assert finding.payload["keep"] in ids[:2]


def test_a_stored_pack_is_an_echo_whoever_stored_it(tmp_path: Path) -> None:
    """Text with the fence of a pack was recalled before it was written."""
    with Memory(tmp_path) as memory:
        fenced, said = add(
            memory,
            {"content": f'<observation id="1">{TEXT}</observation>', "source_kind": "user_statement", "title": TEXT},
            {"content": TEXT},
        )
        (finding,) = findings(memory, merge_duplicates)
    assert finding.payload == {"keep": said, "merge": [fenced], "echoes": [fenced]}


def test_an_echo_of_a_part_is_found_and_not_of_a_claim(tmp_path: Path) -> None:
    """A large part that an agent repeats is an echo, unless what stands around it takes it back."""
    part = "Acme stores all of its customer records in PostgreSQL 14 and its invoices in Oracle"
    echo = {"content": part, "source_kind": "agent_inference"}
    whole = {"content": f"{part}. Ann runs both of them.", "source_kind": "user_statement"}
    (finding,) = found(tmp_path / "a", whole, echo)
    assert finding.figures["n_support"] == 1
    assert 0.5 <= finding.confidence < 0.8
    denied = {"content": f"It is not true that {part}.", "source_kind": "user_statement"}
    assert found(tmp_path / "b", denied, echo) == []
    assert found(tmp_path / "c", whole, {"content": part, "source_kind": "user_statement", "speaker": "Ann"}) == []


def test_a_rejected_pair_is_not_taken_for_one_again(tmp_path: Path) -> None:
    """What somebody said is not the same stays apart, also in a larger group."""
    with Memory(tmp_path) as memory:
        add(memory, TEXT, TEXT)
        (before,) = findings(memory, merge_duplicates)
        assert findings(memory, merge_duplicates, forbidden=before.pairs) == []
        (third,) = add(memory, {"content": TEXT, "category": "third"})
        (after,) = findings(memory, merge_duplicates, forbidden=before.pairs)
    assert third in after.affected
    assert len(after.affected) == 2


def test_grounds_and_meaning_do_not_change_with_other_observations(tmp_path: Path) -> None:
    """A suggestion is the same one, resting on the same, as long as nobody changes what it is about."""
    with Memory(tmp_path) as memory:
        add(memory, TEXT, TEXT)
        (before,) = findings(memory, merge_duplicates)
        add(memory, *(f"Number {n} is about something else entirely, namely {n * n}." for n in range(20)))
        (after,) = findings(memory, merge_duplicates)
    assert (before.fingerprint, before.grounds, before.meaning) == (after.fingerprint, after.grounds, after.meaning)
    assert not any(word in str(before.grounds) for word in ("Acme", "customer"))


STATEMENTS = [TEXT, TEXT.lower(), f"**{TEXT}**", TEXT.replace("14", "15"), "Ann likes tea.", "ann likes tea",
              "The office in Paris has room for forty people", "The office in Paris has the room for forty people."]  # fmt: skip


@pytest.mark.slow
@settings(max_examples=15)
@given(st.permutations(STATEMENTS), st.integers(0, 2**32))
def test_the_order_of_writing_and_compaction_change_no_group(order: list[str], seed: int) -> None:
    """Groups depend on what is said, not on when or in which form it is stored."""
    expected = [{0, 1, 2}, {4, 5}, {6, 7}]
    with tempfile.TemporaryDirectory() as folder, Memory(folder) as memory:
        ids = dict(zip(add(memory, *order), map(STATEMENTS.index, order), strict=True))
        first = findings(memory, merge_duplicates)
        if random.Random(seed).random() < 0.5:
            memory.compact()
        second = findings(memory, merge_duplicates)
    assert first == second
    assert sorted(sorted(ids[i] for i in finding.affected) for finding in first) == list(map(sorted, expected))

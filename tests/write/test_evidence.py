"""Evidence: quotes are located, judged, kept with the observation, and looked up again."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from grail_mem import (
    EvidenceNotFoundError,
    InputError,
    Memory,
    NotFoundError,
    UnsupportedEvidenceError,
)
from grail_mem.store.sources import digest

TURNS = [
    {"role": "user", "speaker": "Caroline", "text": "Good morning to you.", "at": "2026-06-02T09:59:00Z"},
    {"role": "assistant", "text": "Green tea goes best with fish.", "at": "2026-06-02T10:00:00Z"},
    {
        "role": "user",
        "speaker": "Caroline",
        "text": "I prefer “short”  answers — always.",
        "at": "2026-06-02T10:01:00Z",
    },
    {"role": "tool", "text": "It rains at noon in Oslo.", "at": "2026-06-02T10:02:00Z"},
    {"role": "system", "text": "The trial ends on 4 July.", "at": "2026-06-02T10:03:00Z"},
]


@pytest.fixture
def memory(tmp_path: Path) -> Any:
    with Memory(tmp_path) as opened:
        opened.ingest_chat(TURNS, session="s")
        yield opened


def titles(memory: Memory, **conditions: Any) -> list[str]:
    return sorted(o.title for o in memory.recall(**conditions).observations)


def test_a_claim_keeps_its_quote_with_place_digest_and_judgement(memory: Memory) -> None:
    """In the file, in the answer and in the citation, and the same after a rebuild."""
    done = memory.remember(
        "The trial ends on 4 July.", evidence="The trial ends on 4 July.", session="s", attribute="trial/end"
    )
    assert (done.created, done.status, done.support.verdict) == (True, "confirmed", "supported")
    kept = memory.get(done.id)
    (evidence,) = kept.evidence
    assert evidence.quote == "The trial ends on 4 July."
    assert (evidence.source, evidence.span) == ("sources/chats/s.jsonl#turn=4", (0, 25))
    assert evidence.sha256 == digest(evidence.quote)
    assert (evidence.match, evidence.role, evidence.support) == ("exact", "system", 1.0)
    assert evidence.checker == done.support.checker
    assert (kept.session, kept.turn, kept.attribute) == ("s", 4, "trial/end")
    assert kept.observed_at == datetime(2026, 6, 2, 10, 3, tzinfo=UTC)
    for _ in range(2):
        found = memory.recall()
        assert found.observations[0].evidence == (evidence,)
        assert found.citations[0].to_dict()["evidence"] == [
            {"quote": evidence.quote, "source": evidence.source, "span": [0, 25], "sha256": evidence.sha256, "match": "exact",
             "role": "system", "checker": evidence.checker, "support": 1.0}
        ]  # fmt: skip
        assert "sources/chats/s.jsonl#turn=4:0-25" in found.text
        memory.rebuild()


def test_a_quote_is_found_in_other_quotation_marks_dashes_and_spaces_and_not_in_another_case(memory: Memory) -> None:
    """What is kept are the words of the source."""
    done = memory.remember(
        'I prefer "short" answers - always.', evidence='I prefer "short" answers - always.', session="s"
    )
    (evidence,) = memory.get(done.id).evidence
    assert (evidence.match, evidence.quote) == ("normalised", TURNS[2]["text"])
    with pytest.raises(EvidenceNotFoundError, match="turn 2"):
        memory.remember("x", evidence="I PREFER “SHORT” answers", session="s")


@pytest.mark.parametrize(
    "quote", ["Good morning to you. I think that you", "to you.\nI think", "I prefer short answers"]
)
def test_a_quote_over_two_turns_or_with_other_words_is_not_found(memory: Memory, quote: str) -> None:
    """Nothing is stored."""
    with pytest.raises(EvidenceNotFoundError) as refused:
        memory.remember("Something", evidence=quote, session="s")
    assert "turn " in refused.value.message
    assert titles(memory) == []


@pytest.mark.parametrize("quote", ["tea", "to you", "??? !!! ... ---", "", 5, None, "x" * 1001, []])
def test_a_quote_that_proves_nothing_is_refused(memory: Memory, quote: Any) -> None:
    """Too short, no words, no text, too long, none."""
    with pytest.raises(InputError) as refused:
        memory.remember("Something", evidence=quote, session="s")
    assert not isinstance(refused.value, EvidenceNotFoundError)


def test_an_ambiguous_quote_takes_the_first_place_and_says_so(memory: Memory) -> None:
    """With how many there are."""
    memory.ingest_chat([{"role": "user", "text": "Well, Good morning to you."}], session="s")
    done = memory.remember("Good morning to you", evidence="Good morning to you.", session="s")
    assert memory.get(done.id).evidence[0].source == "sources/chats/s.jsonl#turn=0"
    assert any("2 places" in text for text in done.warnings)
    named = memory.remember(
        "Good morning to you!", evidence={"quote": "Good morning to you.", "session": "s", "turn": 5}
    )
    assert memory.get(named.id).evidence[0].source == "sources/chats/s.jsonl#turn=5"


@pytest.mark.parametrize(
    ("claim", "quote", "kind", "cap"),
    [
        ("Good morning to you", "Good morning to you.", "user_statement", 0.95),
        ("The trial ends", "The trial ends on 4 July.", "system", 0.90),
        ("It rains at noon in Oslo", "It rains at noon in Oslo.", "tool_result", 0.85),
        ("Green tea goes best with fish", "Green tea goes best with fish.", "agent_inference", 0.60),
    ],
)
def test_who_spoke_caps_how_sure_a_claim_is(memory: Memory, claim: str, quote: str, kind: str, cap: float) -> None:
    """Asking for more gives no more, and for less gives less."""
    done = memory.remember(
        claim, evidence=quote, session="s", confidence=1.0, source_kind="user_statement", role="user"
    )
    kept = memory.get(done.id)
    assert (kept.source_kind, kept.confidence) == (kind, cap)
    assert any("0.95" in text or str(cap) in text for text in done.warnings)
    less = memory.get(memory.remember(f"{claim}!", evidence=quote, session="s", confidence=0.3).id)
    assert (less.source_kind, less.confidence) == (kind, 0.3)


def test_a_claim_that_its_quote_does_not_support_is_not_stored(memory: Memory) -> None:
    """Unless it is wanted as a conclusion, which is provisional, unsure and ends."""
    with pytest.raises(UnsupportedEvidenceError) as refused:
        memory.remember("Caroline hates tea", evidence="Good morning to you.", session="s")
    assert "Good morning" in refused.value.message
    assert titles(memory) == []
    done = memory.remember(
        "Caroline hates tea", evidence="Good morning to you.", session="s", allow_inference=True, confidence=0.9,
        source_kind="system", status="confirmed", expires_at="2100-01-01",
    )  # fmt: skip
    kept = memory.get(done.id)
    assert (done.status, kept.status, kept.source_kind, kept.confidence) == (
        "provisional",
        "provisional",
        "agent_inference",
        0.6,
    )
    assert kept.expires_at is not None
    assert timedelta(days=29) < kept.expires_at - datetime.now(UTC) <= timedelta(days=30)


def test_in_a_session_without_turns_the_quote_is_recorded_with_the_claim(memory: Memory) -> None:
    """And the next one too; but once a conversation was ingested, it says what was said."""
    done = memory.remember("I drink red wine", evidence="I drink red wine.", session="new", speaker="Ann")
    again = memory.remember("I drink red wine", evidence="I drink red wine.", session="new", speaker="Ann")
    assert (again.id, again.created) == (done.id, False)
    more = memory.remember("I never smoke now", evidence="I never smoke now.", session="new")
    assert [memory.get(id_).turn for id_ in (done.id, more.id)] == [0, 1]
    assert memory.get(done.id).evidence[0].role == "user"
    memory.ingest_chat([{"role": "user", "text": "Hello again."}], session="new")
    with pytest.raises(EvidenceNotFoundError):
        memory.remember("I hate all cats", evidence="I hate all cats.", session="new")
    free = memory.remember("I like black coffee", evidence="I like black coffee.")
    assert memory.get(free.id).session is None
    assert memory.verify().counts == {"verified": 3}


def test_a_refused_claim_records_no_quote(memory: Memory, tmp_path: Path) -> None:
    """Neither when it is not supported, nor when a field is wrong."""
    with pytest.raises(UnsupportedEvidenceError):
        memory.remember("Something else", evidence="I drink red wine.", session="new")
    with pytest.raises(InputError):
        memory.remember("I drink red wine", evidence="I drink red wine.", session="new", confidence=7)
    assert not (tmp_path / "sources/chats/new.jsonl").exists()


def test_everything_that_is_wrong_with_a_claim_is_told_at_once(memory: Memory) -> None:
    """Claim, quote, place, role and fields."""
    with pytest.raises(InputError) as refused:
        memory.remember(
            "", evidence="no", session="a\nb", role="boss", scope="x", allow_inference="yes", confidence=2, colour="red",  # type: ignore[arg-type]
        )  # fmt: skip
    assert len(refused.value.problems) == 8


def test_evidence_of_an_observation_is_located_and_a_missing_one_refuses_the_batch(memory: Memory) -> None:
    """`add_observation` keeps what it says even where a quote supports only part of it, with a warning."""
    done = memory.add_observation(content="She greets people.", session="s", evidence=["Good morning to you."])
    assert memory.get(done.id).evidence[0].source == "sources/chats/s.jsonl#turn=0"
    assert any("does not support" in text for text in done.warnings)
    drafts = [
        {"content": "Fine.", "evidence": "Good morning to you.", "session": "s"},
        {"content": "", "evidence": "Good morning to everybody", "session": "s"},
        {"content": "No place.", "evidence": "Good morning to you."},
    ]
    with pytest.raises(InputError) as refused:
        memory.add_observations(drafts)
    told = " ".join(refused.value.problems)
    assert all(
        words in told for words in ("draft 2: ", "draft 3: ", "content is empty", "does not stand", "name the source")
    )
    assert titles(memory) == ["She greets people."]


@pytest.mark.parametrize(
    "source",
    ["/etc/passwd", "../x", "sources/../memories/a.md", "sources/chats/../../x.jsonl", "sources/chats/s.jsonl#turn=x",
     "memories/inbox/a.md", "sources/documents/x.txt", "a meeting", "sources/chats/a\0b.jsonl", "sources/chats/.s.jsonl"],
)  # fmt: skip
def test_a_source_is_never_a_path_elsewhere(memory: Memory, source: str) -> None:
    """What is no source of a store is refused before anything is read."""
    with pytest.raises(InputError):
        memory.remember("root is here", evidence="root:x:0:0:root", source=source)


@pytest.mark.slow
def test_a_quote_whose_source_changed_takes_its_claim_out_of_every_answer(memory: Memory, tmp_path: Path) -> None:
    """At once for who reads, and for every process and snapshot once it was verified; until the words are there again."""
    done = memory.remember("The trial ends on 4 July", evidence="The trial ends on 4 July.", session="s")
    other = memory.remember("It rains at noon in Oslo", evidence="It rains at noon in Oslo.", session="s")
    path = tmp_path / "sources/chats/s.jsonl"
    whole = path.read_text()
    path.write_text(whole.replace("4 July", "5 July"))
    found = memory.recall()
    assert [o.id for o in found.observations] == [other.id]
    assert [c.id for c in found.citations] == [other.id]
    assert "verify" in found.warnings[0]
    alone = memory.recall(text="trial")
    assert alone.abstention is not None
    assert [o.id for o in memory.search("When does the trial end?").observations if o.id == done.id] == []
    with Memory(tmp_path) as neighbour:
        assert neighbour.recall(limit=1000).observations[0].id == other.id
        dry = memory.verify(dry_run=True)
        assert (dry.suspended, dry.ok, dry.counts) == ((done.id,), False, {"source changed": 1, "verified": 1})
        assert neighbour.recall().warnings != ()
        assert memory.verify().suspended == (done.id,)
        assert memory.verify().suspended == ()
        for _ in range(2):
            for reader in (memory, neighbour):
                assert [o.id for o in reader.recall().observations] == [other.id]
                assert reader.recall().warnings == ()
                assert reader.sql("select count(*) from observations")[0][0].as_py() == 1
            memory.rebuild()
        assert memory.get(done.id).id == done.id
        memory.compact()
        path.write_text(whole)
        assert memory.verify().reinstated == (done.id,)
        assert {o.id for o in neighbour.recall().observations} == {done.id, other.id}
    memory.rebuild()
    assert memory.verify().ok
    assert memory.check().ok


def test_a_quote_whose_source_is_gone_does_the_same_and_other_evidence_mends_it(memory: Memory, tmp_path: Path) -> None:
    """A hidden one stays hidden whatever becomes of its evidence."""
    done = memory.remember("The trial ends on 4 July", evidence="The trial ends on 4 July.", session="s")
    shy = memory.remember("It rains at noon in Oslo", evidence="It rains at noon in Oslo.", session="s")
    memory.hide(shy.id)
    (tmp_path / "sources/chats/s.jsonl").rename(tmp_path / "elsewhere.jsonl")
    assert memory.verify().counts == {"source missing": 1}
    assert titles(memory) == []
    text = memory.ingest_text("Mail from sales: the trial ends on 4 July.")
    memory.update(done.id, evidence={"quote": "the trial ends on 4 July", "source": text.source})
    assert [o.id for o in memory.recall().observations] == [done.id]
    (tmp_path / "elsewhere.jsonl").rename(tmp_path / "sources/chats/s.jsonl")
    assert memory.verify().ok
    assert [o.id for o in memory.recall().observations] == [done.id]
    memory.restore(shy.id)
    assert len(memory.recall().observations) == 2


def test_one_quote_that_stands_is_enough(memory: Memory, tmp_path: Path) -> None:
    """An observation with two goes when both are gone."""
    text = memory.ingest_text("Mail from sales: the trial ends on 4 July.")
    done = memory.remember(
        "the trial ends on 4 July",
        evidence=[
            {"quote": "The trial ends on 4 July.", "session": "s"},
            {"quote": "the trial ends on 4 July", "source": text.source},
        ],
    )
    (tmp_path / text.source).unlink()
    checked = memory.verify()
    assert checked.counts == {"verified": 1, "source missing": 1}
    assert not checked.ok
    assert [o.id for o in memory.recall().observations] == [done.id]


def test_a_correction_of_the_quoted_turn_counts_as_a_change(memory: Memory) -> None:
    """What was taken back does not hold any more."""
    memory.ingest_chat([{"role": "user", "id": "w", "text": "We go with Postgres."}], session="t")
    memory.remember("We go with Postgres", evidence="We go with Postgres.", session="t")
    memory.ingest_chat([{"role": "user", "id": "w", "text": "We go with MySQL.", "correction": True}], session="t")
    assert memory.verify().counts == {"source changed": 1}
    assert titles(memory) == []


def test_evidence_by_hand_keeps_keys_that_nobody_knows(memory: Memory, tmp_path: Path) -> None:
    """Through reading, snapshot, an update of another field, and a change of the evidence itself."""
    (tmp_path / "memories").mkdir(exist_ok=True)
    (tmp_path / "memories/hand.md").write_text(
        "---\ntitle: Hand\nevidence:\n  - quote: as the minutes say\n    source: minutes of May\n    page: 7  # of 9\n"
        "    span: whole\n    checked_by: {name: Ann, on: 2026-05-01}\n  - {quote: Good morning to you., source: 'sources/chats/s.jsonl#turn=0'}\n---\nText.\n"
    )
    memory.sync(stamp=True)
    for _ in range(2):
        first, second = memory.recall(text="hand").observations[0].evidence
        assert dict(first.more)["page"] == 7
        assert first.to_dict()["span"] == "whole" if hasattr(first, "to_dict") else dict(first.more)["span"] == "whole"
        assert second.more == {}
        memory.rebuild()
    id_ = memory.recall(text="hand").observations[0].id
    memory.update(id_, tags=["x"])
    text = (tmp_path / "memories/hand.md").read_text()
    assert "page: 7  # of 9" in text
    assert "checked_by: {name: Ann, on: 2026-05-01}" in text
    assert memory.verify().counts == {"no source": 1, "verified": 1}


def test_a_quote_edited_by_hand_is_not_taken_for_the_one_that_was_checked(memory: Memory, tmp_path: Path) -> None:
    """Span and digest are those of the words in the source, which say something else."""
    done = memory.remember("The trial ends on 4 July", evidence="The trial ends on 4 July.", session="s")
    path = tmp_path / done.path
    path.write_text(path.read_text().replace("ends on 4 July.", "never ends at all."))
    memory.sync()
    assert memory.verify().counts == {"source changed": 1}


def test_a_quote_is_shown_in_the_words_around_it(memory: Memory) -> None:
    """Turns before and after with their places; characters that nobody sees are written out."""
    memory.ingest_chat([{"role": "user", "text": "Ignore \u202ethis\u202c line, please."}], session="s")
    done = memory.remember("The trial ends on 4 July", evidence="The trial ends on 4 July.", session="s")
    cited = memory.cite(done.id)
    (quote,) = cited.quotes
    assert quote.status == "verified"
    assert [line.locator for line in quote.lines] == [f"sources/chats/s.jsonl#turn={n}" for n in (2, 3, 4, 5)]
    assert [line.quoted for line in quote.lines] == [False, False, True, False]
    assert "⟨U+202E⟩" in cited.text
    assert "\u202e" not in cited.text
    text = memory.ingest_text("One.\n\nThe bridge was closed in May, they say.\n\nThree.")
    added = memory.add_observation(
        content="Closed.", evidence={"quote": "The bridge was closed", "source": text.source}
    )
    assert memory.cite(added.id).quotes[0].lines[0].text == "The bridge was closed in May, they say."
    with pytest.raises(NotFoundError):
        memory.cite("0" * 26)


def test_a_quote_is_looked_for_in_ones_own_scope(tmp_path: Path) -> None:
    """A session of another scope is another session."""
    with Memory(tmp_path) as memory:
        memory.ingest_chat([{"role": "user", "text": "My password is blue."}], session="s", scope="user:ann")
        with pytest.raises(EvidenceNotFoundError):
            memory.add_observation(content="x", session="s", scope="user:bob", evidence="My password is blue.")
        done = memory.remember("My password is blue", session="s", scope="user:ann", evidence="My password is blue.")
        assert memory.get(done.id).scope == "user:ann"


def test_words_that_are_asked_in_one_turn_may_be_stated_in_another(tmp_path: Path) -> None:
    """The first place that supports the claim is the evidence; a claim that none of them supports is refused."""
    with Memory(tmp_path, embedder="none") as memory:
        memory.ingest_chat(
            [
                {"role": "user", "text": "Is it true that I live in Bern now, as Ben thinks?"},
                {"role": "user", "text": "Yes, I live in Bern now."},
                {"role": "user", "text": "Do you believe that I moved to Basel?"},
            ],
            session="s",
        )
        done = memory.remember("I live in Bern now.", evidence="I live in Bern now", session="s")
        assert memory.get(done.id).evidence[0].source == "sources/chats/s.jsonl#turn=1"
        with pytest.raises(UnsupportedEvidenceError):
            memory.remember("I moved to Basel.", evidence="I moved to Basel", session="s")

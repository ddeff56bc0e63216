"""What the parts of a store do together: a session remembers, facts change, quotes are looked up, things are erased and moved."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from every_byte import places_with

from grail_mem import Memory, NotFoundError
from grail_mem.store.layout import Layout
from grail_mem.store.ledger import verify

EARLIER, LATER = "2026-01-05T10:00:00Z", "2026-03-05T10:00:00Z"
OLD, NEW, STAYS = "I live in Quuxvillette now.", "I live in Zorblatten now.", "I drink green tea every day."


def told(memory: Any, **conditions: Any) -> dict[str, str]:
    """Status by content."""
    return {o.content: o.status for o in memory.recall(limit=100, **conditions).observations}


def lived(memory: Memory, user: str = "ann") -> dict[str, str]:
    """One person's conversation in which a fact changes; returns ids by content."""
    with memory.session(user_id=user, agent_id="bot", session="talk") as session:
        session.ingest_chat(
            [
                {"role": "user", "speaker": user, "text": OLD, "at": EARLIER},
                {"role": "user", "speaker": user, "text": STAYS, "at": EARLIER},
                {"role": "user", "speaker": user, "text": NEW, "at": LATER},
            ]
        )
        made = {}
        for text, attribute in ((OLD, f"{user}/home"), (STAYS, f"{user}/drink"), (NEW, f"{user}/home")):
            made[text] = session.remember(text, evidence=text, attribute=attribute).id
        return made


def test_a_fact_lives_through_everything(tmp_path: Path) -> None:
    """Remember → supersede → verify → erase → rebuild → back up and restore → export and import: as expected at every step."""
    root, archive, lines = tmp_path / "store", tmp_path / "one.tar", tmp_path / "lines.jsonl"
    with Memory(root) as memory:
        ids = lived(memory)
        assert told(memory) == {NEW: "confirmed", STAYS: "confirmed"}
        assert told(memory, include_history=True)[OLD] == "superseded"
        assert memory.get(ids[OLD]).scope == memory.get(ids[NEW]).scope == "agent:bot/ann"
        assert memory.verify().counts == {"verified": 3}
        full = tmp_path / "full.jsonl"
        memory.backup(archive)
        memory.export(full)
        done = memory.erase(ids[NEW], reason="asked for")
        assert done.earlier == (ids[OLD],)
        assert done.kept == {}
        assert any("none becomes current" in warning for warning in done.warnings)
        for _ in range(2):
            assert told(memory) == {STAYS: "confirmed"}
            history = memory.get(ids[OLD])
            assert (history.status, history.superseded_by) == ("superseded", None)
            assert history.valid_until is not None
            assert memory.verify().counts == {"verified": 2}
            assert places_with(root, ["Zorblatten"]) == []
            memory.rebuild()
        memory.restore_backup(archive, force=True)
        assert told(memory) == {STAYS: "confirmed"}
        assert places_with(root, ["Zorblatten"]) == []
        assert memory.verify().ok
        done = memory.import_file(full)
        assert {item.reason for item in done.skipped} >= {"it was erased here"}
        assert told(memory) == {STAYS: "confirmed"}
        assert places_with(root, ["Zorblatten"]) == []
        assert not verify(Layout(root))
        memory.export(lines)
    with Memory(tmp_path / "other") as other:
        other.import_file(lines)
        assert told(other, include_history=True) == {STAYS: "confirmed", OLD: "superseded"}
        assert other.verify().counts == {"verified": 2}
    with Memory(tmp_path / "third") as third:  # nothing was erased there
        assert not third.import_file(full).skipped
        assert told(third) == {NEW: "confirmed", STAYS: "confirmed"}
        assert third.verify().counts == {"verified": 3}


def test_a_revision_in_the_middle_of_a_history_is_taken_out_of_it(tmp_path: Path) -> None:
    """What stood before it and what stood behind it meet; `history` shows both, and nothing of what stood between."""
    with Memory(tmp_path) as memory:
        ids = [
            memory.add_observation(
                content=f"The office is in {town}.", attribute="office/town", observed_at=f"2026-0{month}-01"
            ).id
            for month, town in ((1, "Oslo"), (2, "Zorblatten"), (3, "Bergen"))
        ]
        assert memory.get(ids[0]).superseded_by == ids[1]
        memory.erase(ids[1], reason="asked for")
        assert memory.get(ids[0]).superseded_by == ids[2]
        assert memory.get(ids[2]).supersedes == ids[0]
        assert [one.id for one in memory.history(ids[2]).revisions] == [ids[0], ids[2]]
        assert memory.check().problems == ()
        again = memory.add_observation(
            content="The office is in Oslo.", attribute="office/town", observed_at="2026-04-01"
        )
        assert (again.decision, again.others) == ("supersedes", (ids[2],))


def test_a_conflict_ends_when_one_side_is_erased(tmp_path: Path) -> None:
    with Memory(tmp_path) as memory:
        ids = [
            memory.add_observation(content=f"It opens at {hour}.", attribute="shop/opens", observed_at="2026-01-01").id
            for hour in ("eight", "nine")
        ]
        assert memory.get(ids[0]).conflicts_with == (ids[1],)
        memory.erase(ids[1], reason="asked for")
        assert memory.get(ids[0]).conflicts_with == ()
        assert ids[1].encode() not in b"".join(p.read_bytes() for p in (tmp_path / "memories").rglob("*.md"))


def test_a_repetition_in_an_erased_session_is_taken_out_of_what_it_made_surer(tmp_path: Path) -> None:
    with Memory(tmp_path) as memory:
        first = memory.remember(STAYS, evidence=STAYS, session="kept", attribute="me/drink", speaker="Ann")
        memory.ingest_chat([{"role": "user", "text": STAYS, "at": LATER}], session="Zorblatten talk")
        again = memory.remember(STAYS, evidence=STAYS, session="Zorblatten talk", attribute="me/drink")
        assert (again.decision, again.id) == ("reinforced", first.id)
        assert len(memory.get(first.id).evidence) == 2
        memory.erase(session="Zorblatten talk", reason="asked for")
        kept = memory.get(first.id)
        assert (len(kept.evidence), "reinforced_by" in kept.extra) == (1, False)
        assert places_with(tmp_path, ["Zorblatten"]) == []


def test_people_who_say_the_same_never_meet(tmp_path: Path) -> None:
    """Reinforcing, superseding, verifying and erasing stay in a scope; each person's answers are as if alone."""
    with Memory(tmp_path) as memory:
        ids = {user: lived(memory, user) for user in ("ann", "bob")}
        assert not set(ids["ann"].values()) & set(ids["bob"].values())
        with memory.session(user_id="ann", agent_id="bot", session="talk") as session:
            before = told(session, include_history=True)
            with pytest.raises(NotFoundError):
                session.cite(ids["bob"][NEW])
            (others,) = session_files(memory, "agent:bot/bob")
            with pytest.raises(ValueError, match="nothing to be read"):
                session.remember(NEW, evidence=NEW, source=others)
            with pytest.raises(NotFoundError):
                session.erase(source=others, reason="asked for")
            done = session.erase(session="talk", reason="asked for")
            assert set(done.ids) == set(ids["ann"].values())
            assert told(session, include_history=True) == {}
            assert [entry.id for entry in session.log(limit=100).entries] == []
        with memory.session(user_id="bob", agent_id="bot", session="talk") as session:
            assert told(session, include_history=True) == before
            assert session.verify().counts == {"verified": 3}
            assert {entry.id for entry in session.log(limit=100).entries} == set(ids["bob"].values())
        memory.erase(user="bob", reason="asked for")
        assert places_with(tmp_path, ["Quuxvillette", "Zorblatten"]) == []


def session_files(memory: Memory, scope: str) -> list[str]:
    """The transcripts of a scope."""
    folder = memory.root / "sources/chats"
    heads = {path: json.loads(path.read_text().splitlines()[0]) for path in sorted(folder.glob("*.jsonl"))}
    return [str(path.relative_to(memory.root)) for path, head in heads.items() if head.get("scope") == scope]


def test_a_quote_that_was_taken_out_does_not_come_back_by_a_backup_or_an_import(tmp_path: Path) -> None:
    """An observation that lost a quote and kept another stays itself, and is as it was after erasing."""
    root, archive, lines = tmp_path / "store", tmp_path / "one.tar", tmp_path / "lines.jsonl"
    with Memory(root) as memory:
        for session, text in (("a", NEW), ("b", STAYS)):
            memory.ingest_chat([{"role": "user", "text": text}], session=session)
        both = memory.add_observation(
            content="A home and a drink are known.",
            evidence=[{"quote": NEW, "session": "a"}, {"quote": STAYS, "session": "b"}],
        )
        memory.backup(archive)
        memory.export(lines)
        memory.erase(session="a", reason="asked for")
        after = (root / both.path).read_bytes()
        done = memory.import_file(lines)
        assert (done.n_added, done.n_unchanged, done.remapped) == (0, 1, {})
        assert (root / both.path).read_bytes() == after
        memory.restore_backup(archive, force=True)
        assert [(e.quote, e.source) for e in memory.get(both.id).evidence] == [(STAYS, "sources/chats/b.jsonl#turn=0")]
        assert (root / both.path).read_bytes() == after
        assert memory.verify().counts == {"verified": 1}
        assert memory.check().problems == ()
        assert places_with(root, ["Zorblatten"]) == []
        memory.erase(both.id, reason="asked for")
    with Memory(tmp_path / "other") as other:
        other.import_file(lines)
        assert len(other.get(both.id).evidence) == 2

"""Decisions in one scope change nothing of what is proposed in another: names and folders are what both may share."""

from __future__ import annotations

from pathlib import Path

from planted_notes import NOTES, client_notes

from grail_mem import Memory
from grail_mem.memory.session import Session

SPELLED = ("PostgreSQL", "Postgre SQL")
SAME_DAY = {"observed_at": "2026-06-01"}


def filled(session: Session) -> None:
    """A person's notes, the same for everybody: groups of a subject, a name in two spellings, a fact in two spellings."""
    session.add_observations(
        [
            {"content": text, "category": folder, "entities": list(names)}
            for folder, text, names in (*NOTES, *client_notes())
        ]
        + [
            {"content": f"Bill {n} is in {name}.", "category": "bills", "entities": [name, "Acme"]}
            for n, name in enumerate(SPELLED * 4)
        ]
        + [
            {"content": "The gate opens at nine.", "category": "site", "attribute": "site/opening-hours", **SAME_DAY},
            {"content": "The gate opens at ten.", "category": "site", "attribute": "site/opening-hours", **SAME_DAY},
            {"content": "The gate closes at six.", "category": "site", "attribute": "Site/Opening hours", **SAME_DAY},
        ]
    )


def found(session: Session) -> list[tuple[str, str, tuple[str, ...]]]:
    made = session.consolidate()
    titles = {o.id: o.title for o in session.recall(limit=1000).observations}
    told = [(p.kind, p.rationale, tuple(sorted(titles[a.id] for a in p.affected))) for p in made.proposals]
    return [*sorted(told), ("declined", str(made.n_declined), ())]


def test_what_others_wait_for_apply_or_reject_in_their_scope_is_not_felt_in_mine(tmp_path: Path) -> None:
    """The same findings with the same words, whether somebody else has the same notes and decided on them or not."""
    with Memory(tmp_path / "alone", embedder="none") as memory, memory.session(user_id="u1", agent_id="a") as mine:
        filled(mine)
        expected = found(mine)
        assert {kind for kind, *_ in expected} >= {
            "merge_aliases",
            "discover_community",
            "split_folder",
            "canonicalise_attribute",
        }
    with (
        Memory(tmp_path / "both", embedder="none") as memory,
        memory.session(user_id="u1", agent_id="a") as mine,
        memory.session(user_id="u2", agent_id="a") as other,
    ):
        filled(mine)
        filled(other)
        theirs = found(other)
        assert theirs == expected
        waiting = {p.id for p in other.proposals()}
        assert found(mine) == expected
        assert {p.id for p in other.proposals()} == waiting
        assert not waiting & {p.id for p in mine.proposals()}
        other.reject(sorted(waiting), reason="no")
        assert found(mine) == expected
        assert found(other)[:-1] == []
        mine.reject([p.id for p in mine.proposals()], reason="no")
        assert found(mine) == [("declined", found(other)[-1][1], ())]

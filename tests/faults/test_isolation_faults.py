"""What a hostile agent inside a session tried, to read, find out or take away what is not its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from grail_mem import Memory
from grail_mem.errors import AccessError, ConflictError, EvidenceNotFoundError, GrailError, NotFoundError
from grail_mem.memory.session import Session
from grail_mem.store.sources import chat_stem

SECRET = "The merger code of Zanzibar is seven seven three one."
NEAR = "The merger code of Zanzibar is nine"


def opened(memory: Memory) -> Session:
    return memory.session(user_id="u1", agent_id="assistant")


def refused(call: object, *args: object, **values: object) -> str:
    with pytest.raises(GrailError) as caught:
        call(*args, **values)  # type: ignore[operator]
    return str(caught.value)


def test_a_session_named_like_the_file_of_another_scope_opens_no_transcript(tmp_path: Path) -> None:
    """The name of the file that another scope's transcript has is a name like any other, there or not."""
    with Memory(tmp_path) as memory:
        memory.ingest_chat([{"role": "user", "text": SECRET, "id": "1"}], session="talks", scope="user:u2")
        memory.grant("user:u1", "org:store", ["read", "write"])
        names = [chat_stem("talks", "user:u2"), chat_stem("nothing", "user:u2")]
        with opened(memory) as session:
            said = [
                refused(
                    session.add_observation, content=NEAR, scope="org:store", evidence={"quote": NEAR, "session": name}
                ).replace(name, "NAME")
                for name in names
            ]
            assert said[0] == said[1]
            assert "Closest" not in said[0]
            turns = [{"role": "user", "text": "Hello there, my friend.", "id": "2"}]
            made = [session.ingest_chat(turns, session=name, scope="org:store") for name in names]
            assert [one.n_new for one in made] == [1, 1]
            done = session.remember(
                "Hello there, my friend.", evidence="Hello there, my friend.", session=names[0], scope="org:store"
            )
            assert [line.quoted for line in session.cite(done.id).quotes[0].lines] == [True]


def test_what_was_revoked_is_read_by_no_first_call_either(tmp_path: Path) -> None:
    """A verb that has not looked at the ledger since must not answer by a grant that is gone, nor refuse one that is there."""
    with Memory(tmp_path) as memory:
        memory.ingest_chat([{"role": "user", "text": SECRET, "id": "1"}], session="talks", scope="user:u2")
        with opened(memory) as session:
            grant = memory.grant("user:u1", "user:u2", ["read", "write"])
            quote = {"quote": NEAR, "source": f"sources/chats/{chat_stem('talks', 'user:u2')}.jsonl"}
            assert "Closest" in refused(session.add_observation, content=NEAR, evidence=quote)
            memory.revoke(grant.id)
            for verb in (session.submit, session.add_observations):
                assert "Closest" not in refused(verb, [{"content": NEAR, "evidence": quote}])
            again = memory.grant("user:u1", "user:u2", ["read", "write"])
            assert session.add_observation(content="Written by right.", scope="user:u2").created
            memory.revoke(again.id)
            assert "Closest" not in refused(session.remember, NEAR, evidence=NEAR, source=quote["source"])


@pytest.mark.parametrize("quote", [SECRET, NEAR])
def test_no_quote_of_a_revision_tells_what_another_source_says(tmp_path: Path, quote: str) -> None:
    """A quote in a source that may not be read is refused in the same words, whether it stands there or not."""
    with Memory(tmp_path) as memory:
        memory.ingest_chat([{"role": "user", "text": SECRET, "id": "1"}], session="talks", scope="user:u2")
        with opened(memory) as session:
            mine = session.add_observation(content="I wonder about Zanzibar.")
            source = f"sources/chats/{chat_stem('talks', 'user:u2')}.jsonl#turn=0"
            for action, more in (("confirm", {}), ("dispute", {}), ("correct", {"content": "Something else."})):
                with pytest.raises(EvidenceNotFoundError, match="nothing to be read"):
                    session.revise(
                        mine.id, action=action, reason="why not", evidence={"quote": quote, "source": source}, **more
                    )
            assert session.verify().quotes == ()


@pytest.mark.parametrize("ending", ["md", "csv", "txt"])
def test_the_same_document_tells_nothing_of_how_another_scope_keeps_it(tmp_path: Path, ending: str) -> None:
    """Who ingests a text that another scope holds gets the path, the count and the warnings of one who is alone."""
    text = "Confidential: forty people are laid off in June."
    file = tmp_path / f"secret.{ending}"
    file.write_text(text)
    answers = []
    for name in ("alone", "beside"):
        with Memory(tmp_path / name) as memory:
            if name == "beside":
                theirs = memory.ingest_document(file, scope="user:u2")
            with opened(memory) as session:
                answers.append(session.ingest_text(text).to_dict())
                quote = {"quote": "forty people are laid off", "source": answers[0]["source"]}
                assert session.add_observation(content="Forty people are laid off.", evidence=quote).created
                if name == "beside" and ending != "txt":
                    assert "nothing to be read" in refused(
                        session.add_observation, content="Forty.", evidence={**quote, "source": theirs.source}
                    )
            if name == "beside":
                again = memory.ingest_text(text, scope="user:u2")
                assert (again.source, again.n_new) == (theirs.source, 0)
    assert answers[0] == answers[1]


def test_the_right_to_write_takes_nothing_away_from_others(tmp_path: Path) -> None:
    """Into another scope is away from those who are left; that is forgetting, and so is what could be done there after it."""
    with Memory(tmp_path) as memory:
        theirs = memory.add_observation(content="The team meets on Monday.", scope="team:blue")
        grant = memory.grant("user:u1", "team:blue", ["read", "write"])
        with opened(memory) as session:
            for scope in ("private", None, "agent:assistant/u1"):
                with pytest.raises(AccessError, match="forget"):
                    session.update(theirs.id, scope=scope)
            assert memory.get(theirs.id).scope == "team:blue"
            assert session.update(theirs.id, scope="team:blue", title="Monday").changed
            memory.revoke(grant.id)
            memory.grant("user:u1", "team:blue", ["read", "write", "forget"])
            assert session.update(theirs.id, scope="private").changed


def test_a_scope_that_may_not_be_written_is_what_a_refusal_names(tmp_path: Path) -> None:
    """An observation that a session reads is not called missing because of where it was to go; what it cannot read is."""
    with Memory(tmp_path) as memory:
        memory.grant("user:u1", "org:store", ["read", "write", "forget"])
        seen = memory.add_observation(content="Seen by all.")
        unseen = memory.add_observation(content="Seen by one.", scope="user:u2")
        with memory.session(user_id="u1", agent_id="a") as session:
            with pytest.raises(AccessError, match="may not write in the scope user:u2"):
                session.update(seen.id, scope="user:u2")
            for scope in ("user:u2", "org:store", "agent:a/u1"):
                with pytest.raises(NotFoundError):
                    session.update(unseen.id, scope=scope)


def test_what_was_erased_stays_away_under_either_name_of_the_default_scope(tmp_path: Path) -> None:
    """Whoever names the default scope says it where it was erased."""
    for first, then in ((None, "org:store"), ("org:store", None)):
        with Memory(tmp_path / str(first)) as memory:
            made = memory.add_observation(content="The key is under the mat.", scope=first)
            memory.erase(made.id, reason="not for anybody")
            with pytest.raises(ConflictError, match="erased"):
                memory.add_observation(content="The key is under the mat.", scope=then)
            assert memory.add_observation(content="The key is under the mat.", scope="team:blue").created

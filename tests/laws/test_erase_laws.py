"""Laws of erasing: what a dry run says is what happens, nothing else changes, and it does not come back."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from every_byte import digests
from hypothesis import given
from hypothesis import strategies as st
from laws_strategies import bodies, categories, examples, lines, tags

from grail_mem import ConflictError, Memory, NotFoundError

SESSIONS = ["s", "S", "s ", "chat/1", "chat/10"]
SPEAKERS = ["Ann", "ann", "Bob"]
SOURCES = ["review", "review#2", "mail", "sources/a.jsonl#turn=1"]
SCOPES = ["user:u1", "user:u10", "agent:a/u1", "agent:a/u10", "project:p"]

drafts = st.fixed_dictionaries(
    {"title": lines, "content": bodies, "category": categories},
    optional={
        "tags": st.lists(tags, max_size=2), "session": st.sampled_from(SESSIONS), "speaker": st.sampled_from(SPEAKERS),
        "source": st.sampled_from(SOURCES), "scope": st.sampled_from(SCOPES),
    },
)  # fmt: skip
conditions = st.dictionaries(
    st.sampled_from(["session", "speaker", "source", "scope", "user"]), st.integers(0, 4), min_size=1, max_size=2
)
VALUES = {
    "session": SESSIONS, "speaker": SPEAKERS, "source": ["review", "sources/a.jsonl", "mail"], "scope": SCOPES,
    "user": ["u1", "u10", "u"],
}  # fmt: skip


def is_meant(draft: dict[str, Any], chosen: dict[str, str]) -> bool:
    """What the conditions mean, said once more and more slowly."""
    scope = draft.get("scope", "org:store")
    users = {scope.partition(":")[2].rpartition("/")[2]} if scope.startswith(("user:", "agent:")) else set()
    holds = {
        "session": draft.get("session", "\0").strip() == chosen.get("session", "").strip(),
        "speaker": draft.get("speaker", "\0").casefold() == chosen.get("speaker", "").casefold(),
        "source": chosen.get("source") in (draft.get("source"), draft.get("source", "").partition("#")[0]),
        "scope": scope == chosen.get("scope"),
        "user": chosen.get("user") in users,
    }
    return all(holds[name] for name in chosen)


@pytest.mark.slow
@examples(25)
@given(st.lists(drafts, min_size=1, max_size=8), conditions, st.booleans(), st.data())
def test_what_a_dry_run_says_happens_and_nothing_else(
    made: list[dict[str, Any]], asked: dict[str, int], compacted: bool, data: st.DataObject
) -> None:
    root = Path(tempfile.mkdtemp())
    try:
        with Memory(root) as memory:
            written = [(draft, memory.add_observation(**draft)) for draft in made]
            there = {one.id: draft for draft, one in written if one.created}
            ids = sorted(there)
            for id_ in data.draw(st.lists(st.sampled_from(ids), max_size=2, unique=True)):
                memory.update(id_, related_to=[data.draw(st.sampled_from(ids))])
            if compacted:
                memory.compact()
            for id_ in data.draw(st.lists(st.sampled_from(ids), max_size=1)):
                memory.hide(id_)
            chosen = {name: VALUES[name][number % len(VALUES[name])] for name, number in asked.items()}
            meant = {id_ for id_, draft in there.items() if is_meant(draft, chosen)}
            before = digests(root / "memories")
            if not meant:
                for dry_run in (True, False):
                    try:
                        memory.erase(**chosen, reason="asked", dry_run=dry_run)
                        raise AssertionError(chosen)
                    except NotFoundError:
                        assert digests(root / "memories") == before
                return
            planned = memory.erase(**chosen, reason="asked", dry_run=True)
            assert digests(root / "memories") == before
            done = memory.erase(**chosen, reason="asked")
            assert set(done.ids) == meant
            assert done.to_dict() == planned.to_dict() | {"dry_run": False}
            after = digests(root / "memories")
            paths = {path.removeprefix("memories/") for path in done.files}
            edited = {path.removeprefix("memories/") for path in done.edited}
            assert before.keys() - after.keys() == paths
            assert {path for path in after if after[path] != before[path]} == edited
            assert sum(len(before[path]) for path in paths) == done.n_bytes
            assert not any(id_.encode() in text for id_ in meant for text in after.values())
            answer = [o.to_dict() for o in memory.recall(limit=100).observations]
            assert not meant & {o["id"] for o in answer}
            memory.rebuild()
            assert [o.to_dict() for o in memory.recall(limit=100).observations] == answer
            assert not [p for p in memory.check().problems if p.code == "erased_came_back"]
            for path in paths:  # git puts them back
                (root / "memories" / path).parent.mkdir(parents=True, exist_ok=True)
                (root / "memories" / path).write_bytes(before[path])
            found = [p.where for p in memory.sync().problems if p.code == "erased_came_back"]
            assert sorted(found) == sorted(done.files)
            assert [o.to_dict() for o in memory.recall(limit=100).observations] == answer
            for id_ in meant - done.still_said.keys():
                draft = {name: there[id_][name] for name in ("title", "content", "scope") if name in there[id_]}
                try:
                    memory.add_observation(**draft)
                    raise AssertionError(draft)
                except ConflictError:
                    pass
                again = memory.add_observation(**draft, again=True)
                assert again.created == (again.id not in there)
    finally:
        shutil.rmtree(root)

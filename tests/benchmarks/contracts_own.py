"""The cases of `contracts.py` for grail_mem; its verbs alone, and `not offered` where this version has none."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parent)]

from contracts_protocol import NotOffered, run

import grail_mem
from grail_mem import Memory
from grail_mem.errors import GrailError

KINDS = {"agent": "agent_inference", "tool": "tool_result", None: "user_statement"}
MARK, HEAD = "</observation>", "## Facts and preferences"


class Own:
    """A store with a session for every user that a step names."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._memory = Memory(root)
        self._sessions: dict[str, Any] = {}
        self._ids: dict[str, str] = {}
        self._sources: dict[str, str] = {}

    def close(self) -> None:
        for session in self._sessions.values():
            session.close()
        self._memory.close()

    def _for(self, user: str | None) -> Any:
        if user is None:
            return self._memory
        if user not in self._sessions:
            self._sessions[user] = self._memory.session(user_id=user, agent_id="assistant")
        return self._sessions[user]

    def do_tell(self, label: str, text: str, at: str, topic: str, key: str | None = None, by: str | None = None,
                origin: str | None = None, user: str | None = None, confidence: float | None = None, title: str | None = None,
                until: str | None = None, replaces: str | None = None) -> dict[str, Any]:  # fmt: skip
        """The attribute says what it may replace; `replaces` is of no need."""
        done = self._for(user).add_observation(
            content=text, title=title, category=topic, observed_at=at, attribute=key, source=by, speaker=by,
            source_kind=KINDS[origin], confidence=confidence, valid_until=until,
        )  # fmt: skip
        self._ids[label] = done.id
        return {"id": done.id, "created": done.created, "decision": getattr(done, "decision", None)}

    def do_tell_mark(self, text: str, **fields: Any) -> dict[str, Any]:
        return self.do_tell(text=text.replace("{MARK}", MARK).replace("{HEAD}", HEAD), **fields)

    def do_ask(self, question: str, topic: str | None, user: str | None = None, as_of: str | None = None,
               since: str | None = None) -> dict[str, Any]:  # fmt: skip
        found = self._for(user).search(question, as_of=as_of, since=since)
        said = found.abstention
        return {
            "text": found.text, "items": [o.content for o in found.observations], "reason": said.reason if said else None,
            "silent": said is not None,
            "conflict": " disputed=" in found.text, "flagged": " flagged=" in found.text, "cites": " evidence=" in found.text,
            "origin": " source_kind=" in found.text, "marks": found.text.count(MARK), "head_fenced": _is_inside(found.text, HEAD),
        }  # fmt: skip

    def do_history(self, topic: str, key: str, user: str | None = None) -> dict[str, Any]:
        found = self._for(user).recall(attribute=key, include_history=True).observations
        ended = [o.content for o in found if o.status in ("superseded", "archived") or o.valid_until]
        return {"items": [o.content for o in found], "text": "\n".join(o.content for o in found), "ended": ended}

    def do_listing(self, user: str | None = None) -> dict[str, Any]:
        whose = self._for(user)
        rows = whose.sql("select * from observations").to_pylist()
        names = [whose.list_entities().to_dict(), whose.list_categories().to_dict(), whose.list_tags().to_dict()]
        return {"text": "\n".join([*(str(row["content"]) for row in rows), *map(str, rows), *map(str, names)])}

    def do_count(self, user: str | None = None) -> dict[str, Any]:
        return {"count": self._for(user).sql("select count(*) as n from observations").to_pylist()[0]["n"]}

    def do_confidence(self, text: str) -> dict[str, Any]:
        found = list(self._memory.recall(text=text).observations)
        return {
            "confidence": max((o.confidence for o in found), default=None),
            "authors": sorted({o.speaker or "" for o in found}),
        }

    def do_forget(self, label: str, user: str | None = None) -> dict[str, Any]:
        whose = self._for(user)
        verb = getattr(whose, "erase", None)
        if verb is None:
            raise NotOffered("this version hides and does not erase")
        return {"done": str(verb(self._ids[label], reason="asked for"))[:300]}

    def do_rebuild(self) -> dict[str, Any]:
        self._memory.sync()
        self._memory.rebuild()
        return {}

    def do_claim(self, label: str, claim: str, quote: str, source: str | None, topic: str, key: str) -> dict[str, Any]:
        if not hasattr(self._memory, "remember"):
            raise NotOffered("this version keeps quotes and does not check them")
        place = "sources/documents/nowhere.md"
        if source is not None:
            kept = self._memory.ingest_text(source)
            place = getattr(kept, "source", None) or kept.path
            self._sources[label] = place
        try:
            done = self._memory.remember(
                claim, evidence={"quote": quote, "source": place}, attribute=key, category=topic
            )
        except GrailError as refused:
            return {"accepted": False, "why": f"{type(refused).__name__}: {refused}"}
        self._ids[label] = done.id
        return {"accepted": True, "id": done.id}

    def do_forget_source(self, label: str) -> dict[str, Any]:
        if not hasattr(self._memory, "erase"):
            raise NotOffered("this version hides and does not erase")
        place = self._sources.get(label)
        if place is None:
            raise NotOffered("the claim was not stored with a source")
        return {"done": str(self._memory.erase(source=place, reason="asked for"))[:300]}

    def do_remove_derived(self) -> dict[str, Any]:
        import shutil

        shutil.rmtree(self.root / "output", ignore_errors=True)
        return {}

    def do_hand_edit(self, old: str, new: str) -> dict[str, Any]:
        files = [f for f in (self.root / "memories").rglob("*.md") if old in f.read_text()]
        for file in files:
            file.write_text(file.read_text().replace(old, new))
        self._memory.sync()
        return {"files": len(files)}


def _is_inside(text: str, line: str) -> bool:
    """Whether a line stands nowhere but between the tags of an observation."""
    inside = False
    for said in text.splitlines():
        if said == line and not inside:
            return False
        inside = said.startswith("<observation ") or (inside and said != MARK)
    return True


def burst(root: Path, texts: list[str]) -> None:
    with Memory(root) as memory:
        for text in texts:
            memory.add_observation(content=text, category="harbour")
            print(text, flush=True)


if __name__ == "__main__":
    run(Own, burst, {"grail_mem": grail_mem.__version__})

"""The cases of `contracts.py` for citefold; its public verbs, with no hosted model.

A statement is ingested as a message of its author, and proposed as a record under its claim key by whoever runs the agent, who
approves it, as `citefold`'s own pages show. A step that says what it replaces is a correction of that record.
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from citefold import Citefold, MemoryScope
from contracts_protocol import NotOffered, run

MARK, HEAD = "## Claim Citations", "coverage: supported"


def _scope(user: str | None) -> MemoryScope:
    return MemoryScope(
        tenant_id="acme", user_id=user or "owner", namespace="work", agent_id="assistant", session_id="s1"
    )


class Cited:
    """One root; the clock is set to the day that a step is told for."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._now = datetime(2026, 6, 1, tzinfo=UTC)
        self._memory = Citefold(root, clock=lambda: self._now)
        self._records: dict[str, str] = {}
        self._seen: dict[str, str] = {}

    def close(self) -> None:
        """Nothing is held open."""

    def do_tell(self, label: str, text: str, at: str, topic: str, key: str | None = None, by: str | None = None,
                origin: str | None = None, user: str | None = None, confidence: float | None = None, title: str | None = None,
                until: str | None = None, replaces: str | None = None) -> dict[str, Any]:  # fmt: skip
        if until is not None:
            raise NotOffered("a record is given no end when it is written")
        scope = _scope(user)
        self._now = datetime.fromisoformat(at).replace(tzinfo=UTC)
        try:
            if replaces is not None and replaces in self._records:
                record = self._memory.correct(scope, self._records[replaces], text, reason="changed")
                self._records[label] = record.record_id
                self._seen[label] = record.evidence_refs[0]
                return {"record": record.record_id}
            role = {"agent": "assistant", "tool": "tool", None: "user"}[origin]
            kept = self._memory.ingest_text(scope, text, source=by or "chat", metadata={"role": role})
            self._seen[label] = f"observation:{kept.observation_ids[0]}"
            return self._record(scope, label, text, [self._seen[label]], key or f"{topic}/{label}", confidence)
        finally:
            self._now = datetime(2026, 6, 1, tzinfo=UTC)

    def _record(
        self, scope: MemoryScope, label: str, text: str, refs: list[str], key: str, confidence: float | None
    ) -> dict[str, Any]:
        proposal = {"memory_type": "semantic", "content": text, "evidence_refs": refs, "claim_key": key,
                    "confidence": 0.9 if confidence is None else confidence}  # fmt: skip
        candidate = self._memory.consolidate(scope, [proposal])[0]
        done = self._memory.approve_candidate(scope, candidate.candidate_id)
        records = self._memory.list_records(scope)
        self._records[label] = next((r["record_id"] for r in records if r["content"] == text), "")
        return {"candidate": candidate.candidate_id, "status": done.status, "record": self._records[label]}

    def do_tell_mark(self, text: str, **fields: Any) -> dict[str, Any]:
        return self.do_tell(text=text.replace("{MARK}", MARK).replace("{HEAD}", HEAD), **fields)

    def do_ask(self, question: str, topic: str | None, user: str | None = None, as_of: str | None = None,
               since: str | None = None) -> dict[str, Any]:  # fmt: skip
        if as_of is not None or since is not None:
            raise NotOffered("recall takes no time")
        pack = self._memory.recall(_scope(user), question)
        records = [*pack.confirmed, *pack.user_reported, *pack.preferences, *pack.open_tasks, *pack.procedures]
        text = pack.markdown
        return {
            "text": text, "items": [r["content"] for r in records] or [n.node_id for n in pack.selected_nodes],
            "silent": pack.coverage == "none", "reason": pack.unknowns or None,
            "conflict": bool(pack.conflicts), "cites": bool(pack.citations), "origin": "## User Reported" in text or "## Confirmed" in text,
            "marks": text.splitlines().count(MARK), "marks_right": 1, "head_fenced": text.splitlines().count(HEAD) <= (pack.coverage == "supported"),
        }  # fmt: skip

    def do_history(self, topic: str, key: str, user: str | None = None) -> dict[str, Any]:
        found = [r for r in self._memory.list_records(_scope(user), include_inactive=True) if r["claim_key"] == key]
        ended = [r["content"] for r in found if r["status"] != "active" or r["valid_to"]]
        return {"items": [r["content"] for r in found], "text": "\n".join(map(str, found)), "ended": ended}

    def do_listing(self, user: str | None = None) -> dict[str, Any]:
        scope = _scope(user)
        records = self._memory.list_records(scope)
        stories = self._memory.recall(scope, " ".join(r["content"] for r in records)[:400] or "note").markdown
        return {
            "text": "\n".join(
                [
                    *(r["content"] for r in records),
                    *map(str, records),
                    *map(str, self._memory.list_candidates(scope)),
                    stories,
                ]
            )
        }

    def do_count(self, user: str | None = None) -> dict[str, Any]:
        return {"count": len(self._memory.list_records(_scope(user)))}

    def do_confidence(self, text: str) -> dict[str, Any]:
        found = [r for r in self._memory.list_records(_scope(None)) if text in r["content"]]
        return {
            "confidence": max((r["confidence"] for r in found), default=None),
            "strength": [r["access_strength"] for r in found],
        }

    def do_forget(self, label: str, user: str | None = None) -> dict[str, Any]:
        return self._memory.forget(_scope(user), self._seen[label], hard=True)

    def do_rebuild(self) -> dict[str, Any]:
        return {"done": str(self._memory.rebuild(_scope(None)))[:200]}

    def do_claim(self, label: str, claim: str, quote: str, source: str | None, topic: str, key: str) -> dict[str, Any]:
        """Evidence is a reference to a whole observation; there is no quote to give, so one that is nowhere cannot be told."""
        if source is not None and quote.lower() not in source.lower():
            raise NotOffered("evidence is a whole message; a quote cannot be given")
        scope, ref = _scope(None), "observation:obs_000000000000000000000000"
        if source is not None:
            ref = f"observation:{self._memory.ingest_text(scope, source, source='chat').observation_ids[0]}"
            self._seen[label] = ref
        try:
            return {
                "accepted": True,
                **self._record(scope, label, claim, [ref], key, None),
                "note": "approved by the host; support is not checked",
            }
        except ValueError as refused:
            return {"accepted": False, "why": f"{type(refused).__name__}: {refused}"}

    def do_forget_source(self, label: str) -> dict[str, Any]:
        return self.do_forget(label)

    def do_remove_derived(self) -> dict[str, Any]:
        removed = [
            f
            for f in self.root.rglob("*")
            if f.is_file() and (f.suffix in (".sqlite", ".sqlite3", ".db") or f.name.endswith(("-wal", "-shm")))
        ]
        for file in removed:
            file.unlink()
        return {"removed": len(removed)}

    def do_hand_edit(self, old: str, new: str) -> dict[str, Any]:
        raise NotOffered("the ledgers are the truth; files for people are made of them")


def burst(root: Path, texts: list[str]) -> None:
    memory = Citefold(root)
    for number, text in enumerate(texts):
        scope = _scope(None)
        kept = memory.ingest_text(scope, text, source="chat")
        proposal = {"memory_type": "semantic", "content": text, "evidence_refs": [f"observation:{kept.observation_ids[0]}"],
                    "claim_key": f"harbour/{text}/{number}", "confidence": 0.9}  # fmt: skip
        memory.approve_candidate(scope, memory.consolidate(scope, [proposal])[0].candidate_id)
        print(text, flush=True)


if __name__ == "__main__":
    run(Cited, burst, {"citefold": version("citefold")})

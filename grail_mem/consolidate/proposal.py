"""A proposal: a finding as it waits for a decision, how it is written, and how it is read back with nothing believed.

Knows nothing of where proposals lie and of who decides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from json import dumps
from typing import Any, Final

from grail_mem.consolidate.changes import ids_in, problems_of
from grail_mem.consolidate.finding import Quote
from grail_mem.errors import InputError
from grail_mem.model.ulid import is_id

STATUSES: Final = ("pending", "stale", "applied", "rejected", "undone")
"""What a proposal is: waiting; waiting, but what it rests on changed; or as somebody decided."""


@dataclass(frozen=True, slots=True)
class Affected:
    """An observation as it was when the proposal was made: its file and the digest of the file's bytes."""

    id: str
    path: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks for a proposal.

    Attributes:
        figures: Figures by name.
        quotes: Observations with the words that count.
    """

    figures: Mapping[str, Any] = field(default_factory=dict)
    quotes: tuple[Quote, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The evidence as plain JSON values."""
        quotes = [{"id": q.id, "text": q.text, **({"note": q.note} if q.note else {})} for q in self.quotes]
        return {"figures": dict(self.figures), "observations": quotes}


@dataclass(frozen=True, slots=True)
class Proposal:
    """One suggestion that waits for a decision, or had one.

    Attributes:
        id: Its ULID.
        kind: What sort of suggestion it is; see docs/concepts/consolidation.md.
        confidence: How likely a person would accept it, 0 to 1.
        rationale: One plain sentence.
        payload: What it says, by kind.
        changes: What applying does, in order.
        evidence: What speaks for it.
        affected: The observations it would change or rests on, as they were.
        fingerprint: 16 hex digits of what it is about, the same in every run.
        grounds: What it rests on, as codes and numbers.
        pairs: Digests of the pairs of things that it takes for the same.
        created_at: When it was made, `2026-06-02T14:23:00Z`.
        again: What is different from the time it was rejected; empty when it never was.
        status: One of `STATUSES`.
        decided: Who decided, when and why; empty as long as nobody did.
        stale: What changed since it was made; empty when nothing did.
        conflicts: Other waiting proposals that touch an observation it changes.
    """

    id: str
    kind: str
    confidence: float
    rationale: str
    payload: Mapping[str, Any]
    changes: tuple[Mapping[str, Any], ...]
    evidence: Evidence
    affected: tuple[Affected, ...]
    fingerprint: str
    grounds: Mapping[str, str | int | float]
    pairs: tuple[str, ...]
    created_at: str
    again: tuple[str, ...] = ()
    status: str = "pending"
    decided: Mapping[str, str] = field(default_factory=dict)
    stale: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()

    @property
    def changed_ids(self) -> tuple[str, ...]:
        """The observations that applying it changes."""
        return tuple(ids_in(self.changes))

    def to_dict(self) -> dict[str, Any]:
        """The proposal as plain JSON values, status and all."""
        return written(self) | {
            "status": self.status, "decided": dict(self.decided), "stale": list(self.stale),
            "conflicts": list(self.conflicts),
        }  # fmt: skip


def digest_of(grounds: Mapping[str, Any]) -> str:
    """16 hex digits of what a finding rests on."""
    return blake2b(dumps(dict(grounds), sort_keys=True).encode(), digest_size=8).hexdigest()


def written(proposal: Proposal) -> dict[str, Any]:
    """A proposal as it stands in a file of proposals: without what the ledger says of it."""
    return {
        "id": proposal.id, "kind": proposal.kind, "confidence": proposal.confidence, "rationale": proposal.rationale,
        "payload": dict(proposal.payload), "changes": [dict(change) for change in proposal.changes],
        "evidence": proposal.evidence.to_dict(),
        "affected": [{"id": a.id, "path": a.path, "sha256": a.sha256} for a in proposal.affected],
        "fingerprint": proposal.fingerprint, "grounds": dict(proposal.grounds), "pairs": list(proposal.pairs),
        "created_at": proposal.created_at, **({"again": list(proposal.again)} if proposal.again else {}),
    }  # fmt: skip


def read_proposal(value: object) -> Proposal:
    """A proposal from one item of a file of proposals, which anybody may have written.

    Raises:
        InputError: It cannot be used; `problems` lists every reason.
    """
    problems = _problems(value)
    if problems or not isinstance(value, Mapping):
        raise InputError("This is no proposal: " + "; ".join(problems) + ".", problems=problems)
    evidence = value.get("evidence") or {}
    quotes = tuple(Quote(q["id"], q["text"], q.get("note", "")) for q in evidence.get("observations", ()))
    return Proposal(
        value["id"], value["kind"], float(value["confidence"]), value["rationale"], value["payload"],
        tuple(value["changes"]), Evidence(evidence.get("figures") or {}, quotes),
        tuple(Affected(a["id"], a["path"], a["sha256"]) for a in value["affected"]), value["fingerprint"],
        value.get("grounds") or {}, tuple(value.get("pairs") or ()), value["created_at"], tuple(value.get("again") or ()),
    )  # fmt: skip


def _problems(value: object) -> list[str]:
    if not isinstance(value, Mapping):
        return [f"it must be a mapping, not {type(value).__name__}"]
    found = [f"{name} {reason}" for name, wrong in _FIELDS.items() if (reason := wrong(value.get(name)))]
    if isinstance(changes := value.get("changes"), list):
        found += [reason for change in changes for reason in problems_of(change)]
        if not found:
            known = {item["id"] for item in value["affected"]}
            found += [f"changes {id_}, which is not among the affected" for id_ in ids_in(changes) if id_ not in known]
    return found


def _line(value: object) -> str:
    return "" if isinstance(value, str) and value.strip() else f"must be text, not {value!r}"


def _share(value: object) -> str:
    right = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
    return "" if right else f"must be a number from 0 to 1, not {value!r}"


def _mapping(value: object) -> str:
    return "" if isinstance(value, Mapping) else "must be a mapping"


def _hex(value: object) -> str:
    right = isinstance(value, str) and len(value) == 16 and not set(value) - set("0123456789abcdef")  # noqa: PLR2004  as `Finding.fingerprint` makes it
    return "" if right else f"must be 16 hex digits, not {value!r}"


def _items(needed: Mapping[str, type], least: int = 0) -> Callable[[object], str]:
    def wrong(value: object) -> str:
        if not isinstance(value, Sequence) or isinstance(value, str) or len(value) < least:
            return f"must be a list{' that is not empty' if least else ''}"
        bad = [item for item in value if not _has(item, needed)]
        return f"holds {bad[0]!r}, which lacks one of {', '.join(needed)}" if bad else ""

    return wrong


def _has(item: object, needed: Mapping[str, type]) -> bool:
    if not isinstance(item, Mapping):
        return False
    return all(isinstance(item.get(name), kind) for name, kind in needed.items()) and is_id(item.get("id"))


def _evidence(value: object) -> str:
    if value is None:
        return ""
    if not isinstance(value, Mapping) or _mapping(value.get("figures", {})):
        return "must be a mapping with figures and observations"
    return _items({"id": str, "text": str})(value.get("observations", []))


def _texts(value: object) -> str:
    if value is None or (isinstance(value, list) and all(isinstance(item, str) for item in value)):
        return ""
    return "must be a list of texts"


def _changes(value: object) -> str:
    return "" if isinstance(value, list) and value else "must be a list that is not empty"


_FIELDS: Final[Mapping[str, Callable[[object], str]]] = {
    "id": lambda value: "" if is_id(value) else f"must be a ULID, not {value!r}",
    "kind": _line, "confidence": _share, "rationale": _line, "payload": _mapping, "changes": _changes,
    "evidence": _evidence, "affected": _items({"id": str, "path": str, "sha256": str}), "fingerprint": _hex,
    "grounds": lambda value: "" if value is None else _mapping(value), "pairs": _texts, "created_at": _line, "again": _texts,
}  # fmt: skip
"""Why a field of a proposal cannot be used, by name; empty when it can."""

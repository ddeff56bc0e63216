"""A store of Citefold: what was observed, and the records that were concluded from it, with their versions.

Read from its ledgers; what it deleted, and candidates that nobody approved, are not taken. Knows nothing of the store that
takes it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from grail_mem.errors import InputError
from grail_mem.keep.foreign.place import Place
from grail_mem.keep.foreign.said import Said, draft, id_of, scope_of, skip, text
from grail_mem.keep.foreign.streamed import MAX_PIECE, READING

KIND: Final = "citefold"
MARK: Final = "citefold-store.json"
_LEDGER: Final = re.compile(r"^(tenants/[^/]+/users/[^/]+/namespaces/([^/]+))/ledgers/(\w+)\.jsonl$")
_WHO: Final = {
    "user_reported": "user_statement", "user_correction": "user_statement", "confirmed": "user_statement", "tool_output": "tool_result",
    "agent_output": "agent_inference", "third_party_agent": "agent_inference", "model_generated": "agent_inference",
    "model_observation": "agent_inference",
}  # fmt: skip
_KINDS: Final = {
    "semantic": "semantic",
    "episodic": "episodic",
    "procedural": "procedural",
    "prospective": "prospective",
}
_STATUSES: Final = {"superseded": "superseded", "archived": "archived"}

Lines = list[tuple[str, dict[str, Any]]]


def read(place: Place) -> Iterator[Said]:
    """Observations and records as drafts, and everything that is none."""
    scopes: dict[str, dict[str, Lines]] = {}
    for name in sorted(place.files):
        if found := _LEDGER.match(name):
            lines, odd = _lines(place, name)
            scopes.setdefault(found[1], {})[found[3]] = lines
            yield from odd
    for root, ledgers in scopes.items():
        yield from _scope(root.rpartition("/")[2], ledgers)
    n_assets = sum("/assets/" in name for name in place.files)
    if n_assets:
        yield skip("assets", "", f"{n_assets} files of assets are not taken; what was read in them is")


def _lines(place: Place, name: str) -> tuple[Lines, list[Said]]:
    lines: Lines = []
    odd: list[Said] = []
    try:
        with place.open(name) as file:
            number = 0
            while line := file.readline(MAX_PIECE):
                number += 1
                where = f"{name}, line {number}"
                try:
                    value = json.loads(line) if line.strip() else None
                except (ValueError, RecursionError):
                    value = "odd"
                if isinstance(value, dict):
                    lines.append((where, value))
                elif value is not None:
                    odd.append(skip(where, "", "the line is no JSON object"))
    except READING as error:
        odd.append(skip(name, "", f"it cannot be read: {error}"))
    return lines, odd


def _scope(namespace: str, ledgers: Mapping[str, Lines]) -> Iterator[Said]:
    deleted = {text(value.get("target_ref")).rpartition(":")[2] for _, value in ledgers.get("deletions", ())}
    deleted |= {
        text(value.get("observation_id"))
        for _, value in ledgers.get("observations", ())
        if text(value.get("asset_id")) in deleted
    }
    told: dict[str, str] = {}
    for where, value in ledgers.get("observations", ()):
        made = _observation(where, namespace, value, deleted)
        yield made
        if not made.reason:
            told[text(value.get("observation_id"))] = id_of(
                KIND, text(value.get("observation_id")), made.fields["content"]
            )
    yield from _records(namespace, ledgers, deleted, told)
    for where, value in _latest(ledgers.get("candidates", ()), "candidate_id"):
        if value.get("status") not in ("approved", "active"):
            yield skip(where, value.get("content"), "a candidate that nobody approved")


def _latest(lines: Any, key: str) -> Lines:
    """The last line of each id."""
    return list({text(value.get(key)): (where, value) for where, value in lines}.values())


def _observation(where: str, namespace: str, value: Mapping[str, Any], deleted: set[str]) -> Said:
    id_, said = text(value.get("observation_id")), text(value.get("content"))
    if not id_ or not said:
        return skip(where, id_, "the observation holds no text")
    if id_ in deleted:
        return skip(where, id_, "it was deleted there")
    told = value.get("metadata")
    told = told if isinstance(told, dict) else {}
    return _draft(
        where, namespace, id_, said, value, kind="episodic", observed_at=text(value.get("created_at")),
        speaker=text(told.get("role")), source=text(told.get("source")),
    )  # fmt: skip


def _records(
    namespace: str, ledgers: Mapping[str, Lines], deleted: set[str], told: Mapping[str, str]
) -> Iterator[Said]:
    """The records as their last revisions leave them."""
    found: dict[str, tuple[str, dict[str, Any]]] = {}
    for where, value in ledgers.get("records", ()):
        found[text(value.get("record_id"))] = (where, value)
    for where, revision in ledgers.get("revisions", ()):
        states = [state for name in ("previous_record", "record") if isinstance(state := revision.get(name), dict)]
        if not states:
            yield skip(where, "", "the revision holds no record")
        for state in states:
            found[text(state.get("record_id"))] = (where, state)
    ids = {id_: id_of(KIND, id_, text(value.get("content"))) for id_, (_, value) in found.items()}
    for id_, (where, value) in found.items():
        yield _record(where, namespace, id_, value, deleted, ids, told)


def _record(
    where: str,
    namespace: str,
    id_: str,
    value: Mapping[str, Any],
    deleted: set[str],
    ids: Mapping[str, str],
    told: Mapping[str, str],
) -> Said:
    said, status = text(value.get("content")), text(value.get("status"))
    refs = value.get("evidence_refs")
    evidence = [text(ref).rpartition(":")[2] for ref in (refs if isinstance(refs, list) else ())]
    if not id_ or not said:
        return skip(where, id_, "the record holds no text")
    if (
        id_ in deleted
        or status in ("deleted", "invalidated", "forgotten")
        or (evidence and deleted.issuperset(evidence))
    ):
        return skip(where, id_, "it was deleted there")
    return _draft(
        where, namespace, id_, said, value, kind=_KINDS.get(text(value.get("memory_type")), "semantic"),
        observed_at=text(value.get("observed_at")), valid_from=text(value.get("valid_from")),
        valid_until=text(value.get("valid_to")), status=_STATUSES.get(status, ""),
        supersedes=ids.get(text(value.get("supersedes_id")), ""),
        related_to=[told[ref] for ref in dict.fromkeys(evidence) if ref in told], source="citefold",
    )  # fmt: skip


def _draft(where: str, namespace: str, id_: str, said: str, value: Mapping[str, Any], **fields: Any) -> Said:
    scope, confidence = value.get("scope"), value.get("confidence")
    scope = scope if isinstance(scope, dict) else {}
    try:
        owner = scope_of(scope.get("user_id"))
    except InputError as error:
        return skip(where, id_, error.message)
    return draft(
        KIND, where, id_, said, origin=id_, category=f"imported/{KIND}", tags=[namespace], scope=owner,
        session=text(scope.get("session_id")), source_kind=_WHO.get(text(value.get("source_origin"))),
        confidence=confidence if isinstance(confidence, int | float) and 0 <= confidence <= 1 else None, **fields,
    )  # fmt: skip

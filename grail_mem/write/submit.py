"""Submitting candidates: drafts are checked like any other and wait, each in a file of its own.

Knows nothing of how they are decided.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from grail_mem.errors import InputError
from grail_mem.model.observation import Observation, fingerprints
from grail_mem.model.problem import Gather
from grail_mem.model.times import format_time
from grail_mem.query.view import View
from grail_mem.store.files import translated
from grail_mem.store.layout import candidate_path
from grail_mem.store.ledger_line import SUBMIT, Entry
from grail_mem.store.observation_render import render_observation
from grail_mem.write.candidates import ORIGINS, Told, told
from grail_mem.write.evidence import CAPS, capped, with_evidence
from grail_mem.write.permit import for_caller
from grail_mem.write.receipts import blocks
from grail_mem.write.screening import quoting_no_secret
from grail_mem.write.staged import Placing, discard, make_durable, place, stage, staging, writing
from grail_mem.write.validate import Draft, make_observation, read_draft


@dataclass(frozen=True, slots=True)
class Submitted:
    """What became of one submission.

    Attributes:
        id: The candidate; the one that says the same when there is one, and the id that was erased when the same was.
        created: False when the same was submitted before, or erased.
        status: `pending`, or what was decided on the same before.
        warnings: What was adjusted or is worth knowing.
    """

    id: str
    created: bool = True
    status: str = "pending"
    warnings: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """The result as plain JSON values."""
        return {"id": self.id, "created": self.created, "status": self.status, "warnings": list(self.warnings)}


def submit(view: View, drafts: Sequence[Mapping[str, Any]], *, origin: object, actor: str) -> list[Submitted]:
    """Suggest observations; none of them counts until it is approved.

    Args:
        view: The store.
        drafts: Mappings with the arguments of `add_observation`, and `evidence`.
        origin: Where they come from: one of `ORIGINS`.
        actor: Who suggests them.

    Raises:
        InputError: One or more cannot be used, or a quote stands nowhere; `problems` lists every reason. None was stored.
        AccessError: The caller may not propose there.
    """
    made = checked(view, drafts, origin)
    if not made:
        return []
    with staging(view.layout) as staging_fd, translated("store the candidates", view.layout.root):
        with writing(view):
            view.catch_up()
            known = {print_: one for one in told(view).values() if (print_ := one.print_)}
            results: list[Submitted] = []
            new: dict[str, Observation] = {}
            for o, warnings in made:
                view.access.require("propose", o.scope)
                print_, *others = (f"{one:016x}" for one in fingerprints(o, view.access.default_scope))
                there = next((known[one] for one in (print_, *others) if one in known), None)
                if there is not None:
                    results.append(Submitted(there.id, created=False, status=there.status, warnings=warnings))
                    continue
                if (erased := blocks(view, o)) is not None:
                    note = f"the same was erased on {erased.at[:10]}, so it is not suggested again."
                    results.append(Submitted(erased.id, created=False, status="declined", warnings=(*warnings, note)))
                    continue
                known[print_] = Told(o.id, "pending", str(origin), print_, Entry(SUBMIT, o.id))
                new[print_] = o
                results.append(Submitted(o.id, warnings=warnings))
            _place(view, staging_fd, new, str(origin), actor)
        make_durable(view)
    return results


def checked(
    view: View, drafts: Sequence[Mapping[str, Any]], origin: object
) -> list[tuple[Observation, tuple[str, ...]]]:
    """What drafts would become, each with its warnings; nothing is stored.

    Raises:
        InputError: One or more cannot be used, or a quote stands nowhere; `problems` lists every reason.
        AccessError: The caller may not propose there.
    """
    gather, now = Gather(), datetime.now(UTC)
    if not isinstance(origin, str) or origin not in ORIGINS:
        raise InputError(f"origin must be one of {', '.join(ORIGINS)}, not {origin!r:.60}.")

    def one(values: Any) -> tuple[Observation, tuple[str, ...]]:
        draft, located = with_evidence(view, for_caller(view, read_draft(values), "propose"))
        o, warnings = make_observation(draft, now=now, settings=view.settings)
        kind, sure, lowered = _authority(o, draft, origin)
        told = (*warnings, *located, *lowered)
        return replace(o, source_kind=kind, confidence=sure, extra={"origin": origin}), told

    with quoting_no_secret():
        listed = [
            gather.read(f"candidate {number}", values if values is not None else (), one, None)
            for number, values in enumerate(drafts, start=1)
        ]
        gather.stop("Nothing was submitted.")
    return [item for item in listed if item is not None]


def _authority(o: Observation, draft: Draft, origin: str) -> tuple[str | None, float, list[str]]:
    """The kind of source and confidence of a candidate: what its quotes' speakers allow, or else what its origin does."""
    own = ORIGINS[origin]
    if o.evidence or own is None:
        sure = o.confidence if draft.confidence is not None else CAPS.get(o.source_kind or "", o.confidence)
        return o.source_kind, sure, []
    kind, most, lowered = capped(o.source_kind or own, draft.confidence, own)
    return kind, float(most), [text.replace("the quote's speaker", f"the origin {origin}") for text in lowered]


def _place(view: View, staging_fd: int, new: Mapping[str, Observation], origin: str, actor: str) -> None:
    at, data = format_time(datetime.now(UTC)), {print_: render_observation(o) for print_, o in new.items()}
    staged = stage(staging_fd, list(data.values()))
    placings = [
        Placing(name, candidate_path(o.id), data[print_], Entry(
            SUBMIT, o.id, candidate_path(o.id), digest=sha256(data[print_]).hexdigest(), fingerprint=print_,
            detail=json.dumps({"origin": origin}), at=at, actor=actor,
        )) for name, (print_, o) in zip(staged, new.items(), strict=True)
    ]  # fmt: skip
    try:
        place(view, placings, staging_fd)
    except Exception:  # not an interrupt: what is committed by then is finished by the next writer
        discard(staging_fd, staged)
        raise

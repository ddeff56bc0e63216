"""Inferences that others came to say as well: `promote_inference`.

Method: a provisional observation is confirmed when at least `LEAST_SUPPORT` independent observations say the same in the
same words (`same_texts`): from another source, session or speaker than its own and than each other's. What an agent wrote
down again after it had recalled it, an echo, supports nothing; what was merged into the observation before counts as what it
was. Knows nothing of paraphrases, and of whether the statement is true.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from grail_mem.consolidate.changes import MERGED
from grail_mem.consolidate.finding import Finding, Quote
from grail_mem.consolidate.reading import Reading
from grail_mem.consolidate.statements.authority import authority
from grail_mem.consolidate.statements.echoes import Origin, echoes_among, origin, origin_of
from grail_mem.consolidate.statements.same_texts import same_texts
from grail_mem.consolidate.statements.statements import About, cut, day_of, read_statements, texts_of
from grail_mem.model.authority import AUTHORITY, UNKNOWN

LEAST_SUPPORT: Final = 2
"""Independent observations that must say the same; two, as one may be the source of the inference itself."""
_SURE: Final = 0.9
"""Confidence when one of them is a person's own word or a system's record."""
_LIKELY: Final = 0.75
"""Confidence when all of them are of unknown origin or by agents."""
_STRONG: Final = 3
_MOST_QUOTES: Final = 6
_MERGED_SQL: Final = """
SELECT id, json_extract(more, '$.extra') AS extra FROM rows
WHERE status = 'provisional' AND json_exists(more, $path) ORDER BY id"""


def promote_inference(reading: Reading) -> Iterator[Finding]:
    """One finding a provisional observation that enough others support, by id."""
    about = reading.once("statements", read_statements).about
    merged = _merged(reading)
    for group in sorted(reading.once("same_texts", same_texts).groups, key=lambda group: about[group[0]].id):
        members = [about[index] for index in group]
        echoes = echoes_among(members)
        for one in members:
            if one.status == "provisional":
                yield from _finding(
                    one, [m for m in members if m.id not in (one.id, *echoes)], merged.get(one.id, ()), reading
                )


def _merged(reading: Reading) -> dict[str, list[Mapping[str, Any]]]:
    """What was merged into provisional observations, by id."""
    rows = reading.ask(_MERGED_SQL, {"path": f"$.extra.{MERGED}"}).to_pylist()
    found = {row["id"]: json.loads(row["extra"]).get(MERGED) for row in rows}
    return {
        id_: [item for item in items if isinstance(item, Mapping)] for id_, items in found.items() if isinstance(items, list)
    }  # fmt: skip


def _finding(
    one: About, others: Sequence[About], merged: Sequence[Mapping[str, Any]], reading: Reading
) -> Iterator[Finding]:
    support: dict[Origin, int] = {}
    for other in others:
        support[origin(other)] = max(authority(other), support.get(origin(other), 0))
    for item in merged:
        kind = str(item.get("source_kind") or "")
        if kind != "agent_inference":
            support[origin_of(item)] = max(AUTHORITY.get(kind, UNKNOWN), support.get(origin_of(item), 0))
    support.pop(origin(one), None)
    if len(support) < LEAST_SUPPORT:
        return
    quoted = [one, *others][:_MOST_QUOTES]
    rows = texts_of(reading, [item.id for item in quoted])
    sure = _SURE if max(support.values()) >= _STRONG else _LIKELY
    confidence = max([one.confidence, *(other.confidence for other in others)])
    fields: dict[str, Any] = {"status": "confirmed"}
    if confidence > one.confidence:
        fields["confidence"] = confidence
    yield Finding(
        kind="promote_inference",
        confidence=sure,
        rationale=f"'{rows[one.id]['title']}' can be confirmed: {len(support)} independent observations say the same.",
        payload={"id": one.id, "supported_by": [other.id for other in others], "merged": len(merged)},
        changes=({"do": "set", "id": one.id, "fields": fields},),
        meaning=(one.id,),
        grounds={"n_support": len(support), "strong": int(sure == _SURE)},
        figures={"n_support": len(support), "first_observed": day_of(min(a.observed_us for a in (one, *others)))},
        quotes=tuple(Quote(a.id, cut(rows[a.id]["content"]), _note(a)) for a in quoted),
        affected=(one.id, *(other.id for other in others)),
    )


def _note(about: About) -> str:
    said = [day_of(about.observed_us), about.source_kind or "", about.source or "", about.speaker or ""]
    return ", ".join(filter(None, said))

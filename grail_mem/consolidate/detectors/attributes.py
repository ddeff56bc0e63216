"""Attributes that are one and written differently: `acme/primary-database`, `Acme/primary_databases`.

The forms must be equal but for case, separators and number (`attribute_words`); the spelling of most observations is kept,
and of equally many the one that was recorded first. Scopes are never mixed. Knows nothing of synonyms.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from grail_mem.consolidate.finding import Finding, Quote
from grail_mem.consolidate.reading import Reading
from grail_mem.consolidate.statements.attribute_words import attribute_form

KIND: Final = "canonicalise_attribute"
CONFIDENCE: Final = 0.95
"""Two facts whose names differ in case, separators or number only are rarely meant."""
NUMBER_CONFIDENCE: Final = 0.6
"""When one is in the plural: `ann/child` may be one fact, and `ann/children` another."""
_MOST_QUOTES: Final = 12
_USES: Final = """
SELECT attribute, coalesce(scope, '') AS scope, id, title, epoch_us(recorded_at) AS recorded_us
FROM rows WHERE attribute IS NOT NULL AND status NOT IN ('superseded', 'archived') ORDER BY id"""

Uses = dict[str, list[Mapping[str, Any]]]


def canonicalise_attribute(reading: Reading) -> Iterator[Finding]:
    """One finding a fact whose name is spelled in several ways, by scope and name."""
    uses: dict[tuple[str, str], Uses] = defaultdict(lambda: defaultdict(list))
    for row in reading.ask(_USES).to_pylist():
        form = attribute_form(row["attribute"])
        if form:
            uses[row["scope"], form][row["attribute"]].append(row)
    for (scope, _), spellings in sorted(uses.items()):
        if len(spellings) > 1:
            allowed = _allowed(spellings, reading, scope)
            if len(allowed) > 1:
                yield _finding(scope, allowed, spellings)


def _allowed(spellings: Uses, reading: Reading, scope: str) -> list[str]:
    """The spellings, the one that is kept first, without those that were said to be another fact."""
    ordered = sorted(
        spellings, key=lambda name: (-len(spellings[name]), min(r["recorded_us"] for r in spellings[name]), name)
    )
    return [ordered[0], *(name for name in ordered[1:] if not reading.forbids(KIND, ordered[0], name, scope))]


def _finding(scope: str, names: Sequence[str], spellings: Uses) -> Finding:
    kept, others = names[0], sorted(names[1:])
    changed = sorted((row for name in others for row in spellings[name]), key=lambda row: row["id"])
    is_number = len({_without_number(name) for name in names}) > 1
    written = ", ".join(f"“{name}” ({len(spellings[name])})" for name in others)
    return Finding(
        kind=KIND,
        confidence=NUMBER_CONFIDENCE if is_number else CONFIDENCE,
        rationale=f"The attribute “{kept}” ({len(spellings[kept])} observations) is also written {written}.",
        payload={
            "attribute": kept,
            "spellings": others,
            "scope": scope or None,
            "observations": [r["id"] for r in changed],
        },
        changes=tuple({"do": "set", "id": row["id"], "fields": {"attribute": kept}} for row in changed),
        meaning=(scope, *sorted(names)),
        grounds={"n_spellings": len(names)},
        figures={"n_observations": {name: len(spellings[name]) for name in names}},
        quotes=tuple(
            Quote(row["id"], row["title"][:200], f"attribute {row['attribute']}") for row in changed[:_MOST_QUOTES]
        ),
        affected=tuple(row["id"] for row in changed),
        same=tuple((min(kept, name), max(kept, name)) for name in others),
        scope=scope,
    )


def _without_number(name: str) -> str:
    return attribute_form(name, number=True)

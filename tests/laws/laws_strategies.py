"""Drafts, filters and hand-written files for the laws of the store, the hostile ones included.

Pools of values are small, so that filters and rows meet; knows nothing of the store.
"""

from __future__ import annotations

import os
import unicodedata
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import yaml
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

THOROUGH = 20 if os.environ.get("GRAIL_LAWS") == "thorough" else 1
"""How many times as many examples as by default."""


def examples(n: int, *, steps: int = 50) -> settings:
    """Settings for a law that needs so many examples by default."""
    return settings(
        max_examples=n * THOROUGH,
        stateful_step_count=steps,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
    )


WORDS = [
    "Acme", "acme", "ACME ", "Postgres", "it's", 'say "no"', "100%", "_", "%", "a_b", "axb", "a%b", "x' OR '1'='1",
    "'; DROP TABLE x.obs; --", "\\", "\\%", "?", "$1", "*", "straße", "STRASSE", "Änn", "A\u0308nn", "Ann", "İstanbul",
    "istanbul", "ﬁne", "fine", "Ⅷ", "😀", "👩‍👩‍👧", "e\u0301\u0327", "é", "日本語", "नि", "\u200bzero", "ſ", "K",
    "K", "null", "NULL", "true", "0123", "2026-06-02", "a b", "a  b", "a,b", "[a]", "{}", "#x", "C#", "x:y", "- a",
    "\u0345", "ΐ", "Ϊ́", "ÿ\x7f"[:1], "ȺȾ",
]  # fmt: skip
_CHARS = st.characters(codec="utf-8", exclude_categories=("Cs", "Cc", "Zl", "Zp"))
words = st.sampled_from(WORDS) | st.sampled_from(WORDS[:6]) | st.text(_CHARS, min_size=1, max_size=4)
names = words.filter(lambda text: bool(text.replace("\u200b", "").replace("\u2060", "").replace("\ufeff", "").strip()))
tags = st.sampled_from(["a", "b", "c", "B", "#c"]) | names.filter(lambda text: bool(text.strip("# \u200b﹟＃").strip()))
lines = st.lists(words, min_size=1, max_size=3).map(" ".join).filter(lambda text: len(text.strip().splitlines()) == 1)
bodies = st.lists(
    words | st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=5), min_size=1, max_size=4
).map("\n".join).filter(lambda text: bool(text.strip()))  # fmt: skip

CATEGORIES = [
    "work", "work/clients", "work/clients/acme", "work/clients/acme/2026", "work/clients/acme-2", "work/clients/a",
    "work!", "works", "WORK/Clients", "home", "home/work", "déjà/vu", "de\u0301ja\u0300/vu", "straße", "STRASSE/x",
    "100%", "a_b", "axb", "it's", "日本語/[x]", "x/y/z", "😀", "a b",
]  # fmt: skip
categories = st.sampled_from(CATEGORIES)
globs = st.sampled_from(
    [
        "**", "*", "work", "work/**", "work/*", "*/clients", "**/acme", "work/**/acme", "work/*/acme", "Work/CLIENTS",
        "work/clients/ac*", "work/clients/?", "*/*", "*/**", "**/*", "h*e", "DÉJÀ", "strasse", "Straße/**", "a?b", "a_b",
        "100%", "%", "it's", "**/[x]", "none", "work/***", "w*k*", "*k", "work/clients/acme/**/2026", "x/**/**/z",
    ]
) | categories  # fmt: skip

TIMES = [datetime(2026, 6, 2, tzinfo=UTC) + timedelta(days=d) for d in (-400, -1, 0, 1, 30)]
times = (
    st.sampled_from([*TIMES, TIMES[2] + timedelta(microseconds=1), TIMES[2] - timedelta(microseconds=1)])
    | st.sampled_from([datetime(1, 1, 1, tzinfo=UTC), datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)])
    | st.datetimes(datetime(2025, 1, 1), datetime(2027, 1, 1), timezones=st.just(UTC))
)
asked_times = times | times.map(
    lambda t: t.astimezone(timezone(timedelta(hours=5, minutes=30))).isoformat() if t.year > 1 else t
)
confidences = st.sampled_from([0, 0.0, 0.3, 0.1 + 0.2, 0.5, 0.8, 1, 1.0, 5e-324]) | st.floats(0, 1)
KINDS = ["semantic", "episodic", "procedural", "prospective", "summary"]
STATUSES = ["provisional", "confirmed", "superseded", "archived"]
SOURCE_KINDS = ["user_statement", "system", "tool_result", "session_summary", "agent_inference"]
RELATIONS = st.sampled_from(["CHOSE", "chose", "USES", "a_b", "x' OR 1=1"]) | names


def _entity(pair: tuple[str, str, list[str]]) -> Any:
    name, kind, others = pair
    if others:
        return {"name": name, "aliases": others} | ({"type": kind} if kind else {})
    return {"name": name, "type": kind} if kind else name


entities = st.tuples(
    st.sampled_from(WORDS[:4]) | names,
    st.sampled_from(["", "ORG", "org", "Person"]) | names,
    st.just([]) | st.lists(st.sampled_from(WORDS[:4]) | names, max_size=2),
).map(_entity)
relationships = st.builds(
    lambda s, t, r: {"source": s, "target": t, "relationship_type": r}, names, names, RELATIONS
)  # fmt: skip


SPEAKERS = st.sampled_from(["Caroline", " caroline", "CAF\u00c9", "cafe\u0301", "Mary  Ann", "user"]) | names
SESSIONS = st.sampled_from(["chat/1", "Chat/1", "caf\u00e9", "cafe\u0301", "s 2"])


@st.composite
def _interval(draw: st.DrawFn) -> dict[str, Any]:
    begin, end = draw(times), draw(times)
    chosen = {"valid_from": min(begin, end), "valid_until": max(begin, end)} if begin != end else {}
    keep = draw(st.sets(st.sampled_from(["valid_from", "valid_until", "expires_at"])))
    return {name: value for name, value in (chosen | {"expires_at": draw(times)}).items() if name in keep}


@st.composite
def drafts(draw: st.DrawFn) -> dict[str, Any]:
    """Arguments of `add_observation`, with a title."""
    optional: dict[str, Any] = draw(
        st.fixed_dictionaries(
            {
                "tags": st.lists(tags, max_size=4),
                "entities": st.lists(entities, max_size=3),
                "relationships": st.lists(relationships, max_size=2),
            },
            optional={
                "observed_at": times,
                "confidence": confidences,
                "kind": st.sampled_from(KINDS),
                "status": st.sampled_from(STATUSES),
                "source_kind": st.sampled_from(SOURCE_KINDS),
                "source": lines,
                "session": SESSIONS,
                "speaker": SPEAKERS,
            },
        )
    )
    interval = draw(_interval()) if draw(st.booleans()) else {}
    return {"title": draw(lines), "content": draw(bodies), "category": draw(categories)} | optional | interval


def _one_or_more(values: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    return st.lists(values, min_size=1, max_size=3)


def _needle(text: str) -> bool:
    return bool(text.strip())


_CONDITIONS: dict[str, st.SearchStrategy[Any]] = {
    "since": asked_times,
    "before": asked_times,
    "category": globs | _one_or_more(globs),
    "tags": _one_or_more(tags),
    "tags_all": _one_or_more(tags),
    "entity_names": names | _one_or_more(names),
    "entity_types": _one_or_more(st.sampled_from(["ORG", "Org", "PERSON", "nobody"]) | names),
    "relationship_type": RELATIONS | _one_or_more(RELATIONS),
    "min_confidence": confidences,
    "kind": st.sampled_from(KINDS) | _one_or_more(st.sampled_from(KINDS)),
    "status": _one_or_more(st.sampled_from(STATUSES)),
    "source_kind": _one_or_more(st.sampled_from(SOURCE_KINDS)),
    "session": SESSIONS | _one_or_more(SESSIONS),
    "speaker": SPEAKERS | _one_or_more(SPEAKERS),
    "text": (words | lines | bodies).filter(_needle),
    "as_of": asked_times,
    "believed_at": asked_times | st.just("2100-01-01T00:00:00+00:00"),
    "include_history": st.booleans(),
}


@st.composite
def filters(draw: st.DrawFn, rows: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    """Conditions of `recall`; some of their values are taken from the rows, so that something matches."""
    chosen = draw(st.sets(st.sampled_from(sorted(_CONDITIONS)), min_size=1, max_size=3))
    asked = {name: draw(_CONDITIONS[name]) for name in sorted(chosen)}
    if rows and draw(st.integers(0, 4)):
        asked |= draw(_taken_from(draw(st.sampled_from(rows)), chosen))
    if {"as_of", "believed_at"} & asked.keys():
        asked.pop("include_history", None)
    since, before = asked.get("since"), asked.get("before")
    if since is not None and before is not None:
        asked.pop("since" if draw(st.booleans()) else "before")
    return asked


@st.composite
def _taken_from(draw: st.DrawFn, row: dict[str, Any], chosen: set[str]) -> dict[str, Any]:
    """For the chosen conditions, values that the row itself has, in another case or Unicode form."""
    form = draw(st.sampled_from([str, str.upper, str.lower, lambda t: unicodedata.normalize("NFD", t)]))
    names_ = [name for *_, said in row["entities"] for name in said]
    types = [kind for _, kind, _ in row["entities"] if kind.strip()]
    kinds = [kind for *_, kind in row["relationships"]]
    has: dict[str, Any] = {
        "tags": row["tags"] and [*map(form, row["tags"][:2])],
        "tags_all": row["tags"] and [*map(form, row["tags"])],
        "entity_names": names_ and [form(draw(st.sampled_from(names_)))],
        "entity_types": types and [form(types[0])],
        "relationship_type": kinds and form(kinds[0]),
        "category": row["category"],
        "min_confidence": row["confidence"],
        "since": row["observed_at"],
        "as_of": row["valid_until"] or row["observed_at"],
        "kind": row["kind"],
        "text": (form(row["content"])[:9].strip("\n") if _needle(form(row["content"])[:9]) else None),
    }
    return {name: value for name, value in has.items() if name in chosen and value not in (None, [], "")}


def hand_file(fields: dict[str, Any], body: str) -> bytes:
    """A file as another YAML writer makes it."""
    block = yaml.safe_dump(fields, allow_unicode=True, sort_keys=False) if fields else ""
    return f"---\n{block}---\n{body}".encode() if fields else body.encode()

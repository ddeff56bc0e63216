"""Laws of sources and evidence, for any text."""

from __future__ import annotations

import json
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grail_mem import InputError, Memory
from grail_mem.model.names import clean_text
from grail_mem.model.observation import Evidence, Observation
from grail_mem.model.quote import find, folded, is_long_enough
from grail_mem.store import schema
from grail_mem.store.files import UNKNOWN_STATE
from grail_mem.store.layout import Layout, is_observation_path, is_source_path
from grail_mem.store.observation_file import read_observation
from grail_mem.store.observation_render import render_observation
from grail_mem.store.sources import (
    ROLES,
    chat_stem,
    current_turns,
    digest,
    parse_locator,
    part_in,
    part_path,
    read_session,
)
from grail_mem.write.evidence import locate

ODD = "‘’“”«»'\"`´-‐–—−ﬁé\u0301e\u0308가각ㄱ \u00a0\t\n\u2003ａＢ½…ßİ"
TEXTS = st.text(st.one_of(st.sampled_from(ODD), st.characters(exclude_categories=["Cs"])), max_size=120)
WORDY = st.lists(
    st.one_of(st.sampled_from(["“yes”", "don’t", "—", "go", "Zoë", "3–4", "  ", "\n"]), TEXTS), max_size=12
).map(" ".join)


def test_any_part_of_a_text_is_found_where_it_stands() -> None:
    """Exactly, and the span gives the quote."""

    @given(st.data(), WORDY)
    def law(data: Any, text: str) -> None:
        begin = data.draw(st.integers(0, len(text)))
        quote = text[begin : data.draw(st.integers(begin, len(text)))]
        found = find(text, quote)
        assert (found is None) == (not quote)
        if found is not None:
            assert found.match == "exact"
            assert text[found.begin : found.end] == quote
            assert found.n == text.count(quote)

    law()


def test_a_folded_quote_spans_words_that_fold_to_it() -> None:
    """Whatever is found after folding is the same after folding, whole letters with their marks; and case is not folded."""

    @given(WORDY, TEXTS)
    def law(text: str, quote: str) -> None:
        found = find(text, quote)
        if found is not None:
            words = text[found.begin : found.end]
            assert folded(words).strip() == folded(quote).strip() or words == quote

    @given(
        st.data(),
        st.lists(st.sampled_from(["“yes”", "don’t", "a—b", "Zoë", "ﬁne", "５", "word"]), min_size=3, max_size=9),
    )
    def typed_otherwise(data: Any, words: list[str]) -> None:
        text = data.draw(st.sampled_from([" ", "  ", "\n", "\u00a0"])).join(words)
        plain = " ".join(words).translate(str.maketrans("“”’—", '""\'-')).replace("ﬁ", "fi").replace("５", "5")
        found = find(text, plain)
        assert found is not None
        assert text[found.begin : found.end] == text
        if plain.swapcase() != plain:
            assert find(text, plain.swapcase()) is None

    law()
    typed_otherwise()


def test_a_quote_does_not_end_within_a_letter() -> None:
    """The accent belongs to it."""
    assert find("un cafe\u0301", "un “cafe", folded_text=folded("un cafe\u0301")) is None
    assert find("say “cafe\u0301” now", 'say "cafe') is None
    assert find("say “cafe\u0301” now", 'say "caf\u00e9"') is not None


@pytest.mark.slow
@settings(max_examples=40)
@given(st.lists(WORDY, min_size=1, max_size=5), st.data())
def test_a_located_quote_is_the_words_of_its_source(texts: list[str], data: Any) -> None:
    """From any turn of any text: locator, span and digest lead to the very words, and back after verification."""
    with tempfile.TemporaryDirectory() as folder, Memory(folder) as memory:
        memory.ingest_chat([{"role": "user", "text": text, "id": f"{n}"} for n, text in enumerate(texts)], session="s")
        kept = [turn.text for turn in current_turns(read_session(Layout(Path(folder)), "s", None))]
        assert kept == [cleaned for text in texts if (cleaned := clean_text(text)[0]).strip()]
        for n, text in enumerate(kept):
            begin = data.draw(st.integers(0, len(text) - 1))
            quote = text[begin : begin + data.draw(st.integers(1, 200))].strip()
            try:
                located = locate(memory._open(), quote, session="s")
            except InputError:
                assert not is_long_enough(quote) or not any(map(str.isalnum, quote)), quote
                continue
            locator = parse_locator(located.source)
            assert locator is not None
            assert locator.turn is not None
            assert kept[locator.turn][slice(*located.span)] == located.quote == quote
            assert digest(quote) == located.sha256
            added = memory.add_observation(
                content=f"Number {n} was said.", evidence={"quote": quote, "source": located.source}
            )
            assert memory.get(added.id).evidence[0].quote == quote
        assert memory.verify().ok


TURN = st.fixed_dictionaries(
    {"role": st.sampled_from(ROLES), "text": st.text(min_size=1, max_size=20)},
    optional={"id": st.integers(0, 5).map(str), "speaker": st.text(max_size=5), "at": st.just("2026-06-02T10:00:00Z")},
)


@settings(max_examples=60)
@given(st.lists(TURN, max_size=8), st.integers(0, 8))
def test_ingesting_again_adds_nothing(turns: list[dict[str, str]], cut: int) -> None:
    """All of it or a part of it, and nothing that is there is changed or moved."""
    with tempfile.TemporaryDirectory() as folder, Memory(folder) as memory:
        path = Path(folder) / part_path(chat_stem("s", None), 1)
        first = memory.ingest_chat(turns, session="s")
        before = path.read_bytes() if path.exists() else b""
        again = memory.ingest_chat(turns, session="s")
        assert (again.n_new, again.n_turns) == (0, first.n_turns)
        assert memory.ingest_chat(turns[:cut], session="s").n_new == 0
        assert (path.read_bytes() if path.exists() else b"") == before
        numbers = [turn.number for turn in current_turns(read_session(Layout(Path(folder)), "s", None))]
        assert numbers == list(range(first.n_new))


@given(st.one_of(st.binary(max_size=200), st.text(max_size=200).map(str.encode)))
def test_any_bytes_are_read_as_a_transcript(data: bytes) -> None:
    """Lines that are none are passed over."""
    part = part_in(data + b'\n{"turn":3,"role":"user","text":"ok"}\n', "sources/chats/s.jsonl")
    assert part.turns[-1].text == "ok"


@given(
    st.one_of(
        st.text(),
        st.lists(
            st.sampled_from(
                ["sources", "/", "chats", "documents", "..", ".", ".jsonl", ".md", "a", "#turn=1", "\0", "\\", "f" * 64]
            )
        ).map("".join),
    )
)
def test_a_locator_names_a_file_of_sources_or_nothing(text: str) -> None:
    """Directly in one of the two folders, with no step up, and no file that is read as an observation."""
    locator = parse_locator(text)
    if locator is not None:
        folder, _, name = locator.path.rpartition("/")
        assert folder in ("sources/chats", "sources/documents")
        assert name not in ("", ".", "..")
        assert not name.startswith(".")
        assert "\\" not in name
        assert "\0" not in name
        assert is_source_path(locator.path)
        assert not is_observation_path(locator.path)
        assert parse_locator(str(locator)) == locator


WRITABLE = st.characters(exclude_characters="\0\r", exclude_categories=["Cs"])  # a file holds no other
MORE = st.dictionaries(st.from_regex(r"[a-z]{1,8}", fullmatch=True).filter(lambda key: key not in Evidence.__slots__),
                       st.one_of(st.integers(-9, 9), st.booleans(), st.text(WRITABLE, max_size=5), st.lists(st.integers(0, 9), max_size=2)), max_size=3)  # fmt: skip
WORD = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=20).map(lambda text: text.strip())
EVIDENCE = st.builds(
    Evidence,
    quote=st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=30).map(lambda text: f"a{text}"),
    source=WORD,
    span=st.one_of(st.none(), st.tuples(st.integers(0, 99), st.integers(0, 99))),
    sha256=WORD, match=WORD, role=WORD, checker=WORD,
    support=st.one_of(st.none(), st.floats(0, 1).map(lambda value: round(value, 3))),
    more=MORE,
)  # fmt: skip


@given(st.lists(EVIDENCE, min_size=1, max_size=3).map(tuple))
def test_evidence_is_the_same_after_file_and_snapshot(evidence: tuple[Evidence, ...]) -> None:
    """Every field of it, and every key that nobody knows."""
    at = datetime(2026, 6, 2, tzinfo=UTC)
    made = Observation(
        "01JXYZ00000000000000ABCDEF", "Title", "Text.", "a", at, at, "memories/a/x.md", evidence=evidence
    )
    row = read_observation(render_observation(made), made.path, made.category, UNKNOWN_STATE)
    assert row.problems == ()
    assert row.observation.evidence == evidence
    values = json.loads(json.dumps([schema.evidence_values(e) for e in evidence]))
    assert schema.evidence_in({"evidence": values}) == evidence

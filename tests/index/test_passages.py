"""Passages: all of a content, in order, none too long, cut where something ends."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from grail_mem.index.passages import TARGET_CHARS, passages

pieces = st.sampled_from(["word ", "A sentence. ", "\n", "\n\n", "x" * 400, "文章。", "- item\n"])


@given(st.lists(pieces, max_size=400).map("".join))
def test_passages_are_all_of_a_content(content: str) -> None:
    found = passages(content)
    assert [p.number for p in found] == list(range(len(found)))
    assert all(content[p.start :].startswith(p.text) for p in found)
    assert "".join("".join(p.text.split()) for p in found) == "".join(content.split())
    assert all(len(p.text) <= TARGET_CHARS for p in found)
    assert all(a.start + len(a.text) <= b.start for a, b in pairwise(found))


def test_a_short_content_is_one_passage() -> None:
    assert [p.text for p in passages("One.\n\nTwo.")] == ["One.\n\nTwo."]
    assert [p.text for p in passages("")] == [""]


def test_a_long_one_is_cut_between_paragraphs() -> None:
    paragraphs = [f"{i} " + "word " * 100 for i in range(8)]
    found = passages("\n\n".join(paragraphs))
    assert all(p.text[0].isdigit() for p in found)


def test_the_end_of_a_very_long_note_is_a_passage() -> None:
    found = passages("filler text here. " * 12_000 + "The needle is ORCHID-77.")
    assert "ORCHID-77" in found[-1].text

"""A picture is the same for the same store, and refuses what it cannot show."""

from __future__ import annotations

from pathlib import Path

import pytest

from grail_mem.consolidate.graph.picture import COLOURS, MOST_NODES, Panel, plot_groups
from grail_mem.errors import InputError

MENTIONS = [(f"id{at}", f"Thing {at % 7} of $x_1$ {'long ' * (at % 5)}") for at in range(40)]
PANELS = [
    Panel("before", {f"id{at}": f"folder {at % 3}" for at in range(40)}),
    Panel("after", {f"id{at}": f"group {at % 40}" for at in range(40) if at}),
]


@pytest.mark.slow
def test_the_order_of_mentions_does_not_change_the_picture(tmp_path: Path) -> None:
    plot_groups(tmp_path / "a.png", MENTIONS, PANELS)
    plot_groups(tmp_path / "b.png", MENTIONS[::-1], PANELS)
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


@pytest.mark.slow
def test_groups_change_the_picture(tmp_path: Path) -> None:
    plot_groups(tmp_path / "a.png", MENTIONS, PANELS[:1])
    plot_groups(tmp_path / "b.png", MENTIONS, [Panel("before", {})])
    assert (tmp_path / "a.png").read_bytes() != (tmp_path / "b.png").read_bytes()


@pytest.mark.slow
def test_vectors_can_be_drawn_too(tmp_path: Path) -> None:
    plot_groups(tmp_path / "a.svg", MENTIONS, PANELS)
    assert COLOURS[0].lower() in (tmp_path / "a.svg").read_text().lower()


@pytest.mark.parametrize(
    ("name", "mentions"),
    [("a.gif", MENTIONS), ("a.png", []), ("a.png", [(f"id{at}", "X") for at in range(MOST_NODES)])],
)
def test_what_cannot_be_drawn_is_refused(tmp_path: Path, name: str, mentions: list[tuple[str, str]]) -> None:
    with pytest.raises(InputError):
        plot_groups(tmp_path / name, mentions, PANELS)
    assert list(tmp_path.iterdir()) == []


def test_a_panel_with_mentions_of_its_own_shows_only_these(tmp_path: Path) -> None:
    """One entity under two names before and under one afterwards; then an observation less."""
    before = [("id1", "J. Lind"), ("id1", "Saw"), ("id2", "Johanna Lind"), ("id2", "Saw")]
    after = [(identifier, name.replace("J. ", "Johanna ")) for identifier, name in before]
    marks = []
    for shown in (None, before, after, after[:2]):
        plot_groups(tmp_path / "a.svg", before, [Panel("now", {"id1": "workshop", "id2": "workshop"}, shown)])
        marks.append((tmp_path / "a.svg").read_text().count("<use "))
    assert [marks[0] - n for n in marks] == [0, 0, 1, 2]


@pytest.mark.slow
def test_names_that_are_asked_for_are_written_before_others(tmp_path: Path) -> None:
    mentions = [(f"id{at}", f"Thing {other}") for at in range(60) for other in (at, (at + 1) % 60)]
    for name, named in (("none", ()), ("one", ("Thing 41",)), ("unknown", ("Thing 99",))):
        plot_groups(tmp_path / f"{name}.png", mentions, [Panel("now", {"id1": "home"})], named=named)
    drawn = {name: (tmp_path / f"{name}.png").read_bytes() for name in ("none", "one", "unknown")}
    assert drawn["none"] == drawn["unknown"] != drawn["one"]

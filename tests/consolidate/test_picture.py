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


def test_the_order_of_mentions_does_not_change_the_picture(tmp_path: Path) -> None:
    plot_groups(tmp_path / "a.png", MENTIONS, PANELS)
    plot_groups(tmp_path / "b.png", MENTIONS[::-1], PANELS)
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


def test_groups_change_the_picture(tmp_path: Path) -> None:
    plot_groups(tmp_path / "a.png", MENTIONS, PANELS[:1])
    plot_groups(tmp_path / "b.png", MENTIONS, [Panel("before", {})])
    assert (tmp_path / "a.png").read_bytes() != (tmp_path / "b.png").read_bytes()


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

"""A picture of observations and entities as a graph, coloured by folder or by group, one panel for each state.

Knows nothing of where groups come from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from grail_mem.consolidate.graph.partition import places
from grail_mem.errors import InputError
from grail_mem.recall.plot import check_plot
from grail_mem.store.files import translated

if TYPE_CHECKING:
    import numpy as np

MOST_NODES: Final = 2_000
"""Observations and entities in a picture; more cannot be told apart, and placing them takes minutes."""
COLOURS: Final = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442")
"""Colours that colour-blind people tell apart. Source: Okabe and Ito, Color Universal Design, 2008."""
_REST: Final = "#BBBBBB"
_DARK: Final = "#333333"
_MARKS: Final = ("o", "s", "^", "D")
"""The mark changes with the colour, so that groups are told apart in grey, too; after 28 groups both come again together."""
_LABELS: Final = 22
_LETTER: Final = 0.0085
_LINE: Final = 0.025
"""Half the width of a letter of a name, and the distance of its middle from the dot, as shares of the panel."""
_LABEL_CHARS: Final = 22
_PANEL_INCHES: Final = 6.4
_MARGIN: Final = 0.08


@dataclass(frozen=True, slots=True)
class Panel:
    """One state to draw.

    Attributes:
        title: What it shows.
        group: The folder or group of each observation, by id; the empty text for none.
        mentions: Who mentions what in this state, when that differs from state to state; None when it does not.
    """

    title: str
    group: Mapping[str, str]
    mentions: Sequence[tuple[str, str]] | None = None


def plot_groups(
    path: Path,
    mentions: Sequence[tuple[str, str]],
    panels: Sequence[Panel],
    *,
    named: Sequence[str] = (),
    seed: int = 0,
) -> None:
    """Draw observations and the entities they mention, each observation at the same place in every panel.

    Observations are filled marks in the colour of their group, entities small dark circles, the most mentioned ones with
    their names. Seven colours and four marks tell 28 groups apart; the smaller groups beyond are grey.

    Args:
        path: The picture, `.png`, `.svg` or `.pdf`.
        mentions: Id of an observation and name of an entity, at least one, in any order: what places are found by, and
            what is drawn in panels without mentions of their own.
        panels: The states, such as before and after. One with mentions of its own shows what takes part in them and
            nothing else.
        named: Entities whose names are written before those of others, as far as there is room.
        seed: The same seed gives the same picture.

    Raises:
        InputError: The name has no ending of a picture, there is nothing to draw, or too much.
        MissingDependencyError: matplotlib or igraph is not installed.
        StoreError: It cannot be written.
    """
    check_plot(path)
    if not mentions or not panels:
        raise InputError("There is nothing to draw.", hint="Give at least one mention and one panel.")
    pairs = sorted({*mentions, *(pair for panel in panels for pair in panel.mentions or ())})
    ids, names = sorted({left for left, _ in pairs}), sorted({right for _, right in pairs})
    if len(ids) + len(names) > MOST_NODES:
        raise InputError(
            f"{len(ids)} observations and {len(names)} entities are too many to draw.",
            hint=f"Choose some; {MOST_NODES} in all can be told apart.",
        )
    import matplotlib.pyplot as plt
    import numpy as np

    number = {name: at for at, name in enumerate(ids)}, {name: len(ids) + at for at, name in enumerate(names)}

    def ends_of(some: Sequence[tuple[str, str]]) -> np.ndarray:
        return np.array([(number[0][left], number[1][right]) for left, right in some], dtype=np.int64).reshape(-1, 2)

    ends = ends_of(pairs)
    where = places(len(ids) + len(names), ends, np.ones(len(ends)), seed=seed)
    order = _central([panels[-1].group.get(identifier, "") for identifier in ids], ends, len(names))
    rank = {name: at for at, name in enumerate(named)}
    order.sort(key=lambda at: rank.get(names[at], len(rank)))
    figure, axes = plt.subplots(
        1, len(panels), figsize=(_PANEL_INCHES * len(panels), _PANEL_INCHES + 0.9), layout="constrained", squeeze=False
    )
    drawn = [ends_of(sorted(set(mentions if panel.mentions is None else panel.mentions))) for panel in panels]
    styles = _styles(
        [
            panel.group.get(ids[at], "")
            for panel, some in zip(panels, drawn, strict=True)
            for at in np.unique(some[:, 0]).tolist()
        ]
    )
    for axis, panel, some in zip(axes[0], panels, drawn, strict=True):
        _draw(axis, panel, ids, where, some, styles)
        _label(axis, names, where, some, [at for at in order if (some[:, 1] == len(ids) + at).any()])
    handles = [_handle(name, colour, mark) for name, (colour, mark) in styles.items()]
    handles.append(_handle("entity", _DARK, "."))
    figure.legend(handles=handles, loc="outside lower center", ncols=min(5, len(handles)), frameon=False, fontsize=9)
    with translated("write the picture", path):
        figure.savefig(path, dpi=150, metadata={"Software": None} if path.suffix.lower() == ".png" else None)
    plt.close(figure)


def _styles(groups: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Colour and mark of each group, the largest first; groups beyond what can be told apart, and none, are grey."""
    names = sorted(set(groups) - {""}, key=lambda name: (-groups.count(name), name))
    told = len(COLOURS) * len(_MARKS)
    styles = {name: (COLOURS[at % len(COLOURS)], _MARKS[at % len(_MARKS)]) for at, name in enumerate(names[:told])}
    if len(names) > told or "" in groups:
        styles["other"] = _REST, "o"
    return styles


def _draw(
    axis: Any,
    panel: Panel,
    ids: Sequence[str],
    where: np.ndarray,
    ends: np.ndarray,
    styles: Mapping[str, tuple[str, str]],
) -> None:
    from matplotlib.collections import LineCollection

    axis.add_collection(LineCollection(list(where[ends]), colors="#9A9A9A", linewidths=0.5, alpha=0.45, zorder=1))
    members: dict[str, list[int]] = {}
    for at in sorted(set(ends[:, 0].tolist())):
        group = panel.group.get(ids[at], "")
        members.setdefault(group if group in styles else "other", []).append(at)
    for name, (colour, mark) in styles.items():
        if name in members:
            spots = where[members[name]]
            axis.scatter(
                spots[:, 0], spots[:, 1], s=46, c=colour, marker=mark, edgecolors=_DARK, linewidths=0.4, zorder=2
            )
    entities = where[sorted(set(ends[:, 1].tolist()))]
    axis.scatter(entities[:, 0], entities[:, 1], s=9, c=_DARK, zorder=3)
    axis.set(xlim=_limits(where[:, 0]), ylim=_limits(where[:, 1]))
    axis.set_title(panel.title, fontsize=12)
    axis.set_axis_off()


def _limits(places_: np.ndarray) -> tuple[float, float]:
    """The ends of an axis, the same in every panel."""
    edge = _MARGIN * max(float(places_.max() - places_.min()), 1e-9)
    return float(places_.min()) - edge, float(places_.max()) + edge


def _central(group: Sequence[str], ends: np.ndarray, n: int) -> list[int]:
    """Entities by how central they are: the most mentioned one of each group first, then the second of each, and so on."""
    counts: list[Counter[str]] = [Counter() for _ in range(n)]
    for left, right in ends.tolist():
        counts[right - len(group)][group[left]] += 1
    home = [max(count, key=lambda name: (count[name], name)) for count in counts]
    seen: Counter[str] = Counter()
    place = {}
    for at in sorted(range(n), key=lambda at: (-counts[at][home[at]], at)):
        place[at] = seen[home[at]]
        seen[home[at]] += 1
    return sorted(place, key=lambda at: (place[at], -counts[at][home[at]], at))


def _label(axis: Any, names: Sequence[str], where: np.ndarray, ends: np.ndarray, order: Sequence[int]) -> None:
    """Write the names of the first entities in an order, above or below, where they cover no other name and few marks."""
    import numpy as np
    from matplotlib.patheffects import withStroke

    low, span = where.min(axis=0), np.maximum(np.ptp(where, axis=0), 1e-9)
    spots = (where - low) / span
    marks = spots[np.unique(ends[:, 0])]
    taken: list[tuple[float, float, float]] = []
    for at in order:
        if len(taken) >= _LABELS:
            break
        name = names[at] if len(names[at]) <= _LABEL_CHARS else f"{names[at][: _LABEL_CHARS - 1]}…"
        half = _LETTER * len(name) + 0.01
        across, middle = spots[len(where) - len(names) + at].tolist()
        free = [
            side
            for side in (1, -1)
            if all(
                abs(across - x) > half + other or abs(middle + side * _LINE - y) > 1.4 * _LINE for x, y, other in taken
            )
        ]
        if not free:
            continue
        near = marks[np.abs(marks[:, 0] - across) < half, 1]
        side = min(free, key=lambda side: int((np.abs(near - middle - side * _LINE) < _LINE).sum()))
        taken.append((across, middle + side * _LINE, half))
        axis.annotate(
            name, where[len(where) - len(names) + at], xytext=(0, 5 * side), textcoords="offset points", ha="center",
            va="bottom" if side > 0 else "top", fontsize=8.5, zorder=4,
            path_effects=[withStroke(linewidth=2.5, foreground="white")],
        )  # fmt: skip


def _handle(name: str, colour: str, mark: str) -> Any:
    from matplotlib.lines import Line2D

    return Line2D(
        [],
        [],
        linestyle="",
        marker=mark,
        color=colour,
        markeredgecolor=_DARK,
        markeredgewidth=0.4,
        markersize=8,
        label=name,
    )

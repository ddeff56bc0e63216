"""A picture of a gate: where the scores of questions with and without an answer lie. The only module that draws.

Knows nothing of where the scores come from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from grail_mem.errors import InputError, MissingDependencyError
from grail_mem.store.files import translated

ENDINGS: Final = (".png", ".svg", ".pdf")
_BINS: Final = 40


def check_plot(path: Path) -> None:
    """See beforehand that a picture can be drawn.

    Raises:
        InputError: The name has no ending of a picture.
        MissingDependencyError: matplotlib is not installed.
    """
    if path.suffix.lower() not in ENDINGS:
        raise InputError(f"The picture {str(path)!r} must end in {', '.join(ENDINGS)}.")
    try:
        import matplotlib as mpl
    except ImportError as error:
        raise MissingDependencyError("A picture needs matplotlib.", hint="pip install 'grail-mem[plot]'") from error
    mpl.use("Agg")


def plot_scores(path: Path, answered: Sequence[float], unanswered: Sequence[float], lines: Mapping[str, float]) -> None:
    """Draw the scores of two kinds of questions as histograms.

    Args:
        path: The picture, `.png`, `.svg` or `.pdf`.
        answered: Scores of questions with an answer, at least one.
        unanswered: Scores of those without one, at least one.
        lines: Places to mark, by what they are.

    Raises:
        InputError: The name has no ending of a picture.
        MissingDependencyError: matplotlib is not installed.
        StoreError: It cannot be written.
    """
    check_plot(path)
    import matplotlib.pyplot as plt
    import numpy as np

    every = [*answered, *unanswered, *lines.values()]
    edges = np.linspace(min(every), max(every), _BINS).tolist()
    figure, axes = plt.subplots(figsize=(7, 3.2), layout="constrained")
    axes.hist(answered, edges, density=True, alpha=0.7, label="with an answer")
    axes.hist(unanswered, edges, density=True, alpha=0.7, label="without one")
    for (name, at), style in zip(lines.items(), ("--", ":", "-."), strict=False):
        axes.axvline(at, color="black", lw=1, ls=style, label=f"{name} {at:.2f}")
    axes.set(xlabel="score of the gate (logit)", ylabel="density")
    figure.legend(loc="outside upper center", ncols=4, frameon=False, fontsize=8)
    with translated("write the picture", path):
        figure.savefig(path, dpi=150)
    plt.close(figure)

"""Stores in which who is mentioned where is drawn at random."""

from __future__ import annotations

import numpy as np


def random_notes(seed: int, *, n: int = 160) -> list[tuple[str, str, tuple[str, ...]]]:
    """Notes in four folders and the inbox, of very different sizes, with one to four of thirty entities each."""
    rng = np.random.default_rng(seed)
    folders = rng.choice(["inbox", "north", "south", "east", "west"], size=n, p=[0.1, 0.45, 0.2, 0.15, 0.1])
    notes = []
    for at, folder in enumerate(folders.tolist()):
        drawn = rng.choice(30, size=int(rng.integers(1, 5)), replace=False)
        notes.append((folder, f"Note {at}", tuple(f"Thing {which}" for which in drawn)))
    return notes

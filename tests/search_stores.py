"""Stores for tests of search: an embedder whose words are directions of their own, and a store that is never silent."""

from __future__ import annotations

import re
from pathlib import Path
from zlib import crc32

from grail_mem.index.embedder import CallableEmbedder

DIMENSION = 256
SAME = {"automobile": "car", "vehicle": "car", "physician": "doctor", "feline": "cat"}


def vector_of(text: str, *, scale: float = 1.0) -> list[float]:
    """A bag of hashed words; words of `SAME` fall together."""
    made = [0.0] * DIMENSION
    for word in re.findall(r"\w+", text.lower()):
        made[crc32(SAME.get(word, word).encode()) % DIMENSION] += scale
    return made


def hashed_words(*, name: str = "hashed-words", scale: float = 1.0) -> CallableEmbedder:
    """The embedder; its function returns vectors of any length, which the embedder has to make one."""
    return CallableEmbedder(lambda texts: [vector_of(text, scale=scale) for text in texts], name=name)


def never_silent(root: Path) -> Path:
    """Make the store return its best hits whatever they are worth, so that a test does not hang on calibrated gates."""
    root.mkdir(parents=True, exist_ok=True)
    (root / "grail.yaml").write_text("silence: never\ndurability: fast\n")
    return root

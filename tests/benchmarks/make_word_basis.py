"""What word vectors are reduced with: the mean and the principal directions of the default model's words.

`python tests/benchmarks/make_word_basis.py LONGMEMEVAL MUSIQUE_CORPUS OUT` writes `grail_mem/index/minilm_words.npy`
(float32 [65, 384]: the mean, then 64 directions) from a sample of texts. LONGMEMEVAL is a gzipped JSON of LongMemEval
(Wu et al., 2025; MIT licence), MUSIQUE_CORPUS a JSON list of MuSiQue paragraphs with `title` and `text` (Trivedi et al.,
2022; CC BY 4.0, text of Wikipedia). Neither is part of this repository, and no text can be read from what is written.
The same texts and weights give the same file.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from grail_mem.index.embedder import LocalEmbedder

SAMPLE = {"user": 500, "assistant": 120, "paragraph": 200}
DIRECTIONS = 64
SEED = 0


def texts(longmemeval: Path, musique: Path) -> list[str]:
    """A sample of what people say, what assistants answer, and paragraphs of an encyclopedia."""
    found: dict[str, list[str]] = {kind: [] for kind in SAMPLE}
    for question in json.loads(gzip.decompress(longmemeval.read_bytes())):
        for session in question["haystack_sessions"]:
            for turn in session:
                found[turn["role"]].append(turn["content"])
    found["paragraph"] = [f"{each['title']}. {each['text']}" for each in json.loads(musique.read_bytes())]
    chosen = random.Random(SEED)
    return [text for kind, size in SAMPLE.items() for text in chosen.sample(list(dict.fromkeys(found[kind])), size)]


def basis(states: np.ndarray) -> tuple[np.ndarray, float]:
    """The mean and the first principal directions of states, and which share of their variance those hold."""
    wide = states.astype(np.float64)
    mean = wide.mean(0)
    _, size, directions = np.linalg.svd(wide - mean, full_matrices=False)
    largest = np.abs(directions).argmax(1)
    directions *= np.sign(directions[np.arange(len(directions)), largest])[:, None]  # else either sign is right
    held = float((size[:DIRECTIONS] ** 2).sum() / (size**2).sum())
    return np.concatenate([mean[None], directions[:DIRECTIONS]]).astype(np.float32), held


def main() -> None:
    """Make the file and say what it holds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("longmemeval", "musique_corpus", "out"):
        parser.add_argument(name, type=Path)
    chosen = parser.parse_args()
    states = LocalEmbedder().word_states(texts(chosen.longmemeval, chosen.musique_corpus))
    made, held = basis(states)
    np.save(chosen.out, made)
    print(f"{len(states)} words, {DIRECTIONS} directions hold {held:.1%} of their variance: {chosen.out}")


if __name__ == "__main__":
    main()

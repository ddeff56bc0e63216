"""Synthetic stores with text worth searching, and questions about them; the same for the same size and seed.

Made-up words with Zipf frequencies below the frequent words of English, about 40 words a row, names of people in the text,
sessions of 20 to 400 turns between two speakers, a title of its own for a fifth of the rows; everything else is as in
`store_maker`. Knows nothing of what is measured.
"""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import store_maker

from grail_mem.index.embedder import WordVectors
from grail_mem.index.tokens import STOP_WORDS
from grail_mem.store import snapshot
from grail_mem.store.layout import Layout

VOCABULARY: Final = 200_000
WORDS: Final = 40
WORD_DIMENSION: Final = 64
WORDS_A_VECTOR: Final = 20
_ONSETS: Final = [
    "b",
    "c",
    "d",
    "f",
    "g",
    "h",
    "j",
    "k",
    "l",
    "m",
    "n",
    "p",
    "r",
    "s",
    "t",
    "v",
    "w",
    "z",
    "br",
    "cl",
    "dr",
    "fl",
    "gr",
    "kl",
    "pr",
    "sl",
    "st",
    "tr",
]
_VOWELS: Final = ["a", "e", "i", "o", "u", "ai", "ea", "ou"]
_CODAS: Final = ["", "", "", "n", "r", "s", "l", "m", "t", "k"]


@lru_cache(maxsize=1)
def vocabulary() -> np.ndarray:
    """Words by how frequent they are: first those that say nothing, then made-up ones."""
    rng = np.random.default_rng(7)
    made: dict[str, None] = dict.fromkeys(sorted(STOP_WORDS)[:100])
    while len(made) < VOCABULARY:
        parts = [rng.choice(kind, VOCABULARY) for _ in range(4) for kind in (_ONSETS, _VOWELS)]
        for n, coda, *syllables in zip(
            rng.integers(2, 5, VOCABULARY).tolist(), rng.choice(_CODAS, VOCABULARY), *parts, strict=True
        ):
            made["".join(syllables[: 2 * n]) + coda] = None
    return np.array(list(made)[:VOCABULARY])


def people(n: int) -> list[str]:
    """So many names of people, of a thousand first names and as many last names as it takes."""
    words = np.char.capitalize(vocabulary()[5_000 : 6_000 + n // 100 + 10])
    return [f"{words[i % 1000]} {words[1000 + i // 1000]}" for i in range(n)]


def text_table(n: int, *, seed: int = 1) -> pa.Table:
    """The rows of a store as a snapshot holds them, newest first."""
    rng = np.random.default_rng(seed)
    names = people(max(n // 20, 50))
    texts = _contents(rng, n, names)
    own_title = rng.random(n) < 0.2
    listed = np.array(names, object)[rng.integers(0, len(names), n)]
    title = pc.if_else(
        pa.array(own_title), pa.array(listed, pa.string()), pc.utf8_slice_codeunits(texts, 0, 200)
    )  # fmt: skip
    session, turn, speaker = _conversations(rng, n, names)
    changed = {
        "content": texts, "title": title, "session": session, "turn": turn, "speaker": speaker,
        "entities": store_maker._entities(rng, n, names), "relationships": store_maker._relationships(rng, n, names),
    }  # fmt: skip
    table = store_maker.rows_table(n, seed=seed)
    for name, column in changed.items():
        at = table.schema.get_field_index(name)
        table = table.set_column(at, table.schema.field(name), column.cast(table.schema.field(name).type))
    return table.combine_chunks()


def _contents(rng: np.random.Generator, n: int, names: list[str]) -> pa.Array:
    """Texts, some tens of thousands at a time."""
    words = vocabulary()
    share = np.cumsum(1 / (np.arange(VOCABULARY) + 2.7))
    share /= share[-1]
    known = pa.array([*words.tolist(), *names])
    parts = []
    for begin in range(0, n, 50_000):
        size = min(50_000, n - begin)
        lengths = np.clip(rng.lognormal(np.log(WORDS) - 0.18, 0.6, size), 4, 160).astype(np.int64)
        codes = np.searchsorted(share, rng.random(int(lengths.sum())))
        named = rng.random(len(codes)) < 0.02
        codes[named] = VOCABULARY + store_maker._zipf(rng, int(named.sum()), len(names), 0.8)
        ends = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
        listed = pa.ListArray.from_arrays(pa.array(ends), known.take(pa.array(codes)))
        parts.append(pc.binary_join(listed, " "))
    return pa.concat_arrays(parts)


def _conversations(rng: np.random.Generator, n: int, names: list[str]) -> tuple[pa.Array, pa.Array, pa.Array]:
    """Session, turn and speaker of each row; rows are newest first, so turns count down. A tenth are in none."""
    lengths = rng.integers(20, 400, n // 20 + 1)
    lengths = lengths[: int(np.searchsorted(np.cumsum(lengths), n)) + 1]
    number = np.repeat(np.arange(len(lengths)), lengths)[:n]
    begin = np.searchsorted(number, number)
    turn = np.bincount(number)[number] - 1 - (np.arange(n) - begin)
    speakers = np.array(names[: max(min(len(names), n // 200), 2)], object)
    pair = rng.integers(0, len(speakers), (len(lengths), 2))
    alone = rng.random(n) < 0.1
    said = speakers[pair[number, turn % 2]]
    return (
        pa.array([f"chat {i}" for i in range(len(lengths))]).take(pa.array(number, mask=alone)),
        pa.array(turn, mask=alone),
        pa.array(said, pa.string(), mask=alone),
    )


def questions(table: pa.Table, *, seed: int = 3) -> dict[str, list[str]]:
    """Five questions of each kind: of frequent words, of rare ones, of names, and as a person would ask about a row."""
    rng = np.random.default_rng(seed)
    words = vocabulary()
    names = sorted({o["name"] for row in table["entities"][:2000].to_pylist() for o in row})
    speakers = [name for name in table["speaker"][:5000].unique().to_pylist() if name]
    contents = table["content"].take(pa.array(rng.integers(0, table.num_rows, 10))).to_pylist()
    said = [" ".join([w for w in text.split() if w.casefold() not in STOP_WORDS][:5]) for text in contents]
    return {
        "frequent words": [" ".join(words[rng.integers(100, 200, 3)]) for _ in range(5)],
        "rare words": [" ".join(words[rng.integers(3_000, 60_000, 3)]) for _ in range(5)],
        "names": [f"Where did {rng.choice(names)} meet {rng.choice(names)}?" for _ in range(5)],
        "sentence": [f"What was it about {text}?" for text in said[:5]],
        "speaker": [f"When did {rng.choice(speakers)} talk about {text}?" for text in said[5:]],
    }


def write(root: Path, n: int) -> None:
    """A store with a snapshot of n rows, its questions beside it, and no files yet."""
    table = text_table(n)
    store_maker.write_snapshot(root, table)
    (root / "questions.json").write_text(json.dumps(questions(table)))


def write_files_of(root: Path, paths: list[str]) -> None:
    """Write the files behind rows that questions return, and let the snapshot know their folders as they are then."""
    for path in map(root.joinpath, paths):
        if not path.exists():
            path.write_bytes(store_maker.stand_in(path.stem))
    if snapshot.newest(Layout(root)) is not None:
        store_maker.materialise(root, [])


def random_vectors(n: int, dimension: int, seed: int) -> tuple[np.ndarray, WordVectors]:
    """Vectors of length one in no particular direction, and 20 word vectors for each: as costly to compare as real ones."""
    rng = np.random.default_rng(seed)
    vectors = rng.standard_normal((n, dimension), np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    words = rng.integers(-90, 90, (n * WORDS_A_VECTOR, WORD_DIMENSION), np.int8)
    return vectors, WordVectors(np.arange(n + 1, dtype=np.int64) * WORDS_A_VECTOR, words)

"""Speed and size of ranked search: `python tests/benchmarks/search_speed.py --rows 1000 10000 100000 1000000`.

Ours is `memory.recall(question)` as a user calls it, files checked, observations and reasons made. The reference is what a
reader would write by hand over the same passages: BM25 as one weight for each posting, added up by numpy, the ten best
by `argpartition`; for vectors one product of a float32 matrix. Both sides ask the same questions in turn; a figure is the
median over questions of the median of their runs. Vectors are random ones of length one, so that a million needs no day of
embedding; the question is embedded by the real model. Nothing is asserted about time.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parent)]

import numpy as np
import search_maker
import store_maker
from speed_store import Stores, interleaved

from grail_mem import Memory
from grail_mem.index.catalog import update_catalog
from grail_mem.index.document import term_hash
from grail_mem.index.embedder import LocalEmbedder
from grail_mem.index.lexical import K1, B
from grail_mem.index.rows import distinct
from grail_mem.index.tokens import terms
from grail_mem.index.vector_files import KEYS, VECTORS, append
from grail_mem.index.vectors import VectorStore
from grail_mem.model.filter import Filter, make_filter
from grail_mem.query import compaction
from grail_mem.recall import cascade
from grail_mem.recall.ranked import Searcher
from grail_mem.store.layout import Layout

ASKED = datetime.fromtimestamp(store_maker.NOW_US / 1e6, UTC)
GOAL_MS, GOAL_ROWS = 15, 50_000
STAGES = ("search", "candidates", "features", "silence", "gather", "duplicates")
_MORE = 100


@dataclass(frozen=True, slots=True)
class Line:
    """One measured line; `growth` is ours beside ours at a tenth of the size."""

    what: str
    rows: int
    ours: float
    reference: float | None
    ratio: float | None
    growth: float | None
    unit: str
    goal: str


class ByHand:
    """BM25 and vectors as one would write them over the same passages."""

    def __init__(self, searcher: Searcher) -> None:
        corpus = searcher.corpus
        self._n, n_terms = corpus.n_passages, corpus.columns.n_terms
        norm = K1 * (1 - B + B * n_terms / corpus.mean_terms)
        self._of: list[tuple[int, Any, np.ndarray]] = []
        for part in corpus.parts:
            postings = part.segment.by_term
            df = np.diff(postings.first)
            idf = np.repeat(np.log(1 + (self._n - df + 0.5) / (df + 0.5)), df)
            count = postings.count.astype(np.float32)
            weight = (idf * count / (count + norm[postings.row + part.first_passage])).astype(np.float32)
            self._of.append((part.first_passage, postings, weight))
        self.matrix: np.ndarray | None = None

    def best_by_words(self, question: str) -> np.ndarray:
        """The ten passages with the best BM25."""
        scores = np.zeros(self._n, np.float32)
        for value in map(term_hash, dict.fromkeys(terms(question))):
            for first, postings, weight in self._of:
                at = int(np.searchsorted(postings.hash, np.uint64(value)))
                if at < len(postings.hash) and int(postings.hash[at]) == value:
                    rows = slice(int(postings.first[at]), int(postings.first[at + 1]))
                    scores[postings.row[rows] + first] += weight[rows]
        return _best(scores, 10)

    def best_by_vector(self, vector: np.ndarray) -> np.ndarray:
        """The ten passages with the best cosine."""
        assert self.matrix is not None
        return _best(self.matrix @ vector, 10)


def _best(scores: np.ndarray, n: int) -> np.ndarray:
    at = np.argpartition(-scores, min(n, len(scores) - 1))[:n]
    return at[np.argsort(-scores[at])]


def prepared(root: Path, n: int, n_questions: int) -> dict[str, list[str]]:
    """The questions of a store, with the files behind everything that they return."""
    asked = {kind: texts[:n_questions] for kind, texts in json.loads((root / "questions.json").read_text()).items()}
    for embedder in ("none", "local"):
        with Memory(root, embedder=embedder) as memory:
            view = memory._open()
            view.refresh()
            searcher = memory._search_state()
            wish = cascade.Wish(limit=10, asked_at=ASKED, withhold=False)
            paths: list[str] = []
            for text in every(asked):
                for f in (Filter(), make_filter(now=ASKED, zone="UTC", **narrow(n))):
                    _, states = cascade.ask(view, searcher, [text], f, wish, {})
                    paths += states
        search_maker.write_files_of(root, paths)
    return asked


def narrow(n: int) -> dict[str, Any]:
    """A condition that one row in a hundred meets: the newest of a hundred days."""
    return {"since": datetime.fromtimestamp((store_maker.NOW_US - store_maker.DAY_US) / 1e6, UTC)}


def every(asked: dict[str, list[str]]) -> list[str]:
    """All questions."""
    return [text for texts in asked.values() for text in texts]


def store(stores: Stores, n: int) -> tuple[Path, dict[str, float]]:
    """A store of n rows with an index and vectors, and what making these cost when it was made."""

    def make(root: Path) -> None:
        root.joinpath("grail.yaml").write_text("silence: never\nscan_files: 0\nlook_after_s: 1000000\n")
        search_maker.write(root, n)
        with Memory(root, embedder="none") as memory:
            begin = time.perf_counter()
            memory.index()
            took = {"index_s": time.perf_counter() - begin}
            add_vectors(root, memory)
        (root / "made.json").write_text(json.dumps(took))

    root = stores._made(f"search-{n}", make)
    root.joinpath("grail.yaml").write_text(
        "silence: never\nscan_files: 0\nlook_after_s: 1000000\ncompact_after: 1000000000\n"
    )
    return root, json.loads((root / "made.json").read_text())


def add_vectors(root: Path, memory: Memory, batch: int = 50_000) -> None:
    """Keep a random vector for every passage, by its digest: to make the texts again would take longer than all else."""
    memory.recall("warm up", asked_at=ASKED)
    digests = distinct(memory._search_state().corpus.columns.digest)
    kept = VectorStore(Layout(root).vectors, LocalEmbedder().identity)
    kept.add([""], *search_maker.random_vectors(1, kept.identity.dimension, 0))  # says what the folder holds
    for start in range(0, len(digests), batch):
        some = digests[start : start + batch]
        vectors, words = search_maker.random_vectors(len(some), kept.identity.dimension, start)
        kept._append_words(words)
        append(kept._folder / VECTORS, len(kept) * 2 * kept.identity.dimension, vectors.astype(np.float16).tobytes())
        append(kept._folder / KEYS, len(kept) * 8, some.tobytes())
        kept.refresh()


def warm(root: Path, n: int, asked: dict[str, list[str]], embedder: str, repeat: int) -> Iterator[tuple]:
    """Warm questions, whole and by stage, beside those by hand."""
    with Memory(root, embedder=embedder) as memory:
        memory.recall("warm up", asked_at=ASKED)
        searcher = memory._search_state()
        hand = ByHand(searcher)
        model = LocalEmbedder() if embedder != "none" else None
        if searcher.meaning is not None:
            hand.matrix = searcher.meaning.vectors(np.arange(searcher.corpus.n_passages))
        traces: list[dict[str, Any]] = []

        processor_ms: list[float] = []

        def ours(text: str, **conditions: Any) -> Callable[[], None]:
            def ask() -> None:
                begin = time.process_time()
                traces.append(memory.recall(text, asked_at=ASKED, **conditions).trace)
                processor_ms.append((time.process_time() - begin) * 1000)

            return ask

        def theirs(text: str) -> Callable[[], object]:
            if model is None:
                return lambda: hand.best_by_words(text)
            return lambda: (hand.best_by_words(text), hand.best_by_vector(model.embed_question(text).vector))

        def both(text: str, **conditions: Any) -> tuple[float, float]:
            mine, by_hand = interleaved(repeat, ours(text, **conditions), theirs(text))
            return mine, by_hand

        kind = "words" if embedder == "none" else "words and vectors"
        goal = f"<= {GOAL_MS} ms at {GOAL_ROWS:,}" if embedder == "none" else ""
        times = {name: [both(text) for text in texts] for name, texts in asked.items()}
        stages = {stage: statistics.median(trace[stage]["ms"] for trace in traces) for stage in STAGES}
        yield f"{kind}: all questions", *_medians([pair for pairs in times.values() for pair in pairs]), "ms", goal
        yield f"{kind}: processor time", statistics.median(processor_ms), None, "ms", ""
        for stage, took in stages.items():
            yield f"{kind}: stage {stage}", took, None, "ms", ""
        for name, pairs in times.items():
            yield f"{kind}: {name}", *_medians(pairs), "ms", ""
        yield f"{kind}: within 1 % by time", *_medians([both(t, **narrow(n)) for t in every(asked)[::2]]), "ms", ""
        if model is not None:
            embedding = [interleaved(repeat, lambda: model.embed_question(text))[0] for text in every(asked)[::3]]  # noqa: B023
            yield "embedding the question", statistics.median(embedding), None, "ms", ""


def _medians(pairs: list[tuple[float, float]]) -> tuple[float, float]:
    return statistics.median(mine for mine, _ in pairs), statistics.median(by_hand for _, by_hand in pairs)


def fresh(root: Path, embedder: str) -> dict[str, float]:
    """What a process of its own says about its first search and its memory."""
    command = [sys.executable, __file__, "--child", str(root), embedder]
    said = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(said.stdout.splitlines()[-1])


def child(root: str, embedder: str) -> None:
    """Open a store, search, search again, and print how long it took and how much memory it takes."""
    asked = [texts[0] for texts in json.loads(Path(root, "questions.json").read_text()).values()]
    before = memory_mb()
    begin = time.perf_counter()
    with Memory(root, embedder=embedder) as memory:
        memory.recall(asked[0], asked_at=ASKED)
        first = (time.perf_counter() - begin) * 1000
        for text in asked:
            memory.recall(text, asked_at=ASKED)
        after, peak = memory_mb(), status_mb("VmHWM")
    print(
        json.dumps(
            {"first_ms": first, "own_mb": after[0] - before[0], "mapped_mb": after[1] - before[1], "peak_mb": peak}
        )
    )


def memory_mb() -> tuple[float, float]:
    """Resident memory of this process in megabytes: its own, and of mapped files, which the system may take back."""
    return status_mb("RssAnon"), status_mb("RssFile")


def status_mb(name: str) -> float:
    """A line of what Linux says of this process, in megabytes."""
    lines = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(lines[name].split()[0]) / 1024


def size_mb(folder: Path) -> float:
    """Bytes of all files below a folder, in millions."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def incremental(root: Path, question: str) -> Iterator[tuple]:
    """Indexing a hundred observations more; the index must only have added these."""
    drafts = [
        {
            "content": f"{o.content} {time.time_ns()}",
            "category": o.category,
            "session": f"more {time.time_ns()}",
            "turn": i,
        }
        for i, o in enumerate(store_maker.observations(search_maker.text_table(_MORE, seed=time.time_ns() % 10**6)))
    ]
    with Memory(root, embedder="none") as memory:
        memory.recall(question, asked_at=ASKED)
        memory.add_observations(drafts)
        begin = time.perf_counter()
        memory.recall(question, asked_at=ASKED)
        yield f"first search after {_MORE} more", (time.perf_counter() - begin) * 1000, None, "ms", ""
        compaction.compact(memory._view)
        memory._view.refresh()
        begin = time.perf_counter()
        done = update_catalog(memory._view)
        took = (time.perf_counter() - begin) * 1000
        assert _MORE <= done.n_added < 2 * _MORE  # a kept store may have a few that nobody indexed
        yield f"index {_MORE} more", took, None, "ms", ""


def measured(stores: Stores, n: int, repeat: int, n_questions: int, only: list[str]) -> Iterator[tuple]:
    """Every line of a size: what, ours, reference, unit, goal."""
    root, took = store(stores, n)
    asked = prepared(root, n, n_questions)
    if "warm" in only:
        yield from warm(root, n, asked, "none", repeat)
    if "vectors" in only:
        yield from warm(root, n, asked, "local", repeat)
    if "process" in only:
        for embedder in ("none", "local"):
            runs = [fresh(root, embedder) for _ in range(3)]
            kind = "words" if embedder == "none" else "words and vectors"
            yield f"{kind}: first search of a process", statistics.median(r["first_ms"] for r in runs), None, "ms", ""
            for name, text in (
                ("own_mb", "memory of its own"),
                ("mapped_mb", "mapped files in memory"),
                ("peak_mb", "peak"),
            ):
                yield f"{kind}: {text}", statistics.median(r[name] for r in runs), None, "MB", ""
    if "size" in only:
        yield "index on disk", size_mb(Layout(root).index), None, "MB", ""
        yield "vectors on disk", size_mb(Layout(root).vectors), None, "MB", ""
        yield "index build an observation", took["index_s"] / n * 1e6, None, "µs", ""
    if "more" in only:
        yield from incremental(root, every(asked)[0])


def main() -> None:
    """Measure, print a table, and keep it as JSON when asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--repeat", type=int, default=5, help="runs of each question and side, at least 5")
    parser.add_argument("--questions", type=int, default=5, help="questions of each kind")
    names = ("warm", "vectors", "process", "size", "more")
    parser.add_argument("--only", nargs="+", choices=names, default=list(names))
    parser.add_argument("--json", type=Path, help="where to keep the lines")
    parser.add_argument("--keep", type=Path, help="folder for the stores, used again by later runs")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.child:
        child(*chosen.child)
        return
    folder = chosen.keep or Path(tempfile.mkdtemp(prefix="grail-search-speed-"))
    folder.mkdir(parents=True, exist_ok=True)
    lines: list[Line] = []
    known: dict[tuple[str, int], float] = {}
    print(f"{'what':46} {'rows':>9} {'ours':>10}    {'reference':>10} {'ratio':>8} {'growth':>7}  goal", flush=True)
    try:
        for n in sorted(chosen.rows):
            for what, ours, reference, unit, goal in measured(
                Stores(folder), n, max(chosen.repeat, 5), chosen.questions, chosen.only
            ):
                ratio = ours / reference if reference else None
                before = known.get((what, n // 10))
                growth = ours / before if before else None
                known[what, n] = ours
                lines.append(Line(what, n, ours, reference, ratio, growth, unit, goal))
                cells = [f"{value:{width}.2f}" if value is not None else " " * width
                         for value, width in ((reference, 10), (ratio, 8), (growth, 7))]  # fmt: skip
                print(f"{what:46} {n:9,} {ours:10.2f} {unit} {' '.join(cells)}  {goal}", flush=True)
    finally:
        if chosen.keep is None:
            shutil.rmtree(folder, ignore_errors=True)
    if chosen.json:
        head: dict[str, Any] = {"at": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}", "cpus": os.cpu_count()}
        head |= {"python": sys.version.split()[0], "load": os.getloadavg()[0]}
        chosen.json.write_text(json.dumps(head | {"lines": [asdict(line) for line in lines]}, indent=1))


if __name__ == "__main__":
    main()

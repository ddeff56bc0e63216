"""Synthetic stores of any size for the speed benchmark, the same for the same size and seed.

580 folders, 300 tags and n/5 entities with Zipf frequencies, 1 to 5 tags and entities a row, 60-word bodies, about 900
bytes a file, 100 days. A tenth of the rows lie below `work/clients/acme`; `home/rare/zz` holds one in 20,000; the tags
`even` and `odd` are frequent and never meet. Knows nothing of what is measured.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from grail_mem.model.observation import KINDS, SOURCE_KINDS, STATUSES, Observation
from grail_mem.query.index_file import build_index
from grail_mem.query.snapshot_reader import SnapshotReader
from grail_mem.settings import Settings
from grail_mem.store import snapshot
from grail_mem.store.files import UNKNOWN_STATE, FileState
from grail_mem.store.frontmatter import render
from grail_mem.store.layout import Layout
from grail_mem.store.observation_file import FileRow
from grail_mem.store.observation_render import fields_of
from grail_mem.store.scan import FolderState
from grail_mem.store.schema import arrow_schema, observations_table

NOW_US = 1_780_000_000_000_000
DAY_US = 86_400_000_000
DAYS = 100
N_TAGS = 300
TYPES = ("PERSON", "ORGANIZATION", "PROJECT", "TOOL", "PLACE", "CONCEPT", "EVENT", "FILE")
RELATIONS = ("WORKS_AT", "USES", "OWNS", "KNOWS", "DEPENDS_ON", "PART_OF")
RARE_FOLDER = "home/rare/zz"
_BASE32 = np.frombuffer(b"0123456789ABCDEFGHJKMNPQRSTVWXYZ", dtype="S1")


def rows_table(n: int, *, seed: int = 1) -> pa.Table:
    """The rows of a store as a snapshot holds them: the columns of `store.schema`, newest first."""
    rng = np.random.default_rng(seed)
    folders, cid = _categories(rng, n)
    us = np.sort(NOW_US - (rng.random(n) * DAYS * DAY_US).astype(np.int64))[::-1] // 1_000_000 * 1_000_000
    ids, recorded = _ulids(rng, us), us // 1000 * 1000
    order = np.lexsort((ids, us))[::-1]
    us, ids, recorded = us[order], ids[order], recorded[order]
    texts = _Sentences(rng, n)
    category = _taken(folders, cid)
    id_texts = pa.array(ids.astype("U26"))
    names = [f"Entity Name {i}" for i in range(max(n // 5, 50))]
    confidence = np.round(0.3 + 0.7 * rng.random(n), 3)
    confidence[rng.random(n) < 0.002] = 1.0
    absent = pa.nulls(n, pa.string())
    times = {
        "observed_at": _times(us), "recorded_at": _times(recorded), "valid_from": _times(us),
        "valid_until": _times(us + 60 * DAY_US, rng.random(n) < 0.9),
        "expires_at": _times(us + 365 * DAY_US, rng.random(n) < 0.95),
    }  # fmt: skip
    content = pc.binary_join_element_wise(texts.sentence(), texts.sentence(), texts.sentence(), " ")
    columns: dict[str, Any] = {
        "id": id_texts, "title": pc.utf8_trim_whitespace(pc.utf8_slice_codeunits(texts.sentence(), 0, 40)),
        "content": content, "category": category,
        "kind": _taken(KINDS, _zipf(rng, n, len(KINDS))),
        "status": _taken(STATUSES, np.where(rng.random(n) < 0.95, 1, rng.integers(2, 4, n)).astype(np.int32)),
        "confidence": pa.array(confidence), "source": _taken([f"session {i}" for i in range(1000)], _even(rng, n, 1000)),
        "source_kind": _taken(SOURCE_KINDS, _even(rng, n, len(SOURCE_KINDS))), "attribute": absent,
        "scope": absent, "session": absent, "turn": pa.nulls(n, pa.int64()), "speaker": absent, **times,
        "tags": _tags(rng, n), "entities": _entities(rng, n, names), "relationships": _relationships(rng, n, names),
        "superseded_by": absent, "more": absent,
        "path": pc.binary_join_element_wise("memories", category, pc.binary_join_element_wise(id_texts, ".md", ""), "/"),
        "sha256": pa.array([sha256(stand_in(id_)).hexdigest() for id_ in id_texts.to_pylist()]),
        "size_bytes": pa.array(np.full(n, UNKNOWN_STATE.size)), "mtime_ns": pa.array(np.full(n, UNKNOWN_STATE.mtime_ns)),
        "ctime_ns": pa.array(np.full(n, UNKNOWN_STATE.ctime_ns)),
        "fingerprint": pa.array(rng.integers(0, 1 << 63, n, dtype=np.uint64)),
        "has_id": pa.array(np.ones(n, bool)),
    }  # fmt: skip
    schema = arrow_schema()
    return pa.table([columns[field.name].cast(field.type) for field in schema], schema=schema).combine_chunks()


def stand_in(id_: str) -> bytes:
    """What the file of a row of a generated snapshot holds: its id, enough to find it unchanged."""
    return f"{id_}\n".encode()


def observations(table: pa.Table, start: int = 0, stop: int | None = None) -> Iterable[Observation]:
    """The observations of a table, in its order."""
    from grail_mem.store.schema import PARTS, PAYLOAD, observation_of

    part = table.slice(start, None if stop is None else stop - start)
    times = ("observed_at", "recorded_at", "valid_from", "valid_until", "expires_at")
    columns = {name: (part[name].cast(pa.int64()) if name in times else part[name]).to_pylist() for name in PAYLOAD}
    for name, fields in PARTS.items():
        columns[name] = [[[part[field] for field in fields] for part in parts] for parts in columns[name]]
    return map(observation_of, zip(*columns.values(), strict=True))


def write_files(root: Path, table: pa.Table, *, batch: int = 10_000) -> None:
    """Write every row as a real observation file, not synced, and age the files so that their states count at once."""
    layout = Layout(root)
    for category in table["category"].unique().to_pylist():
        (layout.memories / category).mkdir(parents=True, exist_ok=True)
    layout.ledger.mkdir(parents=True, exist_ok=True)
    for start in range(0, table.num_rows, batch):
        for o in observations(table, start, min(start + batch, table.num_rows)):
            (root / o.path).write_bytes(render(fields_of(o), o.content))


def write_snapshot(root: Path, table: pa.Table) -> None:
    """Write a table as the store's snapshot, without the files behind its rows (`materialise` writes those needed)."""
    layout = Layout(root)
    layout.ledger.mkdir(parents=True, exist_ok=True)
    layout.local.mkdir(parents=True, exist_ok=True)
    for category in table["category"].unique().to_pylist():
        (layout.memories / category).mkdir(parents=True, exist_ok=True)
    folder = snapshot.draft_folder(layout)
    snapshot.write_rows(folder, table)
    build_index(table, folder / snapshot.INDEX, folder / snapshot.PAYLOADS)
    manifest = snapshot.Manifest(name=snapshot.next_name(layout), n_rows=table.num_rows, folders=_folders(root))
    snapshot.publish(layout, folder, manifest)


def materialise(root: Path, payloads: Iterable[Sequence[Any]]) -> None:
    """Write the files behind rows that questions will return, and let the snapshot know the folders as they are then."""
    for payload in payloads:
        path = root / payload[6]
        if not path.exists():
            path.write_bytes(stand_in(payload[0]))
    layout = Layout(root)
    manifest = snapshot.newest(layout)
    assert manifest is not None
    path = layout.snapshots / manifest.name / snapshot.MANIFEST
    path.write_bytes(replace(manifest, folders=_folders(root)).to_json())


def open_reader(root: Path) -> SnapshotReader:
    """The newest snapshot of a store, opened by itself."""
    manifest = snapshot.newest(Layout(root))
    assert manifest is not None
    folder = Layout(root).snapshots / manifest.name
    return SnapshotReader(folder / snapshot.INDEX, folder / snapshot.PAYLOADS)


def settings(**changes: Any) -> Settings:
    """Default settings but for the changes."""
    return replace(Settings(), **changes)


def file_rows(table: pa.Table) -> pa.Table:
    """The table made once more the slow way, from observation values, as compaction of a delta does."""
    return observations_table(FileRow(o, FileState(0, 0, 0)) for o in observations(table))


def _folders(root: Path) -> dict[str, FolderState]:
    found = {}
    for folder, _, _ in os.walk(root / "memories"):
        found[os.path.relpath(folder, root)] = FolderState(os.stat(folder).st_mtime_ns, 0, 0)
    return found


def _zipf(rng: np.random.Generator, n: int, k: int, power: float = 1.0) -> np.ndarray:
    weight = 1 / np.arange(1, k + 1) ** power
    return rng.choice(k, size=n, p=weight / weight.sum()).astype(np.int32)


def _even(rng: np.random.Generator, n: int, k: int) -> np.ndarray:
    return rng.integers(0, k, n, dtype=np.int32)


def _taken(values: Sequence[str], codes: np.ndarray) -> pa.Array:
    return pa.array(list(values)).take(pa.array(codes))


def _times(us: np.ndarray, absent: np.ndarray | None = None) -> pa.Array:
    return pa.array(us, pa.timestamp("us", tz="UTC"), mask=absent)


def _categories(rng: np.random.Generator, n: int) -> tuple[list[str], np.ndarray]:
    folders = sorted(
        f"{top}/{middle}/{('acme', 'globex', 'initech')[i % 3] if middle == 'clients' else f'p{i % 7}'}/s{i}"
        for top in ("work", "home", "research", "ops")
        for middle in ("clients", "projects", "notes", "people", "infra")
        for i in range(29)
    )
    cid = rng.permutation(len(folders))[_zipf(rng, n, len(folders), 0.8)]
    acme = [i for i, folder in enumerate(folders) if folder.startswith("work/clients/acme/")]
    hot = rng.random(n) < 0.10
    cid[hot] = rng.choice(acme, size=int(hot.sum()))
    cid[rng.choice(n, max(5, n // 20_000), replace=False)] = len(folders)
    return [*folders, RARE_FOLDER], cid.astype(np.int32)


def _ulids(rng: np.random.Generator, us: np.ndarray) -> np.ndarray:
    ids = np.empty((len(us), 26), "S1")
    for i in range(10):
        ids[:, 9 - i] = _BASE32[(us // 1000 >> (5 * i)) & 31]
    ids[:, 10:] = _BASE32[rng.integers(0, 32, size=(len(us), 16))]
    return ids.view("S26").ravel()


def _offsets(counts: np.ndarray) -> pa.Array:
    return pa.array(np.concatenate(([0], np.cumsum(counts))).astype(np.int32))


def _distinct(rows: np.ndarray, codes: np.ndarray, n: int, k: int) -> tuple[pa.Array, np.ndarray]:
    pairs = np.unique(rows.astype(np.int64) * k + codes)
    return _offsets(np.bincount(pairs // k, minlength=n)), (pairs % k).astype(np.int32)


def _tags(rng: np.random.Generator, n: int) -> pa.Array:
    rows = np.repeat(np.arange(n), rng.integers(1, 6, n))
    more = np.nonzero(rng.random(n) < 0.3)[0]
    codes = np.concatenate((_zipf(rng, len(rows), N_TAGS, 0.9), N_TAGS + more % 2))
    offsets, codes = _distinct(np.concatenate((rows, more)), codes, n, N_TAGS + 2)
    return pa.ListArray.from_arrays(offsets, _taken([*(f"tag-{i}" for i in range(N_TAGS)), "even", "odd"], codes))


def _entities(rng: np.random.Generator, n: int, names: Sequence[str]) -> pa.Array:
    rows = np.repeat(np.arange(n), rng.integers(1, 6, n))
    offsets, codes = _distinct(rows, _zipf(rng, len(rows), len(names), 0.85), n, len(names))
    name = _taken(names, codes)
    none = pa.ListArray.from_arrays(pa.array(np.zeros(len(codes) + 1, np.int32)), pa.array([], pa.string()))
    parts = [name, _taken(TYPES, codes % len(TYPES)), _taken([""], codes * 0), pc.utf8_lower(name), none]
    return pa.ListArray.from_arrays(
        offsets, pa.StructArray.from_arrays(parts, ["name", "type", "description", "key", "aliases"])
    )


def _relationships(rng: np.random.Generator, n: int, names: Sequence[str]) -> pa.Array:
    counts = rng.integers(0, 3, n)
    k = int(counts.sum())
    parts = [
        _taken(names, _zipf(rng, k, len(names), 0.85)), _taken(names, _zipf(rng, k, len(names), 0.85)),
        _taken(RELATIONS, _even(rng, k, len(RELATIONS))), _taken([""], np.zeros(k, np.int32)),
        pa.nulls(k, pa.float64()), pa.nulls(k, pa.float64()),
    ]  # fmt: skip
    names_ = ["source", "target", "relationship_type", "description", "weight", "confidence"]
    return pa.ListArray.from_arrays(_offsets(counts), pa.StructArray.from_arrays(parts, names_))


class _Sentences:
    """20,000 sentences of 20 made-up words, drawn a column at a time."""

    def __init__(self, rng: np.random.Generator, n: int) -> None:
        letters = list("etaoinshrdlucmfwyp")
        words = np.array(["".join(rng.choice(letters, size=size)) for size in rng.integers(3, 10, 5000)])
        self._texts = pa.array([" ".join(rng.choice(words, 20)) for _ in range(20_000)])
        self._rng, self._n = rng, n

    def sentence(self) -> pa.Array:
        return self._texts.take(pa.array(_even(self._rng, self._n, 20_000)))

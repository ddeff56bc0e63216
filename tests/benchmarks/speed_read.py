"""Questions: recall, the adversarial shapes, the delta, and a cold process."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import store_maker
from speed_store import Stores, interleaved

from grail_mem import Memory
from grail_mem.model.filter import make_filter, make_page
from grail_mem.model.times import from_us, parse_time, to_us
from grail_mem.query.engine import connect
from grail_mem.store import snapshot
from grail_mem.store.layout import Layout
from grail_mem.store.ledger import Ledger
from grail_mem.store.ledger_line import Entry

Lines = Iterator[tuple[str, float, float, str, bool]]
Question = dict[str, Any]

LIMIT = 50


def days_ago(days: int) -> str:
    """An instant so many days before the end of the synthetic time."""
    return f"{from_us(store_maker.NOW_US - days * store_maker.DAY_US):%Y-%m-%dT%H:%M:%SZ}"


def question_a(n: int) -> Question:
    """The last week, a folder with all below, a tag, an entity, a confidence; ten weeks where a week holds no answer."""
    return {
        "since": days_ago(7 if n >= 100_000 else 70), "category": "work/clients/acme/**", "tags": ["tag-1"],
        "entity_names": ["Entity Name 3"], "min_confidence": 0.5,
    }  # fmt: skip


def questions(n: int) -> dict[str, Question]:
    """The adversarial shapes; the rare entity has a handful of rows at every size."""
    rare = f"Entity Name {n * 3 // 20}"
    return {
        "a": question_a(n),
        "rare folder": {"category": store_maker.RARE_FOLDER},
        "work/**, hot tag, hot entity": {"category": "work/**", "tags": ["tag-1"], "entity_names": ["Entity Name 3"]},
        "2 hot tags": {"tags_all": ["tag-0", "tag-1"]},
        "hot tag, rare entity": {"tags": ["tag-0"], "entity_names": [rare]},
        "3 hot tags, rare folder": {"category": store_maker.RARE_FOLDER, "tags_all": ["tag-0", "tag-1", "tag-2"]},
        "confidence 1": {"min_confidence": 1.0},
        "rare entity": {"entity_names": [rare]},
        "mid entity": {"entity_names": ["Entity Name 500"]},
        "hot entity": {"entity_names": ["Entity Name 0"]},
        "hot tag": {"tags": ["tag-0"]},
        "unfiltered": {},
        "since": {"since": days_ago(7)},
        "kind and status": {"kind": "summary", "status": "archived"},
        "nothing: 2 hot tags": {"tags_all": ["even", "odd"]},
        "2 mid tags, mid entity": {"tags_all": ["tag-60", "tag-90"], "entity_names": ["Entity Name 60"]},
        "any of hot and rare entity": {"entity_names": ["Entity Name 0", rare]},
        "any of 2 rare entities": {"entity_names": [rare, "Entity Name 500"]},
        "any of 2 mid tags": {"tags": ["tag-250", "tag-280"]},
    }  # fmt: skip


def nested_sql(question: Question) -> tuple[str, list[Any]]:
    """The question as written by hand over a table with nested columns."""
    where: list[str] = []
    values: list[Any] = []

    def add(text: str, *bound: Any) -> None:
        where.append(text)
        values.extend(bound)

    names = "list_transform(entities, lambda e: e.name)"
    for field, value in question.items():
        match field:
            case "since":
                add("observed_at >= ?::TIMESTAMPTZ", value)
            case "category" if value.endswith("/**"):
                add("(category = ? OR starts_with(category, ?))", value[:-3], value[:-2])
            case "category":
                add("(category = ? OR starts_with(category, ?))", value, f"{value}/")
            case "min_confidence":
                add("confidence >= ?", value)
            case "tags" | "entity_names":
                column = "tags" if field == "tags" else names
                add(f"({' OR '.join(f'list_contains({column}, ?)' for _ in value)})", *value)
            case "tags_all":
                for tag in value:
                    add("list_contains(tags, ?)", tag)
            case "kind" | "status":
                add(f"{field} = ?", value)
    if "status" not in question:  # what holds now, as `recall` asks by itself
        now = datetime.now(UTC)
        add("status <> 'archived' AND NOT (status = 'superseded' AND valid_until IS NULL)")
        add("(valid_until IS NULL OR valid_until > ?) AND (expires_at IS NULL OR expires_at > ?)", now, now)
        add("valid_from <= ?", now)
    clause = f"WHERE {' AND '.join(where)}" if where else ""
    return f"SELECT * FROM nested {clause} ORDER BY observed_at DESC, id DESC LIMIT {LIMIT}", values


class Nested:
    """The snapshot's Parquet file as a table in memory, asked by hand-written SQL."""

    def __init__(self, root: Path) -> None:
        manifest = snapshot.newest(Layout(root))
        assert manifest is not None
        self.parquet = Layout(root).snapshots / manifest.name / snapshot.ROWS
        self.con = duckdb.connect(config={"threads": os.cpu_count() or 1})
        self.con.execute("SET TimeZone = 'UTC'")
        self.con.execute(f"CREATE TABLE nested AS SELECT * FROM '{self.parquet}'")

    def asker(self, question: Question) -> Callable[[], list[tuple[Any, ...]]]:
        """A function that gives whole rows as Python values."""
        sql, values = nested_sql(question)
        return lambda: self.con.execute(sql, values).fetchall()


def by_hand(root: Path, question: Question) -> Callable[[], list[Any]]:
    """Question (a) written by hand over the product's own schema, rows decoded to Python values."""
    reader = store_maker.open_reader(root)
    tag, entity = reader.place([(0, "tag-1"), (1, "entity name 3")])
    first, end = reader.category_range(["work", "clients", "acme"])
    payloads = os.open(reader.path.with_name(snapshot.PAYLOADS), os.O_RDONLY)
    con = connect(threads=1)
    con.execute(f"ATTACH '{reader.path}' AS x (READ_ONLY)")
    since = to_us(parse_time(question["since"]))
    has = " AND ".join(f"(b{bit // 64} & {1 << (bit % 64)}) <> 0" for bit in (tag.bit, entity.bit) if bit >= 0)
    table = "x.obs"
    if entity.bit < 0:
        table, has = "x.postings", f"rowid BETWEEN {entity.first} AND {entity.first + entity.n - 1} AND {has}"
    sql = (
        f"SELECT first_byte, n_bytes FROM {table} WHERE {has} AND us >= ? AND ends > ? AND cid BETWEEN ? AND ? AND confidence >= ?"
        f" ORDER BY rid LIMIT {LIMIT}"
    )
    values = [since, to_us(datetime.now(UTC)), first, end - 1, 0.5]
    return lambda: [json.loads(os.pread(payloads, n, at)) for at, n in con.execute(sql, values).fetchall()]


def seed_frame(parquet: Path, question: Question) -> Callable[[], list[dict[str, Any]]]:
    """Question (a) as boolean conditions, one after the other, over a loaded pandas frame."""
    import pandas as pd

    frame = pd.read_parquet(parquet)
    since = pd.Timestamp(question["since"])

    def ask() -> list[dict[str, Any]]:
        mask = frame["observed_at"] >= since
        mask &= frame["category"].apply(lambda text: text.startswith("work/clients/acme/"))
        mask &= frame["tags"].apply(lambda tags: "tag-1" in tags)
        mask &= frame["entities"].apply(lambda listed: any(e["name"] == "Entity Name 3" for e in listed))
        mask &= frame["confidence"] >= 0.5
        found = frame[mask].sort_values(["observed_at", "id"], ascending=False).head(LIMIT)
        return found.to_dict("records")  # type: ignore[return-value]  # records of columns are what it says

    return ask


def prepared(root: Path, asked: list[Question]) -> None:
    """Let the files exist that the questions return."""
    reader = store_maker.open_reader(root)
    for question in asked:
        f = make_filter(now=datetime.now(UTC), zone="UTC", **question)
        page = make_page(limit=LIMIT, order=None, cursor=None, digest=f.digest())
        store_maker.materialise(root, [found.payload for found in reader.select(f, page, LIMIT + 1)])
    reader.close()


def store_for(stores: Stores, n: int, asked: list[Question]) -> Path:
    """A store of n rows: real files up to 100,000, a generated snapshot above."""
    if n <= 100_000:
        return stores.files(n)
    root = stores.generated(n)
    prepared(root, asked)
    return root


def recall(stores: Stores, n: int, repeat: int) -> Lines:
    """Question (a), warm, against three references."""
    a = question_a(n)
    root = store_for(stores, n, [a])
    nested = Nested(root)
    with Memory(root) as memory:
        ask = lambda: memory.recall(limit=LIMIT, **a).observations  # noqa: E731  a side of the measurement
        plain, hand = nested.asker(a), by_hand(root, a)
        assert ask()
        assert [o.id for o in ask()] == [row[0] for row in plain()] == [payload[0] for payload in hand()]
        ours, hand_ms, nested_ms = interleaved(4 * repeat, ask, hand, plain)
        yield "recall (a) / DuckDB by hand, same schema", ours, hand_ms, "<=1.5", False
        yield "recall (a) / DuckDB by hand, nested table in memory", ours, nested_ms, "<=0.7", False
        frame = seed_frame(nested.parquet, a)
        ours, frame_ms = interleaved(5, ask, frame, warm=1)
        yield "recall (a) / pandas boolean filter", ours, frame_ms, "<=0.05" if n < 1_000_000 else "<=0.005", False


def shapes(stores: Stores, n: int, repeat: int) -> Lines:
    """Every shape against the nested table, and the worst of them."""
    asked = questions(n)
    root = store_for(stores, n, list(asked.values()))
    nested = Nested(root)
    worst = (0.0, 0.0, 1.0)
    with Memory(root) as memory:
        for name, question in asked.items():
            ask = lambda question=question: memory.recall(limit=LIMIT, **question).observations  # noqa: E731  as above
            plain = nested.asker(question)
            assert [o.id for o in ask()] == [row[0] for row in plain()], name
            ours, reference = interleaved(repeat, ask, plain)
            yield f"shape: {name}", ours, reference, "<=0.5", False
            worst = max(worst, (ours / reference, ours, reference))
    yield "worst shape / nested table", worst[1], worst[2], "<=0.5", False


def delta(stores: Stores, n: int, repeat: int) -> Lines:
    """The same question over a snapshot alone, and with 1,000 rows added since and 1,000 hidden."""
    asked = questions(n)
    picked = {name: asked[name] for name in ("a", "mid entity", "hot tag", "since", "unfiltered")}
    base = stores.generated(n)
    prepared(base, list(picked.values()))
    for which, dead in (("spread", slice(None, None, max(n // 1000, 1))), ("newest", slice(0, 1000))):
        root = stores.folder / f"delta-{which}-{n}"
        shutil.rmtree(root, ignore_errors=True)
        shutil.copytree(base, root, copy_function=_linked)
        _change(root, stores, n, dead)
        with Memory(base) as alone, Memory(root) as changed:
            for name, question in picked.items():
                ours, reference = interleaved(
                    2 * repeat,
                    lambda question=question: changed.recall(limit=LIMIT, **question).observations,
                    lambda question=question: alone.recall(limit=LIMIT, **question).observations,
                )
                yield f"delta 1,000 + dead 1,000 {which} / base: {name}", ours, reference, "<=1.2", False
        shutil.rmtree(root)


def _linked(source: str, target: str) -> None:
    """A copy, or a link for files of snapshots, which never change."""
    (os.link if source.endswith((snapshot.ROWS, snapshot.INDEX, snapshot.PAYLOADS)) else shutil.copy2)(source, target)


def _change(root: Path, stores: Stores, n: int, dead: slice) -> None:
    """Add 1,000 observations over the whole time, and hide rows of the snapshot."""
    ids = stores.table(n)["id"].to_pylist()[dead][:1000]
    with Memory(root) as memory:
        more = store_maker.rows_table(1000, seed=7)
        memory.add_observations(
            {
                "title": o.title, "content": o.content, "category": o.category, "tags": o.tags, "entities": o.entities,
                "confidence": o.confidence, "observed_at": o.observed_at,
            }
            for o in store_maker.observations(more)
        )  # fmt: skip
    layout = Layout(root)
    ledger = Ledger(layout)
    ledger.read()
    clone = next(iter(ledger.heads))
    at = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%fZ}"
    with ledger.appending(clone) as chain:
        chain.write(chain.draft([Entry("hide", id_, at=at, actor="owner") for id_ in ids]))
    asked = questions(n)
    reader = store_maker.open_reader(root)  # files of rows that move up into the answers
    for name in ("a", "mid entity", "hot tag", "since", "unfiltered"):
        f = make_filter(now=datetime.now(UTC), zone="UTC", **asked[name])
        page = make_page(limit=3000, order=None, cursor=None, digest=f.digest())
        store_maker.materialise(root, [found.payload for found in reader.select(f, page, 3000)])
    reader.close()


def cold(stores: Stores, n: int, repeat: int) -> Lines:
    """A whole process that recalls, against one that only opens DuckDB."""
    a = question_a(n)
    root = store_for(stores, n, [a])
    command = [sys.executable, "-m", "grail_mem", "recall", str(root), "--json", "--since", a["since"]]
    command += ["--category", a["category"], "--tag", "tag-1", "--entity", "Entity Name 3", "--min-confidence", "0.5"]
    here = str(Path(__file__).parents[2])
    environment = os.environ | {"PYTHONPATH": here}

    def ours() -> bytes:
        return subprocess.run(command, check=True, capture_output=True, env=environment).stdout

    def reference() -> None:
        subprocess.run([sys.executable, "-c", "import duckdb; duckdb.connect()"], check=True)

    assert json.loads(ours())["observations"]
    mine, theirs = interleaved(max(repeat, 7), ours, reference, warm=1)
    yield "cold `grail recall --json` / import duckdb and connect", mine, theirs, "<=2", False

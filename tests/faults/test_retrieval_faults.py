"""Faults of retrieval that other systems had, as far as exact filters can have them."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from fault_stores import titles

from grail_mem import IndexUnusableError, InputError, Memory, NotFoundError


def _snapshot_file(root: Path, name: str) -> Path:
    (folder,) = sorted((root / "output/snapshots").iterdir())[-1:]
    return folder / name


def _ask_recall(memory: Memory) -> Any:
    return memory.recall(tags=["x"], text="body").observations


def _ask_sql(memory: Memory) -> Any:
    return memory.sql("SELECT content FROM observations").column(0).to_pylist()


def _ask_list(memory: Memory) -> Any:
    return memory.list_entities().items


def _ask_add(memory: Memory) -> Any:
    return memory.add_observation(title="note 0", content="body of it", category="alpha", tags=["x"], entities=["E"])


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "emptied": lambda data: b"",
    "cut": lambda data: data[: len(data) // 2],
    "cut odd": lambda data: data[:13],
    "overwritten": lambda data: b"\xff" * len(data),
}


@pytest.mark.parametrize("damage", [*DAMAGES, "removed"])
@pytest.mark.parametrize(
    "name", ["observations.parquet", "index.duckdb", "payloads.json", "manifest.json", "fingerprints.u64"]
)
def test_f26_a_damaged_index_is_an_error_or_does_no_harm(tmp_path: Path, name: str, damage: str) -> None:
    """With any derived file damaged, each question is answered in full or raises our own error; never a part, never none."""
    with Memory(tmp_path) as memory:
        memory.add_observations(
            [
                {"title": f"note {n}", "content": "body of it", "category": "alpha", "tags": ["x"], "entities": ["E"]}
                for n in range(20)
            ]
        )
        memory.compact()
    file = _snapshot_file(tmp_path, name)
    if damage == "removed":
        file.unlink()
    else:
        file.write_bytes(DAMAGES[damage](file.read_bytes()))
    n_errors = 0
    for ask, full in ((_ask_recall, 20), (_ask_sql, 20), (_ask_list, 1)):
        try:
            with Memory(tmp_path) as memory:
                assert len(ask(memory)) == full
        except IndexUnusableError:
            n_errors += 1
    assert n_errors or name in ("manifest.json", "fingerprints.u64")  # without a manifest the files themselves are read
    with Memory(tmp_path) as memory:
        assert not memory.check().ok or (name, damage) == ("manifest.json", "removed")
        if (name, damage) != ("fingerprints.u64", "overwritten"):  # as long as before: only its digest tells
            with suppress(IndexUnusableError):
                assert _ask_add(memory).created is False


@pytest.mark.parametrize("name", ["observations.parquet", "index.duckdb", "payloads.json", "fingerprints.u64"])
def test_f26_a_rebuild_mends_a_damaged_index(tmp_path: Path, name: str) -> None:
    """Whatever is damaged in what is derived, a rebuild gives the same answers as before."""
    with Memory(tmp_path) as memory:
        memory.add_observations([{"title": f"note {n}", "content": "body", "tags": ["x"]} for n in range(5)])
        memory.compact()
        before = memory.recall().observations
    _snapshot_file(tmp_path, name).write_bytes(b"junk")
    with Memory(tmp_path) as memory:
        memory.rebuild()
        assert memory.recall().observations == before
        assert memory.check().ok


@pytest.mark.parametrize(
    "call",
    [
        lambda m: m.recall("a question in words", mode="recall"),
        lambda m: m.recall(mode="semantic"),
        lambda m: m.recall(mode=""),
        lambda m: m.recall(order="best"),
        lambda m: m.recall(cursor="nonsense"),
        lambda m: m.sql("SELECT * FROM memories"),
        lambda m: m.sql("SELECT nothing FROM observations"),
        lambda m: m.sql("SELECT CAST(title AS INTEGER) FROM observations"),
        lambda m: m.sql("SELECT * FROM observations WHERE title = ?"),
        lambda m: m.sql(""),
        lambda m: m.list_entities(cursor="nonsense"),
        lambda m: m.list_entities(limit=0),
    ],
)
def test_f26_a_question_that_cannot_be_asked_is_an_error(tmp_path: Path, call: Callable[[Memory], Any]) -> None:
    """What is wrong in a question is said; it is never answered with nothing."""
    with Memory(tmp_path) as memory:
        memory.add_observation(title="t", content="c")
        with pytest.raises(InputError):
            call(memory)


NEAR_MISSES = ["Plan", "Plan A", "plan a", "Pla", "%", "*", "", " ", "alpha", "memories/alpha"]


def test_f27_changing_verbs_take_an_exact_id_only(tmp_path: Path) -> None:
    """A title, a part of an id, a path or a pattern changes nothing, also when it fits one observation only."""
    with Memory(tmp_path) as memory:
        made = [
            memory.add_observation(title=t, content=f"body {n}", category="alpha")
            for n, t in enumerate(["Plan A", "Plan B", "Plan B"])
        ]
        id_ = made[0].id
        before = {p: p.read_bytes() for p in (tmp_path / "memories").rglob("*.md")}
        near = [*NEAR_MISSES, id_[:-1], id_[:8], id_[-6:], f"{id_}0", made[0].path, f"{id_},{made[1].id}"]
        for text in near:
            for verb in (
                memory.hide,
                memory.restore,
                lambda i: memory.update(i, title="x"),
                lambda i: memory.move(i, "beta"),
                memory.get,
            ):
                with pytest.raises(NotFoundError):
                    verb(text)
        assert {p: p.read_bytes() for p in (tmp_path / "memories").rglob("*.md")} == before
        assert titles(memory) == ["Plan A", "Plan B", "Plan B"]
        memory.hide(id_.lower())
        memory.hide(made[1].id)
        assert [o.id for o in memory.recall().observations] == [made[2].id]


CONDITIONS: dict[str, tuple[dict[str, Any], set[str]]] = {
    "since": ({"since": "2026-01-02"}, {"b", "c"}),
    "before": ({"before": "2026-01-03"}, {"a", "b"}),
    "category": ({"category": "alpha/*"}, {"b"}),
    "tags": ({"tags": ["one", "two"]}, {"a", "b"}),
    "tags_all": ({"tags_all": ["one", "both"]}, {"a"}),
    "entity_names": ({"entity_names": ["ACME "]}, {"b", "c"}),
    "entity_types": ({"entity_types": ["tool"]}, {"a", "c"}),
    "relationship_type": ({"relationship_type": "uses"}, {"c"}),
    "min_confidence": ({"min_confidence": 0.5}, {"b", "c"}),
    "kind": ({"kind": "episodic"}, {"a", "c"}),
    "status": ({"status": "provisional"}, {"a"}),
    "source_kind": ({"source_kind": ["system"]}, {"b"}),
    "text": ({"text": "BODY B"}, {"b"}),
    "as_of": ({"as_of": "2026-01-02T12:00:00Z"}, {"a", "b"}),
}


def _three(memory: Memory) -> None:
    memory.add_observations(
        [
            {"title": "a", "content": "body a", "category": "alpha", "tags": ["one", "both"], "observed_at": "2026-01-01",
             "entities": [{"name": "Hammer", "type": "Tool"}], "confidence": 0.4, "kind": "episodic", "status": "provisional"},
            {"title": "b", "content": "body b", "category": "alpha/sub", "tags": ["two", "both"], "observed_at": "2026-01-02",
             "entities": [{"name": "Acme", "type": "Org"}], "confidence": 0.5, "source_kind": "system"},
            {"title": "c", "content": "body c", "category": "beta", "tags": ["three"], "observed_at": "2026-01-03",
             "entities": [{"name": "acme"}, {"name": "Saw", "type": "TOOL"}], "kind": "episodic",
             "relationships": [{"source": "Acme", "target": "Saw", "relationship_type": "USES"}]},
        ]
    )  # fmt: skip


@pytest.mark.parametrize("compacted", [False, True], ids=["delta", "snapshot"])
def test_f28_every_condition_and_every_pair_of_them_is_applied(tmp_path: Path, compacted: bool) -> None:
    """No condition is dropped, alone or beside another, and the filter holds on entities and relationships too."""
    with Memory(tmp_path) as memory:
        _three(memory)
        if compacted:
            memory.compact()
        for name, (condition, expected) in CONDITIONS.items():
            assert set(titles(memory, **condition)) == expected, name
            for other, (beside, also) in CONDITIONS.items():
                if other != name and {name, other} != {"since", "before"}:
                    assert set(titles(memory, **condition, **beside)) == expected & also, (name, other)
        answer = memory.recall(entity_types=["tool"], entity_names=["saw", "acme"])
        assert [e.name for e in answer.entities] == ["Saw"]
        assert memory.recall(since="2026-01-02", before="2026-01-03").observations[0].title == "b"
        between = "SELECT title FROM observations WHERE confidence >= 0.5 AND confidence < 0.9"
        assert memory.sql(between).column(0).to_pylist() == ["b"]


def test_f28_an_unknown_condition_is_refused(tmp_path: Path) -> None:
    """A condition that does not exist is an error that names it, wherever conditions are taken."""
    with Memory(tmp_path) as memory:
        _three(memory)
        for name in ("tag", "max_confidence", "entity", "where", "filter", "scope_", "confidence", "user_id"):
            for verb in (memory.recall, memory.list_observations):
                with pytest.raises((TypeError, InputError), match=name):
                    verb(**{name: "x"})  # type: ignore[operator]  # each takes keywords; the name is the test


@pytest.mark.parametrize(
    "condition",
    [
        {"tags": []}, {"tags": [""]}, {"tags": "#"}, {"tags": None, "tags_all": ()}, {"category": []}, {"category": ""},
        {"entity_names": []}, {"entity_names": [""]}, {"entity_names": [1]}, {"entity_names": {"a": 1}},
        {"entity_types": [None]}, {"kind": "Semantic"}, {"kind": []}, {"kind": "*"}, {"status": "done"}, {"source_kind": "x"},
        {"min_confidence": 1.1}, {"min_confidence": -0.1}, {"min_confidence": "0.5"}, {"min_confidence": True},
        {"min_confidence": float("nan")}, {"relationship_type": [[]]}, {"text": 5}, {"text": ["a"]}, {"category": 5},
    ],
)  # fmt: skip
def test_f28_a_bad_or_empty_value_is_refused(tmp_path: Path, condition: dict[str, Any]) -> None:
    """A value that cannot be used, an empty list included, is an error that names the condition and never 'no condition'."""
    with Memory(tmp_path) as memory:
        _three(memory)
        name = next(name for name, value in condition.items() if value is not None)
        with pytest.raises(InputError, match=name):
            memory.recall(**condition)


def test_f28_scalars_and_stars_mean_what_the_page_says(tmp_path: Path) -> None:
    """One value is a list of one; a star is a wildcard in categories only and itself elsewhere; quotes are text."""
    with Memory(tmp_path) as memory:
        _three(memory)
        memory.add_observation(
            title="star", content="100%_sure 'quoted' \"x\" \\ *", category="gamma", tags=["*"], entities=["*"]
        )
        for _ in range(2):
            assert titles(memory, entity_names="Saw") == titles(memory, entity_names=["Saw"]) == ["c"]
            assert titles(memory, tags="one") == ["a"]
            assert titles(memory, tags="*") == titles(memory, entity_names="*") == titles(memory, text="*") == ["star"]
            assert titles(memory, category="*") == ["a", "c", "star"]
            assert titles(memory, category="**") == ["a", "b", "c", "star"]
            for text in ("%", "_", "'", '"', "\\", "100%_", "' OR 1=1"):
                assert titles(memory, text=text) == ([] if "OR" in text else ["star"])
            memory.compact()


SCRIPTS = {
    "Cyrillic": ("Команда выбрала Постгрес", "постгрес", "ПОСТГРЕС"),
    "Chinese": ("团队选择了数据库而不是表格", "数据库", "选择了"),
    "Japanese": ("チームはデータベースを選びました", "データベース", "選び"),
    "Korean": ("팀은 데이터베이스를 선택했다", "데이터베이스", "선택"),
    "Thai": ("ทีมเลือกฐานข้อมูล", "ฐานข้อมูล", "เลือก"),
    "Devanagari": ("टीम ने डेटाबेस चुना", "डेटाबेस", "चुना"),
    "Arabic": ("اختار الفريق قاعدة البيانات", "قاعدة", "الفريق"),
    "Hebrew": ("הצוות בחר במסד נתונים", "במסד", "הצוות"),
    "Greek": ("Η ΟΜΑΔΑ ΔΙΑΛΕΞΕ ΒΑΣΗ ΛΟΓΟΣ", "λογοσ", "ομαδα"),
    "German": ("Die Straße der Größe", "STRASSE", "größe"),
    "Turkish": ("İstanbul'da", "i̇stanbul", "'DA"),
    "Vietnamese": ("Nhóm đã chọn cơ sở dữ liệu", "DỮ LIỆU", "chọn"),
    "emoji": ("Shipped 🚀👩‍💻 today", "🚀", "👩‍💻"),
}


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_f29_text_of_every_script_is_found(tmp_path: Path, form: str) -> None:
    """A part of a text is found in its script, in any case and Unicode form, in title and body; marks stay whole."""
    with Memory(tmp_path) as memory:
        for name, (text, *_) in SCRIPTS.items():
            memory.add_observation(
                title=f"{name}",
                content=unicodedata.normalize(form, text),
                category="alpha",
                tags=[text],
                entities=[text],
            )
            memory.add_observation(title=f"{text} {name} title", content="-", category="beta")
        for _ in range(2):
            for name, (text, *queries) in SCRIPTS.items():
                for query in queries:
                    for asked in ("NFC", "NFD"):
                        found = titles(memory, text=unicodedata.normalize(asked, query), category="alpha")
                        assert found == [name], (name, query, asked)
                    assert titles(memory, text=query, category="beta") == [f"{text} {name} title"]
                assert titles(memory, tags=[unicodedata.normalize("NFD", text)]) == [name]
                assert titles(
                    memory, entity_names=[unicodedata.normalize("NFD", text).upper() if name == "Cyrillic" else text]
                ) == [name]
            memory.compact()


def test_f29_a_mark_belongs_to_its_letter(tmp_path: Path) -> None:
    """Letters with other marks are other letters: an exact filter takes no accent for none."""
    with Memory(tmp_path) as memory:
        memory.add_observation(title="a", content="resume in the file")
        memory.add_observation(title="b", content="résumé in the file")
        assert titles(memory, text="RÉSUMÉ") == titles(memory, text=unicodedata.normalize("NFD", "résumé")) == ["b"]
        assert titles(memory, text="in the file") == ["a", "b"]
        memory.compact()
        assert titles(memory, text="RÉSUMÉ") == ["b"]


@pytest.mark.parametrize("text", ["", " ", "\n\t", "x" * 100_000, "\x00", "\ud800"])
def test_f30_a_text_that_cannot_be_asked_is_refused(tmp_path: Path, text: str) -> None:
    """Empty, blank, oversized and unstorable texts are errors, at once; they neither match all nor scan all."""
    with Memory(tmp_path) as memory:
        memory.add_observation(content="c")
        with pytest.raises(InputError, match="text"):
            memory.recall(text=text)


@pytest.mark.parametrize("limit", [0, -1, 100_001, 1.5, "5", True, 10**30, float("inf")])
def test_f30_a_limit_out_of_range_is_refused(tmp_path: Path, limit: Any) -> None:
    """A limit that is no count of rows is an error with its range, in recall and lists alike."""
    with Memory(tmp_path) as memory:
        memory.add_observation(content="c")
        for verb in (
            memory.recall,
            memory.list_observations,
            memory.list_entities,
            memory.list_categories,
            memory.list_tags,
        ):
            with pytest.raises(InputError, match="limit must be"):
                verb(limit=limit)


def test_f30_stop_words_and_punctuation_are_text_like_any(tmp_path: Path) -> None:
    """Words that an index would leave out are looked for all the same; long names and odd cursors crash nothing."""
    with Memory(tmp_path) as memory:
        memory.add_observation(title="t", content="to be or not to be, the and of ?!")
        for _ in range(2):
            for text in ("the and of", "or not", "?!", ",", "e"):
                assert titles(memory, text=text) == ["t"]
            for names in (["x" * 100_000], ["\u0301" * 5000], [" \u200b a"]):
                assert memory.recall(entity_names=names).observations == ()
            memory.compact()


def test_f31_a_relationship_keeps_its_direction(tmp_path: Path) -> None:
    """`A depends_on B` is an edge from A to B in answer, SQL and graph, and is never the same as its reverse."""
    edge = {"source": "A", "target": "B", "relationship_type": "DEPENDS_ON"}
    with Memory(tmp_path) as memory:
        memory.add_observation(title="one", content="same", category="alpha", relationships=[edge])
        for _ in range(2):
            graph = memory.graph()
            assert (graph.has_edge("a", "b"), graph.has_edge("b", "a")) == (True, False)
            (found,) = memory.recall(entity_names=["b"]).relationships
            assert (found.source, found.relationship_type, found.target) == ("A", "DEPENDS_ON", "B")
            asked = "SELECT count(*) FROM relationships WHERE source = ? AND target = ?"
            assert [memory.sql(asked, list(pair)).column(0)[0].as_py() for pair in (("A", "B"), ("B", "A"))] == [1, 0]
            memory.compact()
        reverse = {"source": "B", "target": "A", "relationship_type": "DEPENDS_ON"}
        assert memory.add_observation(title="one", content="same", category="alpha", relationships=[reverse]).created
        graph = memory.graph()
        assert (graph.number_of_edges("a", "b"), graph.number_of_edges("b", "a")) == (1, 1)

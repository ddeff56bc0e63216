"""Faults of ranked recall: silence, damage, scripts, odd questions, direction, and vectors of other models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from search_stores import hashed_words, never_silent

from grail_mem import Memory
from grail_mem.errors import GrailError, IndexUnusableError, InputError
from grail_mem.index.embedder import local_is_installed
from grail_mem.recall.hit import Hit
from grail_mem.recall.silence import shipped_gates
from grail_mem.store.layout import Layout

NOTES = [
    {"title": "Acme picked Postgres", "content": "After the review in Oslo the team chose Postgres for its billing data."},
    {"title": "Roof", "content": "The roof was repaired by two workers in spring."},
    {"title": "Ann moved", "content": "Ann moved to Rome with her cat and works for a bakery there."},
]  # fmt: skip


def found(memory: Memory, question: str, **asked: Any) -> list[str]:
    """The titles of an answer in order."""
    return [o.title for o in memory.search(question, **asked).observations]


@pytest.mark.parametrize("embedder", ["none", "local"])
def test_f25_nonsense_is_answered_with_nothing_and_a_reason(tmp_path: Path, embedder: str) -> None:
    if embedder == "local" and not local_is_installed():
        pytest.skip("the local model is not installed")
    with Memory(tmp_path, embedder=embedder) as memory:
        memory.add_observations(NOTES)
        name = memory.index().model
        if embedder == "local" and name not in shipped_gates():
            pytest.skip(f"no gates are calibrated for {name}")
        answer = memory.search("zzxq unrelated marsupial tariff")
        assert answer.observations == ()
        assert answer.coverage == "none"
        assert answer.abstention is not None
        assert answer.abstention.reason in {"no_match", "below_floor"}
        assert answer.abstention.detail
        assert answer.text.startswith("Nothing is remembered")
        answer = memory.search("Which database did Acme pick for its billing data after the review?")
        assert answer.observations[0].title == "Acme picked Postgres"


def test_f26_a_damaged_index_is_an_error_and_no_silence(tmp_path: Path) -> None:
    """Until something makes it anew: `grail index`, or a compaction, which takes it along."""
    with Memory(never_silent(tmp_path), embedder="none") as memory:
        memory.add_observations(NOTES)
        memory.compact()
        memory.index()
        assert found(memory, "Postgres") == ["Acme picked Postgres"]
        for mend in (memory.index, memory.compact):
            memory.add_observation(content=f"another before {mend.__name__}")
            for file in Layout(tmp_path).index.glob("*/by_term.hash.npy"):
                file.unlink()
            with Memory(tmp_path, embedder="none") as other, pytest.raises(IndexUnusableError):
                other.search("Postgres")
            mend()
            for one in (memory, Memory(tmp_path, embedder="none")):
                assert found(one, "Postgres") == ["Acme picked Postgres"]


def test_f26_a_missing_model_is_an_error(tmp_path: Path) -> None:
    def broken(texts: list[str]) -> Any:
        raise OSError("the model is gone")

    with Memory(tmp_path) as memory:
        memory.add_observations(NOTES)
    with Memory(tmp_path, embedder="sentence-transformers:no/such-model") as memory:
        with pytest.raises((GrailError, OSError)):
            memory.search("Postgres")
        assert len(memory.recall().observations) == 3
    with Memory(tmp_path, embedder=broken) as memory, pytest.raises((GrailError, OSError)):
        memory.search("Postgres")
    with pytest.raises(InputError, match="no embedder"):
        Memory(tmp_path, embedder="nonsense")


def test_f28_conditions_of_a_search_are_applied_or_refused(tmp_path: Path) -> None:
    with Memory(never_silent(tmp_path), embedder="none") as memory:
        memory.add_observations([note | {"tags": [f"t{n}"]} for n, note in enumerate(NOTES)])
        assert found(memory, "Postgres roof Ann", tags="t1") == ["Roof"]
        for name in ("tag", "top_k", "filters", "user_id", "where", "k"):
            with pytest.raises(TypeError, match=name):
                memory.search("Postgres", **{name: "x"})
        for bad in (
            {"tags": []}, {"kind": "x"}, {"min_confidence": 2}, {"order": "newest"}, {"cursor": "x"}, {"context": 11},
            {"context": -1}, {"budget": 0}, {"asked_at": "last spring"}, {"limit": 1001},
        ):  # fmt: skip
            with pytest.raises(InputError):
                memory.search("Postgres", **bad)  # type: ignore[arg-type]  # the refusal is the test
        with pytest.raises(InputError) as caught:
            memory.search("", limit=0, context=99)
        assert len(caught.value.problems) == 3
        with pytest.raises(InputError, match="mode"):
            memory.recall("Postgres", mode="semantic")


SCRIPTS = {
    "Cyrillic": ("Команда выбрала базу данных для счетов", "выбрала базу"),
    "Chinese": ("团队选择了数据库而不是表格", "选择 数据库"),
    "Japanese": ("チームはデータベースを選びました", "データベース"),
    "Korean": ("팀은 데이터베이스를 선택했다", "데이터베이스를 선택"),
    "Thai": ("ทีมเลือกฐานข้อมูลสำหรับใบแจ้งหนี้", "ฐานข้อมูล"),
    "Devanagari": ("टीम ने डेटाबेस चुना", "डेटाबेस किसने चुना?"),
    "accents": ("L'équipe a préféré le café à Orléans", "cafe Orleans prefere"),
}


@pytest.mark.parametrize("script", SCRIPTS)
def test_f29_a_note_is_found_by_a_question_in_its_script(tmp_path: Path, script: str) -> None:
    """Without an embedder, in the delta and in the snapshot, before all notes in other scripts."""
    with Memory(never_silent(tmp_path), embedder="none") as memory:
        memory.add_observations([{"title": name, "content": text} for name, (text, _) in SCRIPTS.items()])
        memory.add_observations(NOTES)
        for _ in range(2):
            assert found(memory, SCRIPTS[script][1])[0] == script
            assert found(memory, f"Where does it say {SCRIPTS[script][1]}")[0] == script
            assert memory.search(SCRIPTS[script][1]).observations[0].content == SCRIPTS[script][0]
            memory.compact()
            memory.index()


@pytest.mark.parametrize("question", ["", " ", "\n\t ", "?!", "…", "x " * 50_000])
def test_f30_a_question_that_says_nothing_or_too_much_is_refused(tmp_path: Path, question: str) -> None:
    with Memory(tmp_path, embedder="none") as memory:
        memory.add_observations(NOTES)
        with pytest.raises(InputError, match="query"):
            memory.search(question)


@pytest.mark.parametrize(
    "question", ["the and of", "is it?", "what", "x " * 4_999, "\ud800 Postgres", "\x00 roof", "a" * 9_999]
)
def test_f30_a_strange_question_gets_an_answer_or_a_reason(tmp_path: Path, question: str) -> None:
    for embedder in ("none", hashed_words()):
        with Memory(never_silent(tmp_path), embedder=embedder) as memory:
            memory.add_observations(NOTES)
            answer = memory.search(question)
            assert bool(answer.observations) != (answer.abstention is not None)
            assert answer.text


@pytest.mark.parametrize("limit", [0, -1, 1.5, "5", True, 10**30])
def test_f30_a_limit_out_of_range_is_refused(tmp_path: Path, limit: Any) -> None:
    with Memory(tmp_path, embedder="none") as memory, pytest.raises(InputError, match="limit"):
        memory.search("Postgres", limit=limit)


def test_f31_a_relationship_keeps_its_direction(tmp_path: Path) -> None:
    edge = {"source": "Billing", "target": "Postgres", "relationship_type": "DEPENDS_ON"}
    with Memory(never_silent(tmp_path), embedder="none") as memory:
        memory.add_observation(title="Stack", content="What billing is built on.", relationships=[edge])
        for _ in range(2):
            for question in ("What depends on Postgres?", "What does Billing depend on?"):
                (shown,) = memory.search(question).relationships
                assert (shown.source, shown.relationship_type, shown.target) == ("Billing", "DEPENDS_ON", "Postgres")
            memory.compact()


def test_f52_vectors_of_another_model_of_the_same_length_are_not_mixed(tmp_path: Path) -> None:
    """The other model has none yet and that is said; `index` makes them; the first model's stay for a way back."""
    never_silent(tmp_path)
    car = {"title": "Purchase", "content": "The automobile was blue."}
    with Memory(tmp_path, embedder=hashed_words()) as memory:
        memory.add_observations([*NOTES, car])
        assert memory.index().n_embedded == 4
        assert found(memory, "car") == ["Purchase"]
    with Memory(tmp_path, embedder=hashed_words(name="another")) as memory:
        answer = memory.search("automobile")
        assert any("4 passages have no vector yet" in warning for warning in answer.warnings)
        assert [o.via for o in answer.observations if isinstance(o, Hit)] == [("lexical",)]
        assert found(memory, "car") == []
        assert memory.index().n_embedded == 4
        assert found(memory, "car") == ["Purchase"]
    assert len([path for path in Layout(tmp_path).vectors.iterdir() if path.is_dir()]) == 2
    with Memory(tmp_path, embedder=hashed_words()) as memory:
        assert found(memory, "car") == ["Purchase"]
        assert memory.index().n_embedded == 0


@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e6])
def test_f53_cosines_do_not_depend_on_how_long_a_models_vectors_are(tmp_path: Path, scale: float) -> None:
    with Memory(never_silent(tmp_path), embedder=hashed_words(scale=scale)) as memory:
        memory.add_observations([*NOTES, {"title": "same", "content": "same"}])
        memory.index()
        searcher = memory._search_state()
        searcher.refresh()
        assert searcher.meaning is not None
        for text in ("same", "same. same", "Ann moved to Rome", "nothing of it"):
            passages = np.arange(searcher.corpus.n_passages)
            cosines = searcher.meaning.cosines(searcher.meaning.question(text).vector, passages)
            assert (np.abs(cosines) <= 1).all()
        answer = memory.search("same same")
        assert answer.observations[0].title == "same"
        assert "meaning 1.00" in answer.observations[0].reasons  # type: ignore[attr-defined]  # a hit


@pytest.mark.parametrize("name", ["vectors.f16", "texts.u64"])
@pytest.mark.parametrize("keep", [0, 3, 700])
def test_f54_cut_vectors_are_made_again_and_missing_ones_said(tmp_path: Path, name: str, keep: int) -> None:
    never_silent(tmp_path)
    car = {"title": "Purchase", "content": "The automobile was blue."}
    with Memory(tmp_path, embedder=hashed_words()) as memory:
        memory.add_observations([*NOTES, car])
        memory.index()
        (file,) = Layout(tmp_path).vectors.glob(f"*/{name}")
        assert found(memory, "car") == ["Purchase"]
        file.write_bytes(file.read_bytes()[: keep if name == "vectors.f16" else keep // 64])
        for opened in (memory, Memory(tmp_path, embedder=hashed_words())):
            answer = opened.search("automobile")
            assert answer.observations[0].title == "Purchase"
            assert any("no vector yet" in warning for warning in answer.warnings)
        assert 3 <= opened.index().n_embedded <= 4
        opened.close()
        assert found(memory, "car") == ["Purchase"]
        assert not any("no vector" in warning for warning in memory.search("car").warnings)


def test_the_end_of_a_long_note_is_found_and_shown(tmp_path: Path) -> None:
    filler = "\n\n".join(f"Paragraph {n}: {'nothing of interest here, ' * 20}" for n in range(400))
    content = f"{filler}\n\nThe vault opens with the word quagga.\n"
    assert len(content) > 200_000
    for embedder in ("none", hashed_words()):
        with Memory(never_silent(tmp_path), embedder=embedder) as memory:
            memory.add_observations([{"title": "Minutes", "content": content}, *NOTES])
            memory.index()
            for _ in range(2):
                hit = memory.search("What opens the vault?").observations[0]
                assert isinstance(hit, Hit)
                assert hit.title == "Minutes"
                assert "The vault opens with the word quagga." in hit.passage
                assert len(hit.passage) < 1000
                memory.compact()
                memory.index()


def test_a_search_with_the_local_model_finds_what_is_meant(tmp_path: Path) -> None:
    if not local_is_installed():
        pytest.skip("the local model is not installed")
    with Memory(never_silent(tmp_path), embedder="local") as memory:
        memory.add_observations(NOTES)
        memory.index()
        answer = memory.search("Who relocated to Italy with a pet?")
        assert answer.observations[0].title == "Ann moved"
        assert "vector" in answer.observations[0].via  # type: ignore[attr-defined]  # a hit

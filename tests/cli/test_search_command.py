"""`grail search` and `grail index`: what people and programs read of a ranked answer."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from grail_mem import Memory

QUESTION = "Which database did we pick, and why not SQLite?"
NONE = ("--embedder", "none")


def rows(text: str) -> list[list[str]]:
    return [re.split(r"  +", line) for line in text.splitlines()]


@pytest.fixture(scope="session")
def _made_talk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("made") / "talk"
    said = [
        ("Mary", "I am off to Lisbon on Friday."),
        ("Bob", "Where will you sleep?"),
        ("Mary", "In a lighthouse by the river."),
        ("Bob", "My cousin sleeps in a tent."),
    ]
    with Memory(root, embedder="none") as memory:
        memory.add_observations(
            [
                {"content": text, "speaker": who, "session": "chat/1", "turn": turn, "observed_at": "2026-06-02"}
                for turn, (who, text) in enumerate(said)
            ]
        )
    return root


@pytest.fixture
def talk(_made_talk: Path, tmp_path: Path) -> Path:
    """A store of one conversation."""
    return Path(shutil.copytree(_made_talk, tmp_path / "talk"))


def test_search_prints_scores_reasons_and_coverage(grail, demo):
    result = grail("search", demo, QUESTION, *NONE, "--limit", "2")
    head, *hits, blank, coverage = rows(result.stdout)
    assert head == ["score", "date", "category", "title", "why", "id"]
    assert {hit[3] for hit in hits} == {
        "The database will be Postgres",
        "Three candidates for the database: Postgres, a newer MariaDB, SQLite",
    }
    assert all(hit[4].startswith("says database, SQLite") for hit in hits)
    assert [float(hit[0]) for hit in hits] == sorted((float(hit[0]) for hit in hits), reverse=True)
    assert (blank, coverage[0][:10], result.exit_code, result.stderr) == ([""], "coverage: ", 0, "")


def test_search_as_json_is_what_memory_answers(grail_json, demo):
    with Memory(demo, embedder="none") as memory:
        expected = memory.search(QUESTION, category="migration/**", limit=3).to_dict()
    found = grail_json("search", demo, QUESTION, *NONE, "--category", "migration/**", "--limit", "3")
    for answer in (found, expected):
        answer["trace"] = sorted(answer["trace"])
    assert found == json.loads(json.dumps(expected))


@pytest.mark.slow
def test_search_takes_the_conditions_of_recall(grail_json, demo):
    conditions = {
        "--since": "2026-03-01", "--before": "2026-05-01", "--category": "migration", "--tag": "decision",
        "--all-tags": "architecture", "--entity": "postgres", "--entity-type": "TECHNOLOGY", "--relationship-type": "CHOSE",
        "--min-confidence": "0.5", "--kind": "semantic", "--status": "confirmed", "--text": "postgres", "--as-of": "now",
    }  # fmt: skip
    for pair in conditions.items():
        allowed = {o["id"] for o in grail_json("recall", demo, *pair, "--limit", "100")["observations"]}
        found = {o["id"] for o in grail_json("search", demo, QUESTION, *NONE, "--limit", "100", *pair)["observations"]}
        assert found, pair
        assert found <= allowed, pair
    words = [word for pair in conditions.items() for word in pair]
    (only,) = grail_json("search", demo, QUESTION, *NONE, *words)["observations"]
    assert only["title"] == "The database will be Postgres"


def test_search_finds_the_store_as_all_commands_do(grail_json, grail, demo, monkeypatch):
    expected = [o["id"] for o in grail_json("search", demo, QUESTION, *NONE)["observations"]]
    monkeypatch.chdir(demo / "memories")
    assert [o["id"] for o in grail_json("search", QUESTION, *NONE)["observations"]] == expected
    assert [o["id"] for o in grail_json("search", "--root", demo, QUESTION, *NONE)["observations"]] == expected
    without = grail("search", demo)
    assert without.exit_code == 2
    assert without.stderr.endswith("Write `grail search [DIR] QUESTION`; DIR is the store.\n")
    assert grail("search", "why not", QUESTION).exit_code == 3  # two words: the first is the store


def test_a_question_too_long_for_a_path_is_a_question(grail, demo, monkeypatch):
    monkeypatch.chdir(demo)
    assert grail("search", f"{QUESTION} " * 100, *NONE).exit_code == 0


def test_search_says_why_there_is_nothing_and_what_came_closest(grail, grail_json, demo):
    result = grail("search", demo, "Quetzalcoatl zweihander?", *NONE)
    assert (result.exit_code, result.stdout.split(":")[0]) == (0, "no_match")
    filtered = grail("search", demo, QUESTION, *NONE, "--entity", "Oracle")
    assert filtered.stdout == "no_match: No observation of 24 observations meets entity_names=oracle.\n"


def test_near_misses_are_shown_with_their_titles(capsys, demo):
    from grail_mem.cli.search import show_found
    from grail_mem.recall.result import Abstention, Recall

    with Memory(demo) as memory:
        near = memory.recall(text="Postgres", limit=2).observations
    show_found(Recall(abstention=Abstention("below_floor", "Too little.", tuple(o.id for o in near))), near)
    reason, blank, closest, head, *shown = capsys.readouterr().out.splitlines()
    assert (reason, blank, closest) == ("below_floor: Too little.", "", "Closest, but not returned:")
    assert head.split() == ["date", "category", "title", "id"]
    assert [row[2:] for row in rows("\n".join(shown))] == [[o.title, o.id[-6:].lower()] for o in near]


def test_full_shows_the_turns_around_a_hit_in_their_order(grail, talk):
    shown = grail(
        "search", talk, "Where will Mary sleep by the river?", *NONE, "--full", "--context", "1", "--limit", "1"
    )
    assert shown.stdout.startswith("Mary: In a lighthouse by the river.\nscore: ")
    assert "\nsession:       chat/1\n" in shown.stdout
    turns = shown.stdout.split("\n\n")[1].splitlines()
    assert turns == [
        "  Bob: Where will you sleep?",
        "> Mary: In a lighthouse by the river.",
        "  Bob: My cousin sleeps in a tent.",
    ]


def test_text_pack_is_what_an_agent_gets_within_its_budget(grail, grail_json, demo):
    with Memory(demo, embedder="none") as memory:
        pack = memory.search(QUESTION, budget=600).pack()
        as_json = memory.search(QUESTION).pack(form="json").text
    words = ("search", demo, QUESTION, *NONE, "--text-pack")
    assert pack.left_out
    assert grail(*words, "--budget", "600").stdout == f"{pack.text}\n"
    assert grail_json(*words, "--budget", "600")["text"] == pack.text
    assert json.loads(grail(*words, "--format", "json").stdout) == json.loads(as_json)
    assert grail(*words, "--format", "yaml").exit_code == 2
    tiny = grail(*words, "--budget", "3")
    assert (tiny.exit_code, tiny.stdout) == (2, "")


def test_explain_tells_every_stage_and_scores_that_add_up(grail, grail_json, demo):
    shown = grail("search", demo, QUESTION, *NONE, "--explain").stdout
    trace = grail_json("search", demo, QUESTION, *NONE)["trace"]
    stages = shown.split("What each stage did\n")[1].split("\n\n")[0]
    assert [row[0] for row in rows(stages)[1:]] == [name for name, stage in trace.items() if "ms" in stage]
    assert re.search(r"^candidates +[\d.]+ +\d+ passages: \d+ by lexical, 0 by vector", stages, re.MULTILINE)
    assert "terms:         databas, pick, sqlite" in shown
    assert "names:         SQLite\n" in shown
    assert "best_score" in shown
    found = {o["id"]: o for o in grail_json("search", demo, QUESTION, *NONE)["observations"]}
    added = trace["rank"]["added"]
    assert added.keys() == found.keys()
    for id_, shares in added.items():
        if found[id_]["kind"] != "episodic":
            assert sum(shares.values()) == pytest.approx(found[id_]["score"], abs=0.01)


def test_search_reports_every_wrong_value_at_once(grail, demo):
    result = grail("search", demo, "?", "--limit", "0", "--asked-at", "someday", "--budget", "few", "--context", "99")
    assert (result.exit_code, result.stdout) == (2, "")
    for name in ("query", "limit", "asked_at", "budget", "context"):
        assert re.search(rf"^  - {name}", result.stderr, re.MULTILINE), name
    assert grail("search", demo, QUESTION, "--embedder", "nonsense").exit_code == 2
    assert "at most 3" in grail("search", demo, QUESTION, *NONE, *["--also", "And?"] * 3).stderr


def test_another_wording_finds_what_the_first_does_not(grail_json, demo):
    one = grail_json("search", demo, "Quetzalcoatl zweihander?", *NONE)
    both = grail_json("search", demo, "Quetzalcoatl zweihander?", *NONE, "--also", QUESTION)
    assert one["observations"] == []
    assert both["observations"][0]["title"] in {
        "The database will be Postgres",
        "Three candidates for the database: Postgres, a newer MariaDB, SQLite",
    }


def test_index_says_what_was_added_and_changes_no_answer(grail, grail_json, demo):
    before = grail_json("search", demo, QUESTION, *NONE)["observations"]
    assert grail("index", demo, *NONE).stdout == (
        "24 observations of the snapshot indexed, 24 of them now.\n"
        "No embedder: `grail search` goes by words, names and links.\n"
    )
    again = grail_json("index", demo, *NONE)
    assert (again["n_documents"], again["n_added"], again["n_embedded"], again["model"]) == (24, 0, 0, "none")
    assert grail_json("search", demo, QUESTION, *NONE)["observations"] == before


def test_index_needs_a_store(grail, tmp_path):
    result = grail("index", tmp_path)
    assert (result.exit_code, list(tmp_path.iterdir())) == (3, [])


def test_local_shows_an_entity_and_what_names_it(grail, grail_json, demo):
    shown = grail("search", demo, "Tell me about Postgres", "--mode", "local", *NONE).stdout
    assert shown.startswith(
        "Postgres (TECHNOLOGY): 9 observations, 2026-03-09 to 2026-05-17\n- Harbour Lights CHOSE Postgres\n"
    )
    assert "score" not in shown
    assert "coverage" not in shown
    said = grail_json("search", demo, "--mode", "local", "--entity", "Postgres", *NONE)
    assert said["overview"][0]["about"] == "entity"
    assert said["overview"][0]["n_observations"] == len(said["observations"]) == 9


def test_global_maps_folders_without_a_question(grail, grail_json, demo, monkeypatch):
    shown = grail("search", demo, "--mode", "global", *NONE).stdout
    assert shown.startswith("migration: 13 observations, latest 2026-05-29\n- names Postgres (7), ")
    monkeypatch.chdir(demo)
    assert grail("search", "--mode", "global", *NONE).stdout == shown
    below = grail_json("search", demo, "--mode", "global", "--category", "customers", *NONE)
    assert [card["community"] for card in below["overview"]] == ["customers/skerry-ferries", "customers/brisling-line"]


def test_a_document_is_named_by_the_path_that_a_shell_completes(grail, grail_json, demo, monkeypatch):
    path = next((demo / "memories/platform").glob("*departure-board*"))
    monkeypatch.chdir(path.parent)
    said = grail_json("search", "--document", path.name, *NONE)
    assert [o["path"] for o in said["observations"]] == [path.relative_to(demo).as_posix()]
    assert said["overview"][0]["found_as"] == "path"
    assert grail("search", demo, "--document", "/etc/passwd", *NONE).stdout.startswith("no_match: ")
    assert grail("search", demo, "--mode", "document", *NONE).exit_code == 2


def test_a_mode_that_needs_a_question_says_so(grail, demo):
    result = grail("search", demo, "--mode", "local", *NONE)
    assert (result.exit_code, "needs a query" in result.stderr) == (2, True)
    assert grail("search", demo, "--mode", "galactic", "what?", *NONE).exit_code == 2

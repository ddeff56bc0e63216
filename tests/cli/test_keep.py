"""`grail init`, `sync`, `compact`, `rebuild`, `check`, `config show`, `demo`."""

from __future__ import annotations

import re

import pytest

from grail_mem.settings import Settings

HAND = "---\ntitle: By hand\n---\n\nText.\n"


def test_init_makes_a_store_once_and_changes_no_note(grail, grail_json, tmp_path, monkeypatch):
    (tmp_path / "memories").mkdir()
    (tmp_path / "memories" / "a.md").write_text(HAND)
    done = grail_json("init", tmp_path)
    assert (done["root"], done["n_found"]) == (str(tmp_path.resolve()), 1)
    assert "grail.yaml" in done["made"]
    assert (tmp_path / "memories" / "a.md").read_text() == HAND
    monkeypatch.chdir(tmp_path)
    assert grail("init").stdout.startswith(f"{tmp_path.resolve()} is a store already\n")


def test_sync_tells_what_others_did(grail, grail_json, demo, demo_id):
    (demo / "memories" / "new.md").write_text(HAND)
    (path,) = demo.glob("memories/**/*_the-database-will-be-postgres_*.md")
    path.rename(demo / "memories" / "moved.md")
    planned = grail("sync", demo, "--dry-run").stdout
    assert planned.startswith(
        f"adopted   memories/new.md\nmoved     {path.relative_to(demo)} → memories/moved.md\nstamped   memories/new.md\n"
        "25 files looked at; changes would be recorded.\n"
    )
    assert (demo / "memories" / "new.md").read_text() == HAND
    done = grail_json("sync", demo, "--no-stamp")
    assert done["adopted"] == ["memories/new.md"]
    assert done["moved"] == [[str(path.relative_to(demo)), "memories/moved.md"]]
    assert (done["stamped"], done["dry_run"]) == ([], False)
    assert grail("sync", demo).stdout.startswith("stamped   memories/new.md\n25 files looked at; changes recorded.\n")
    assert grail("sync", demo).stdout.startswith("25 files looked at; nothing changed.\n")


def test_compact_and_rebuild_change_no_answer(grail, grail_json, demo):
    def asked():
        return [o["id"] for o in grail_json("recall", demo)["observations"]]

    grail("add", demo, "--content", "One more.")
    before = asked()
    done = grail_json("compact", demo)
    assert (done["n_rows"], done["n_taken"], done["written"]) == (25, 1, True)
    assert grail("compact", demo).stdout.endswith("25 observations; there was nothing to take in.\n")
    assert asked() == before
    assert re.fullmatch(r"snapshot \d+: 25 observations, 25 of them from files\.\n", grail("rebuild", demo).stdout)
    assert asked() == before


def test_check_exits_0_when_clean_and_1_with_errors(grail, grail_json, demo):
    clean = grail("check", demo)
    assert (clean.exit_code, clean.stdout) == (0, "24 observations in 24 files: nothing wrong.\n")
    (ledger,) = demo.glob(".grail/ledger/*.jsonl")
    ledger.write_text(ledger.read_text().replace('"demo"', '"eve"', 1))
    result = grail("check", demo)
    assert result.exit_code == 1
    assert f"error     {ledger.relative_to(demo)}:" in result.stdout
    assert "24 observations in 24 files: " in result.stdout
    document = grail_json("check", demo, exit_code=1)
    assert document["ok"] is False
    assert set(document["problems"][0]) == {"code", "message", "where", "line", "remedy", "severity"}


@pytest.mark.parametrize("verb", ["sync", "compact", "rebuild", "check", "watch"])
def test_a_folder_that_is_no_store_is_not_made_one_by_keeping_order(grail, tmp_path, verb):
    result = grail(verb, tmp_path)
    assert result.exit_code == 3
    assert "holds no store" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_config_show_tells_value_default_and_meaning(grail, grail_json, demo):
    (demo / "grail.yaml").write_text("zone: Europe/Oslo\n")
    document = grail_json("config", "show", demo)
    assert [it["name"] for it in document["settings"]] == list(Settings().to_dict())
    assert document["settings"][0] == {
        "name": "zone", "value": "Europe/Oslo", "default": "UTC",
        "about": "IANA zone in which a time without an offset is read",
    }  # fmt: skip
    assert re.search(r"^zone +Europe/Oslo +UTC +IANA zone", grail("config", "show", demo).stdout, re.MULTILINE)


def test_config_show_lists_the_settings_even_when_the_file_is_wrong(grail, grail_json, demo):
    (demo / "grail.yaml").write_text("zon: UTC\n")
    result = grail("config", "show", demo)
    assert result.exit_code == 2
    assert "\nzone " in result.stdout
    assert "did you mean 'zone'?" in result.stderr
    assert grail_json("config", "show", demo, exit_code=2)["error"]["code"] == "input"


def test_the_demo_tells_its_story_and_a_second_run_adds_nothing(grail, grail_json, tmp_path):
    root = tmp_path / "my demo"
    first = grail_json("demo", root)
    assert first["n_added"] == 24
    assert [len(told["answer"]["observations"]) for told in first["recalls"]] == [5, 6, 1, 1, 0, 3]
    files = {path: path.read_bytes() for path in root.rglob("*.md")}
    again = grail("demo", root)
    assert again.exit_code == 0
    assert {path: path.read_bytes() for path in root.rglob("*.md")} == files
    assert grail_json("demo", root)["n_added"] == 0
    shown = re.sub(
        r"(?<=  )[0-9a-hjkmnp-tv-z]{6}$",
        "<id>",
        again.stdout.replace(f"'{root}'", "DIR").replace(str(root.resolve()), "DIR"),
        flags=re.MULTILINE,
    )
    assert shown.startswith(
        "Harbour Lights moves its booking system: three months of a team's memory\n"
        "Everything was there from an earlier run; each is a markdown file below DIR/memories.\n"
        "\n"
        "What was decided about the migration?\n"
        "$ grail recall DIR --category 'migration/**' --tag decision\n"
    )
    lines = [re.split("  +", line) for line in shown.splitlines()]
    assert lines[5:7] == [
        ["date", "category", "title", "tags", "id"],
        [
            "2026-05-04",
            "migration/cutover",
            "The switch happens on Saturday 16 May, from 05:00 to 10:00",
            "decision, date",
            "<id>",
        ],
    ]
    assert "no_match: No observation of 24 observations meets entity_names=oracle.\n" in shown
    assert "$ grail search DIR 'Which database did we pick, and why not SQLite?' --limit 3 --embedder none\n" in shown


@pytest.mark.slow
def test_every_command_that_the_demo_prints_works(grail, tmp_path):
    import shlex

    shown = grail("demo", tmp_path / "d").stdout
    commands = re.findall(r"^(?:\$|  )\s*(grail .*?)(?:   #.*)?$", shown, re.MULTILINE)
    assert len(commands) == 16
    for command in commands:
        assert grail(*shlex.split(command)[1:]).exit_code == 0, command


def test_the_demo_touches_no_folder_that_is_not_its_own(grail, tmp_path):
    (tmp_path / "mine.txt").write_text("x")
    result = grail("demo", tmp_path)
    assert (result.exit_code, result.stdout) == (5, "")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
    assert grail("demo", tmp_path / "mine.txt").exit_code == 5


def test_the_demo_keeps_what_a_person_changed(grail, grail_json, demo):
    (path,) = demo.glob("memories/**/*_the-database-will-be-postgres_*.md")
    path.write_text(path.read_text().replace("The database will be Postgres", "Changed by hand"))
    assert grail_json("demo", demo)["n_added"] == 0
    assert len(grail_json("recall", demo, "--history")["observations"]) == 24

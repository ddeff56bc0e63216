"""`grail update`, `move`, `delete`, `restore`."""

from __future__ import annotations

import pytest


def test_update_changes_the_named_fields_alone(grail_json, demo, demo_id):
    before = grail_json("get", demo, demo_id)
    done = grail_json(
        "update", demo, demo_id, "--tag", "x", "--clear", "source", "--append", "More.", "--reason", "why"
    )
    assert (done["id"], done["changed"]) == (demo_id, True)
    after = grail_json("get", demo, demo_id)
    assert after["tags"] == ["x"]
    assert "source" not in after
    assert after["content"].strip() == before["content"].strip() + "\n\nMore."
    for name in ("tags", "source", "content", "sha256"):
        before.pop(name), after.pop(name, None)
    assert after == before


def test_update_takes_content_from_a_file(grail, grail_json, demo, demo_id):
    assert grail("update", demo, demo_id, "--file", "-", input="New.").stdout.startswith(
        f"updated  {demo_id}  memories/"
    )
    assert grail_json("get", demo, demo_id)["content"].strip() == "New."


@pytest.mark.parametrize(
    "words", [[], ["--clear", "title"], ["--clear", "colour"], ["--title", "a", "--clear", "title"], ["--kind", "odd"]]
)
def test_update_refuses_what_it_cannot_do(grail, demo, demo_id, words):
    result = grail("update", demo, demo_id, *words)
    assert (result.exit_code, result.stdout) == (2, "")


def test_move_takes_the_store_first_or_leaves_it_out(grail, grail_json, demo, demo_id, monkeypatch):
    assert grail_json("move", demo, demo_id, "x/y")["path"].startswith("memories/x/y/")
    assert grail("move", "--root", demo, demo_id, "x/y").stdout.startswith("it is there already  ")
    monkeypatch.chdir(demo)
    assert grail("move", demo_id[-6:], "z").stdout.startswith(f"moved  {demo_id}  memories/z/")
    for words in ([demo], [demo, demo_id], [demo_id], ["a", "b", "c", "d"], ["--root", demo, demo, demo_id, "x"]):
        assert grail("move", *words).exit_code == 2
    assert grail("move", demo_id, "../out").exit_code == 2


def test_delete_hides_and_says_how_to_bring_it_back(grail, demo, demo_id):
    (path,) = demo.glob("memories/**/*_the-database-will-be-postgres_*.md")
    result = grail("delete", demo, demo_id, "--reason", "wrong")
    assert result.stdout == f"hidden  {demo_id}  {path.relative_to(demo)}\n"
    assert result.stderr == f"The file stays; `grail restore {demo} {demo_id}` brings it back.\n"
    assert path.exists()
    assert grail("get", demo, demo_id).exit_code == 3
    assert grail("delete", demo, demo_id).stdout.startswith("hidden already  ")
    assert grail("restore", demo, demo_id).stdout.startswith("restored  ")
    assert grail("get", demo, demo_id).exit_code == 0
    assert grail("restore", demo, demo_id).stdout.startswith("it was not hidden  ")


@pytest.mark.parametrize("verb", ["update", "delete", "restore"])
def test_what_is_not_there_cannot_be_changed(grail_json, demo, verb):
    words = ["--title", "x"] if verb == "update" else []
    error = grail_json(verb, demo, "01JXYZ00000000000000ABCDEF", *words, exit_code=3)["error"]
    assert error["code"] == "not_found"

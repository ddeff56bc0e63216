"""`grail revise`, `history`, `due`, `pin`, `archive`: what people see of facts that change."""

from __future__ import annotations


def add(grail_json, store, content, at, *more):
    return grail_json("add", store, "--content", content, "--attribute", "acme/office", "--observed-at", at, *more)


def test_add_says_what_became_of_a_fact(grail, grail_json, tmp_path):
    first = add(grail_json, tmp_path, "Hamburg.", "2026-01-01")
    assert (first["decision"], first["others"]) == ("new", [])
    said = grail("add", tmp_path, "--content", "Kiel.", "--attribute", "acme/office", "--observed-at", "2026-02-01")
    assert f"takes the place of {first['id']}" in said.stderr
    again = grail("add", tmp_path, "--content", "kiel", "--attribute", "acme/office", "--observed-at", "2026-03-01")
    assert again.stdout.startswith("reinforced  ")
    assert [o["content"].strip() for o in grail_json("recall", tmp_path)["observations"]] == ["Kiel."]
    assert len(grail_json("recall", tmp_path, "--history")["observations"]) == 2
    then = grail_json("recall", tmp_path, "--attribute", "Acme/Office", "--as-of", "2026-01-15")
    assert [o["content"].strip() for o in then["observations"]] == ["Hamburg."]
    assert grail_json("recall", tmp_path, "--believed-at", "2026-01-15")["abstention"]["reason"] == "no_match"
    assert grail("recall", tmp_path, "--history", "--as-of", "2026-01-15").exit_code == 2


def test_revise_and_history_tell_the_same_story(grail, grail_json, tmp_path):
    old = add(grail_json, tmp_path, "Hamburg.", "2026-01-01")["id"]
    words = ("revise", tmp_path, old[-6:], "supersede", "--content", "Kiel.", "--at", "2026-05-01")
    assert grail(*words).exit_code == 2
    done = grail_json(*words, "--reason", "They moved.", "--actor", "ann")
    assert done["changed"] == [old]
    shown = grail("history", tmp_path, old)
    assert shown.stdout.splitlines()[0].startswith(f"> {old[-6:].lower()}  2026-01-01 to 2026-05-01  superseded by")
    assert "update by ann: They moved." in shown.stdout
    assert "└─" in shown.stdout
    told = grail_json("history", tmp_path, done["new_id"])
    assert [o["id"] for o in told["revisions"]] == [old, done["new_id"]]
    assert {step["reason"] for step in told["steps"]} == {"", "They moved."}
    assert grail("revise", tmp_path, old, "confirm", "--reason", "x").exit_code == 5
    assert grail("revise", tmp_path, done["new_id"], "praise", "--reason", "x").exit_code == 2


def test_due_pin_and_archive(grail, grail_json, tmp_path):
    id_ = add(grail_json, tmp_path, "Ask again.", "2026-01-01", "--review-at", "2026-02-01")["id"]
    assert [it["why"] for it in grail_json("due", tmp_path)["due"]] == [{"review": "2026-02-01T00:00:00Z"}]
    assert "review 2026-02-01" in grail("due", tmp_path, "--within", "2w").stdout
    assert grail("due", tmp_path, "--within", "soon").exit_code == 2
    for verb, done, again in (
        ("pin", "pinned", "pinned already"), ("unpin", "unpinned", "it was not pinned"),
        ("archive", "archived", "archived already"), ("unarchive", "back", "it was not archived"),
    ):  # fmt: skip
        assert grail(verb, tmp_path, id_).stdout.startswith(f"{done}  {id_}")
        assert grail(verb, tmp_path, id_).stdout.startswith(f"{again}  {id_}")
    grail("archive", tmp_path, id_)
    assert grail("due", tmp_path).stdout == "Nothing is due.\n"

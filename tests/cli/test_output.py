"""What reaches a terminal: nothing that acts on it, colour only for people, JSON that is JSON."""

from __future__ import annotations

import json
from typing import get_args

import pytest

from grail_mem import Memory
from grail_mem.cli import options, output

HOSTILE = (
    "\x1b[31mred\x1b[0m \x9b1A \u202eevil\u202c \u2066x\u2069 \u200bz \U000e0041t \x07 \u2028l [bold]b[/bold] :smile:"
)
ACTING = ("\x1b", "\x9b", "\u202e", "\u202c", "\u2066", "\u2069", "\u200b", "\U000e0041", "\x07", "\u2028")


@pytest.fixture
def hostile(tmp_path):
    line = HOSTILE.replace("\u2028", "")
    with Memory(tmp_path / "s") as memory:
        memory.add_observation(
            title=line, content=f"{HOSTILE}\n\tTabbed\n", source=line, category="a",
            tags=["".join(sign for sign in line if sign not in "\x1b\x9b\x07")], entities=[{"name": line, "type": "X"}],
        )  # fmt: skip
    return tmp_path / "s"


READING = (
    ["recall"], ["recall", "--full"], ["recall", "--text-pack"], ["list", "tags"], ["list", "entities"],
    ["list", "categories"], ["sql", "select title, content, tags, entities from observations"], ["check"], ["sync", "--dry-run"],
)  # fmt: skip


@pytest.mark.parametrize("words", READING, ids=" ".join)
def test_stored_text_cannot_act_on_a_terminal(grail, hostile, words):
    verb, *rest = words
    options = [word for word in rest if word.startswith("--")]
    own = [word for word in rest if not word.startswith("--")]
    shown = grail(verb, hostile, *own, *options)
    assert shown.exit_code == 0
    assert not [sign for sign in ACTING if sign in shown.stdout + shown.stderr]


def test_stored_text_stays_readable(grail, hostile):
    full = grail("recall", hostile, "--full").stdout
    assert "\\x1b[31mred\\x1b[0m \\x9b1A \\u202eevil\\u202c" in full
    assert "[bold]b[/bold] :smile:" in full
    assert "\n\tTabbed\n" in full


def test_json_gives_the_text_back_exactly_and_holds_no_raw_control(grail, hostile):
    text = grail("recall", hostile, "--json").stdout
    assert not [sign for sign in ACTING if sign in text]
    assert json.loads(text)["observations"][0]["content"].startswith(HOSTILE)


def test_colour_is_for_terminals_and_can_be_switched_off(grail, demo, monkeypatch):
    assert "\x1b" not in grail("recall", demo).output
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "100")
    coloured = grail("recall", demo).stdout
    assert "\x1b[36m" in coloured
    monkeypatch.setenv("NO_COLOR", "1")
    assert "36m" not in grail("recall", demo).stdout


def test_a_narrow_terminal_breaks_titles_and_loses_nothing(grail, grail_json, demo, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "56")
    monkeypatch.setenv("NO_COLOR", "1")
    shown = grail("recall", demo, "--tag", "retrospective").stdout
    assert "…" not in shown
    end = grail_json("recall", demo, "--tag", "retrospective")["observations"][0]["id"][-6:].lower()
    assert all(word in shown for word in ("2026-05-29", "Looking", "rehearsals", "retrospec", end))


def test_hostile_text_is_safe_on_a_terminal_too(grail, hostile, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    shown = grail("recall", hostile).stdout
    assert "\x1b[31m" not in shown
    assert "\u202e" not in shown


def test_safe_keeps_letters_of_every_script_and_emoji():
    kept = "Änn 東京 שלום سلام नमस्ते 👩‍👩‍👧 می‌خواهم 🏳️‍🌈 é"
    assert output.safe(kept) == kept
    assert output.safe("a\nb\tc") == "a\\nb\\tc"
    assert output.safe("a\r\nb\tc\rd", lines=True) == "a\nb\tc\\rd"
    assert output.safe("\ud800") == "\\ud800"


def test_columns_line_up_with_wide_letters(grail, tmp_path):
    for title in ("東京の会議", "plain"):
        grail("add", tmp_path, "--title", title, "--content", "x", "--tag", "t")
    from rich.cells import cell_len

    rows = grail("list", tmp_path).stdout.splitlines()
    assert len({cell_len(row[: row.rindex("  ")]) for row in rows}) == 1


@pytest.mark.parametrize(
    ("words", "code", "name"),
    [
        (["recall", "--nope"], 2, "usage"),
        (["nonsense"], 2, "usage"),
        (["recall", ".", "extra"], 2, "usage"),
        (["get"], 2, "input"),
        (["recall", ".", "--limit", "0"], 2, "input"),
        (["recall", "no/such/folder"], 3, "not_found"),
    ],
)
def test_errors_are_one_json_document_with_an_exit_code(grail_json, tmp_path, monkeypatch, words, code, name):
    monkeypatch.chdir(tmp_path)
    error = grail_json(*words, exit_code=code)["error"]
    assert error["code"] == name
    assert set(error) == {"code", "message", "hint", "problems"}


def test_a_misspelt_command_is_guessed(grail):
    result = grail("recal")
    assert result.exit_code == 2
    assert "Did you mean 'recall'?" in result.stderr


def test_the_help_page_lists_every_command_in_full(grail):
    shown = grail("--help").stdout
    assert "..." not in shown.split("Commands:")[1]
    assert grail().stderr == shown
    assert grail().exit_code == 2


COMPLETING = {
    name: info.autocompletion
    for name, said in vars(options).items()
    for info in get_args(said)[1:]
    if getattr(info, "autocompletion", None) is not None
}


@pytest.mark.parametrize("option", COMPLETING)
def test_every_option_that_completes_knows_its_words(option):
    """The lists are named as text, so that a command loads none of them; a wrong name would show only at a TAB."""
    assert all(isinstance(word, str) for word in COMPLETING[option]())
    assert COMPLETING[option]()


def test_the_unexpected_is_a_sentence_and_a_traceback_on_request(grail, grail_json, demo, monkeypatch):
    def fail(*args, **settings):
        raise RuntimeError("boom \x1b[31m")

    monkeypatch.setattr("grail_mem.memory.Memory.recall", fail)
    result = grail("recall", demo)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("error: RuntimeError: boom \\x1b[31m\n")
    assert "Traceback" not in result.stderr
    assert grail_json("recall", demo, exit_code=1)["error"]["code"] == "unexpected"
    monkeypatch.setenv("GRAIL_DEBUG", "1")
    assert "Traceback" in grail("recall", demo).stderr

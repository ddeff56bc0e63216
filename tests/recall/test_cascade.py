"""The cascade: what each retriever alone brings reaches the answer and says so; conditions, budget and context hold."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from search_stores import hashed_words, never_silent

from grail_mem import Memory
from grail_mem.errors import InputError
from grail_mem.recall.hit import Hit
from grail_mem.recall.result import Recall

ASKED = datetime(2026, 6, 1, tzinfo=UTC)


def filled(root: Path, *drafts: dict[str, Any], index: bool = True, embedder: Any = None) -> Memory:
    """A store with these among forty notes about other things."""
    memory = Memory(never_silent(root), embedder=embedder or hashed_words())
    memory.add_observations([{"title": f"Log {n}", "content": f"Entry {n} on matter{n * 7}"} for n in range(40)])
    memory.add_observations(drafts)
    if index:
        memory.index()
    return memory


def hits(answer: Recall) -> dict[str, Hit]:
    """The hits by title."""
    found = {o.title: o for o in answer.observations if isinstance(o, Hit)}
    assert len(found) == len(answer.observations)
    return found


SESSION = [
    {"title": f"turn {t}", "content": said, "session": "s1", "turn": t, "speaker": "Ann"}
    for t, said in enumerate(
        ["hello there", "shall we talk xylophone", "certainly", "okay then", "alright", "fine", "indeed", "goodbye friend"]
    )
]  # fmt: skip


def test_a_question_is_answered_with_reasons_and_a_pack(tmp_path: Path) -> None:
    with filled(
        tmp_path, {"title": "Acme picked Postgres", "content": "After the review in Oslo.", "tags": ["decision"],
                   "entities": [{"name": "Acme", "type": "Org"}]},
    ) as memory:  # fmt: skip
        answer = memory.search("Which database did Acme pick?")
        best = answer.observations[0]
        assert isinstance(best, Hit)
        assert best.title == "Acme picked Postgres"
        assert any("Acme" in reason for reason in best.reasons)
        assert answer.coverage in {"supported", "partial"}
        assert [e.name for e in answer.entities][:1] == ["Acme"]
        assert [c.id for c in answer.citations] == [o.id for o in answer.observations]
        assert "Acme picked Postgres" in answer.text
        assert best.id in answer.pack(form="json").text
        assert memory.recall("Which database did Acme pick?").observations == answer.observations
        scores = [o.score for o in answer.observations if isinstance(o, Hit)]
        assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("compacted", [False, True])
def test_each_retriever_brings_what_no_other_does(tmp_path: Path, compacted: bool) -> None:
    """And it reaches the answer, saying by what it was found."""
    with filled(
        tmp_path,
        {"title": "Purchase", "content": "The automobile was blue."},
        {"title": "Zanzibar", "content": "Headquarters sit beside the harbour."},
        {"title": "Trip report", "content": "Yesterday Kilimanjaro Trek was planned by everyone involved."},
        {"title": "Kilimanjaro Trek", "content": "Nothing else to note, boots are needed."},
        *SESSION,
    ) as memory:
        with Memory(tmp_path) as other:  # which does not search, and so embeds nothing
            other.add_observation(title="Late", content="Written after indexing: zeppelin.")
        if compacted:
            memory.compact()
        assert hits(memory.search("zeppelin"))["Late"].via == ("lexical",)
        assert hits(memory.search("car"))["Purchase"].via == ("vector",)
        assert "entity" in hits(memory.search("What about Zanzibar?"))["Zanzibar"].via
        assert hits(memory.search("planned"))["Kilimanjaro Trek"].via == ("graph",)
        mates = hits(memory.search("xylophone"))
        assert mates["turn 2"].via == ("window", "session")
        assert mates["turn 7"].via == ("session",)
        for question in ("zeppelin", "car", "What about Zanzibar?", "planned", "xylophone"):
            found = hits(memory.search(question))
            assert all(hit.reasons for hit in found.values()), question
            assert set().union(*(hit.via for hit in found.values())) <= {
                "lexical", "vector", "entity", "window", "session", "graph"
            }  # fmt: skip


def test_hidden_and_moved_observations_are_as_the_store_says(tmp_path: Path) -> None:
    with filled(tmp_path, {"title": "Zebra", "content": "A quagga by the river.", "category": "old"}) as memory:
        (id_,) = (o.id for o in memory.recall(category="old").observations)
        for _ in range(2):
            memory.hide(id_)
            assert "Zebra" not in hits(memory.search("quagga"))
            memory.restore(id_)
            assert "Zebra" in hits(memory.search("quagga"))
            memory.compact()
            memory.index()
        memory.move(id_, "new")
        assert hits(memory.search("quagga", category="new"))["Zebra"].path.startswith("memories/new/")
        assert memory.search("quagga", category="old").observations == ()
        (tmp_path / hits(memory.search("quagga"))["Zebra"].path).unlink()
        memory.sync()
        assert "Zebra" not in hits(memory.search("quagga"))


def test_a_file_changed_by_hand_is_answered_as_it_is_now(tmp_path: Path) -> None:
    with filled(tmp_path, {"title": "Zebra", "content": "A quagga by the river."}) as memory:
        memory.compact()
        memory.index()
        file = tmp_path / hits(memory.search("quagga"))["Zebra"].path
        file.write_text(file.read_text().replace("quagga", "okapi"))
        memory.sync()
        assert "Zebra" not in {t for t, hit in hits(memory.search("quagga")).items() if "lexical" in hit.via}
        assert "okapi" in hits(memory.search("okapi"))["Zebra"].content


def test_a_filter_that_leaves_nothing_says_which_condition_it_was(tmp_path: Path) -> None:
    with filled(tmp_path) as memory:
        answer = memory.search("matter7", tags="nowhere")
        assert answer.observations == ()
        assert answer.abstention is not None
        assert "tags" in answer.abstention.detail
    with Memory(tmp_path / "empty", embedder=hashed_words()) as memory:
        nothing = memory.search("anything at all").abstention
        assert nothing is not None
        assert nothing.reason == "nothing_stored"


def test_limit_and_budget_hold(tmp_path: Path) -> None:
    drafts = [{"title": f"Fig {n}", "content": f"fig number{n} " + f"grove{n} " * 30} for n in range(15)]
    with filled(tmp_path, *drafts) as memory:
        assert len(memory.search("fig").observations) == 10
        assert len(memory.search("fig", limit=3).observations) == 3
        for budget in (150, 400, 1000):
            answer = memory.search("fig", budget=budget, counter=len)
            assert len(answer.text) <= budget
            assert len(answer.observations) == 10
        with pytest.raises(InputError):
            _ = memory.search("fig", budget=1).text


def test_a_long_note_takes_one_place(tmp_path: Path) -> None:
    """Hundreds of matching passages of one note leave the other places to others."""
    long = "\n\n".join(f"fig {n} " + f"filler{n} " * 60 for n in range(200))
    with filled(
        tmp_path, {"title": "Long", "content": long},
        *({"title": f"Short {n}", "content": f"A fig seen in place{n} with person{n}"} for n in range(4)),
    ) as memory:  # fmt: skip
        found = hits(memory.search("fig", limit=5))
        assert set(found) == {"Long", *(f"Short {n}" for n in range(4))}
        assert found["Long"].passage in long
        assert len(found["Long"].passage) < 1000


def test_context_is_the_turns_around_in_order_and_obeys_the_filter(tmp_path: Path) -> None:
    other = {"title": "else", "content": "between the two", "session": "s2", "turn": 1, "speaker": "Ann"}
    with filled(tmp_path, *reversed(SESSION), other) as memory:
        for _ in range(2):
            hit = hits(memory.search("xylophone", context=2, limit=1))["turn 1"]
            assert [turn.title for turn in hit.context] == ["turn 0", "turn 2", "turn 3"]
            hit = hits(memory.search("xylophone", context=1, limit=1, text="l"))["turn 1"]
            assert [turn.title for turn in hit.context] == ["turn 0", "turn 2"]
            hit = hits(memory.search("xylophone", context=1, limit=1, text="t"))["turn 1"]
            assert all("t" in f"{turn.title} {turn.content}" for turn in hit.context)
            assert hits(memory.search("xylophone", limit=1))["turn 1"].context == ()
            memory.compact()
            memory.index()


def test_what_says_the_same_collapses_and_what_differs_in_a_number_stays(tmp_path: Path) -> None:
    """The one that is left names the other; another speaker or another number is another statement."""
    said = "The quagga herd at the northern river crossing was counted by the whole team in spring and came to about"
    drafts = [{"title": f"{said[:20]}", "content": f"{said} {end}", "observed_at": f"2026-01-0{n + 1}", "speaker": speaker}
              for n, (end, speaker) in enumerate([("30", "Ann"), ("30 .", "Ann"), ("40", "Ann"), ("30", "Bob")])]  # fmt: skip
    with filled(tmp_path, *drafts) as memory:
        answer = memory.search("quagga herd river crossing")
        found = [o for o in answer.observations if "quagga" in o.content]
        assert sorted((o.content.rstrip(" .")[-2:], str(o.speaker)) for o in found) == [
            ("30", "Ann"), ("30", "Bob"), ("40", "Ann")
        ]  # fmt: skip
        assert sum("also said in" in " ".join(o.reasons) for o in found if isinstance(o, Hit)) == 1
        assert answer.trace["duplicates"]["collapsed"] == 1


def test_old_episodes_count_less_and_facts_do_not(tmp_path: Path) -> None:
    drafts = [
        {"title": f"{kind} {when}", "content": f"A quagga seen {kind} {when}", "kind": kind, "observed_at": when}
        for kind in ("episodic", "semantic")
        for when in ("2026-05-31", "2024-01-01")
    ]
    with filled(tmp_path, *drafts) as memory:
        found = hits(memory.search("quagga", asked_at=ASKED))
        assert found["episodic 2024-01-01"].score < found["semantic 2024-01-01"].score
        assert any("days old" in reason for reason in found["episodic 2024-01-01"].reasons)
        assert not any("days old" in reason for reason in found["semantic 2024-01-01"].reasons)
        assert list(found).index("episodic 2026-05-31") < list(found).index("episodic 2024-01-01")


def test_several_wordings_are_answered_together(tmp_path: Path) -> None:
    with filled(
        tmp_path, {"title": "One", "content": "The quagga."}, {"title": "Two", "content": "The okapi."}
    ) as memory:
        answer = memory.search(["quagga", "okapi"])
        assert list(hits(answer))[:2] in (["One", "Two"], ["Two", "One"])
        for bad in ([], ["a", "b", "c", "d"], ["fine", ""], [1], 5):
            with pytest.raises(InputError, match="query"):
                memory.search(bad)  # type: ignore[arg-type]  # the refusal is the test


@pytest.mark.parametrize("message", ["{0} {1}", "{1} {0}"])
def test_a_question_within_talk_is_answered_as_alone(tmp_path: Path, message: str) -> None:
    """By the gates that ship, which take words that nothing here says for a sign that nothing is about the question."""
    talk = "I looked through my old emails and gave up after half an hour."
    question = "Where did the keeper of the quagga buy tickets for the ship?"
    with Memory(tmp_path, embedder="none") as memory:
        memory.add_observations([{"title": f"Log {n}", "content": f"Entry {n} on matter{n * 7}"} for n in range(40)])
        memory.add_observation(title="Arrival", content="The quagga reached the harbour in May, by ship.")
        memory.add_observation(title="Office", content="Coffee and emails are for the old office.")
        memory.add_observation(title="Town", content="My grandmother gave a breakfast for half the town.")
        assert next(iter(hits(memory.search(question)))) == "Arrival"
        assert next(iter(hits(memory.search(message.format(talk, question))))) == "Arrival"
        assert memory.search(talk).abstention is not None


@pytest.mark.parametrize("strict", [False, True])
def test_strict_only_ever_withholds(tmp_path: Path, strict: bool) -> None:
    """It needs a gate for speakers; without one it changes nothing."""
    with filled(tmp_path, *SESSION) as memory:
        assert "turn 1" in hits(memory.search("What did Ann say of the xylophone?", strict=strict))


def test_search_works_with_no_embedder_with_no_vectors_yet_and_with_some(tmp_path: Path) -> None:
    """How many passages lack a vector is said; what lacks one is found by its words."""
    drafts = [{"title": f"Car {n}", "content": f"The automobile number{n} was blue"} for n in range(3)]
    with filled(tmp_path, *drafts, index=False) as memory:
        answer = memory.search("automobile")
        assert set(hits(answer)) >= {"Car 0", "Car 1", "Car 2"}
        assert any("43 passages have no vector yet" in warning for warning in answer.warnings)
        memory.index()
        assert not any("no vector" in warning for warning in memory.search("automobile").warnings)
        with Memory(tmp_path) as other:  # which does not search, and so embeds nothing
            other.add_observation(title="Car 3", content="The automobile number3 was blue and shiny")
        answer = memory.search("automobile")
        assert hits(answer)["Car 3"].via[0] == "lexical"
        assert "vector" in hits(answer)["Car 0"].via
        assert any("1 passages have no vector yet" in warning for warning in answer.warnings)
    with Memory(tmp_path, embedder="none") as memory:
        answer = memory.search("automobile")
        assert set(hits(answer)) >= {"Car 0", "Car 1", "Car 2", "Car 3"}
        assert all("vector" not in hit.via for hit in hits(answer).values())
        assert answer.warnings == ()


def test_never_silent_still_says_why_there_is_nothing(tmp_path: Path) -> None:
    """Where not even a bad hit was found, the answer is a reason all the same."""
    with filled(tmp_path, embedder="none") as memory:
        answer = memory.search("zzxq marsupial")
        assert answer.observations == ()
        assert answer.abstention is not None
        assert answer.abstention.reason == "no_match"
        assert answer.coverage == "none"


def test_every_stage_stands_in_the_trace_in_order(tmp_path: Path) -> None:
    with filled(tmp_path, *SESSION) as memory:
        stages = [name for name, said in memory.search("xylophone", context=1).trace.items() if "ms" in said]
        assert stages == [
            "refresh", "index", "filter", "search", "candidates", "features", "silence", "gather", "freshness", "duplicates",
            "reasons", "context", "companions",
        ]  # fmt: skip


def test_days_that_a_question_names_can_be_a_condition(tmp_path: Path) -> None:
    """On the days named and no others; without such a day in the store there is nothing, and the reason names it."""
    days = {"in May": "2026-05-03", "this May": "2026-05-30", "in April": "2026-04-30", "in June": "2026-06-01"}
    notes = [{"title": name, "content": "The committee met.", "observed_at": day} for name, day in days.items()]
    with filled(tmp_path, *notes) as memory:
        question = "What did the committee do in May 2026?"
        assert hits(memory.search(question, asked_at=ASKED)).keys() >= days.keys()
        assert hits(memory.search(question, asked_at=ASKED, dates="filter")).keys() == {"in May", "this May"}
        without = hits(memory.search(question, asked_at=ASKED, dates="off"))
        assert all("when asked for" not in reason for hit in without.values() for reason in hit.reasons)
        assert memory.search("Did the committee meet?", dates="filter").observations
        nothing = memory.search("the committee in May 2019", asked_at=ASKED, dates="filter").abstention
        assert nothing is not None
        assert nothing.reason == "no_match"
        assert "May 2019" in nothing.detail
        with pytest.raises(InputError, match="dates"):
            memory.search(question, dates="maybe")
        with pytest.raises(InputError, match="dates"):
            memory.recall(dates="filter")


def test_an_event_that_titles_name_counts_as_its_day(tmp_path: Path) -> None:
    """Before, after, since, until; when the titles are from several days, nobody can say which is meant."""
    notes = [
        {"title": f"Review {n}", "content": "The committee met.", "observed_at": f"2026-05-{n:02}"} for n in range(1, 7)
    ]
    launch = {"title": "The launch of the boat", "content": "It floats.", "observed_at": "2026-05-04"}
    with filled(tmp_path, *notes, launch) as memory:

        def days(question: str) -> set[int]:
            found = memory.search(question, asked_at=ASKED, dates="filter", limit=50).observations
            return {o.observed_at.day for o in found if o.title.startswith("Review")}

        assert days("What did the committee do before the launch?") == {1, 2, 3}
        assert days("What did the committee do after the launch?") == {5, 6}
        assert days("Since the launch, what did the committee do?") == {4, 5, 6}
        assert days("What did the committee do until the launch of the boat?") == {1, 2, 3, 4}
        assert days("What did the committee do before the flood?") == {1, 2, 3, 4, 5, 6}
        asked = memory.search("What did the committee do before the launch?").trace["question"]
        assert asked["dates"] == ["before the launch"]
        memory.add_observation(title="Second launch", content="It sinks.", observed_at="2026-05-05")
        assert days("What did the committee do before the launch?") == {1, 2, 3, 4, 5, 6}


@pytest.mark.parametrize("index", [False, True])
def test_another_name_given_anywhere_finds_what_says_the_name(tmp_path: Path, index: bool) -> None:
    """Both ways, also from the delta; and no longer once the note that gives it is hidden."""
    big_blue = {"title": "Who is who", "content": "Some names.", "entities": [{"name": "IBM", "aliases": ["Big Blue"]}]}
    notes = [
        {"title": "Order", "content": "Yesterday IBM ordered nine chairs."},
        {"title": "Song", "content": "A big song about the blue sea."},
        {"title": "Visit", "content": "We saw Big Blue at the fair."},
    ]
    with filled(tmp_path, *notes, index=index, embedder="none") as memory:
        alone = hits(memory.search("Big Blue"))
        assert "Order" not in alone
        given = memory.add_observation(**big_blue)
        found = hits(memory.search("Big Blue"))
        assert "says Big, Blue by another name" in found["Order"].reasons
        assert "Visit" in hits(memory.search("IBM"))
        memory.compact()
        memory.index()
        assert hits(memory.search("Big Blue"))["Order"].reasons == found["Order"].reasons
        memory.hide(given.id)
        assert "Order" not in hits(memory.search("Big Blue"))

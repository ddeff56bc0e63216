"""What is said around two names, by the vectors of the search index, speaks for or against their being one thing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from reading_of import findings, kept, reading_of

from grail_mem import Memory
from grail_mem.consolidate.detectors.aliases import merge_aliases
from grail_mem.consolidate.names.entity_table import read_entities
from grail_mem.consolidate.names.evidence import FAR, NEAR
from grail_mem.consolidate.names.surroundings import nearness

SAID = {
    "Robert Lindqvist": [
        "Robert Lindqvist set the drip irrigation of the greenhouse to ten minutes for the tomato beds.",
        "Robert Lindqvist replaced the clogged drip hoses of the tomato beds in the greenhouse.",
    ],
    "Bob Lindqvist": [
        "Bob Lindqvist waters the tomato beds of the greenhouse by drip irrigation at dawn.",
        "Bob Lindqvist found a leak in the drip irrigation of the greenhouse, near the tomato beds.",
    ],
    "Robert Hale": [
        "Robert Hale argued the appeal on inheritance tax before the court of the canton.",
        "Robert Hale filed the inheritance tax appeal with the court and asked for a delay.",
    ],
    "Bob Hale": [
        "Bob Hale won the dinghy race round the lighthouse in a strong wind.",
        "Bob Hale mends sails in winter and races his dinghy from May on.",
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """Two people under a short and a long name each, who share no neighbours."""
    with kept(tmp_path_factory.mktemp("surroundings"), embedder="local") as made:
        for name, sentences in SAID.items():
            for sentence in sentences:
                made.add_observation(content=sentence, category="notes", entities=[{"name": name, "type": "PERSON"}])
        made.compact()
        yield made


def test_without_vectors_a_nickname_alone_proposes_nothing(memory: Memory) -> None:
    with reading_of(memory) as reading:
        assert reading.vectors is None
        table = read_entities(reading)
        assert nearness(reading, table, [(0, 1)]) == {}
    assert findings(memory, merge_aliases) == []


def test_what_is_said_around_a_nickname_tells_one_person_from_two(memory: Memory) -> None:
    memory.index()
    with reading_of(memory) as reading:
        table = read_entities(reading)
        number = {entity.name: place for place, entity in enumerate(table.entities)}
        one = tuple(sorted((number["Robert Lindqvist"], number["Bob Lindqvist"])))
        two = tuple(sorted((number["Robert Hale"], number["Bob Hale"])))
        near = nearness(reading, table, [one, two])  # type: ignore[list-item]
    assert near[one] >= NEAR  # type: ignore[index]
    assert near[two] < FAR  # type: ignore[index]
    (found,) = findings(memory, merge_aliases)
    assert {found.payload["name"], *found.payload["aliases"]} == {"Robert Lindqvist", "Bob Lindqvist"}
    assert "the same is said around them" in found.rationale
    assert found.figures["nearness"] == near[one]  # type: ignore[index]


def test_a_run_of_the_store_uses_the_vectors_that_are_there(memory: Memory) -> None:
    memory.index()
    names = [proposal.payload["name"] for proposal in memory.consolidate(kinds=["merge_aliases"], dry_run=True)]
    assert [name.split()[1] for name in names] == ["Lindqvist"]

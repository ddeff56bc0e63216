"""A store with questions of which it is known what answers them, for tests of calibration and fit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from search_stores import hashed_words

from grail_mem import Memory

ANIMALS = [
    "otter",
    "heron",
    "badger",
    "lynx",
    "marten",
    "stoat",
    "bison",
    "ibex",
    "plover",
    "dunlin",
    "curlew",
    "osprey",
    "merlin",
    "kestrel",
    "puffin",
    "gannet",
    "shrike",
    "wryneck",
    "hoopoe",
    "bittern",
    "crake",
    "smew",
]
PLACES = [
    "harbour",
    "orchard",
    "quarry",
    "meadow",
    "foundry",
    "chapel",
    "viaduct",
    "brewery",
    "sawmill",
    "lagoon",
    "glacier",
    "canyon",
    "jetty",
    "windmill",
    "cellar",
    "terrace",
    "abbey",
    "tunnel",
    "pasture",
    "archive",
    "beacon",
    "lockhouse",
]
ELSEWHERE = (
    "How is a violin tuned?", "Which tariff applies to imported steel?", "Who invented the telegraph?",
    "When does the parliament vote on pensions?", "What causes inflation?", "Does salt lower blood pressure?",
    "Why did the merger fail?", "How many goals did Brazil score?", "Which vaccine came first?", "Where is Ulan Bator?",
    "What does a notary charge?", "How long does cement cure?", "Who painted the ceiling?", "Why is the sky blue?",
    "Which poem won the prize?", "How do I reset my router?", "What is the dose of aspirin?", "When did Rome burn?",
    "Who sells cheap tyres?", "Which visa do nurses need?", "How hot is Venus?", "What did Darwin publish?",
)  # fmt: skip


def filled(root: Path, embedder: Any = None, **settings: str) -> Memory:
    """A store that says of each animal where it sleeps, and asks so; indexed."""
    root.mkdir(parents=True, exist_ok=True)
    lines = {"durability": "fast"} | settings
    (root / "grail.yaml").write_text("".join(f"{name}: {value}\n" for name, value in lines.items()))
    memory = Memory(root, embedder=embedder or hashed_words())
    drafts = []
    for animal, place in zip(ANIMALS, PLACES, strict=True):
        drafts.append({"title": f"{animal} says", "content": f"The {animal} sleeps beside the {place}."})
        drafts.append({"title": f"{animal} asks", "content": f"Is it so that the {animal} sleeps beside the {place}?"})
    memory.add_observations(drafts)
    memory.index()
    return memory


def ids(memory: Memory) -> dict[str, str]:
    """The id of each observation by its title."""
    return {o.title: o.id for o in memory.recall(limit=1000).observations}


def answered(memory: Memory, kind: str = "says") -> list[dict[str, Any]]:
    """A question about each animal, which the observation of one kind answers."""
    found = ids(memory)
    return [
        {"question": f"Where does the {animal} sleep?", "answers": [found[f"{animal} {kind}"]]} for animal in ANIMALS
    ]


def unanswered() -> list[dict[str, Any]]:
    """Questions about nothing in the store."""
    return [{"question": text, "answers": []} for text in ELSEWHERE]

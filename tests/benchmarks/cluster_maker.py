"""Planted stores: what belongs together, what lies in the wrong folder and which folder is two is known.

Folders of one subject, each with entities of its own; folders of meetings and decisions about all subjects; topics whose
observations lie in several folders; folders that hold three subjects; single observations and whole entities in the wrong
folder; an inbox. Entities of a subject are mentioned with Zipf frequencies. Noise is the share of mentions that are drawn
from the whole store instead. Knows nothing of detectors.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

SUBJECT_ENTITIES = 12
TOPIC_ENTITIES = 6
SHARED = 40
FACETS = ("meetings", "decisions/2026", "journal")


@dataclass(slots=True)
class Planted:
    """Drafts, and the truth about each in the same order.

    Attributes:
        drafts: Arguments of `Memory.add_observation`.
        group: The subject or topic each is about.
        belongs: The folder each belongs in; empty where several are right.
        n_topics: Topics that cross folders.
        split: Folders that hold several subjects.
        moved: Entities of which some observations lie in the wrong folder, by name, and the numbers of these.
    """

    drafts: list[dict[str, Any]] = field(default_factory=list)
    group: list[str] = field(default_factory=list)
    belongs: list[str] = field(default_factory=list)
    n_topics: int = 0
    split: set[str] = field(default_factory=set)
    moved: dict[str, set[int]] = field(default_factory=dict)


class _Maker:
    def __init__(self, n: int, noise: float, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.noise = noise
        self.n_subjects = max(4, n // 60)
        self.names = [f"Thing {at}" for at in range(self.n_subjects * SUBJECT_ENTITIES)]
        self.made = Planted()

    def pool(self, subject: int) -> list[str]:
        return self.names[subject * SUBJECT_ENTITIES : (subject + 1) * SUBJECT_ENTITIES]

    def some(self, pool: list[str], k: int) -> list[str]:
        weights = 1 / np.arange(1, len(pool) + 1) ** 0.7
        chosen = self.rng.choice(len(pool), size=min(k, len(pool)), replace=False, p=weights / weights.sum())
        return [pool[at] for at in chosen]

    def add(self, group: str, folder: str, belongs: str, entities: list[str]) -> None:
        drawn = [
            self.names[self.rng.integers(len(self.names))] if self.rng.random() < self.noise else name
            for name in entities
        ]
        if self.rng.random() < 0.3:
            drawn.append("The Company")
        if self.rng.random() < 0.15:
            drawn.append(f"Shared Tool {int(SHARED * self.rng.random() ** 2)}")
        drawn = list(dict.fromkeys(drawn))
        number = len(self.made.drafts)
        self.made.drafts.append({
            "title": f"Note {number} on {drawn[0]}", "content": f"Number {number}: {', '.join(drawn)}.", "category": folder,
            "entities": [{"name": name} for name in drawn],
        })  # fmt: skip
        self.made.group.append(group)
        self.made.belongs.append(belongs)


def planted(n: int, *, noise: float = 0.1, seed: int = 0) -> Planted:
    """A store of about n observations; the same for the same arguments."""
    maker = _Maker(n, noise, seed)
    rng, made = maker.rng, maker.made
    folder = {}
    for subject in range(maker.n_subjects):
        # every eighth folder holds three subjects
        triple = subject // 3 if (subject // 3) % 8 == 0 and subject // 3 * 3 + 2 < maker.n_subjects else None
        folder[subject] = f"areas/area-{subject}" if triple is None else f"areas/mixed-{triple}"
        if triple is not None:
            made.split.add(folder[subject])
    plain = [subject for subject in folder if folder[subject] not in made.split]
    for subject in folder:
        for _ in range(45):
            maker.add(
                f"subject {subject}",
                folder[subject],
                folder[subject],
                maker.some(maker.pool(subject), 1 + rng.integers(4)),
            )
    for _ in range(maker.n_subjects * 6):
        subject = int(rng.integers(maker.n_subjects))
        facet = FACETS[rng.integers(len(FACETS))]
        maker.add(f"subject {subject}", facet, "", maker.some(maker.pool(subject), 1 + rng.integers(4)))
    made.n_topics = max(1, maker.n_subjects // 5)
    for topic in range(made.n_topics):
        pool = [f"Topic {topic} {at}" for at in range(TOPIC_ENTITIES)]
        homes = rng.choice(plain, size=min(len(plain), 5), replace=False)
        for at in range(int(rng.integers(10, 30))):
            subject = int(homes[at % len(homes)])
            own = maker.some(maker.pool(subject), int(rng.integers(2)))
            maker.add(f"topic {topic}", folder[subject], "", maker.some(pool, 2 + rng.integers(2)) + own)
    for _ in range(maker.n_subjects * 2):
        right, wrong = (int(at) for at in rng.choice(plain, size=2, replace=False))
        where = "inbox" if rng.random() < 0.6 else folder[wrong]
        maker.add(f"subject {right}", where, folder[right], maker.some(maker.pool(right), 2 + rng.integers(3)))
    for right in plain[:: max(1, len(plain) // max(1, maker.n_subjects // 10))]:
        wrong = int(rng.choice([subject for subject in plain if subject != right]))
        name = maker.pool(right)[3]
        made.moved[name] = set()
        for _ in range(3):
            others = [other for other in maker.some(maker.pool(right), 2) if other != name]
            made.moved[name].add(len(made.drafts))
            maker.add(f"subject {right}", folder[wrong], folder[right], [name, *others])
    return made

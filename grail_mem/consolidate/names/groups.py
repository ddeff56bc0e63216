"""Groups of names that are one thing: joined from pairs, the surest first, and never across two that are not.

Knows nothing of how a pair was judged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

MAX_NAMES: Final = 12
"""Names of one group at most; chosen: one thing with more names is more likely several things joined by a mistake."""


@dataclass(frozen=True, slots=True)
class Group:
    """Entities that are one thing.

    Attributes:
        members: Their numbers, ascending.
        joints: The pairs that joined them, ascending.
        confidence: That of the weakest joint.
    """

    members: tuple[int, ...]
    joints: tuple[tuple[int, int], ...]
    confidence: float


def groups(
    confidences: Mapping[tuple[int, int], float], are_two: Callable[[int, int], bool], sure: float
) -> Iterator[Group]:
    """The groups that accepted pairs make, in order of their first member.

    Pairs from `sure` on are joined first. A less sure pair that touches a group of sure ones waits until that group was
    decided on: nobody should have to reject what is sure because of what is not.

    Args:
        confidences: The accepted pairs.
        are_two: Whether two entities must not be in one group.
        sure: Confidence from which a pair is sure.
    """
    strong = {places: c for places, c in confidences.items() if c >= sure}
    found = _joined(strong, are_two)
    taken = {member for group in found for member in group.members}
    weak = {places: c for places, c in confidences.items() if c < sure and not taken.intersection(places)}
    yield from sorted([*found, *_joined(weak, are_two)], key=lambda group: group.members)


def _joined(confidences: Mapping[tuple[int, int], float], are_two: Callable[[int, int], bool]) -> list[Group]:
    members: dict[int, list[int]] = {number: [number] for places in confidences for number in places}
    joints: dict[int, list[tuple[int, int]]] = {number: [] for number in members}
    of = {number: number for number in members}
    for places in sorted(confidences, key=lambda places: (-confidences[places], places)):
        left, right = of[places[0]], of[places[1]]
        if left == right or len(members[left]) + len(members[right]) > MAX_NAMES:
            continue
        if any(are_two(a, b) for a in members[left] for b in members[right]):
            continue
        members[left] += members.pop(right)
        joints[left] += [*joints.pop(right), places]
        of.update(dict.fromkeys(members[left], left))
    return [
        Group(tuple(sorted(some)), tuple(sorted(joints[first])), min(confidences[places] for places in joints[first]))
        for first, some in members.items()
        if len(some) > 1
    ]

"""One fact as it is known: its statements, and which of them a new one repeats.

Knows nothing of files, and of what is decided about them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from grail_mem.model.fact import Claim, statement_key
from grail_mem.model.observation import Observation
from grail_mem.model.times import to_us
from grail_mem.write.saying import begins_at, claim_of, is_claim, is_over, is_repetition, is_told


@dataclass(slots=True)
class Fact:
    """All statements about one attribute.

    Attributes:
        found: As they were found, by id.
        now: As they shall be, by id; `put` changes it.
        claims: Those that take part in the decision, by id.
        lasting: Those that were said to hold without end and have one since: somebody ended them, or put them away.
    """

    found: dict[str, Observation] = field(default_factory=dict)
    now: dict[str, Observation] = field(default_factory=dict)
    claims: dict[str, Claim] = field(default_factory=dict)
    lasting: set[str] = field(default_factory=set)
    _statements: dict[str, str] = field(default_factory=dict)
    _saying: dict[str, dict[str, None]] = field(default_factory=dict)

    def put(self, o: Observation) -> None:
        """Take in a statement as it shall be."""
        before = self.now.get(o.id)
        self.now[o.id] = o
        if before is None or before.content != o.content:
            self._saying.get(self._statements.get(o.id, ""), {}).pop(o.id, None)
            statement = self._statements[o.id] = statement_key(o.content)
            self._saying.setdefault(statement, {})[o.id] = None
        if (claim := self._claim(o)) is not None:
            self.claims[o.id] = claim
        else:
            self.claims.pop(o.id, None)

    def in_doubt(self, made: Sequence[Observation]) -> set[str]:
        """Of which statements it makes a difference for new ones whether an end was given with them.

        They are those that end after one of the new ones begins, and those that were put away or ended and hold one already.
        """
        claims = [o for o in made if is_claim(o)]
        first = min(map(begins_at, claims), default=None)
        saying: dict[str, list[Observation]] = {}
        for o in claims:
            saying.setdefault(statement_key(o.content), []).append(o)
        return {
            id_
            for id_, o in self.now.items()
            if first is not None and id_ not in self.claims
            if _ends_after(o, first) or any(is_told(o, one) for one in saying.get(self._statements[id_], ()))
        }

    def tell_lasting(self, ids: Collection[str]) -> None:
        """Take in which statements were said to hold without end."""
        self.lasting.update(ids)
        for id_ in ids:
            self.put(self.now[id_])

    def holder(self, made: Observation) -> str | None:
        """The statement that holds a new one already: said then and by whom; one that was put away does, too."""
        told = [id_ for id_ in self._alike(made) if self._holds(id_, made)]
        return min(told, key=lambda id_: (id_ not in self.claims, id_), default=None)

    def _holds(self, id_: str, made: Observation) -> bool:
        """What a statement keeps was added to it when it took part in the decision."""
        if id_ in self.claims or id_ in self.lasting:
            return is_told(self.now[id_], made)
        return is_repetition(self.now[id_], made)

    def same(self, made: Observation) -> str | None:
        """The statement to which a new one is added: one that holds and says the same, or one that was ended later than that."""
        at = to_us(begins_at(made))
        saying = [
            claim for id_ in self._alike(made) if (claim := self.claims.get(id_)) is not None and claim.by is None
        ]
        open_ = [claim for claim in saying if claim.ended_us is None or claim.ended_us > at]
        return min(((claim.ended_us is not None, claim.id) for claim in open_), default=(False, None))[1]

    def _alike(self, made: Observation) -> Collection[str]:
        return self._saying.get(statement_key(made.content), {})

    def _claim(self, o: Observation) -> Claim | None:
        if is_claim(o):
            return claim_of(o)
        if o.id not in self.lasting or not is_over(o) or o.valid_until is None:
            return None
        return claim_of(o)._replace(ended_us=to_us(o.valid_until))


def _ends_after(o: Observation, at: datetime) -> bool:
    return is_over(o) and o.valid_until is not None and o.valid_until > at

"""One fact as it is known: its statements, and which of them a new one repeats.

Knows nothing of files, and of what is decided about them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from grail_mem.model.fact import Claim, statement_key
from grail_mem.model.observation import Observation
from grail_mem.model.times import to_us
from grail_mem.write.saying import begins_at, claim_of, is_claim, is_over, is_told

_PUT_AWAY: Final = ("archived", "superseded")


@dataclass(slots=True)
class Fact:
    """All statements about one attribute.

    Attributes:
        found: As they were found, by id.
        now: As they shall be, by id.
        lasting: Those that were said to hold without end and have one since: somebody ended them, or put them away.
    """

    found: dict[str, Observation] = field(default_factory=dict)
    now: dict[str, Observation] = field(default_factory=dict)
    lasting: set[str] = field(default_factory=set)
    _read: dict[str, tuple[Observation, str, Claim | None]] = field(default_factory=dict)

    def claims(self) -> dict[str, Claim]:
        """Those that take part in the decision, by id."""
        return {id_: claim for id_, _, claim in self._each() if claim is not None}

    def in_doubt(self, made: Sequence[Observation]) -> set[str]:
        """Of which statements it makes a difference for new ones whether an end was given with them.

        They are those that end after one of the new ones begins, and those that were put away and say the same as one.
        """
        claims = [o for o in made if is_claim(o)]
        first = min(map(begins_at, claims), default=None)
        said = {statement_key(o.content) for o in claims}
        return {
            id_
            for id_, statement, claim in self._each()
            if claim is None
            and first is not None
            and (_ends_after(self.now[id_], first) or (self.now[id_].status in _PUT_AWAY and statement in said))
        }

    def tell_lasting(self, ids: Iterable[str]) -> None:
        """Take in which statements were said to hold without end."""
        self.lasting.update(ids)
        for id_ in self.lasting & self._read.keys():
            del self._read[id_]

    def holder(self, made: Observation) -> str | None:
        """The statement that holds a new one already: said then and by whom; one that was put away does, too."""
        told = [id_ for id_ in self._saying(made) if is_told(self.now[id_], made)]
        claims = self.claims()
        known = [id_ for id_ in told if id_ in claims or id_ in self.lasting]
        return min(known, key=lambda id_: (id_ not in claims, id_), default=None)

    def same(self, made: Observation) -> str | None:
        """The statement to which a new one is added: one that holds and says the same, or one that was ended later than that."""
        claims, at = self.claims(), to_us(begins_at(made))
        saying = [id_ for id_ in self._saying(made) if id_ in claims and claims[id_].by is None]
        open_ = [id_ for id_ in saying if (ended := claims[id_].ended_us) is None or ended > at]
        return min(open_, key=lambda id_: (claims[id_].ended_us is not None, id_), default=None)

    def _saying(self, made: Observation) -> list[str]:
        wanted = statement_key(made.content)
        return [id_ for id_, statement, _ in self._each() if statement == wanted]

    def _each(self) -> Iterator[tuple[str, str, Claim | None]]:
        """Every statement: its id, what it says, and it as a claim if it is one; what did not change is not read again."""
        for id_, o in self.now.items():
            read = self._read.get(id_)
            if read is None or read[0] is not o:
                statement = read[1] if read is not None and read[0].content == o.content else statement_key(o.content)
                read = self._read[id_] = (o, statement, self._claim(o))
            yield id_, read[1], read[2]

    def _claim(self, o: Observation) -> Claim | None:
        if is_claim(o):
            return claim_of(o)
        if o.id not in self.lasting or not is_over(o) or o.valid_until is None:
            return None
        return claim_of(o)._replace(ended_us=to_us(o.valid_until))


def _ends_after(o: Observation, at: datetime) -> bool:
    return is_over(o) and o.valid_until is not None and o.valid_until > at

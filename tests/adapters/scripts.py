"""A model that says what a test wrote down for it, whatever framework asks it, and remembers what it was asked."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Call(NamedTuple):
    """A call of a tool."""

    name: str
    arguments: dict[str, Any]

    @property
    def json(self) -> str:
        return json.dumps(self.arguments)


Step = str | Call | Callable[[Sequence[str]], Call]


class Request(NamedTuple):
    """What a framework sent: the system prompt, everything behind it, and which of that answers calls."""

    system: str
    behind: tuple[str, ...]
    results: tuple[str, ...]


@dataclass
class Script:
    """Steps in order; the last one is what the model says at the end. A function makes its call from the results so far."""

    steps: list[Step]
    requests: list[Request] = field(default_factory=list)

    def answer(self, system: str, behind: Sequence[Any], results: Sequence[str]) -> Call | str:
        told = tuple(
            item if isinstance(item, str) else json.dumps(item, sort_keys=True, default=str) for item in behind
        )
        self.requests.append(Request(system, told, tuple(results)))
        step = self.steps.pop(0)
        return step(results) if callable(step) else step

    @property
    def results(self) -> tuple[str, ...]:
        """What all its calls were answered, as it saw it last."""
        return self.requests[-1].results

    @property
    def n_asked(self) -> int:
        return len(self.requests)

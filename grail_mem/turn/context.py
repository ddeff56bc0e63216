"""What a model is given before a turn: an envelope with the text, and the messages that carry it.

Memory enters behind everything that was said before, as the result of a tool, so the beginning of the prompt stays the same from
turn to turn and a provider's cache of it holds. Knows nothing of how the observations were found.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final, Literal, get_args

from grail_mem.errors import InputError
from grail_mem.model.names import clean_text
from grail_mem.model.observation import Observation
from grail_mem.model.untrusted import as_label
from grail_mem.recall.budget import Counter, counter_of
from grail_mem.recall.pack import render_pack
from grail_mem.recall.result import Abstention, Recall

VERSION: Final = 1
"""Of the envelope; it changes when a field gets another meaning or goes."""
TOOL: Final = "memory_search"
"""The tool whose result the text is sent as."""
MessageFormat = Literal["anthropic", "openai", "openai-chat"]

_QUESTION: Final = 200
_ASKED: Final = 2_000


@dataclass(frozen=True, slots=True)
class TurnContext:
    """What a model is given before one turn.

    Attributes:
        version: Of this envelope.
        turn_id: By what the turn is completed; empty for an opening.
        session: The conversation.
        message: What the user said; empty for an opening.
        text: For the model: fenced, labelled data, or the reason for none.
        observations: What was found, best first.
        included: Ids of those of which the text holds something.
        abstention: Why there is nothing, or None.
        budget: Tokens that the text has at most.
        tokens: How many it has, as counted.
        warnings: What may be missing.
    """

    version: int
    turn_id: str
    session: str
    message: str
    text: str
    observations: tuple[Observation, ...] = ()
    included: tuple[str, ...] = ()
    abstention: Abstention | None = None
    budget: int = 0
    tokens: int = 0
    warnings: tuple[str, ...] = ()

    def as_messages(self, format: MessageFormat = "anthropic") -> list[dict[str, Any]]:  # noqa: A002  the word of the interface
        """The context as a call of the tool `memory_search` and its result, to be put behind the user's message.

        Args:
            format: `anthropic` (Messages), `openai` (items of the Responses API) or `openai-chat` (Chat Completions).

        Returns:
            Two messages, the same bytes for the same context.

        Raises:
            InputError: There is no such format.
        """
        id_ = "memory_" + sha256(f"{self.session}\0{self.turn_id}".encode()).hexdigest()[:24]
        said = clean_text(self.message[:_ASKED])[0]  # half a surrogate pair could not be sent
        asked = {"query": said} if said else {}
        words = json.dumps(asked, ensure_ascii=False)
        match format:
            case "anthropic":
                return [
                    {"role": "assistant", "content": [{"type": "tool_use", "id": id_, "name": TOOL, "input": asked}]},
                    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": id_, "content": self.text}]},
                ]
            case "openai":
                return [
                    {"type": "function_call", "call_id": id_, "name": TOOL, "arguments": words},
                    {"type": "function_call_output", "call_id": id_, "output": self.text},
                ]
            case "openai-chat":
                call = {"id": id_, "type": "function", "function": {"name": TOOL, "arguments": words}}
                return [
                    {"role": "assistant", "content": None, "tool_calls": [call]},
                    {"role": "tool", "tool_call_id": id_, "content": self.text},
                ]
        raise InputError(f"There is no format {format!r}; the formats are {', '.join(get_args(MessageFormat))}.")

    def to_dict(self) -> dict[str, Any]:
        """The envelope as plain JSON values."""
        return {
            "version": self.version, "turn_id": self.turn_id, "session": self.session, "message": self.message,
            "text": self.text, "observations": [o.to_dict() for o in self.observations], "included": list(self.included),
            "abstention": self.abstention.to_dict() if self.abstention else None, "budget": self.budget,
            "tokens": self.tokens, "warnings": list(self.warnings),
        }  # fmt: skip


def context_of(
    recall: Recall, *, turn_id: str, session: str, message: str, budget: int, counter: Callable[[str], int] | None
) -> TurnContext:
    """What was recalled as a context.

    Raises:
        InputError: The budget is too small for the frame alone.
    """
    included: tuple[str, ...] = ()
    if recall.abstention is not None:
        text = _silence(recall.abstention, budget, counter_of(counter))
    else:
        question = message[:_QUESTION]
        if 3 * counter_of(counter).count(question) > budget:  # the frame says it, and has to leave room
            question = ""
        pack = render_pack(
            recall.observations,
            budget=budget,
            counter=counter,
            coverage=recall.coverage,
            question=question or None,
        )
        text, included = pack.text, pack.included
    return TurnContext(
        VERSION, turn_id, session, message, text, recall.observations, included, recall.abstention, budget,
        counter_of(counter).count(text), recall.warnings,
    )  # fmt: skip


def _silence(why: Abstention, budget: int, counter: Counter) -> str:
    """That nothing is remembered, with as much of the reason as the budget takes.

    Raises:
        InputError: It does not take a word.
    """
    said = "Nothing is remembered"
    texts = (
        f"{said} for this ({why.reason}): {as_label(why.detail)}", f"{said} for this ({why.reason}).", f"{said}.", "Nothing.",
    )  # fmt: skip
    for text in texts:
        if counter.count(text) <= budget:
            return text
    raise InputError(
        f"A budget of {budget} tokens is too small: that nothing is remembered has {counter.count(texts[-1])}.",
        hint="Give a larger budget.",
    )


def question_of(message: str) -> str | None:
    """What is asked of memory for a message; None when it holds no word. A long one is asked by its beginning and end."""
    if not any(map(str.isalnum, message)):
        return None
    return message if len(message) <= _ASKED else f"{message[: _ASKED // 2]} {message[-_ASKED // 2 :]}"


def together(recalls: Sequence[Recall]) -> Recall:
    """Several answers as one, each observation once, in order; silent only when all are."""
    found = {o.id: o for recall in recalls for o in recall.observations}
    warnings = tuple(dict.fromkeys(text for recall in recalls for text in recall.warnings))
    if found:
        return Recall(observations=tuple(found.values()), warnings=warnings)
    reasons = [recall.abstention.reason for recall in recalls if recall.abstention is not None]
    reason = reasons[0] if len(set(reasons)) == 1 else "no_match"
    detail = (
        "Nothing is stored that you may read."
        if reason == "nothing_stored"
        else "No preference, open task or recent decision is known."
    )
    return Recall(abstention=Abstention(reason, detail), warnings=warnings)

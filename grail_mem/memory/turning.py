"""The verbs of a session about its conversation: what a model is given before a turn, what is kept of it, and the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from grail_mem.errors import InputError
from grail_mem.memory.evidencing import Evidencing
from grail_mem.memory.recalling import Recalling
from grail_mem.memory.suggesting import Suggesting
from grail_mem.model.filter import Time
from grail_mem.model.ulid import new_id

if TYPE_CHECKING:
    from grail_mem.turn.complete import TurnReceipt
    from grail_mem.turn.context import TurnContext
    from grail_mem.write.extractor import Extractor
    from grail_mem.write.finishing import Finished
    from grail_mem.write.reviewer import Reviewer


class Turning(Evidencing, Recalling, Suggesting):
    """The conversation of a session: its opening, its turns and its end."""

    _heard: dict[str, str]
    """What the user said in turns that were prepared here and are not completed yet, by turn."""

    @property
    def conversation(self) -> str:
        """The conversation that its turns belong to."""
        return self._conversation or ""

    def opening(self, *, budget: int = 1200, counter: Callable[[str], int] | None = None) -> TurnContext:
        """What matters at the start of a conversation: preferences, open tasks, and decisions of the last 30 days.

        Args:
            budget: Tokens that its text has at most.
            counter: Counts them; an estimate when left out.

        Raises:
            InputError: The budget is too small, or no number.
        """
        from grail_mem.turn.context import context_of, together

        budget = _budget(budget)
        found = together(
            [
                self.recall(tags=["preference", "preferences"], limit=12),
                self.recall(kind="prospective", limit=12),
                self.recall(tags=["decision", "decisions"], since="30d", limit=8),
            ]
        )
        return context_of(found, turn_id="", session=self.conversation, message="", budget=budget, counter=counter)

    def prepare_turn_context(
        self,
        message: str,
        *,
        turn_id: str | None = None,
        budget: int = 1200,
        counter: Callable[[str], int] | None = None,
        **asked: Any,
    ) -> TurnContext:
        """What is remembered for a message of the user, as text to be given to a model before it answers.

        Nothing is stored. `complete_turn` keeps the words once the turn is over; a quote of the message that is remembered
        before that is found in it.

        Args:
            message: What the user said.
            turn_id: By what the turn is known; a new one when left out.
            budget: Tokens that the text has at most.
            counter: Counts them; an estimate when left out.
            **asked: Conditions and other arguments of `recall`.

        Raises:
            InputError: A value cannot be used; `problems` lists every reason.
        """
        from grail_mem.recall.result import Abstention, Recall
        from grail_mem.turn import complete as completing
        from grail_mem.turn.context import context_of, question_of

        if not isinstance(message, str):
            raise InputError(f"message must be what the user said, not {type(message).__name__}.")
        id_ = new_id() if turn_id is None else completing.clean_turn_id(turn_id)
        budget = _budget(budget)
        question = question_of(message)
        if question is None:
            silent = Abstention("no_match", "The message holds no word that could be asked for.")
            found = Recall(abstention=silent)
        else:
            found = self.search(question, **asked)
        made = context_of(
            found, turn_id=id_, session=self.conversation, message=message, budget=budget, counter=counter
        )
        with self._lock:
            self._heard = {id_: message} if message.strip() else {}
        return made

    def complete_turn(
        self,
        turn: str | TurnContext,
        *,
        user: str | None = None,
        assistant: str | None = None,
        at: Time | None = None,
        extract: bool = False,
    ) -> TurnReceipt:
        """Keep what was said in a turn; the same turn completed again gives the same receipt and stores nothing more.

        Args:
            turn: The context that the turn was prepared with, or its id.
            user: What the user said; the message of the context when left out.
            assistant: What the assistant answered; None when it did not.
            at: When; now when left out.
            extract: Submit what the user said as candidates, found by rules.

        Raises:
            InputError: A value cannot be used; `problems` lists every reason.
            ConflictError: The turn was completed with other words, or belongs to another conversation; nothing was stored.
            StoreError: The disk did not take it; nothing was stored, or the words without the candidates. Complete it again.
        """
        from grail_mem.turn import complete as completing
        from grail_mem.turn.context import TurnContext

        if isinstance(turn, TurnContext):
            if turn.session != self.conversation:
                raise InputError(
                    f"The turn belongs to the conversation {turn.session!r}, not to {self.conversation!r}.",
                    hint="Open the session with that name.",
                )
            user = turn.message or None if user is None else user
            turn = turn.turn_id
        id_ = completing.clean_turn_id(turn)
        said = completing.turns_of(id_, user=user, assistant=assistant, at=at, zone=self._settings.zone)
        with self._lock:
            receipt = completing.complete(self._open(), id_, said, session=self.conversation, actor=self._acting(None))
            self._heard.pop(id_, None)
        if not extract:
            return receipt
        found = self.finish(extractor=completing.RulesOfTurn([one["id"] for one in said]))
        return replace(
            receipt, candidates=tuple(one.id for one in found.submitted), warnings=(*receipt.warnings, *found.warnings)
        )

    def _before_quoting(self) -> None:
        """Record what the user said in the turn under way, so that its words can be quoted."""
        from grail_mem.turn import complete as completing

        with self._lock:
            heard, self._heard = self._heard, {}
            for id_, message in heard.items():
                said = completing.turns_of(id_, user=message, assistant=None, at=None, zone=self._settings.zone)
                self.ingest_chat(said)

    def finish(
        self,
        *,
        extract: bool = True,
        extractor: Extractor | Sequence[Extractor] | None = None,
        reviewer: Reviewer | Sequence[Reviewer] | None = None,
    ) -> Finished:
        """End the conversation: what its turns say is submitted as candidates, which count once they are approved.

        Args:
            extract: Look for preferences, decisions, commitments, facts and corrections in what the user said.
            extractor: Who looks, one or several; None for the rules of this package, which ask no model.
            reviewer: Who may drop what was found or be less sure of it, one or several; None for nobody.

        Returns:
            One result a candidate, as a sequence, all or none of them stored; `warnings` says what was left out and why.

        Raises:
            ServiceError: An extractor or a reviewer failed, or its answer cannot be used; nothing was submitted.
            InputError: What was given is no extractor or no reviewer.
        """
        from grail_mem.write.finishing import Finished

        if not extract:
            return Finished()
        return self.extract(extractor=extractor, reviewer=reviewer)


def _budget(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InputError(f"budget must be a whole number of tokens, not {value!r}.")
    return value

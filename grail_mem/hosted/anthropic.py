"""Models of Anthropic as extractor and reviewer, by the package `anthropic`. Knows nothing of what is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from grail_mem.errors import MissingDependencyError
from grail_mem.hosted.extracting import extracted
from grail_mem.hosted.reviewing import reviewed
from grail_mem.hosted.service import MOST_TOKENS, TIMEOUT_S, called, failed, model_name, unusable
from grail_mem.store.sources import Turn
from grail_mem.write.extraction import Extracted
from grail_mem.write.reviewer import Review, Reviewable


class AnthropicExtractor:
    """Finds by a model of Anthropic what is worth keeping.

    Args:
        model: The model's name, one that takes a JSON schema as the form of its answer.
        client: An `anthropic.Anthropic` with a key, an address and a time-out of its own; None for one made from the environment.

    Raises:
        MissingDependencyError: The extra `anthropic` is not installed.
        InputError: The model's name is none.
    """

    def __init__(self, *, model: str, client: Any = None) -> None:
        self._model = _Anthropic(model, client)
        self.name = self._model.name

    def extract(self, turns: Sequence[Turn]) -> Sequence[Extracted]:
        """What the user says in turns; secrets are replaced by a mark before they are sent."""
        return extracted(self._model, turns)


class AnthropicReviewer:
    """Drops drafts, or lowers their confidence, by a model of Anthropic; arguments as of `AnthropicExtractor`."""

    def __init__(self, *, model: str, client: Any = None) -> None:
        self._model = _Anthropic(model, client)
        self.name = self._model.name

    def review(self, candidates: Sequence[Reviewable]) -> Sequence[Review]:
        """One review for each draft."""
        return reviewed(self._model, candidates)


class _Anthropic:
    def __init__(self, model: str, client: Any) -> None:
        try:
            import anthropic
        except ImportError as error:
            raise MissingDependencyError(
                "A model of Anthropic needs the package anthropic.", hint="pip install 'grail-mem[anthropic]'"
            ) from error
        self._sdk: Any = anthropic
        self._model, self._client = model_name(model), client
        self.name = f"anthropic/{self._model}"

    def ask(self, task: str, said: str, form: Mapping[str, Any]) -> Any:
        def request() -> Any:
            if self._client is None:
                self._client = self._sdk.Anthropic(timeout=TIMEOUT_S)
            return self._client.messages.create(
                model=self._model,
                max_tokens=MOST_TOKENS,
                system=task,
                messages=[{"role": "user", "content": said}],
                output_config={"format": {"type": "json_schema", "schema": form}},
            )

        return called(self.name, self._sdk, request, self._text)

    def _text(self, answer: Any) -> str:
        if answer.stop_reason == "refusal":
            raise failed(self.name, "was refused by the model")
        if answer.stop_reason != "end_turn":
            raise unusable(self.name, "it is not whole")
        return "".join(block.text for block in answer.content if block.type == "text")

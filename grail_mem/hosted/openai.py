"""Models of OpenAI, and of servers that speak its protocol, as extractor and reviewer, by the package `openai`.

Knows nothing of what is asked.
"""

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


class OpenAIExtractor:
    """Finds by a model of OpenAI what is worth keeping.

    Args:
        model: The model's name, one that takes a JSON schema as the form of its answer.
        client: An `openai.OpenAI` with a key, an address and a time-out of its own; None for one made from the environment.

    Raises:
        MissingDependencyError: The extra `openai` is not installed.
        InputError: The model's name is none.
    """

    def __init__(self, *, model: str, client: Any = None) -> None:
        self._model = _OpenAI(model, client)
        self.name = self._model.name

    def extract(self, turns: Sequence[Turn]) -> Sequence[Extracted]:
        """What the user says in turns; secrets are replaced by a mark before they are sent."""
        return extracted(self._model, turns)


class OpenAIReviewer:
    """Drops drafts, or lowers their confidence, by a model of OpenAI; arguments as of `OpenAIExtractor`."""

    def __init__(self, *, model: str, client: Any = None) -> None:
        self._model = _OpenAI(model, client)
        self.name = self._model.name

    def review(self, candidates: Sequence[Reviewable]) -> Sequence[Review]:
        """One review for each draft."""
        return reviewed(self._model, candidates)


class _OpenAI:
    def __init__(self, model: str, client: Any) -> None:
        try:
            import openai
        except ImportError as error:
            raise MissingDependencyError(
                "A model of OpenAI needs the package openai.", hint="pip install 'grail-mem[openai]'"
            ) from error
        self._sdk: Any = openai
        self._model, self._client = model_name(model), client
        self.name = f"openai/{self._model}"

    def ask(self, task: str, said: str, form: Mapping[str, Any]) -> Any:
        def request() -> Any:
            if self._client is None:
                self._client = self._sdk.OpenAI(timeout=TIMEOUT_S)
            return self._client.chat.completions.create(
                model=self._model,
                max_completion_tokens=MOST_TOKENS,
                messages=[{"role": "system", "content": task}, {"role": "user", "content": said}],
                response_format={
                    "type": "json_schema",
                    "json_schema": {"name": "answer", "strict": True, "schema": form},
                },
            )

        return called(self.name, self._sdk, request, self._text)

    def _text(self, answer: Any) -> str:
        (choice,) = answer.choices
        if choice.message.refusal or choice.finish_reason == "content_filter":
            raise failed(self.name, "was refused by the model")
        if choice.finish_reason != "stop":
            raise unusable(self.name, "it is not whole")
        return str(choice.message.content or "")

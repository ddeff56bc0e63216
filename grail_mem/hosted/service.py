"""A call of a hosted model: an answer of the form asked for, or one error that says what happened and quotes nothing.

Knows nothing of what is asked, nor of which service.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

from grail_mem.errors import InputError, ServiceError
from grail_mem.model.untrusted import as_data

TIMEOUT_S: Final = 60.0
"""How long one attempt may take when no client is given; chosen."""
MOST_TOKENS: Final = 8_192
"""How long an answer may be; chosen: some hundred drafts."""
_STATUS: Final = {
    400: ("was not understood", "Check that the model takes a JSON schema as the form of its answer."),
    401: ("was refused: the key is not accepted", "Check the key in the environment or in the client."),
    403: ("was refused: the key may not use this model", "Check the key and the model's name."),
    404: ("found no such model", "Check the model's name."),
    413: ("was too large", "Finish the session in parts."),
    429: ("was refused: too many requests, or no credit", "Try again later."),
}  # fmt: skip
_AGAIN: Final = "Call `finish` again; what was submitted before is not submitted twice."


class Model(Protocol):
    """One model of one service."""

    @property
    def name(self) -> str:
        """The service and the model."""
        ...

    def ask(self, task: str, said: str, form: Mapping[str, Any]) -> Any:
        """The answer as JSON values.

        Args:
            task: What is to be done.
            said: The data that it is to be done with, as `fenced` made it.
            form: The JSON schema of the answer.

        Raises:
            ServiceError: There is no answer, or no whole one.
        """
        ...


def model_name(value: object) -> str:
    """The name of a model.

    Raises:
        InputError: It is none.
    """
    if not isinstance(value, str) or not value.strip() or not value.isprintable() or len(value) > 80:  # noqa: PLR2004  a name of an extractor is no longer than 100
        raise InputError("model must be the name of a model of that service, one line of at most 80 characters.")
    return value.strip()


def fenced(values: Any) -> str:
    """Values as JSON between two marks; no text among them can end the fence, for no `<` is left in it."""
    text = json.dumps(_as_data(values), ensure_ascii=False, indent=1).replace("<", "\\u003c")
    return f"<data>\n{text}\n</data>"


def _as_data(value: Any) -> Any:
    if isinstance(value, str):
        return as_data(value)
    if isinstance(value, Mapping):
        return {name: _as_data(item) for name, item in value.items()}
    return [_as_data(item) for item in value] if isinstance(value, list) else value


def called(service: str, sdk: Any, request: Callable[[], Any], text_of: Callable[[Any], str]) -> Any:
    """The JSON values that a service answers a request with.

    Args:
        service: Its name, for the error.
        sdk: The module of the service; its errors have the same names everywhere.
        request: Makes the request.
        text_of: The text of a whole answer.

    Raises:
        ServiceError: It failed, or the answer is no JSON. What the service said is left out: it may quote the key or the prompt.
    """
    answer = what = hint = None
    try:
        answer = request()
    except Exception as error:  # noqa: BLE001  whatever the package raises, it is one kind of failure here
        what, hint = _happened(sdk, error)
    if what and hint:  # raised outside of the block above, so that the error of the package is not its context
        raise failed(service, what, hint)
    try:
        return json.loads(text_of(answer))
    except ServiceError:
        raise
    except Exception:  # noqa: BLE001, S110  packages check little of what they are sent: any field may be anything
        pass
    raise unusable(service, "it is no JSON, or not where that service puts it")


def failed(service: str, what: str, hint: str = _AGAIN) -> ServiceError:
    """The error for a call that came to nothing."""
    return ServiceError(f"The request to {service} {what}. Nothing was submitted.", hint=hint)


def unusable(service: str, why: str) -> ServiceError:
    """The error for an answer that is not of the form asked for."""
    return failed(service, f"was answered in another form than asked for: {why}")


def _happened(sdk: Any, error: Exception) -> tuple[str, str]:
    if isinstance(error, sdk.APITimeoutError):
        return "was not answered in time", _AGAIN
    if isinstance(error, sdk.APIStatusError):
        status = error.status_code
        what, hint = _STATUS.get(status, ("failed at the service" if status >= 500 else "was refused", _AGAIN))  # noqa: PLR2004  statuses of HTTP
        return f"{what} (status {status})", hint
    if isinstance(error, sdk.APIConnectionError):
        return "did not reach it", "Check the network and the address in the client."
    if isinstance(error, ValueError | sdk.APIResponseValidationError):
        return "was answered with what is no JSON", _AGAIN
    return f"could not be made ({type(error).__name__})", "Check the key in the environment, and the client."

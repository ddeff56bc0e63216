"""Every exception a caller can meet, in one tree under `GrailError`.

Knows nothing of files, SQL or the command line.
"""

from __future__ import annotations

from collections.abc import Sequence


class GrailError(Exception):
    """The parent of all errors that grail_mem raises on purpose.

    Args:
        message: What happened and where.
        hint: What to do about it, one sentence; empty when the message says it.
    """

    code = "grail"
    exit_code = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".rstrip()


class InputError(GrailError, ValueError):
    """What the caller sent cannot be used; `problems` lists every reason, not just the first."""

    code = "input"
    exit_code = 2

    def __init__(self, message: str, *, hint: str = "", problems: Sequence[str] = ()) -> None:
        super().__init__(message, hint=hint)
        self.problems = tuple(problems) or (message,)


class EvidenceNotFoundError(InputError):
    """A quote does not stand where it is said to; the message names what comes closest."""

    code = "evidence_not_found"


class UnsupportedEvidenceError(InputError):
    """A quote is there, but does not say what is claimed."""

    code = "unsupported_evidence"


class NotFoundError(GrailError, LookupError):
    """No observation, store or file of that name is here (or may be seen)."""

    code = "not_found"
    exit_code = 3


class AccessError(GrailError, PermissionError):
    """The caller may not do this."""

    code = "access"
    exit_code = 4


class ConflictError(GrailError, RuntimeError):
    """Something else is there already, or changed meanwhile; the call can be repeated."""

    code = "conflict"
    exit_code = 5


class StoreError(GrailError, OSError):
    """The files of the store could not be read or written."""

    code = "store"
    exit_code = 6


class IndexUnusableError(GrailError, RuntimeError):
    """A derived file under `output/` is damaged or of another version; `grail rebuild` makes it anew."""

    code = "index_unusable"
    exit_code = 6


class MissingDependencyError(GrailError, ImportError):
    """An optional package is needed for this call; the hint names the extra."""

    code = "missing_dependency"
    exit_code = 7


class ServiceError(GrailError, RuntimeError):
    """A model or another service did not answer, or not as it must; nothing was changed."""

    code = "service"
    exit_code = 8

"""Long-term memory for AI agents that people can read, check and correct.

`Memory` opens a store; `MemoryProject` is the same with coroutines. Importing loads nothing heavy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from grail_mem.errors import (
    AccessError,
    ConflictError,
    EvidenceNotFoundError,
    GrailError,
    IndexUnusableError,
    InputError,
    MissingDependencyError,
    NotFoundError,
    ServiceError,
    StoreError,
    UnsupportedEvidenceError,
)

if TYPE_CHECKING:  # loaded by the first use of the name, so that importing the package stays light
    from grail_mem.memory import Memory
    from grail_mem.project import MemoryProject

__version__ = "0.1.0"
__all__ = [
    "AccessError",
    "ConflictError",
    "EvidenceNotFoundError",
    "GrailError",
    "IndexUnusableError",
    "InputError",
    "Memory",
    "MemoryProject",
    "MissingDependencyError",
    "NotFoundError",
    "ServiceError",
    "StoreError",
    "UnsupportedEvidenceError",
    "__version__",
]


def __getattr__(name: str) -> Any:
    if name == "Memory":
        from grail_mem.memory import Memory

        return Memory
    if name == "MemoryProject":
        from grail_mem.project import MemoryProject

        return MemoryProject
    raise AttributeError(f"module 'grail_mem' has no attribute {name!r}")

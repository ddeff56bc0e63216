"""The names under which a model may choose whose memory it writes to, and the scopes they mean.

They come from what the application granted; a scope that a model writes itself is never used.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from grail_mem.memory import Memory
from grail_mem.memory.session import Session

PRIVATE: Final = "private"
STORE: Final = "store"


def targets_of(caller: Memory | Session) -> Mapping[str, str | None]:
    """The scopes that a caller may write to by name, the one that is meant when none is named first.

    A scope goes by its kind when it is the only one of it, such as `project`, else by kind and id, such as `project/grail`; `user` and `project` are the session's own.
    """
    if not isinstance(caller, Session):
        return {STORE: None}
    principal = caller.principal
    named: dict[str, str | None] = {PRIVATE: principal.private}
    own = {f"user:{principal.user_id}": "user", f"project:{principal.project_id}": "project"}
    others = [scope for scope in caller.writable if scope != principal.private]
    kinds = [scope.partition(":")[0] for scope in others]
    for scope, kind in zip(others, kinds, strict=True):
        is_alone = kinds.count(kind) == 1 and kind not in (PRIVATE, *own.values())
        named[own.get(scope) or (kind if is_alone else scope.replace(":", "/", 1))] = scope
    return named

"""What other packages registered under an entry point, looked up once for each state of the path.

Looking it up reads the metadata of every installed package, which takes 20 ms. Knows nothing of what the entries are.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any


def registered(group: str) -> Mapping[str, Callable[[], Any]]:
    """The entries of a group by name, each still to be loaded."""
    return _on_path(group, tuple(sys.path))


@lru_cache(maxsize=8)
def _on_path(group: str, _path: tuple[str, ...]) -> Mapping[str, Callable[[], Any]]:
    from importlib.metadata import entry_points

    return MappingProxyType({point.name: point.load for point in entry_points(group=group)})

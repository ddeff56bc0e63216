"""Running the detectors: those that are built in, and those that other packages register.

A detector of one's own is an entry point of the group `grail_mem.detectors`: its name is the kind, its object a function
from a `Reading` to findings of that kind. Knows nothing of what becomes of findings.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any, Final

from grail_mem.consolidate.finding import KINDS, Finding, Quote
from grail_mem.consolidate.reading import Reading
from grail_mem.errors import InputError, MissingDependencyError
from grail_mem.support.registered import registered

Detector = Callable[[Reading], Iterable[Finding]]
GROUP: Final = "grail_mem.detectors"
MODULES: Final[Mapping[str, str]] = {
    "merge_aliases": "aliases", "merge_duplicates": "duplicates", "resolve_contradiction": "contradictions",
    "discover_community": "communities", "split_folder": "folders", "move_observation": "placement",
    "move_entity": "placement", "expire_stale": "expiry", "promote_inference": "inferences",
    "canonicalise_attribute": "attributes",
}  # fmt: skip
"""In which module each built-in detector is, as a function of the name of its kind."""


@dataclass(slots=True)
class Detected:
    """What the detectors found.

    Attributes:
        findings: All findings, by kind in the order of `KINDS`, the surest first.
        skipped: Kinds that could not be looked for, with the reason.
        ran: Kinds that were looked for.
    """

    findings: list[Finding] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    ran: list[str] = field(default_factory=list)


def kinds_known() -> tuple[str, ...]:
    """The kinds that can be looked for: the built-in ones, then registered ones by name."""
    return (*KINDS, *sorted(set(_registered()) - set(KINDS)))


def listed(name: str, value: object) -> list[str]:
    """One text or several as a list.

    Raises:
        InputError: It is neither.
    """
    items = [value] if isinstance(value, str) else list(value) if isinstance(value, Iterable) else [None]
    if not all(isinstance(item, str) for item in items):
        raise InputError(f"{name} must be text or a list of texts, not {value!r}.")
    return [str(item) for item in items]


def check_kinds(kinds: Iterable[str] | None) -> tuple[str, ...]:
    """The kinds asked for, or all; in the order in which they are looked for.

    Raises:
        InputError: One is not known; `problems` lists every such.
    """
    known = kinds_known()
    if kinds is None:
        return known
    asked = listed("kind", kinds)
    unknown = [f"There is no kind {kind!r} of proposals." for kind in asked if kind not in known]
    if unknown:
        raise InputError(" ".join(unknown), hint=f"The kinds are {', '.join(known)}.", problems=unknown)
    return tuple(kind for kind in known if kind in asked)


def detect(
    reading: Reading, kinds: Collection[str], *, progress: Callable[[str, int, int], None] | None = None
) -> Detected:
    """Run the detectors of some kinds.

    Args:
        reading: The store.
        kinds: Which; as `check_kinds` gives them.
        progress: Called with the kind, how much of it is done, and how much there is.
    """
    done = Detected()
    registered = _registered()
    for kind in kinds:
        told = replace(reading, progress=_told(progress, kind))
        try:
            detector = _built_in(kind) if kind in MODULES else registered[kind]()
            found = _checked(kind, list(detector(told)))
            found.sort(key=lambda one: (-one.confidence, one.fingerprint))
        except MissingDependencyError as error:
            done.skipped[kind] = str(error)
            continue
        except Exception as error:
            if kind in MODULES:
                raise
            done.skipped[kind] = f"the registered detector failed: {type(error).__name__}: {error}"
            continue
        done.ran.append(kind)
        done.findings += found
    return done


def _told(progress: Callable[[str, int, int], None] | None, kind: str) -> Callable[[int, int | None], None]:
    return lambda done, total: progress(kind, done, total or 0) if progress else None


def _built_in(kind: str) -> Detector:
    made: Detector = getattr(import_module(f"grail_mem.consolidate.detectors.{MODULES[kind]}"), kind)
    return made


def _registered() -> dict[str, Callable[[], Detector]]:
    """Detectors of other packages by kind, each still to be loaded; a built-in kind cannot be replaced."""
    return {name: load for name, load in registered(GROUP).items() if name not in MODULES}


def _checked(kind: str, found: list[Finding]) -> list[Finding]:
    """What a detector gave, if it is what it should be.

    Raises:
        InputError: It is not.
    """
    for one in found:
        if not isinstance(one, Finding):
            raise InputError(f"it gave a {type(one).__name__}, not a Finding.")
        if one.kind != kind:
            raise InputError(f"it gave a finding of kind {one.kind!r}.")
        wrong = [name for name, right in _PARTS.items() if not right(getattr(one, name))]
        if wrong:
            raise InputError(f"a part of a finding is not what it should be: {', '.join(wrong)}.")
    return found


def _texts(value: object) -> bool:
    return isinstance(value, tuple | list) and all(isinstance(item, str) for item in value)


_PARTS: Final[Mapping[str, Callable[[Any], bool]]] = {
    "confidence": lambda value: isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1,
    "rationale": lambda value: isinstance(value, str),
    "payload": lambda value: isinstance(value, Mapping),
    "changes": lambda value: isinstance(value, tuple | list) and all(isinstance(item, Mapping) for item in value),
    "meaning": _texts,
    "grounds": lambda value: isinstance(value, Mapping),
    "figures": lambda value: isinstance(value, Mapping),
    "quotes": lambda value: isinstance(value, tuple | list) and all(isinstance(item, Quote) for item in value),
    "affected": _texts,
    "same": lambda value: isinstance(value, tuple | list) and all(_texts(pair) and len(pair) == 2 for pair in value),  # noqa: PLR2004  a pair
}  # fmt: skip
"""What each part of a finding must be."""

"""Values under keys, each kept as one observation: for frameworks whose stores are made of namespaces, keys and JSON values.

The namespace and the key stand in the observation's own file, in `source`; its folder is made of the namespace, for people.
`attribute` holds a digest of both, by which it is found. Knows nothing of frameworks.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Final

from grail_mem.adapters.alone import alone
from grail_mem.adapters.recalled import recalled
from grail_mem.errors import InputError
from grail_mem.memory import Memory
from grail_mem.memory.session import Session
from grail_mem.model.category import clean_category
from grail_mem.model.names import clean_text
from grail_mem.model.observation import Observation
from grail_mem.model.scope import clean_scope
from grail_mem.model.times import format_time

Namespace = tuple[str, ...]

_MOST: Final = 100_000
_MOST_RANKED: Final = 1_000
_LEVELS: Final = 12
_FOLDER_CHARS: Final = 240
"""Beyond these a namespace has no more folders of its own; chosen well below what a category may have."""
_MAX_SOURCE: Final = 1_000
_MAX_TITLE: Final = 200
_OPENS, _CLOSES = "```json\n", "\n```"


@dataclass(frozen=True, slots=True)
class Kept:
    """One value.

    Attributes:
        namespace: Where it is.
        key: What it is called there.
        value: What was put.
        created_at: When it was first put.
        updated_at: When it was put last.
        id: The observation.
    """

    namespace: Namespace
    key: str
    value: dict[str, Any]
    created_at: datetime
    updated_at: datetime
    id: str


class Keyed:
    """The values of one scope below one folder.

    Args:
        caller: Whose memory it is; what a session may not read is as if it were not there.
        folder: The category below which they are.
        mark: What `source` begins with, so that other observations in the folder are none.
        scope: The scope they are in; of a session its own when left out, else the store's default.

    Raises:
        InputError: Folder or scope cannot be used.
    """

    def __init__(self, caller: Memory | Session, *, folder: str, mark: str, scope: str | None = None) -> None:
        own = caller.principal.private if isinstance(caller, Session) else caller.settings.default_scope
        self._caller, self._folder, self._mark = caller, clean_category(folder), mark
        self._scope = own if scope is None else clean_scope(scope)
        self._lock = threading.Lock()

    def get(self, namespace: Namespace, key: str) -> Kept | None:
        """The value of a key."""
        found = self._standing(namespace, key)
        if not found:
            return None
        recalled(self._caller, found[0].id)
        return found[0]

    def put(self, namespace: Namespace, key: str, value: Mapping[str, Any]) -> None:
        """Give a key a value; the one before is gone from every answer.

        Raises:
            InputError: The value is no JSON object, or names or value are too large.
        """
        content, source = f"{_OPENS}{_json(value)}{_CLOSES}", self._source(namespace, key)
        with self._lock, alone(self._caller):
            standing = self._standing(namespace, key)
            if standing:
                now = format_time(datetime.now(UTC))
                self._caller.update(standing[0].id, content=content, observed_at=now, reason=self._mark)
                self._hide(standing[1:])
                return
            self._caller.add_observation(
                content=content, title=_title(key), category=self._folder_of(namespace), source=source,
                attribute=self._attribute(namespace, key), scope=self._scope,
            )  # fmt: skip

    def delete(self, namespace: Namespace, key: str) -> None:
        """Hide the value of a key."""
        with self._lock, alone(self._caller):
            self._hide(self._standing(namespace, key))

    def below(self, prefix: Namespace = ()) -> list[Kept]:
        """All values of namespaces that begin so, the last put first."""
        found = self._caller.recall(
            category=self._folder_of(prefix), scope=self._scope, limit=_MOST, include_history=False
        )
        kept = [one for one in self._kept(found.observations) if one.namespace[: len(prefix)] == prefix]
        return sorted(_newest(kept), key=lambda one: (one.updated_at, one.id), reverse=True)

    def search(self, prefix: Namespace, question: str) -> list[tuple[Kept, float | None]]:
        """Values that answer a question, the best first, each with its score; none when nothing does."""
        hits = self._caller.recall(
            question, mode="cascade", category=self._folder_of(prefix), scope=self._scope, limit=_MOST_RANKED, context=0
        ).observations
        scores = {hit.id: getattr(hit, "score", None) for hit in hits}
        kept = [one for one in self._kept(hits) if one.namespace[: len(prefix)] == prefix]
        return [(one, scores[one.id]) for one in kept]

    def _standing(self, namespace: Namespace, key: str) -> list[Kept]:
        """What is kept under a key, the last put first; more than one when two processes put it at once."""
        found = self._caller.recall(
            attribute=self._attribute(namespace, key), scope=self._scope, limit=_MOST
        ).observations
        same = [one for one in self._kept(found) if (one.namespace, one.key) == (namespace, key)]
        return sorted(same, key=lambda one: (one.updated_at, one.id), reverse=True)

    def _hide(self, gone: Sequence[Kept]) -> None:
        for one in gone:
            self._caller.hide(one.id, reason=self._mark)

    def _kept(self, found: Sequence[Observation]) -> Iterator[Kept]:
        for one in found:
            name, value = self._name(one.source), _value(one.content)
            if name is not None and value is not None:
                yield Kept(*name, value, one.recorded_at, one.observed_at, one.id)

    def _source(self, namespace: Namespace, key: str) -> str:
        made = f"{self._mark} {json.dumps([*namespace, key])}"
        if len(made) > _MAX_SOURCE:
            raise InputError(
                f"Namespace and key have {len(made)} characters in JSON; at most {_MAX_SOURCE} are kept.",
                hint="Choose shorter names.",
            )
        return made

    def _name(self, source: str | None) -> tuple[Namespace, str] | None:
        mark, _, rest = (source or "").partition(" ")
        if mark != self._mark:
            return None
        try:
            names = json.loads(rest)
        except (ValueError, RecursionError):
            return None
        if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
            return None
        return tuple(names[:-1]), names[-1]

    def _attribute(self, namespace: Namespace, key: str) -> str:
        return f"{self._mark}/{sha256(self._source(namespace, key).encode()).hexdigest()[:32]}"

    def _folder_of(self, namespace: Namespace) -> str:
        """The folder of a namespace; that of what it begins with is always above it, or the same.

        It is made of the labels, with a digest for one that can be no folder's name, and ends early when there are many.
        """
        folders = [self._folder]
        for label in namespace[:_LEVELS]:
            name = _folder_name(label)
            if len("/".join((*folders, name))) > _FOLDER_CHARS:
                break
            folders.append(name)
        return "/".join(folders)


def _newest(kept: Sequence[Kept]) -> list[Kept]:
    """Of values with one key the last put."""
    newest: dict[tuple[Namespace, str], Kept] = {}
    for one in sorted(kept, key=lambda one: (one.updated_at, one.id)):
        newest[one.namespace, one.key] = one
    return list(newest.values())


def _folder_name(label: str) -> str:
    try:
        if "/" not in label and clean_category(label) == label and len(label) <= _FOLDER_CHARS // 4:
            return label
    except InputError:
        pass
    return f"x-{sha256(label.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


def _title(key: str) -> str:
    plain = clean_text(key) == (key, False) and len(key.splitlines()) == 1 and key.strip() == key
    return key if plain and len(key) <= _MAX_TITLE else json.dumps(key)[:_MAX_TITLE]


def _json(value: Mapping[str, Any]) -> str:
    """A value as JSON text that reads as the same value.

    Raises:
        InputError: It does not: JSON has no tuples, no times, and texts for keys only.
    """
    if not isinstance(value, Mapping):
        raise InputError(f"A value must be a mapping, not {type(value).__name__}.")
    plain = dict(value)
    try:
        text = json.dumps(plain, ensure_ascii=False, allow_nan=False, indent=2)
        if clean_text(text) != (text, False):  # half a surrogate pair
            text = json.dumps(plain, allow_nan=False, indent=2)
        same = _alike(json.loads(text), plain)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"The value cannot be kept as JSON: {error}.") from None
    if not same:
        raise InputError(
            "The value would not come back as it is: JSON has no tuples, and its keys are texts.",
            hint="Put lists, and mappings with texts as keys.",
        )
    return text


def _alike(left: object, right: object) -> bool:
    """Whether both are the same JSON value; 1, 1.0 and True differ."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_alike(left[name], right[name]) for name in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_alike, left, right))
    return left == right


def _value(content: str) -> dict[str, Any] | None:
    """The value in a content; None when a person made it something else."""
    text = content.strip()
    if not (text.startswith(_OPENS) and text.endswith(_CLOSES)):
        return None
    try:
        value = json.loads(text.removeprefix(_OPENS).removesuffix(_CLOSES))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None

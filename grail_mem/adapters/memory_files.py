"""Observations as the files of Anthropic's memory tool: each is one text file, and its category is the folder that it lies in.

Works on one folder and one scope of a store, so the tool can change nothing else. Knows nothing of the package `anthropic`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from grail_mem.adapters.memory_path import path_of
from grail_mem.errors import ConflictError, InputError, NotFoundError
from grail_mem.memory import Memory
from grail_mem.memory.session import Session
from grail_mem.model.category import category_key, clean_category
from grail_mem.model.names import clean_text
from grail_mem.model.observation import Observation
from grail_mem.model.scope import clean_scope

SOURCE: Final = "memory tool"
_AS_JSON: Final = "memory tool, text as JSON"
_MOST: Final = 100_000


@dataclass(frozen=True, slots=True)
class File:
    """One observation as a file.

    Attributes:
        names: The names of its folders and its own.
        text: What it says, as it was written.
        observation: Where it is from.
    """

    names: tuple[str, ...]
    text: str
    observation: Observation


class MemoryFiles:
    """The files of one folder and one scope.

    Args:
        caller: Whose memory it is; what a session may not read is as if it were not there.
        folder: The category that `/memories` stands for.
        scope: The scope that files are in; of a session its own when left out, else the store's default.

    Raises:
        InputError: Folder or scope cannot be used.
    """

    def __init__(self, caller: Memory | Session, *, folder: str = "files", scope: str | None = None) -> None:
        own = caller.principal.private if isinstance(caller, Session) else caller.settings.default_scope
        self._caller, self._folder = caller, clean_category(folder)
        self._scope = own if scope is None else clean_scope(scope)

    def below(self, names: Sequence[str] = ()) -> list[File]:
        """All files in a folder and below, in order of path."""
        category = "/".join((self._folder, *names))
        found = self._caller.recall(category=category, scope=self._scope, limit=_MOST, order="recorded").observations
        return sorted(self._named(found), key=lambda file: file.names)

    def find(self, names: Sequence[str]) -> File | None:
        """The file of this path."""
        if not names:
            return None
        folder = _key(names[:-1])
        return next(
            (f for f in self.below(names[:-1]) if f.names[-1] == names[-1] and _key(f.names[:-1]) == folder), None
        )

    def get(self, names: Sequence[str]) -> File:
        """The file of this path.

        Raises:
            NotFoundError: There is none.
        """
        file = self.find(names)
        if file is None and self.is_folder(names):
            raise InputError(f"The path {path_of(*names)} is not a file.")
        if file is None:
            raise NotFoundError(f"The path {path_of(*names)} does not exist. Please provide a valid path.")
        return file

    def is_folder(self, names: Sequence[str]) -> bool:
        """Whether files lie below this path; the root always is one."""
        return not names or bool(self.below(names))

    def write(self, names: Sequence[str], text: str) -> tuple[str, ...]:
        """Make a file; returns warnings.

        Raises:
            ConflictError: Something is there already.
            InputError: The text or the path cannot be used.
        """
        self._must_be_free(names)
        content, source = _content(text)
        done = self._caller.add_observation(
            title=names[-1],
            content=content,
            category="/".join((self._folder, *names[:-1])),
            source=source,
            scope=self._scope,
        )
        return done.warnings

    def overwrite(self, file: File, text: str) -> tuple[str, ...]:
        """Give a file another text; returns warnings."""
        content, source = _content(text)
        odd = _AS_JSON in (source, file.observation.source)
        fields = {"content": content} | ({"source": source} if odd else {})
        return self._caller.update(file.observation.id, reason="memory tool", **fields).warnings

    def remove(self, file: File) -> None:
        """Hide a file; `restore` brings it back."""
        self._caller.hide(file.observation.id, reason="memory tool")

    def rename(self, old: Sequence[str], new: Sequence[str]) -> None:
        """Give a file, or a folder with all in it, another path.

        Raises:
            NotFoundError: There is none.
            ConflictError: Something has the new path already.
            InputError: A folder cannot go into itself.
        """
        file = self.find(old)
        moved = [file] if file is not None else self.below(old)
        if not moved:
            raise NotFoundError(f"The path {path_of(*old)} does not exist. Please provide a valid path.")
        if file is None and _key(new[: len(old)]) == _key(old):
            raise InputError(f"{path_of(*old)} cannot be moved into itself.")
        self._must_be_free(new)
        for each in moved:
            self._move(each, (*new, *each.names[len(old) :]))

    def _move(self, file: File, names: Sequence[str]) -> None:
        id_, category = file.observation.id, "/".join((self._folder, *names[:-1]))
        if file.observation.title != names[-1]:
            self._caller.update(id_, title=names[-1], reason="memory tool")
        if category_key(file.observation.category) != category_key(category):
            self._caller.move(id_, category, reason="memory tool")

    def _must_be_free(self, names: Sequence[str]) -> None:
        if not names:
            raise InputError(f"{path_of()} is a folder.")
        if self.find(names) is not None or self.is_folder(names):
            raise ConflictError(f"{path_of(*names)} already exists.")
        for n in range(1, len(names)):
            if self.find(names[:n]) is not None:
                raise ConflictError(f"{path_of(*names[:n])} is a file, so nothing can be below it.")

    def _named(self, found: Sequence[Observation]) -> Iterator[File]:
        """Each under its title where that can be a file's name and no newer one in the folder has it, else under its file's."""
        taken: set[tuple[str, str]] = set()
        for one in found:
            folders = tuple(one.category.split("/"))[self._folder.count("/") + 1 :]
            key = (category_key(one.category), one.title)
            name = one.title if _is_name(one.title) and key not in taken else one.path.rpartition("/")[2]
            taken.add(key)
            yield File((*folders, name), _text(one), one)


def _is_name(title: str) -> bool:
    try:
        return clean_category(title) == title and "/" not in title
    except InputError:
        return False


def _key(names: Sequence[str]) -> str:
    return category_key("/".join(names))


def _content(text: str) -> tuple[str, str]:
    """A text as the content of an observation, and the source that tells how it is kept.

    What a markdown file cannot hold byte for byte is kept as a JSON text: carriage returns, NUL, and nothing but space.
    """
    if text.strip() and clean_text(text) == (text, False):
        return text, SOURCE
    return json.dumps(text), _AS_JSON


def _text(observation: Observation) -> str:
    if observation.source == _AS_JSON:
        try:
            kept = json.loads(observation.content)
        except (ValueError, RecursionError):  # a person wrote plain text over it
            return observation.content
        return kept if isinstance(kept, str) else observation.content
    return observation.content

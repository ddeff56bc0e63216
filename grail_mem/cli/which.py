"""Which store a command means, and which observation: the first argument, `--root`, and ids written short.

Knows nothing of what is done with them.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from grail_mem.cli import output
from grail_mem.errors import ConflictError, InputError, NotFoundError

if TYPE_CHECKING:  # most of a command's start-up; loaded when a store is opened
    from grail_mem.memory import Memory
    from grail_mem.memory.session import Session

SHORT: Final = 6
FILE_OR_FOLDER: Final = "FILE|FOLDER"
_SHOWN: Final = 9
_TAIL: Final = re.compile(r"[0-9A-HJKMNP-TV-Z]{4,25}", re.ASCII)


class Which(NamedTuple):
    """A store as it was named; `named` is empty when it was found without a name."""

    root: Path
    named: str = ""

    def open(self, *, actor: str | None = None, embedder: str | None = None) -> Memory:
        """The store, for writing: a folder that is missing or empty becomes one."""
        from grail_mem.memory import Memory

        return Memory(self.root, actor=actor, embedder=embedder)

    @contextmanager
    def write(self, *, actor: str | None = None, as_json: bool) -> Iterator[Memory]:
        """The store, for what is added to it; that it was none before is told, as a misspelt name makes a new one.

        Args:
            actor: Who stands in the ledger.
            as_json: Whether a document is the answer, beside which nothing may stand.
        """
        from grail_mem.store.layout import Layout

        was_store = Layout(self.root.resolve()).is_store()
        with self.open(actor=actor) as memory:
            yield memory
            if not (was_store or as_json) and Layout(memory.root).is_store():
                output.note(f"note: {self.named or memory.root} is a new store")

    def read(self, *, embedder: str | None = None) -> Memory:
        """The store, for reading: the folder must be there.

        Raises:
            NotFoundError: There is no such folder.
        """
        if not self.root.exists():
            raise NotFoundError(
                f"There is no folder {str(self.root)!r}.",
                hint="The first argument is the store; `grail init DIR` makes one.",
            )
        return self.open(embedder=embedder)

    @contextmanager
    def read_as(self, seen_by: str | None, *, embedder: str | None = None) -> Iterator[Memory | Session]:
        """The store, for reading, as an agent for a person sees it, or its owner when nobody is named.

        Args:
            seen_by: `AGENT/USER` or `AGENT/USER/PROJECT`.
            embedder: What turns texts into vectors.
        """
        with self.read(embedder=embedder) as memory:
            if seen_by is None:
                yield memory
                return
            agent, user, project = (*seen_by.split("/", 2), None, None)[:3]
            if not agent or not user:
                raise InputError(f"--as needs AGENT/USER, not {seen_by!r}.", hint="For example: --as assistant/u1.")
            with memory.session(user_id=user, agent_id=agent, project_id=project) as session:
                yield session

    def keep(self, *, embedder: str | None = None) -> Memory:
        """The store, to be kept in order: the folder must hold one already.

        Raises:
            NotFoundError: It holds none.
        """
        from grail_mem.store.layout import Layout

        if self.root.is_dir() and not Layout(self.root.resolve()).is_store():
            raise NotFoundError(f"The folder {str(self.root)!r} holds no store.", hint="`grail init DIR` makes one.")
        return self.read(embedder=embedder)

    def command(self, verb: str, *words: str) -> str:
        """A command over this store, as a person would type it."""
        return shlex.join(["grail", *verb.split(), *([self.named] if self.named else []), *words])


def which(named: str | None, root: str | None) -> Which:
    """The store that the first argument or `--root` names, or the one that is found without a name.

    Raises:
        InputError: Both name one.
        NotFoundError: None is named and none is found.
    """
    if named is not None and root is not None:
        raise InputError(f"The store is named twice: {named!r} and --root {root!r}.", hint="Name it once.")
    if (chosen := root if named is None else named) is not None:
        try:
            root_named = Path(chosen).expanduser()
            root_named.exists()
        except (OSError, ValueError, RuntimeError) as error:
            said = (error.strerror if isinstance(error, OSError) else None) or error
            raise InputError(f"{chosen[:80]!r} cannot be a folder: {said}.", hint="Name the store's folder.") from error
        return Which(root_named, chosen)
    from grail_mem.memory import open_root

    return Which(open_root(None))


def split(
    verb: str, words: Sequence[str] | None, root: str | None, own: Sequence[str], *, may_lack: bool = False
) -> tuple[Which, list[str]]:
    """The store and the command's own words, from words of which the first may be the store.

    Args:
        verb: The command, for messages.
        words: What was typed.
        root: The value of `--root`.
        own: Names of the command's own words, such as ID; each is needed.
        may_lack: Whether they may be left out, all of them.

    Raises:
        InputError: There are too few words or too many.
    """
    given = list(words or ())
    if may_lack and (not given or (root is None and len(given) == 1 and is_folder(given[0]))):
        return which(given[0] if given else None, root), []
    if root is None and len(given) == len(own) + 1:
        return which(given[0], None), given[1:]
    if len(given) != len(own) or _names_a_folder(own[0], given[0]):
        if own[0] == "FILE" and len(given) == 1 and is_folder(given[0]) and not _is_store(given[0]):
            raise InputError(
                f"{given[0]!r} is a folder, and `grail {verb}` takes a file.",
                hint=f"Name each file by itself; a store is named before it: `grail {verb} [DIR] FILE`.",
            )
        raise InputError(
            f"`grail {verb}` needs {' and '.join(own)}" + (f", not {shlex.join(given)!r}." if given else "."),
            hint=f"Write `grail {verb} [DIR] {' '.join(own)}`; DIR is the store"
            + (", which --root names already." if root is not None else "."),
        )
    return which(None, root), given


def _names_a_folder(own: str, text: str) -> bool:
    """Whether a word is the store and the command's own word is missing."""
    if own == FILE_OR_FOLDER:
        return _is_store(text)
    return (own in {"QUESTION", "FILE"} or (own == "ID" and not _may_be_id(text))) and is_folder(text)


def _is_store(text: str) -> bool:
    from grail_mem.store.layout import Layout

    return is_folder(text) and Layout(Path(text).expanduser().resolve()).is_store()


def is_folder(text: str) -> bool:
    """Whether a text is the path of a folder; a long or odd one is none."""
    try:
        return Path(text).expanduser().is_dir()
    except (OSError, ValueError, RuntimeError):
        return False


def _may_be_id(text: str) -> bool:
    from grail_mem.model.ulid import is_id

    return is_id(text.strip().upper()) or _TAIL.fullmatch(text.strip().upper()) is not None


def full_id(memory: Memory | Session, text: str) -> str:
    """The id that a text names: the id itself, or its last 4 or more characters.

    Raises:
        NotFoundError: No id ends so.
        ConflictError: Several ids end so.
    """
    tail = text.strip().upper()
    if not _TAIL.fullmatch(tail):
        return text
    found = memory.ids_ending(tail)
    if len(found) > 1:
        more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        raise ConflictError(
            f"Several ids end in {text}: {', '.join(found[:_SHOWN])}{more}.", hint="Give more characters."
        )
    if not found:
        raise NotFoundError(f"There is no observation whose id ends in {text}.", hint="`grail list` shows the ids.")
    return found[0]


def short_id(id_: str) -> str:
    """The end of an id as it stands in file names; long enough to name it in most stores."""
    return id_[-SHORT:].lower()

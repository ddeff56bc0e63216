"""What a working set-up needs, looked at piece by piece: Python, packages, extras, the folder, and its settings.

Nothing is changed, and nothing that is found broken stops the rest. Knows nothing of what is stored: `check` looks at that.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Final, Literal

from grail_mem.errors import GrailError
from grail_mem.settings import Settings, read_settings
from grail_mem.store.layout import LOCAL, Layout
from grail_mem.store.lock import is_held
from grail_mem.store.version import require_known
from grail_mem.write.init import GITATTRIBUTES, GITIGNORE

Standing = Literal["fine", "note", "broken"]

_LEAST_PYTHON: Final = (3, 11)
_LEAST_FREE_BYTES: Final = 200 * 2**20
_HEAVY: Final = ("numpy", "pyarrow", "pandas", "duckdb", "networkx")
_NEED: Final = re.compile(
    r"(?P<name>[\w.-]+)(?:\[[\w,. -]+\])?\s*(?P<bounds>[^;]*)(?:;.*extra == ['\"](?P<extra>[\w-]+)['\"])?"
)
_AT_LEAST: Final = re.compile(r">=\s*([\d.]+)")
_FAR_AWAY: Final = {"nfs", "nfs4", "cifs", "smb3", "fuse.sshfs", "9p", "afs"}
"""File systems on which a lock of one machine may not hold for another."""
_OWN: Final = "grail-mem"
_NOT_EXTRAS: Final = {"all", "dev"}
_GIT_FILES: Final = {".gitattributes": GITATTRIBUTES, ".gitignore": GITIGNORE}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at.

    Attributes:
        about: What was looked at, one or two words.
        standing: `fine`; `note`: it works, but less than it could; `broken`: something will fail.
        said: What was found, one sentence.
        remedy: What to do, one sentence; empty when nothing.
    """

    about: str
    standing: Standing
    said: str
    remedy: str = ""

    def to_dict(self) -> dict[str, str]:
        """The finding as plain JSON values."""
        return {"about": self.about, "standing": self.standing, "said": self.said, "remedy": self.remedy}


def examine(root: Path | None) -> list[Finding]:
    """What is well and what is not, in the order in which one thing needs the other.

    Args:
        root: The store's root; None when none was found.
    """
    looks: list[Callable[[], Iterator[Finding]]] = [_python, _command, _packages, _extras]
    if root is not None:
        layout = Layout(root.resolve())
        looks += [lambda look=look: look(layout) for look in (_folder, _settings, _room, _writers, _git)]  # type: ignore[misc]
    found: list[Finding] = []
    for look in looks:
        try:
            found += look()
        except OSError as error:  # one place that cannot be read hides no other finding
            found.append(
                Finding("files", "broken", f"{type(error).__name__}: {error}", "Look at the rights of that path.")
            )
    return found


def _python() -> Iterator[Finding]:
    is_new = sys.version_info[:2] >= _LEAST_PYTHON
    said = f"Python {sys.version.split()[0]} in {sys.prefix}"
    yield Finding("Python", "fine" if is_new else "broken", said, "" if is_new else "Python 3.11 or newer is needed.")
    if not sys.platform.startswith("linux"):
        yield Finding("system", "note", f"{sys.platform} is not tested.", "Linux is what every release is tested on.")
    encoding = sys.getfilesystemencoding()
    if encoding.lower().replace("-", "") != "utf8":
        yield Finding("encoding", "broken", f"File names are written as {encoding}.", "Set PYTHONUTF8=1.")


def _command() -> Iterator[Finding]:
    path = shutil.which("grail")
    if path is None:
        yield Finding(
            "command", "note", "`grail` is not on the PATH.",
            f"Add {Path(sys.executable).parent} to it, or write `{sys.executable} -m grail_mem`.",
        )  # fmt: skip
        return
    is_ours = (
        Path(path).resolve().parent == Path(sys.executable).resolve().parent
        or Path(path).parent == Path(sys.executable).parent
    )
    if is_ours:
        yield Finding("command", "fine", f"`grail` is {path}.")
    else:
        remedy = "Programs that start `grail` by name get that one: name the full path, or mend the PATH."
        yield Finding("command", "note", f"`grail` is {path}, of another environment than {sys.prefix}.", remedy)


def _packages() -> Iterator[Finding]:
    """The packages that are always needed: there, new enough, and loadable."""
    wrong = 0
    for name, least in _needed(None):
        standing = _standing_of(name, least)
        if standing:
            wrong += 1
            yield Finding("packages", "broken", standing, f"Install anew: pip install --upgrade '{name}>={least}'.")
    for name in _HEAVY:
        try:
            import_module(name)
        except Exception as error:  # noqa: BLE001  a package half installed may fail in any way, and that is the finding
            wrong += 1
            said = f"{name} cannot be loaded: {type(error).__name__}: {str(error)[:200]}"
            yield Finding("packages", "broken", said, f"Install anew: pip install --force-reinstall {name}.")
    if not wrong:
        yield Finding("packages", "fine", f"all that is needed is there, {_OWN} {_own_version()}.")


def _extras() -> Iterator[Finding]:
    for extra in _names_of_extras():
        needed = list(_needed(extra))
        wrong = [standing for name, least in needed if (standing := _standing_of(name, least))]
        if not wrong:
            yield Finding(f"extra {extra}", "fine", ", ".join(f"{name} {version(name)}" for name, _ in needed))
        else:
            yield Finding(f"extra {extra}", "note", "; ".join(wrong), f"If you want it: pip install '{_OWN}[{extra}]'.")


def _needed(extra: str | None) -> Iterator[tuple[str, str]]:
    """The packages that we, or one of our extras, need, with the lowest version of each."""
    try:
        lines = requires(_OWN) or []
    except PackageNotFoundError:
        return
    for line in lines:
        found = _NEED.match(line)
        if found and found["extra"] == extra and found["name"].replace("_", "-").lower() != _OWN:
            least = _AT_LEAST.search(found["bounds"])
            yield found["name"], least[1] if least else "0"


def _names_of_extras() -> list[str]:
    try:
        lines = requires(_OWN) or []
    except PackageNotFoundError:
        return []
    named = (found["extra"] for line in lines if (found := _NEED.match(line)) and found["extra"])
    return [name for name in dict.fromkeys(named) if name not in _NOT_EXTRAS]


def _standing_of(name: str, least: str) -> str:
    """What is wrong with an installed package; empty when nothing is."""
    try:
        has = version(name)
    except PackageNotFoundError:
        return f"{name} is not installed"
    return f"{name} {has} is older than {least}" if _numbers(has) < _numbers(least) else ""


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", text.split("+", maxsplit=1)[0])[:3])


def _own_version() -> str:
    try:
        return version(_OWN)
    except PackageNotFoundError:
        return "run from its source"


def _folder(layout: Layout) -> Iterator[Finding]:
    root = layout.root
    if not root.is_dir():
        yield Finding(
            "store",
            "broken",
            f"{root} is {'no folder' if root.exists() else 'not there'}.",
            "`grail init DIR` makes a store.",
        )
        return
    if not layout.is_store():
        yield Finding(
            "store", "note", f"{root} holds no store.", "`grail init DIR` makes one; the first write does, too."
        )
    else:
        yield Finding("store", "fine", str(root))
        try:
            require_known(layout)
        except GrailError as error:
            yield Finding("version", "broken", error.message, error.hint)
    for path in (root, layout.memories, layout.ledger, root / LOCAL, layout.output, layout.settings):
        if path.exists() and not os.access(path, os.R_OK | (os.W_OK | os.X_OK if path.is_dir() else 0)):
            yield Finding(
                "rights", "broken", f"{path} may not be read or written by {_who()}.", f"chown or chmod {path}."
            )
    kind = _file_system(root)
    if kind in _FAR_AWAY:
        yield Finding(
            "file system", "note", f"{root} lies on {kind}.",
            "Several machines on one folder are not safe: give each a clone, and merge with git.",
        )  # fmt: skip


def _who() -> str:
    return f"the user {os.getuid()}"


def _file_system(path: Path) -> str:
    """The kind of the file system under a path; empty when it cannot be told."""
    best, kind = "", ""
    try:
        lines = Path("/proc/mounts").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    for line in lines:
        _, place, name, *_ = line.split(" ")
        inside = str(path) == place or str(path).startswith(place.rstrip("/") + "/")
        if inside and len(place) >= len(best):
            best, kind = place, name
    return kind


def _settings(layout: Layout) -> Iterator[Finding]:
    try:
        settings = read_settings(layout.settings)
    except GrailError as error:
        yield Finding("settings", "broken", error.message, error.hint)
        return
    there = layout.settings.exists()
    yield Finding(
        "settings", "fine", f"{layout.settings.name} is valid." if there else "none; every setting has its default."
    )
    yield from _embedder(settings)
    if os.environ.get("GRAIL_ROOT"):
        yield Finding("GRAIL_ROOT", "fine", f"{os.environ['GRAIL_ROOT']}; commands without DIR mean it.")


def _embedder(settings: Settings) -> Iterator[Finding]:
    """Whether the embedder that the settings choose can be had and embeds."""
    from grail_mem.index.embedder import chosen_embedder

    try:
        embedder = chosen_embedder(settings.embedder)()
        if embedder is None:
            remedy = "" if settings.embedder == "none" else f"`pip install '{_OWN}[local]'` adds a small one."
            standing: Standing = "fine" if settings.embedder == "none" else "note"
            yield Finding("embedder", standing, "none: search goes by words, names and links.", remedy)
            return
        shape = embedder.embed(["one word"]).shape
    except GrailError as error:
        yield Finding("embedder", "broken", error.message, error.hint)
    except Exception as error:  # noqa: BLE001  a model or its runtime may fail in any way, and that is the finding
        said = f"{settings.embedder}: {type(error).__name__}: {str(error)[:200]}"
        yield Finding("embedder", "broken", said, "Install its package anew, or set `embedder: none` in grail.yaml.")
    else:
        yield Finding("embedder", "fine", f"{embedder.identity} gives {shape[1]} numbers a text.")


def _room(layout: Layout) -> Iterator[Finding]:
    if layout.root.is_dir():
        free = shutil.disk_usage(layout.root).free
        enough = free >= _LEAST_FREE_BYTES
        remedy = (
            ""
            if enough
            else "Make room: a write that does not fit is refused, and a new snapshot needs as much as the old."
        )
        yield Finding("disk", "fine" if enough else "broken", f"{free / 2**30:.1f} GiB free.", remedy)


def _writers(layout: Layout) -> Iterator[Finding]:
    """Who holds a lock of the store: a writer that hangs is met here."""
    held = [path.name for path in sorted(layout.local.glob("*.lock")) if is_held(path)]
    if held:
        yield Finding(
            "locks",
            "note",
            f"held by another process now: {', '.join(held)}.",
            "Writes wait for it; a lock ends with its process.",
        )


def _git(layout: Layout) -> Iterator[Finding]:
    """Whether a store kept in git is kept as it must be: its ledger merged by lines, what is derived left out."""
    if not (layout.root / ".git").exists():
        return
    for name, text in _GIT_FILES.items():
        path = layout.root / name
        has = path.read_text(encoding="utf-8", errors="replace").splitlines() if path.is_file() else []
        lacks = [line for line in text.splitlines() if not line.startswith("#") and line not in has]
        if lacks:
            remedy = "Add them." if has else "`grail init` writes it."
            yield Finding("git", "note", f"{name} lacks: {', '.join(lacks)}.", remedy)
    if shutil.which("git"):
        asked = ["git", "-C", str(layout.root), "ls-files", "--unmerged", "--", "."]
        done = subprocess.run(asked, capture_output=True, text=True, timeout=20, check=False)
        if done.stdout.strip():
            n_files = len({line.split("\t")[-1] for line in done.stdout.splitlines()})
            yield Finding(
                "git",
                "broken",
                f"{n_files} files are left unmerged.",
                "`git status` lists them; settle them, then `grail sync`.",
            )

"""Swapping: what was made ready beside a store takes its place, wholly, whatever the process dies at.

The plan is written when everything that is to come lies ready and durable; from then on there is only forward, and
whoever next opens the store or writes to it finishes. Knows nothing of where the new content comes from.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from grail_mem.errors import StoreError
from grail_mem.store.files import FOLDER_MODE, replace_file, sync_folder
from grail_mem.store.layout import LOCAL
from grail_mem.store.lock import exclusive_if_free

PLAN: Final = f"{LOCAL}/swap.json"
RESTORING: Final = f"{LOCAL}/restore.lock"
"""The lock that is held from before anything is made ready until it has taken its place."""
_READY: Final = re.compile(r"swap-[0-9a-f]{16}")


def ready_folder(root: Path) -> Path:
    """A new folder inside the store in which new content is made ready; below it, paths are those of the store.

    The lock `RESTORING` must be held. What killed processes left there is removed.
    """
    if not is_left(root):
        for path in _ready_there(root):
            shutil.rmtree(path)
    folder = root / LOCAL / f"swap-{secrets.token_hex(8)}"
    (folder / "new").mkdir(parents=True, mode=FOLDER_MODE)
    return folder / "new"


def clear_ready(root: Path) -> None:
    """Remove what killed processes had made ready, unless somebody is at it; the write lock must be held, and no swap be left."""
    if not (left := _ready_there(root)):
        return
    with exclusive_if_free(root / RESTORING) as free:
        for path in left if free else ():
            shutil.rmtree(path, ignore_errors=True)  # the next writer tries again


def _ready_there(root: Path) -> list[Path]:
    try:
        names = os.listdir(f"{root}/{LOCAL}")
    except FileNotFoundError:
        return []
    return [root / LOCAL / name for name in sorted(names) if _READY.fullmatch(name)]


def swap(root: Path, ready: Path, units: Mapping[str, bool]) -> None:
    """Put everything that lies ready in place of what is there; the write lock must be held.

    Args:
        root: The store.
        ready: What `ready_folder` gave; it and all in it is used up.
        units: Files and folders of the store that are replaced, each as a whole; False for those that only go.

    Raises:
        OSError: Before the plan was written: all is as before. After: the next opening finishes.
    """
    os.sync()  # all that lies ready, in one go
    plan = {"v": 1, "folder": ready.parent.name, "units": dict(units)}
    replace_file(root / PLAN, json.dumps(plan, sort_keys=True).encode())
    finish(root)


def is_left(root: Path) -> bool:
    """Whether a swap has begun that is not finished."""
    return os.path.lexists(f"{root}/{PLAN}")


def finish(root: Path) -> None:
    """Bring a swap to its end, from wherever it is; the write lock must be held.

    Raises:
        StoreError: The plan cannot be read.
        OSError: The disk did not take it; the next call goes on.
    """
    if not is_left(root):
        return
    folder, units = _read_plan(root)
    for unit, comes in units.items():
        _bring(root, folder, unit, comes=comes)
    for parent in sorted({str((root / unit).parent) for unit in units}):
        if os.path.isdir(parent):
            sync_folder(Path(parent))
    if folder.is_dir():
        shutil.rmtree(folder)
    os.unlink(root / PLAN)
    sync_folder(root / LOCAL)


def _bring(root: Path, folder: Path, unit: str, *, comes: bool) -> None:
    """Bring one unit to what it is to be; what is so already is left alone."""
    new, place, old = folder / "new" / unit, root / unit, folder / "old" / unit
    if comes and not os.path.lexists(new):
        return
    if os.path.lexists(place):
        if os.path.lexists(old):  # derived files that somebody wrote meanwhile
            _remove(place)
        else:
            old.parent.mkdir(parents=True, exist_ok=True, mode=FOLDER_MODE)
            os.rename(place, old)
    if comes:
        place.parent.mkdir(parents=True, exist_ok=True, mode=FOLDER_MODE)
        os.rename(new, place)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def _read_plan(root: Path) -> tuple[Path, dict[str, bool]]:
    """The folder and the units of the plan; it is ours, but may have been put there by a copy that somebody changed."""
    try:
        plan = json.loads((root / PLAN).read_bytes())
        folder, units = plan["folder"], {str(unit): bool(comes) for unit, comes in plan["units"].items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise StoreError(f"{PLAN} cannot be read.", hint="Restore the backup again into an empty folder.") from error
    parts = [part for unit in units for part in unit.split("/")]
    if plan.get("v") != 1 or not _READY.fullmatch(str(folder)) or {"", ".", ".."} & set(parts):
        raise StoreError(f"{PLAN} is not what grail_mem writes.", hint="Look at it; nothing was touched.")
    return root / LOCAL / folder, units

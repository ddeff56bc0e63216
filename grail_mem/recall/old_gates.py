"""Gates of the first version judge by other measures than today's: with such a file no question in words is answered.

They cannot be translated, so the file goes; the gates that are shipped count until new ones are calibrated.
"""

from __future__ import annotations

import json
from typing import Final

from grail_mem.query.form import FormChange, Step
from grail_mem.query.view import View
from grail_mem.recall.tuning import drop
from grail_mem.store.layout import GATES_FILE

_OLD: Final = 1


def _find(view: View) -> tuple[FormChange, ...]:
    try:
        said = json.loads(view.layout.gates.read_bytes())
    except (OSError, ValueError, RecursionError):
        return ()
    if not isinstance(said, dict) or said.get("version") != _OLD or isinstance(said.get("version"), bool):
        return ()
    return (FormChange(GATES_FILE, "goes: it judges by measures that are no more; `grail calibrate` makes a new one"),)


def _make(view: View) -> None:
    if _find(view):
        drop(view.layout.gates)


DROP_OLD_GATES: Final = Step(4, "removes calibrated gates that nothing can read any more", _find, _make)

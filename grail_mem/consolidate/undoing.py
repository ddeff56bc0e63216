"""From what is kept of a proposal to the observations as they were before it, as far as nobody changed them since.

A file that is as the proposal left it gets its former bytes. In one that was changed since, the fields that the proposal
changed are put back and everything else stays; where they, too, are others now, nothing is undone. Knows nothing of the
ledger.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from grail_mem.consolidate.changes import MERGED
from grail_mem.consolidate.undo_file import Former, all_of, read_undo
from grail_mem.errors import ConflictError, InputError
from grail_mem.query.view import View
from grail_mem.write.edited import Edited, in_category, read_all, with_bytes, with_extra, with_fields

_LISTS: Final = ("tags", "entities", "relationships", "related_to", MERGED)
"""Fields whose items are put back one by one, so that what others added stays."""
_GONE: Final = object()


def undone(view: View, proposal_id: str) -> tuple[list[Edited], tuple[str, ...], tuple[str, ...]]:
    """The observations as they were before a proposal was applied.

    Returns:
        The observations; remarks on those that somebody changed since; the folders that it made.

    Raises:
        StoreError: What is needed is not kept.
        ConflictError: Something was changed since so that it cannot be put back.
        InputError: The same, of several observations; `problems` names each.
    """
    kept = read_undo(view.layout, proposal_id)
    now = read_all(view, [former.id for former in kept.files])
    made: list[Edited] = []
    remarks: list[str] = []
    problems: list[str] = []
    for former in kept.files:
        if former.id not in now:
            problems.append(f"observation {former.id} is gone (it was {former.path})")
            continue
        try:
            before, remark = _before(view, former, now[former.id])
        except ConflictError as error:
            problems.append(error.message)
            continue
        made.append(before)
        remarks += [remark] if remark else []
    if problems:
        raise InputError(" ".join(problems), problems=problems)
    return made, tuple(remarks), kept.folders


def _before(view: View, former: Former, now: Edited) -> tuple[Edited, str]:
    edited = replace(now, hidden=False) if former.hid else now
    if former.hid and not now.was_hidden:
        edited = now  # somebody brought it back already
    as_left = now.data is not None and now.path == former.path
    if not former.before:
        return _taken_away(former, edited)
    if former.before == former.after and former.was == former.path:
        return edited, ""
    data = former.bytes_before(now.data or b"") if as_left else None
    if data is not None:
        return with_bytes(view, edited, former.was, data), ""
    if now.path != former.path:
        raise ConflictError(f"observation {former.id} was moved since, from {former.path} to {now.path}")
    edited = _fields_back(view, former, edited)
    if former.was != former.path:
        edited = in_category(view, edited, view.layout.category_of(former.was.rpartition("/")[0]))
    return edited, f"{now.path} was changed since; only what the proposal had changed was put back"


def _taken_away(former: Former, now: Edited) -> tuple[Edited, str]:
    """An observation that the proposal made goes again, unless somebody worked on it."""
    if now.path != former.path or now.row is None or now.row.observation.sha256 != former.after:
        raise ConflictError(f"observation {former.id}, which it made, was changed since ({now.path})")
    return replace(now, data=None), ""


def _fields_back(view: View, former: Former, now: Edited) -> Edited:
    """The fields that the proposal changed as they were; an item of a list that others added since stays."""
    present = all_of(now.made)
    patch: dict[str, Any] = {}
    for name, (before, after) in former.fields.items():
        if name == "category":
            continue
        value = _back(name, before, after, present.get(name))
        if value is _GONE:
            raise ConflictError(f"{name} of observation {former.id} was changed since ({now.path})")
        patch[name] = value
    extra = {name: patch.pop(name) for name in list(patch) if name == MERGED}
    edited = with_fields(view, now, patch) if patch else now
    for name, value in extra.items():
        edited = with_extra(edited, name, value)
    return edited


def _back(name: str, before: Any, after: Any, present: Any) -> Any:
    """What a field is to be again; `_GONE` when somebody else gave it another value meanwhile."""
    if present == after:
        return before
    if name not in _LISTS:
        return _GONE
    came, went = _without(after, before), _without(before, after)
    if any(item not in (present or ()) for item in came):
        return _GONE
    kept: list[Any] = []
    for item in present or ():
        if item in came:
            kept += went
            went = []
        else:
            kept.append(item)
    return [*kept, *went] or None


def _without(items: Sequence[Any] | None, others: Sequence[Any] | None) -> list[Any]:
    return [item for item in items or () if item not in (others or ())]

"""What an observation's keeper marks: pinned so that age takes nothing from it, archived so that no answer brings it.

Knows nothing of what follows from it in a recall.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from grail_mem.errors import ConflictError, NotFoundError
from grail_mem.model.observation import PINNED, STATUS_BEFORE, status_kept
from grail_mem.query.find import locate
from grail_mem.query.view import View
from grail_mem.store.files import translated
from grail_mem.write.change import Changed
from grail_mem.write.edited import Edited, commit, read_all, read_one, with_values
from grail_mem.write.staged import staging, writing


def pin(view: View, id_: str, *, actor: str, reason: str) -> Changed:
    """Keep age from taking anything from an observation.

    Raises:
        NotFoundError: There is no such observation.
    """
    return _changed(view, id_, lambda it: _with_extra(it, PINNED, value=True), actor, reason)


def unpin(view: View, id_: str, *, actor: str, reason: str) -> Changed:
    """Let an observation age as others do.

    Raises:
        NotFoundError: There is no such observation.
    """
    return _changed(view, id_, lambda it: _with_extra(it, PINNED, value=None), actor, reason)


def archive(view: View, id_: str, *, actor: str, reason: str) -> Changed:
    """Put an observation away: no answer brings it unless history is asked for.

    Raises:
        NotFoundError: There is no such observation.
        ConflictError: It is superseded, and so put away already.
    """
    return _changed(view, id_, _archived, actor, reason)


def archive_all(view: View, meant: Callable[[], Collection[str]], *, actor: str, reason: str) -> tuple[str, ...]:
    """Put observations away, all or none.

    Args:
        view: The store.
        meant: Says which, by id; asked under the write lock, with the view up to date.
        actor: Who does it.
        reason: Why, for the ledger.

    Returns:
        Their ids, in order.
    """
    with staging(view.layout) as staging_fd, translated("archive the observations", view.layout.root), writing(view):
        view.refresh()
        now = read_all(view, meant())
        commit(view, staging_fd, [_archived(one) for one in now.values()], actor=actor, reason=reason)
        return tuple(sorted(now))


def unarchive(view: View, id_: str, *, actor: str, reason: str) -> Changed:
    """Bring an archived observation back, with the status that it had.

    Raises:
        NotFoundError: There is no such observation.
    """
    return _changed(view, id_, _unarchived, actor, reason)


def _archived(it: Edited) -> Edited:
    if it.made.status == "archived":
        return it
    if it.made.status == "superseded":
        raise ConflictError(f"Observation {it.made.id} is superseded, and left out of answers already.")
    marked = _with_extra(it, STATUS_BEFORE, value=it.made.status if it.made.status != "confirmed" else None)
    return with_values(marked, status="archived")


def _unarchived(it: Edited) -> Edited:
    if it.made.status != "archived":
        return it
    return with_values(_with_extra(it, STATUS_BEFORE, value=None), status=status_kept(it.made))


def _with_extra(it: Edited, key: str, *, value: object) -> Edited:
    extra = {name: held for name, held in it.made.extra.items() if name != key}
    return with_values(it, extra=extra | ({} if value is None else {key: value}))


def _changed(view: View, id_: str, change: Callable[[Edited], Edited], actor: str, reason: str) -> Changed:
    with staging(view.layout) as staging_fd, translated("change the observation", view.layout.root), writing(view):
        now = read_one(view, locate(view, id_))
        view.access.require("write", now.made.scope, id_=id_)
        if id_ in view.hidden:
            raise NotFoundError(f"Observation {id_} is hidden.", hint="`grail restore` brings it back.")
        edited = change(now)
        if edited.changes_file:
            commit(view, staging_fd, [edited], actor=actor, reason=reason)
        return Changed(id_, edited.path, changed=edited.changes_file)

"""Change what is there: update, move, hide, restore.

Each holds the write lock from reading the file to telling the ledger, so no change by another process is lost. Knows
nothing of how drafts become observations beyond calling `validate`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final

from grail_mem.errors import InputError, NotFoundError
from grail_mem.model.category import clean_category
from grail_mem.model.observation import STATUS_BEFORE
from grail_mem.model.times import format_time
from grail_mem.query.find import locate
from grail_mem.query.view import View
from grail_mem.store.files import translated
from grail_mem.store.ledger_line import Entry
from grail_mem.store.observation_file import FileRow
from grail_mem.write.edited import Edited, commit, in_category, read_one, with_fields, with_values
from grail_mem.write.screening import quoting_no_secret, screened_name
from grail_mem.write.staged import staging, writing
from grail_mem.write.trust import as_trusted
from grail_mem.write.validate import DRAFT_FIELDS

_TRUST: Final = ("evidence", "source_kind", "confidence")


@dataclass(frozen=True, slots=True)
class Changed:
    """What became of one change.

    Attributes:
        id: The observation's ULID.
        path: Its file, relative to the root, after the change.
        changed: False when everything was so already.
        warnings: What was adjusted or is worth knowing.
    """

    id: str
    path: str
    changed: bool = True
    warnings: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """The result as plain JSON values."""
        return {"id": self.id, "path": self.path, "changed": self.changed, "warnings": list(self.warnings)}


def update(view: View, id_: str, patch: Mapping[str, Any], *, append: str | None, actor: str, reason: str) -> Changed:
    """Change the named fields of an observation and no others.

    Args:
        view: The store.
        id_: The observation's ULID.
        patch: New values by field name; None removes the field.
        append: Text put behind the content as a paragraph of its own; not together with new content.
        actor: Who does it.
        reason: Why, for the ledger.

    Raises:
        NotFoundError: There is no such observation.
        InputError: A field or value cannot be used; `problems` lists every reason.
        UnsupportedEvidenceError: A session changes another one's word, or raises its trust, without a quote that says so.
    """
    with quoting_no_secret():
        _check_patch(id_, patch, append)
    with (
        quoting_no_secret(),
        staging(view.layout) as staging_fd,
        translated("change the observation", view.layout.root),
        writing(view),
    ):
        now = read_one(view, _current(view, id_))
        view.access.require("write", now.made.scope, id_=id_)
        patch = dict(patch) | ({"content": f"{now.made.content}\n\n{append}"} if append is not None else {})
        edited = _remembering(now, with_fields(view, now, patch))
        trusted, warnings = as_trusted(view, now.made, edited.made)
        values = {
            name: getattr(trusted, name) for name in _TRUST if getattr(trusted, name) != getattr(edited.made, name)
        }
        edited = replace(with_values(edited, **values) if values else edited, warnings=(*edited.warnings, *warnings))
        return _commit(view, staging_fd, now, edited, actor, reason)


def move(view: View, id_: str, category: str, *, actor: str, reason: str) -> Changed:
    """Put an observation into another category: its file goes to that folder, its id stays.

    Raises:
        NotFoundError: There is no such observation.
        InputError: The category cannot be used.
        ConflictError: A file of that name is there already.
    """
    with quoting_no_secret():
        category = clean_category(screened_name("category", category, view.settings))
    with staging(view.layout) as staging_fd, translated("move the observation", view.layout.root), writing(view):
        now = read_one(view, _current(view, id_))
        return _commit(view, staging_fd, now, in_category(view, now, category), actor, reason)


def hide(view: View, id_: str, *, actor: str, reason: str) -> Changed:
    """Take an observation out of every answer; its file stays, and `restore` brings it back.

    Raises:
        NotFoundError: There is no such observation.
    """
    return _tombstone(view, id_, "hide", actor, reason)


def restore(view: View, id_: str, *, actor: str, reason: str) -> Changed:
    """Bring a hidden observation back into the answers.

    Raises:
        NotFoundError: There is no such observation.
    """
    return _tombstone(view, id_, "restore", actor, reason)


def _remembering(now: Edited, edited: Edited) -> Edited:
    """What is archived by its status keeps the one that it had, as with `archive`; what no longer is forgets it."""
    was, is_now = now.made.status, edited.made.status
    if was == is_now or "archived" not in (was, is_now):
        return edited
    extra = {name: value for name, value in edited.made.extra.items() if name != STATUS_BEFORE}
    keeps = is_now == "archived" and was != "confirmed"
    return with_values(edited, extra=extra | ({STATUS_BEFORE: was} if keeps else {}))


def _tombstone(view: View, id_: str, action: str, actor: str, reason: str) -> Changed:
    with staging(view.layout) as staging_fd, translated(f"{action} the observation", view.layout.root), writing(view):
        now = read_one(view, locate(view, id_))
        return _commit(view, staging_fd, now, replace(now, hidden=action == "hide"), actor, reason)


def _commit(view: View, staging_fd: int, now: Edited, edited: Edited, actor: str, reason: str) -> Changed:
    changed = edited.changes_file or edited.hidden != now.hidden
    if changed:
        commit(view, staging_fd, [edited], actor=actor, reason=reason, beside=_mended(view, now, edited, actor))
    return Changed(now.made.id, edited.path, changed=changed, warnings=edited.warnings)


def _mended(view: View, now: Edited, edited: Edited, actor: str) -> list[Entry]:
    """What the ledger is told when an observation that was out of answers for want of evidence is given other evidence."""
    suspended = now.made.id in view.silent and now.made.id not in view.hidden
    if not suspended or not edited.made.evidence or edited.made.evidence == now.made.evidence:
        return []
    return [Entry("reinstate", now.made.id, reason="evidence", at=format_time(datetime.now(UTC)), actor=actor)]


def _current(view: View, id_: str) -> FileRow:
    row = locate(view, id_)
    if id_ in view.hidden:
        raise NotFoundError(f"Observation {id_} is hidden.", hint="`grail restore` brings it back.")
    return row


def _check_patch(id_: str, patch: Mapping[str, Any], append: str | None) -> None:
    problems = [f"'{name}' is no field that can be updated." for name in patch if name not in DRAFT_FIELDS]
    problems += [
        f"'{name}' cannot be removed." for name in ("content", "title") if name in patch and patch[name] is None
    ]
    if "category" in patch:
        problems.append("category is changed by `move`.")
    if "slug" in patch:
        problems.append("slug names a new file only.")
    if isinstance(named := patch.get("supersedes"), str) and named.strip().upper() == id_:
        problems.append("supersedes names the observation itself.")
    if append is not None and "content" in patch:
        problems.append("append and content cannot be given together.")
    if append is not None and (not isinstance(append, str) or not append.strip()):
        problems.append("append must be text.")
    if not patch and append is None:
        problems.append("nothing to change was given.")
    if problems:
        raise InputError(" ".join(problems), problems=problems)

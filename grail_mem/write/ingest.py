"""Ingest the turns of a conversation, which evidence points into.

Files are put in place through the journal as observations are, so a source is there wholly or not at all. Knows nothing of
quotes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from grail_mem.errors import InputError
from grail_mem.model.names import clean_text, session_key
from grail_mem.model.problem import Gather
from grail_mem.model.scope import clean_scope
from grail_mem.model.ulid import new_id
from grail_mem.query.passages import own_scope
from grail_mem.query.view import View
from grail_mem.store.files import replace_file, translated
from grail_mem.store.layout import Layout
from grail_mem.store.receipt import text_of_turn
from grail_mem.store.sources import Part, chat_stem, current_turns, part_in, part_path, read_session
from grail_mem.write.permit import meant
from grail_mem.write.placed_sources import put_sources
from grail_mem.write.screening import screened_name
from grail_mem.write.staged import make_durable, staging, writing
from grail_mem.write.transcript import Appended, Sent, SourceFile, append, read_turns, require_own

MAX_SESSION: Final = 1_000


@dataclass(frozen=True, slots=True)
class Ingested:
    """What became of sources that were sent.

    Attributes:
        source: Where they are, relative to the root: the first file of the transcript, or the document.
        n_turns: How many of the turns that were sent are there now; 1 for a document.
        n_new: How many of them were not there before.
        warnings: What was left out and why, or is worth knowing.
    """

    source: str
    n_turns: int
    n_new: int
    warnings: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """The result as plain JSON values."""
        return {
            "source": self.source, "n_turns": self.n_turns, "n_new": self.n_new, "warnings": list(self.warnings),
        }  # fmt: skip


def ingest_chat(
    view: View, turns: Iterable[Any], *, session: object, scope: object = None, again: bool = False, actor: str
) -> Ingested:
    """Put turns behind those of a session's transcript; what is there already is passed over.

    Args:
        view: The store.
        turns: Mappings with `role`, `text` and, optionally, `speaker`, `at`, `id`, `partial`, `correction`.
        session: The session's name.
        scope: Whose it is; None is the default scope.
        again: Let in turns that were erased.
        actor: Who does it.

    Raises:
        InputError: Session, scope or the list itself cannot be used; `problems` lists every reason.
        AccessError: The caller may not write there.
        ConflictError: The file is another session's.
        StoreError: The disk did not take it; nothing was stored.
    """
    gather = Gather()
    name = gather.read("session", session, clean_session, "")
    if session is None:
        gather.found.append("session is missing: name the conversation that the turns belong to.")
    name = gather.read("session", name, lambda text: screened_name("session", text, view.settings), "")
    whose = gather.read("scope", meant(view, scope), clean_scope, None)
    if isinstance(turns, str | bytes | Mapping) or not isinstance(turns, Iterable):
        gather.found.append(f"turns must be a list of mappings, not {type(turns).__name__}.")
    gather.stop("Nothing was ingested.")
    whose = own_scope(view.access, whose)
    view.access.require("write", whose)
    sent, warnings = read_turns(turns, view.settings)
    first = part_path(chat_stem(name, whose), 1)
    final = [one for one in sent if not one.partial]
    made = Appended()
    with staging(view.layout) as staging_fd, translated("store the turns", view.layout.root):
        with writing(view):
            view.catch_up()
            parts = read_session(view.layout, name, whose)
            require_own(parts, name, whose)
            made = append(parts, final, session=name, scope=whose, receipts=view.receipts, again=again)
            put_sources(view, staging_fd, placed(made, parts), actor, lifted=made.lifted)
            known = {turn.id for turn in current_turns(parts)}
            _keep_partial(view, name, whose, [one for one in sent if not _is_erased(view, one, name, whose)], known)
        make_durable(view)
    n_partial = len(sent) - len(final)
    if n_partial:
        warnings.append(f"{n_partial} not final yet; kept apart until the final words come.")
    if made.refused:
        shown = ", ".join(str(one.number) for one in made.refused[:5])
        more = f" and {len(made.refused) - 5} more" if len(made.refused) > 5 else ""  # noqa: PLR2004  as many as a line holds
        warnings.append(f"erased before and left out: turn {shown}{more}; `again=True` lets them in.")
    if made.lifted:
        n_lifted = sum(map(len, made.lifted.values()))
        warnings.append(f"{n_lifted} erased before; kept again.")
    return Ingested(first, made.n_turns, len(made.turns), (*warnings, *made.warnings))


def clean_session(value: object) -> str:
    """The name of a session.

    Raises:
        InputError: It is no line of text, or too long.
    """
    if not isinstance(value, str):
        raise InputError(f"session must be text, not {type(value).__name__}.")
    text = clean_text(value)[0].strip()
    if not text or len(text.splitlines()) > 1 or len(text) > MAX_SESSION:
        raise InputError(f"session must be one line of 1 to {MAX_SESSION} characters.")
    return text


def placed(made: Appended, parts: Sequence[Part]) -> list[SourceFile]:
    """The files of a transcript that are new or longer."""
    former = {part.path: part.data for part in parts}
    return [
        SourceFile(path, data, former.get(path, b""), part_in(data.split(b"\n", 1)[0], path).id or new_id())
        for path, data in made.files.items()
    ]


def _is_erased(view: View, one: Sent, session: str, scope: str | None) -> bool:
    return one.partial and view.receipts.tells(text_of_turn(one.turn.text, session_key(session), scope))


def partial_path(layout: Layout, session: str, scope: str | None) -> Path:
    """Where turns that are not final are kept."""
    return layout.local / "partial" / f"{chat_stem(session, scope)}.json"


def _keep_partial(view: View, session: str, scope: str | None, sent: Sequence[Sent], known: set[str]) -> None:
    """Keep turns that are not final beside the store's truth, the latest words of each, until the final ones come."""
    path = partial_path(view.layout, session, scope)
    try:
        before = json.loads(path.read_bytes())
    except (FileNotFoundError, ValueError):
        before = {}
    kept = dict(before) if isinstance(before, dict) else {}
    for one in sent:
        if one.partial and one.turn.id not in known:
            kept[one.turn.id] = {
                "role": one.turn.role,
                "speaker": one.turn.speaker,
                "at": one.turn.at,
                "text": one.turn.text,
            }
        elif not one.partial:
            kept.pop(one.turn.id, None)
    if kept == before:
        return
    if kept.keys() - {""}:
        kept[""] = {"session": session_key(session), "scope": scope or ""}  # the name of the file does not tell them
        replace_file(path, json.dumps(kept, ensure_ascii=False).encode())
    else:
        path.unlink(missing_ok=True)

"""The end of a conversation: what its turns say by rule becomes candidates.

Knows nothing of the rules and of who decides.
"""

from __future__ import annotations

from grail_mem.errors import InputError
from grail_mem.query.passages import in_session
from grail_mem.query.view import View
from grail_mem.write.candidates import Submitted, submit
from grail_mem.write.extraction import extract


def finish(view: View, session: str, *, actor: str) -> list[Submitted]:
    """Submit what the turns of a session say; a draft that cannot be used is left out, and the others stay.

    Args:
        view: The store.
        session: The conversation.
        actor: Who stands in the ledger.
    """
    view.catch_up()
    scope = view.principal.private if view.principal is not None else None
    drafts = [one.draft(session=session) for one in extract(in_session(view, session, scope))]
    done: list[Submitted] = []
    for draft in drafts:
        try:
            done += submit(view, [draft], origin="extraction", actor=actor)
        except InputError:  # its quote does not bear it out, or the settings refuse what it holds
            continue
    return done

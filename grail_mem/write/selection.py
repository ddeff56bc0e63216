"""Which observations a verb means that takes some away: whole ids, or everything of one source, session, speaker, person or scope.

Nothing is ever guessed: a word that is no whole id, and conditions that nothing meets, are errors. Knows nothing of what is
done with them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from typing import Final

from grail_mem.errors import InputError, NotFoundError
from grail_mem.model.names import clean_text, entity_key, session_key
from grail_mem.model.observation import Evidence, Observation
from grail_mem.model.scope import clean_id, clean_scope
from grail_mem.model.ulid import is_id
from grail_mem.query.view import View
from grail_mem.store.sources import Locator, Turn, is_chat, parse_locator, part_path, stem_of

_BATCH: Final = 1_000
_SHOWN: Final = 5


@dataclass(frozen=True, slots=True)
class Selection:
    """What observations have to be to be meant; what is None is not asked for, and all that is given must hold.

    Attributes:
        ids: One of these.
        source: Its source, or that of some of its evidence, up to a `#`.
        session: Its session.
        speaker: Who said it.
        user: Its scope is `user:ID` or `agent:…/ID` of this person.
        scope: Its scope, the store's default for a file that names none.
    """

    ids: tuple[str, ...] | None = None
    source: str | None = None
    session: str | None = None
    speaker: str | None = None
    user: str | None = None
    scope: str | None = None

    def holds(self, o: Observation, default_scope: str) -> bool:
        """Whether an observation is meant."""
        scope = o.scope or default_scope
        return (
            (self.ids is None or o.id in self.ids)
            and (self.source is None or self.source in _sources(o))
            and (self.session is None or (o.session is not None and session_key(o.session) == self.session))
            and (self.speaker is None or (o.speaker is not None and entity_key(o.speaker) == self.speaker))
            and self.holds_scope(scope)
        )

    def names(self, source: str) -> bool:
        """Whether a source is meant that an observation gives in a field of its own."""
        return self.source is not None and self.source in _names(source)

    def holds_scope(self, scope: str) -> bool:
        """Whether a scope is meant."""
        return (self.user is None or _user_in(scope) == self.user) and (self.scope is None or scope == self.scope)

    def holds_turn(self, turn: Turn, session: str, scope: str) -> bool:
        """Whether a turn of a transcript is meant, by the same conditions; ids mean observations alone."""
        return (
            self.ids is None
            and (self.source is None or self.source in source_names(turn.locator))
            and (self.session is None or session == self.session)
            and (self.speaker is None or entity_key(turn.speaker) == self.speaker)
            and self.holds_scope(scope)
        )

    def holds_document(self, path: str, scope: str) -> bool:
        """Whether what a scope holds of a document is meant; a document has no session and no speaker."""
        return (
            self.ids is None
            and (self.source is None or self.source == path)
            and (self.session, self.speaker) == (None, None)
            and self.holds_scope(scope)
        )

    @property
    def said(self) -> str:
        """The conditions in words."""
        given = [(item.name, getattr(self, item.name)) for item in fields(self) if getattr(self, item.name) is not None]
        return ", ".join(f"{name} {', '.join(value) if isinstance(value, tuple) else value}" for name, value in given)


def make_selection(
    view: View,
    ids: str | Iterable[str] | None = None,
    *,
    source: str | None = None,
    session: str | None = None,
    speaker: str | None = None,
    user: str | None = None,
    scope: str | None = None,
) -> Selection:
    """A selection from what a caller gave.

    Raises:
        InputError: Nothing was given, or something that cannot be used; `problems` lists every reason.
        NotFoundError: A word is no whole id; the message names observations that it may mean.
    """
    given = {"source": source, "session": session, "speaker": speaker, "user": user, "scope": scope}
    problems = [
        f"{name} must be text, not {value!r}."
        for name, value in given.items()
        if value is not None and (not isinstance(value, str) or not value.strip())
    ]
    named = None if ids is None else [ids] if isinstance(ids, str) else list(ids)
    if named is not None and (not named or not all(isinstance(word, str) and word.strip() for word in named)):
        problems.append("ids must name at least one observation.")
    if named is None and not any(value is not None for value in given.values()):
        problems.append("Say which observations: ids, source, session, speaker, user or scope.")
    if not problems:
        for name, value, check in (("user", user, clean_id), ("scope", scope, lambda v, _: clean_scope(v))):
            try:
                if value is not None:
                    check(value, name)
            except InputError as error:
                problems.append(str(error))
    if problems:
        raise InputError("Nothing was changed. " + " ".join(problems), problems=problems)
    return Selection(
        None if named is None else tuple(dict.fromkeys(_whole_ids(view, named))),
        None if source is None else clean_text(source)[0],
        None if session is None else session_key(session),
        None if speaker is None else entity_key(speaker),
        user,
        scope,
    )


def selected(view: View, selection: Selection, *, may_be_none: bool = False) -> list[str]:
    """The ids of what is meant, hidden ones included, in order.

    What the caller may not read is passed over as if it were not there.

    Args:
        view: The store.
        selection: What is meant.
        may_be_none: Whether it is no error when nothing is as asked for.

    Raises:
        NotFoundError: An id is not there, or nothing is as asked for.
    """
    default, access = view.access.default_scope, view.access
    if selection.ids is not None and selection == Selection(selection.ids):
        found = list(selection.ids)
    else:
        found = [o.id for o in everything(view) if access.may("read", o.scope) and selection.holds(o, default)]
    if not found and not may_be_none:
        raise nothing_with(selection)
    return sorted(found)


def nothing_with(selection: Selection) -> NotFoundError:
    """The error for conditions that nothing meets."""
    return NotFoundError(f"There is no observation with {selection.said}.", hint="`grail list` shows what is there.")


def source_names(locator: Locator) -> tuple[str, ...]:
    """By what names a place in the sources is meant: as it is, without the turn, and by the first file of a transcript."""
    first = locator._replace(path=part_path(stem_of(locator.path), 1)) if is_chat(locator.path) else locator
    return tuple(dict.fromkeys(str(one) for at in (locator, first) for one in (at, at._replace(turn=None))))


def everything(view: View) -> Iterator[Observation]:
    """Every observation, hidden ones included; the view must be up to date."""
    reader = view.reader
    rids = [rid for rid in range(view.manifest.n_rows) if rid not in view.delta.dead] if reader is not None else []
    for start in range(0, len(rids), _BATCH):
        yield from reader.observations(rids[start : start + _BATCH]) if reader else ()
    yield from (row.observation for row in list(view.delta.rows.values()))


def _whole_ids(view: View, words: Iterable[str]) -> Iterator[str]:
    problems: list[str] = []
    for word in words:
        text = word.strip().upper()
        if is_id(text):
            yield text
        else:
            problems.append(_no_id(view, word.strip()))
    if problems:
        raise NotFoundError(" ".join(problems), hint="Name each by its whole id, 26 characters.")


def _no_id(view: View, word: str) -> str:
    """That a word is no whole id, with what it may mean."""
    view.refresh()
    key = entity_key(word)
    near = [
        f"{o.id} ({o.title})"
        for o in everything(view)
        if view.access.may("read", o.scope) and (o.id.endswith(word.upper()) or key in entity_key(o.title))
    ]
    shown = f" It may mean {', '.join(near[:_SHOWN])}{' or others' if len(near) > _SHOWN else ''}." if near else ""
    return f"{word!r} is no whole id.{shown}"


def _sources(o: Observation) -> set[str]:
    named = [text for text in (o.source, *(item.source for item in o.evidence)) if text]
    return {text for name in named for text in _names(name)}


def names_of_evidence(evidence: Evidence) -> set[str]:
    """By what names the source of a quote is meant."""
    return _names(evidence.source)


def _names(source: str) -> set[str]:
    locator = parse_locator(source)
    names = {clean_text(text)[0] for text in (source, source.partition("#")[0])}
    return names if locator is None else names.union(source_names(locator))


def _user_in(scope: str) -> str:
    kind, _, id_ = scope.partition(":")
    return id_ if kind == "user" else id_.partition("/")[2] if kind == "agent" else ""

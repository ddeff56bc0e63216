"""What every page shares: the store, the templates, what the last form came to, and work beside the pages.

Knows nothing of single pages.
"""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode, urlsplit

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from grail_mem.errors import AccessError, GrailError
from grail_mem.memory import Memory
from grail_mem.memory.session import Session
from grail_mem.review_page import words
from grail_mem.review_page.guard import Keys, read_form
from grail_mem.review_page.markdown import rendered
from grail_mem.review_page.work import Work

HERE: Final = Path(__file__).parent
_MOST_DRAWN: Final = 32
"""Parts of pages that are kept while the store stays as it is; the largest are some 200 KB."""
_MOST_SAID: Final = 50
"""What forms came to that is kept for the page after them."""
THEMES: Final = ("auto", "light", "dark")
THEME_COOKIE: Final = "grail_review_theme"


@dataclass(frozen=True, slots=True)
class Said:
    """What a form came to, told on the next page.

    Attributes:
        text: One sentence.
        lines: More of it, such as reasons.
        tone: `good`, `mixed` or `bad`.
        undo: The address and fields of a form that takes it back; None when nothing does.
        undo_label: What its button says.
    """

    text: str
    lines: tuple[str, ...] = ()
    tone: str = "good"
    undo: tuple[str, Mapping[str, Sequence[str]]] | None = None
    undo_label: str = "Undo"


@dataclass(frozen=True, slots=True)
class Form:
    """The fields of a form that was sent."""

    fields: Mapping[str, list[str]]

    def one(self, name: str, default: str = "") -> str:
        """The value of a field, without spaces around it."""
        return self.fields.get(name, [default])[0].strip()

    def all(self, name: str) -> list[str]:
        """All values of a field."""
        return [value.strip() for value in self.fields.get(name, []) if value.strip()]


@dataclass(slots=True)
class Site:
    """One running page.

    Attributes:
        store: The store as its owner, or as a session sees it.
        keys: The secrets of this run.
        is_read_only: Whether forms are refused.
        work: What runs beside the pages.
    """

    store: Memory | Session
    keys: Keys
    is_read_only: bool = False
    work: Work = field(default_factory=Work)
    _drawn: OrderedDict[tuple[str, ...], Markup] = field(default_factory=OrderedDict)
    _drawn_of: tuple[object, ...] = ()
    _said: OrderedDict[str, Said] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _templates: Environment = field(init=False)

    def __post_init__(self) -> None:
        """Make the templates ready."""
        self._templates = Environment(
            loader=FileSystemLoader(HERE / "templates"), autoescape=True, undefined=StrictUndefined,
            finalize=words.visible, trim_blocks=True, lstrip_blocks=True,
        )  # fmt: skip
        self._templates.globals |= {
            "raw": words.raw, "counted": words.counted, "markdown": rendered, "with_query": with_query,
        }  # fmt: skip
        self._templates.filters |= {
            "when": words.when, "day": words.day, "label": words.label, "cut": words.cut, "size": words.size,
        }  # fmt: skip

    @property
    def owner(self) -> Memory | None:
        """The store as its owner; None for a session."""
        return self.store if isinstance(self.store, Memory) else None

    @property
    def seen_by(self) -> str:
        """Whose view this is; empty for the owner's."""
        return "" if isinstance(self.store, Memory) else self.store.principal.private

    @property
    def rights(self) -> Mapping[str, frozenset[str]]:
        """By scope what may be done there, for a session; the owner may do everything."""
        return {} if isinstance(self.store, Memory) else self.store.rights

    def page(self, request: Request, template: str, *, here: str, code: int = 200, **values: Any) -> Response:
        """A page from a template.

        Args:
            request: What was asked.
            template: Its file.
            here: Which part of the navigation it belongs to.
            code: The status of the answer.
            **values: What the template shows.
        """
        theme = request.cookies.get(THEME_COOKIE, "auto")
        common = {
            "here": here, "store_name": self.store.root.name, "seen_by": self.seen_by, "read_only": self.is_read_only,
            "csrf": self.keys.csrf, "theme": theme if theme in THEMES else "auto", "said": self._take(request),
            "address": _address(request), "is_owner": self.owner is not None,
            "running": self.work.running,
        }  # fmt: skip
        made = self._templates.get_template(template).render(common | values)
        return HTMLResponse(made, code)

    def drawn(self, key: tuple[str, ...], template: str, make: Callable[[], Mapping[str, Any]]) -> Markup:
        """A part of a page, kept while the store stays as it is.

        Args:
            key: What it shows.
            template: Its file, which may use nothing but the values made for it.
            make: Gives the values.
        """
        state = self.store.state
        with self._lock:
            if self._drawn_of != state:
                self._drawn_of = state
                self._drawn.clear()
            if key in self._drawn:
                self._drawn.move_to_end(key)
                return self._drawn[key]
        made = Markup(self._templates.get_template(template).render(make()))  # noqa: S704  a template of ours, which escapes
        with self._lock:
            if self._drawn_of == state:  # else it changed meanwhile
                self._drawn[key] = made
                while len(self._drawn) > _MOST_DRAWN:
                    self._drawn.popitem(last=False)
        return made

    def back(self, form: Form, said: Said, *, to: str = "/") -> Response:
        """Lead back to where a form was sent from, with what it came to."""
        key = secrets.token_urlsafe(9)
        with self._lock:
            self._said[key] = said
            while len(self._said) > _MOST_SAID:
                self._said.popitem(last=False)
        where = own_path(form.one("back"), to)
        fragment = form.one("then")
        behind = f"#{fragment}" if fragment.replace("-", "").isalnum() else ""
        return RedirectResponse(with_query(where, said=key) + behind, 303)

    def _take(self, request: Request) -> Said | None:
        with self._lock:
            return self._said.pop(request.query_params.get("said", ""), None)


def shown_page(site: Site, respond: Callable[[Site, Request], Response]) -> Callable[[Request], Awaitable[Response]]:
    """An endpoint that shows a page; it is made in a thread, since the store may take a while."""

    async def endpoint(request: Request) -> Response:
        return await run_in_threadpool(_careful, lambda: respond(site, request))

    return endpoint


def taken_form(
    site: Site, act: Callable[[Site, Request, Form], Response], *, changes: bool = True
) -> Callable[[Request], Awaitable[Response]]:
    """An endpoint that takes a form of the page: the one way in which anything is changed.

    Args:
        site: The page.
        act: Does what the form asks.
        changes: Whether it changes the store, which a page that only reads refuses.
    """

    async def endpoint(request: Request) -> Response:
        form = Form(await read_form(request, site.keys.csrf))
        if changes and site.is_read_only:
            raise AccessError("This page was opened to read only.", hint="Start `grail review` without --read-only.")
        return await run_in_threadpool(_careful, lambda: act(site, request, form))

    return endpoint


class UnexpectedError(Exception):
    """A fault of the page or of the machine, by the name of its kind alone: what it says may hold what is stored."""


def _careful(respond: Callable[[], Response]) -> Response:
    try:
        return respond()
    except GrailError:
        raise
    except Exception as error:  # noqa: BLE001  the last boundary: no traceback with stored text in a log
        raise UnexpectedError(type(error).__name__) from None


def own_path(text: str, otherwise: str) -> str:
    """A path of this page, or another when the text leads elsewhere."""
    try:
        parts = urlsplit(text)
    except ValueError:
        return otherwise
    is_own = not parts.scheme and not parts.netloc and text.startswith("/") and not text.startswith("//")
    return text.partition("#")[0] if is_own and "\\" not in text and text.isprintable() else otherwise


def with_query(address: str, **fields: object) -> str:
    """An address with fields set in its query; None takes one out."""
    parts = urlsplit(address)
    kept = [(name, value) for name, value in parse_qsl(parts.query, keep_blank_values=True) if name not in fields]
    query = urlencode([*kept, *((name, value) for name, value in fields.items() if value is not None)])
    return f"{parts.path or '/'}{'?' if query else ''}{query}"


def _address(request: Request) -> str:
    """Where this page is, without what was told on it."""
    query = f"?{request.url.query}" if request.url.query else ""
    return with_query(f"{request.url.path}{query}", said=None)

"""The page as one application: its addresses, and how errors are answered.

Knows nothing of what serves it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from grail_mem.errors import AccessError, ConflictError, GrailError, InputError, NotFoundError
from grail_mem.memory import Memory
from grail_mem.memory.session import Session
from grail_mem.review_page import browse, candidates, graph, health, observation, proposals, timeline, trace
from grail_mem.review_page.guard import Guard, Keys, RefusedError
from grail_mem.review_page.site import (
    HERE,
    THEME_COOKIE,
    THEMES,
    Form,
    Site,
    UnexpectedError,
    own_path,
    shown_page,
    taken_form,
)

_LOG: Final = logging.getLogger("grail_mem")
_A_YEAR_S: Final = 31_536_000
_STATUS: Final = ((NotFoundError, 404), (AccessError, 403), (InputError, 400), (ConflictError, 409))

PAGES: Final = {
    "/proposals": proposals.show_proposals, "/proposals/confirm": proposals.confirm_proposals,
    "/proposals/{id}": proposals.show_proposal, "/candidates": candidates.show_candidates,
    "/observations": browse.show_observations, "/observations/{id}": observation.show_observation,
    "/observations/{id}/text": observation.show_source, "/communities": browse.show_communities,
    "/entities": browse.show_entities, "/graph": graph.show_graph, "/timeline": timeline.show_timeline,
    "/search": trace.show_search, "/health": health.show_health, "/log": health.show_log,
}  # fmt: skip
"""What is shown, by address."""
FORMS: Final = {
    "/proposals/decide": proposals.decide_proposals, "/proposals/look": proposals.start_consolidation,
    "/candidates/decide": candidates.decide_candidates, "/candidates/submit": candidates.submit_candidate,
    "/observations/{id}/act": observation.act_on_observation, "/observations/{id}/revise": observation.revise_observation,
}  # fmt: skip
"""What changes the store, by address."""


def make_app(store: Memory | Session, keys: Keys, *, is_read_only: bool = False) -> Starlette:
    """The review page over a store.

    Args:
        store: The store as its owner, or as a session sees it.
        keys: The secrets of this run.
        is_read_only: Refuse every form that changes something.
    """
    site = Site(store, keys, is_read_only)
    routes = [
        Route("/", _first, methods=["GET"]),
        Route("/work", shown_page(site, _work), methods=["GET"]),
        Mount("/static", StaticFiles(directory=HERE / "static")),
        *(Route(path, taken_form(site, act), methods=["POST"]) for path, act in FORMS.items()),
        Route("/health/check", taken_form(site, health.start_check, changes=False), methods=["POST"]),
        Route("/theme", taken_form(site, _choose_theme, changes=False), methods=["POST"]),
        *(Route(path, shown_page(site, show), methods=["GET"]) for path, show in PAGES.items()),
    ]
    handlers: dict[Any, Callable[..., Any]] = {
        GrailError: _told(site), RefusedError: _refused(site), HTTPException: _missing(site),
        UnexpectedError: _unexpected(site),
    }  # fmt: skip
    app = Starlette(routes=routes, exception_handlers=handlers, middleware=[Middleware(Guard, keys=keys)])
    app.state.site = site
    return app


async def _first(request: Request) -> Response:  # noqa: ARG001  the framework's signature
    return RedirectResponse("/proposals", 303)


def _work(site: Site, request: Request) -> Response:  # noqa: ARG001  as every page is made
    """How far the work beside the pages is, for the script that shows it."""
    now = site.work.running
    if now is None:
        return JSONResponse({"running": False})
    return JSONResponse({"running": True, "stage": now.stage, "done": now.done, "total": now.total})


def _choose_theme(site: Site, request: Request, form: Form) -> Response:  # noqa: ARG001  as every form is taken
    theme = form.one("theme") if form.one("theme") in THEMES else THEMES[0]
    made = RedirectResponse(own_path(form.one("back"), "/"), 303)
    made.set_cookie(THEME_COOKIE, theme, max_age=_A_YEAR_S, httponly=True, samesite="strict")
    return made


# -- errors ------------------------------------------------------------------------------------------------------------


def _told(site: Site) -> Callable[[Request, GrailError], Response]:
    def respond(request: Request, error: GrailError) -> Response:
        status = next((number for kind, number in _STATUS if isinstance(error, kind)), 500)
        if status == 404:  # noqa: PLR2004  what is not there and what may not be seen answer alike
            return _nothing(site, request)
        several = isinstance(error, InputError) and len(error.problems) > 1
        problems = error.problems if several and isinstance(error, InputError) else ()
        title = {403: "This is not permitted", 400: "This cannot be used", 409: "Something else came first"}
        return site.page(
            request, "error.html", here="", code=status, title=title.get(status, "The store cannot be read or written"),
            message="" if several else error.message, hint=error.hint, problems=problems,
        )  # fmt: skip

    return respond


def _refused(site: Site) -> Callable[[Request, RefusedError], Response]:
    def respond(request: Request, error: RefusedError) -> Response:
        return site.page(
            request, "error.html", here="", code=error.status, title="This form was not taken", message=error.why, hint="",
            problems=(),
        )  # fmt: skip

    return respond


def _missing(site: Site) -> Callable[[Request, HTTPException], Response]:
    def respond(request: Request, error: HTTPException) -> Response:
        if error.status_code != 404:  # noqa: PLR2004  such as a method that an address does not take
            return Response(f"{error.detail}\n", error.status_code, media_type="text/plain")
        return _nothing(site, request)

    return respond


def _nothing(site: Site, request: Request) -> Response:
    return site.page(request, "missing.html", here="", code=404, address="/")


def _unexpected(site: Site) -> Callable[[Request, UnexpectedError], Response]:
    def respond(request: Request, error: UnexpectedError) -> Response:
        _LOG.error("The review page met a %s.", error)
        return site.page(
            request, "error.html", here="", code=500, title="Something unexpected happened",
            message=f"This is a fault of grail_mem or of the machine ({error}).", hint="", problems=(),
        )  # fmt: skip

    return respond

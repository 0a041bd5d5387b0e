"""Site: which page answers which address."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse
from starlette.routing import Mount, Route, Router
from starlette.staticfiles import StaticFiles

from ragforge.errors import InputError, NotFound, RagForgeError, StoreError
from ragforge.web import api
from ragforge.web.code_pages import show_changes, show_code
from ragforge.web.context_pages import show_playground, show_receipt
from ragforge.web.forms import read_form
from ragforge.web.graph_pages import show_graph
from ragforge.web.guard import COOKIE, BodyTooLong, Guard
from ragforge.web.project_pages import show_map, show_timeline
from ragforge.web.render import render
from ragforge.web.search_pages import show_search
from ragforge.web.session_pages import (
    delete_session,
    export_session,
    show_session,
    show_sessions,
)
from ragforge.web.store_pages import (
    ask_forget,
    forget_code,
    forget_note,
    forget_project,
    retry_jobs,
    show_notes,
    show_store,
)

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp

    from ragforge.app import App
    from ragforge.web.access import Access

log = logging.getLogger(__name__)

ASSETS = Path(__file__).parent / "assets"


def build_site(app: App, access: Access) -> ASGIApp:
    """Return the page over an application, behind its guard."""
    routes = [
        Route("/", show_home),
        Route("/enter", enter, methods=["GET", "POST"]),
        Route("/sessions", show_sessions),
        Route("/sessions/{id}", show_session),
        Route("/sessions/{id}/export", export_session),
        Route("/sessions/{id}/delete", delete_session, methods=["POST"]),
        Route("/sessions/{id}/receipt", show_receipt),
        Route("/search", show_search),
        Route("/context", show_playground),
        Route("/code", show_code),
        Route("/code/changes", show_changes),
        Route("/timeline", show_timeline),
        Route("/map", show_map),
        Route("/graph", show_graph),
        Route("/store", show_store),
        Route("/store/retry", retry_jobs, methods=["POST"]),
        Route("/store/forget", ask_forget),
        Route("/store/forget", forget_project, methods=["POST"]),
        Route("/store/forget-code", forget_code, methods=["POST"]),
        Route("/notes", show_notes),
        Route("/notes/{id}/forget", forget_note, methods=["POST"]),
        Route("/api/sessions", api.list_sessions),
        Route("/api/sessions/{id}", api.load_session),
        Route("/api/sessions/{id}/receipt", api.load_receipt),
        Route("/api/search", api.search_all),
        Route("/api/context", api.show_context),
        Route("/api/code", api.show_code),
        Route("/api/graph", api.show_graph),
        Route("/api/store", api.show_store),
        Route("/api/jobs", api.list_jobs),
        Mount("/assets", StaticFiles(directory=ASSETS)),
    ]
    site = Starlette(
        routes=[Mount(access.base, app=Router(routes, redirect_slashes=False))],
        exception_handlers={
            HTTPException: show_http_error,
            BodyTooLong: refuse_body,
            RagForgeError: show_failure,
            Exception: show_crash,
        },
    )
    site.state.app = app
    site.state.access = access
    return Guard(site, access)  # outside of all: error pages get its headers too


async def show_home(request: Request) -> Response:
    """Show the first page: the search, with the latest sessions."""
    return RedirectResponse(f"{request.app.state.access.base}/search", 303)


async def enter(request: Request) -> Response:
    """Let somebody in who has the token of the address, or the password."""
    access: Access = request.app.state.access
    is_form = request.method == "POST"
    if is_form:
        is_right = access.check_password((await read_form(request)).get("password", ""))
    else:
        is_right = access.use_token(request.query_params.get("token", ""))
    if not is_right:
        asks = access.password is not None
        return render(request, "enter.html", 403, asks=asks, was_wrong=is_form)
    response = RedirectResponse(f"{access.base}/", 303)
    response.set_cookie(COOKIE, access.key, path=access.base, httponly=True, samesite="strict")
    return response


async def show_http_error(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    sentence = "There is no such page." if status == 404 else "Something went wrong."
    return _show_error(request, status, sentence)


async def show_failure(request: Request, error: Exception) -> Response:
    """Show what the application says; a store that went away is asked again next time."""
    if isinstance(error, InputError | NotFound):
        return _show_error(request, 404, "There is no such page.", str(error))
    if isinstance(error, StoreError):
        log.warning("The store failed: %s", error)
        sentence = "The store cannot be reached. Try again in a moment."
        return _show_error(request, 503, sentence, str(error))
    return _show_error(request, 500, "Something went wrong.", str(error))


async def refuse_body(request: Request, error: Exception) -> Response:
    return PlainTextResponse("That is too much at once.\n", 413)


async def show_crash(request: Request, error: Exception) -> Response:
    """Show that something is broken; the log says where."""
    log.error("The page failed", exc_info=error)
    return _show_error(request, 500, "Something went wrong.")


def _show_error(request: Request, status: int, sentence: str, detail: str = "") -> Response:
    """Return a page that says what is wrong, or JSON for a script."""
    if request.url.path.startswith(f"{request.app.state.access.base}/api/"):
        return JSONResponse({"error": detail or sentence}, status)
    return render(request, "error.html", status, sentence=sentence, detail=detail)

"""Site: which page answers which address."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import cookie_parser
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Mount, Route, Router
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ragforge.errors import InputError, NotFound, RagForgeError, StoreError
from ragforge.web import api, store_pages
from ragforge.web.access import Access
from ragforge.web.code_pages import show_changes, show_code, show_graph
from ragforge.web.context_pages import show_playground, show_receipt
from ragforge.web.forms import go_to, read_form
from ragforge.web.language import choose_language, translate
from ragforge.web.project_pages import show_map, show_timeline, show_today
from ragforge.web.render import load_templates, render
from ragforge.web.search_pages import show_search
from ragforge.web.session_pages import delete_session, export_session, show_session, show_sessions
from ragforge.web.usage_pages import show_usage

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from ragforge.app import App

log = logging.getLogger(__name__)

ASSETS = Path(__file__).parent / "assets"

COOKIE = "ragforge"
MAX_QUERY = 4_096
MAX_BODY = 65_536
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
_OPEN = ("/enter", "/assets/")
"""What is served without the cookie: the way in, and files that everybody can install."""


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
        Route("/store", store_pages.show_store),
        Route("/store/check", store_pages.check_store, methods=["POST"]),
        Route("/store/retry", store_pages.retry_jobs, methods=["POST"]),
        Route("/store/forget", store_pages.ask_forget),
        Route("/store/forget", store_pages.forget_project, methods=["POST"]),
        Route("/store/forget-code", store_pages.forget_code, methods=["POST"]),
        Route("/usage", show_usage),
        Route("/today", show_today),
        Route("/notes", store_pages.show_notes),
        Route("/notes/review", store_pages.decide_correction, methods=["POST"]),
        Route("/notes/{id}/forget", store_pages.forget_note, methods=["POST"]),
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
    return go_to(request, "/search")


async def enter(request: Request) -> Response:
    """Accept a user who has the token of the address, or the password."""
    access: Access = request.app.state.access
    is_form = request.method == "POST"
    if is_form:
        is_right = access.check_password((await read_form(request)).get("password", ""))
    else:
        is_right = access.use_token(request.query_params.get("token", ""))
    if not is_right:
        asks = access.password is not None
        return render(request, "enter.html", 403, asks=asks, was_wrong=is_form)
    response = go_to(request, "/")
    response.set_cookie(COOKIE, access.key, path=access.base, httponly=True, samesite="strict")
    return response


async def show_http_error(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    sentence = "This page does not exist." if status == 404 else "Something went wrong."
    return _show_error(request, status, sentence)


async def show_failure(request: Request, error: Exception) -> Response:
    """Show what the application says; a store that went away is asked again next time."""
    if isinstance(error, InputError | NotFound):
        return _show_error(request, 404, "This page does not exist.", str(error))
    if isinstance(error, StoreError):
        log.warning("The store failed: %s", error)
        sentence = "The store cannot be reached. Try again in a moment."
        return _show_error(request, 503, sentence, str(error))
    return _show_error(request, 500, "Something went wrong.", str(error))


async def refuse_body(request: Request, error: Exception) -> Response:
    return PlainTextResponse("The request is too large.\n", 413)


async def show_crash(request: Request, error: Exception) -> Response:
    """Show that something is broken; the log says where."""
    log.error("The page failed", exc_info=error)
    return _show_error(request, 500, "Something went wrong.")


def _show_error(request: Request, status: int, sentence: str, detail: str = "") -> Response:
    """Return a page that says what is wrong, or JSON for a script."""
    if request.url.path.startswith(f"{request.app.state.access.base}/api/"):
        return JSONResponse({"error": detail or sentence}, status)
    return render(request, "error.html", status, sentence=sentence, detail=detail)


class Guard:
    """Refuses requests that do not come from the user's own page."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self.app = app
        self.access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":  # there are no web sockets here
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
            await send(message)

        refused = self._find_fault(scope)
        if refused is not None:
            await _refuse(scope, send_with_headers, *refused)
            return
        await self.app(scope, _limit(receive), send_with_headers)

    def _find_fault(self, scope: Scope) -> tuple[int, str] | None:
        """Return the status and a sentence if a request must not be answered."""
        headers, path = Headers(scope=scope), scope["path"]
        host = headers.get("host", "")
        if not self.access.is_known_host(host):
            return (
                421,
                "This host name is not allowed. Use the address that `ragforge web` printed.",
            )
        origin = headers.get("origin")
        if origin is not None and not self.access.is_own_origin(origin, host):
            return 403, "The request came from another site and was refused."
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return 403, "The request came from another site and was refused."
        if len(scope["query_string"]) > MAX_QUERY:
            return 414, "The address is too long."
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > MAX_BODY:
            return 413, "The request is too large."
        base = self.access.base
        if path != base and not path.startswith(f"{base}/"):
            return 404, "This page does not exist. Open the address that `ragforge web` printed."
        if path.removeprefix(base).startswith(_OPEN):
            return None
        given = cookie_parser(headers.get("cookie", "")).get(COOKIE, "")
        if not self.access.is_cookie(given):
            return 403, "Open this page with the address that `ragforge web` printed."
        return None


class BodyTooLong(Exception):
    """A client sends more than any form of ours holds."""


def _limit(receive: Receive) -> Receive:
    """Return what reads a body, up to a limit: its length need not be announced."""
    total = 0

    async def read() -> Message:
        nonlocal total
        message = await receive()
        total += len(message.get("body", b""))
        if total > MAX_BODY:
            raise BodyTooLong
        return message

    return read


async def _refuse(scope: Scope, send: Send, status: int, sentence: str) -> None:
    """Answer with a sentence: as a page for a browser, otherwise as text."""
    request = Headers(scope=scope)
    language = choose_language(request.get("accept-language", ""))
    kind, text = "plain", f"{translate(sentence, language)}\n"
    if "text/html" in request.get("accept", ""):
        page = load_templates().get_template("refused.html")
        kind, text = "html", page.render(language=language, sentence=text.strip())
    body = text.encode()
    headers = [
        (b"content-type", f"text/{kind}; charset=utf-8".encode()),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),  # what was not read of the request is dropped
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    empty = scope["method"] == "HEAD"
    await send({"type": "http.response.body", "body": b"" if empty else body})

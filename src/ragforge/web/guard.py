"""Guard: what stands before every request, and the headers of every response."""

from __future__ import annotations

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ragforge.web.access import Access

COOKIE = "ragforge"
MOST_QUERY = 4_096
MOST_BODY = 65_536
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
        if not self.access.is_called_so(host):
            return 421, "This page does not answer under that name."
        origin = headers.get("origin")
        if origin is not None and not self.access.is_own_origin(origin, host):
            return 403, "Another page sent this request."
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return 403, "Another page sent this request."
        if len(scope["query_string"]) > MOST_QUERY:
            return 414, "The address is too long."
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > MOST_BODY:
            return 413, "That is too much at once."
        base = self.access.base
        if path != base and not path.startswith(f"{base}/"):
            return 404, "There is nothing here. Open the address that the terminal shows."
        if path.removeprefix(base).startswith(_OPEN):
            return None
        given = cookie_parser(headers.get("cookie", "")).get(COOKIE, "")
        if not self.access.is_cookie(given):
            return 403, "Open this page with the address that `ragforge web` shows."
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
        if total > MOST_BODY:
            raise BodyTooLong
        return message

    return read


async def _refuse(scope: Scope, send: Send, status: int, sentence: str) -> None:
    body = f"{sentence}\n".encode()
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),  # what was not read of the request is dropped
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    empty = scope["method"] == "HEAD"
    await send({"type": "http.response.body", "body": b"" if empty else body})

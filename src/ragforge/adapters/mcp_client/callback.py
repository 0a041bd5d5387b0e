"""Callback: a page on this machine to which a browser returns after a login."""

from __future__ import annotations

import asyncio
from html import escape
from types import TracebackType
from urllib.parse import parse_qs, urlsplit

from mcp.client.auth import OAuthFlowError
from mcp.shared.auth import AuthorizationCodeResult

PATH = "/callback"
MAX_HEAD = 16_384
_PAGE = "<!doctype html><meta charset=utf-8><title>RagForge</title><p>{}</p>"
_DONE = "You can close this page. The terminal says whether the login succeeded."


class CallbackServer:
    """Waits for one redirect of a browser; others are refused."""

    def __init__(self) -> None:
        self._server: asyncio.Server | None = None
        self._state: str | None = None
        self._answer: asyncio.Future[AuthorizationCodeResult] | None = None

    @property
    def address(self) -> str:
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}{PATH}"

    async def __aenter__(self) -> CallbackServer:
        self._answer = asyncio.get_running_loop().create_future()
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=MAX_HEAD)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._server is not None
        self._server.close()

    def expect(self, address: str) -> None:
        """Take only the redirect that belongs to the address of a login page."""
        self._state = parse_qs(urlsplit(address).query).get("state", [""])[0]

    async def wait(self) -> AuthorizationCodeResult:
        """Return what the login page sends. Raises OAuthFlowError if it refuses the login."""
        assert self._answer is not None
        return await self._answer

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            status, text = self._take(head.split(" ", 2)[1])
            page = _PAGE.format(escape(text)).encode()
            writer.write(
                f"HTTP/1.1 {status}\r\nContent-Type: text/html\r\n"
                f"Content-Length: {len(page)}\r\nConnection: close\r\n\r\n".encode()
                + page
            )
            await writer.drain()
        except (OSError, IndexError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # not a browser that comes back from a login
        finally:
            writer.close()

    def _take(self, target: str) -> tuple[str, str]:
        """Return the status and the text for a request."""
        parts = urlsplit(target)
        given = {key: values[0] for key, values in parse_qs(parts.query).items()}
        if parts.path != PATH or not self._state or given.get("state") != self._state:
            return "404 Not Found", "This is not the page of a login."
        assert self._answer is not None
        if self._answer.done():
            return "410 Gone", "This login has ended."
        if "code" not in given:
            why = given.get("error_description") or given.get("error") or "no reason is given"
            self._answer.set_exception(OAuthFlowError(f"the login was refused: {why}"))
            return "200 OK", f"The login was refused: {why}"
        self._answer.set_result(
            AuthorizationCodeResult(code=given["code"], state=given["state"], iss=given.get("iss"))
        )
        return "200 OK", _DONE

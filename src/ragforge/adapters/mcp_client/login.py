"""Login: OAuth with a server on the web, the page to which it returns, and what it returned."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from html import escape
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp.client.auth import OAuthClientProvider, OAuthFlowError
from mcp.client.auth.oauth2 import OAuthContext
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)
from pydantic import AnyUrl, BaseModel, ValidationError

from ragforge.domain.mcp_client import ServerSpec
from ragforge.errors import ServerError
from ragforge.ports.mcp_client import LoginStore

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

    async def __aexit__(self, *_: object) -> None:
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


CLIENT_NAME = "RagForge"
_HERE = ("127.0.0.1", "localhost", "::1")

ShowAddress = Callable[[str], Awaitable[None]]


class SavedLogin(BaseModel):
    """What is kept of a login: its tokens, and what renews them."""

    tokens: OAuthToken
    client: OAuthClientInformationFull
    metadata: OAuthMetadata | None = None
    resource: ProtectedResourceMetadata | None = None
    issuer: str | None = None
    expires_at: float | None = None


class _Storage:
    """Keeps the tokens of one server, as the SDK wants it."""

    def __init__(self, logins: LoginStore, url: str, saved: SavedLogin | None) -> None:
        self._logins = logins
        self._url = url
        self.saved = saved
        self.context: OAuthContext | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return None if self.saved is None else self.saved.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        context = self.context
        if context is None or context.client_info is None:
            return
        self.saved = SavedLogin(
            tokens=tokens,
            client=context.client_info,
            metadata=context.oauth_metadata,
            resource=context.protected_resource_metadata,
            issuer=context.auth_server_url,
            expires_at=context.token_expiry_time,
        )
        secret = self.saved.model_dump_json(exclude_none=True)
        await asyncio.to_thread(self._logins.write, self._url, secret)

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return None if self.saved is None else self.saved.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Do nothing: it is kept together with the tokens."""


class _Provider(OAuthClientProvider):
    """The SDK's provider, which also remembers when a token ends and where it is renewed."""

    def __init__(
        self,
        url: str,
        storage: _Storage,
        redirect: str,
        show: ShowAddress | None = None,
        wait: Callable[[], Awaitable[AuthorizationCodeResult]] | None = None,
    ) -> None:
        about = OAuthClientMetadata(
            client_name=CLIENT_NAME,
            redirect_uris=[AnyUrl(redirect)],
            token_endpoint_auth_method="none",
        )
        super().__init__(url, about, storage, show, wait)
        self._storage = storage
        storage.context = self.context

    async def _initialize(self) -> None:
        await super()._initialize()
        if (saved := self._storage.saved) is not None:
            self.context.oauth_metadata = saved.metadata
            self.context.protected_resource_metadata = saved.resource
            self.context.auth_server_url = saved.issuer
            self.context.token_expiry_time = saved.expires_at

    async def _perform_authorization(self) -> httpx2.Request:
        if self.context.redirect_handler is None:
            raise OAuthFlowError("the login has ended")
        return await super()._perform_authorization()


def explain_login(name: str) -> str:
    """Return why a server does not answer that wants a login."""
    return f"it wants you to log in: ragforge servers login {name}"


def find_login(spec: ServerSpec, logins: LoginStore) -> httpx2.Auth | None:
    """Return what authorises requests to a server, if the user has logged in to it."""
    if has_own_key(spec) or not (secret := logins.read(spec.url)):
        return None
    try:
        saved = SavedLogin.model_validate_json(secret)
    except ValidationError:  # an earlier or damaged form: the user logs in again
        return None
    redirects = saved.client.redirect_uris or [AnyUrl("http://127.0.0.1/callback")]
    return _Provider(spec.url, _Storage(logins, spec.url, saved), str(redirects[0]))


def has_own_key(spec: ServerSpec) -> bool:
    """Tell whether the configuration of a server contains its key."""
    return any(name.lower() == "authorization" for name in spec.headers)


def make_login(
    spec: ServerSpec, logins: LoginStore, callback: CallbackServer, show: ShowAddress
) -> tuple[httpx2.Auth, Callable[[], bool]]:
    """Return what logs the user in when the server demands it, and whether that happened.

    `show` receives the address of the page on which the user logs in. Raises ServerError if the
    address is not safe.
    """
    storage = _Storage(logins, spec.url, None)

    async def show_page(address: str) -> None:
        parts = urlsplit(address)
        if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in _HERE):
            raise ServerError(spec.name, f"its login page is not safe: {parts.scheme}://…")
        callback.expect(address)
        await show(address)

    provider = _Provider(spec.url, storage, callback.address, show_page, callback.wait)
    return provider, lambda: storage.saved is not None

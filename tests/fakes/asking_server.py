"""MCP servers that want something of their user: answers, a page, a model, a login."""

from __future__ import annotations

import secrets
import time
import warnings
from typing import Annotated, Any, Literal

from mcp.server import MCPServer
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    RefreshToken,
    construct_redirect_uri,
)
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions
from mcp.server.mcpserver import Context, Elicit, ElicitationResult, Resolve
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from mcp.shared.exceptions import MCPError
from mcp_types import SamplingMessage, TextContent
from pydantic import AnyHttpUrl, BaseModel, Field

from tests.fakes.mcp_server import keep_logging


class Trip(BaseModel):
    """What the server asks for."""

    city: str = Field(min_length=2, title="City")
    unit: Literal["celsius", "fahrenheit"]
    days: int = Field(ge=1, le=7, description="How many days?")
    alone: bool = False


async def ask_for_trip(place: str) -> Elicit[Trip]:
    return Elicit(f"Which trip to {place}?\u200b", Trip)


def make_asking_server(url: str = "") -> MCPServer:
    with keep_logging():
        server: Any = MCPServer("asking")

    @server.tool()
    async def plan_trip(
        place: str, trip: Annotated[ElicitationResult[Trip], Resolve(ask_for_trip)]
    ) -> str:
        """Plan a trip."""
        found = getattr(trip, "data", None)
        return f"{trip.action}: {found.model_dump_json() if found else '-'}"

    @server.tool()
    async def visit_page(context: Context) -> str:
        """Send the user to a page."""
        done = await context.elicit_url("Pay here", "https://pay.example.org/4711", "e-1")
        return f"page: {done.action}"

    @server.tool()
    async def think(context: Context) -> str:
        """Let the user's model think."""
        message = SamplingMessage(role="user", content=TextContent(type="text", text="Think!"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # servers should not do this any more
            try:
                said = await context.session.create_message([message], max_tokens=10)
            except MCPError as error:
                return f"refused: {error}"
        return f"thought: {said}"

    return server  # type: ignore[no-any-return]


class Office:
    """An authorisation server that lets everyone in who comes through its page."""

    def __init__(self) -> None:
        self.clients: dict[str, OAuthClientInformationFull] = {}
        self.codes: dict[str, AuthorizationCode] = {}
        self.access: dict[str, AccessToken] = {}
        self.refresh: dict[str, RefreshToken] = {}
        self.refuses = False
        self.expires_in = 3_600

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        return self.clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        self.clients[client_info.client_id] = client_info

    async def authorize(
        self, client: OAuthClientInformationFull, params: AuthorizationParams
    ) -> str:
        back = str(params.redirect_uri)
        if self.refuses:
            return construct_redirect_uri(back, error="access_denied", state=params.state)
        code = AuthorizationCode(
            code=secrets.token_urlsafe(32),
            scopes=params.scopes or [],
            expires_at=time.time() + 600,
            client_id=client.client_id,
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=True,
            resource=params.resource,
        )
        self.codes[code.code] = code
        return construct_redirect_uri(back, code=code.code, state=params.state)

    async def load_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: str
    ) -> AuthorizationCode | None:
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: AuthorizationCode
    ) -> OAuthToken:
        del self.codes[authorization_code.code]
        return self._issue(client.client_id, authorization_code.resource)

    async def load_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: str
    ) -> RefreshToken | None:
        return self.refresh.get(refresh_token)

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        del self.refresh[refresh_token.token]
        return self._issue(client.client_id, refresh_token.resource)

    async def load_access_token(self, token: str) -> AccessToken | None:
        return self.access.get(token)

    async def revoke_token(self, token: AccessToken | RefreshToken) -> None:
        self.access.pop(token.token, None)

    def end_all(self) -> None:
        """Accept no token any more."""
        self.access.clear()
        self.refresh.clear()

    def _issue(self, client: str, resource: str | None) -> OAuthToken:
        access, refresh = (f"{kind}-{secrets.token_urlsafe(32)}" for kind in ("access", "refresh"))
        self.access[access] = AccessToken(
            token=access, client_id=client, scopes=[], resource=resource
        )
        self.refresh[refresh] = RefreshToken(
            token=refresh, client_id=client, scopes=[], resource=resource
        )
        return OAuthToken(access_token=access, refresh_token=refresh, expires_in=self.expires_in)


def make_guarded_server(url: str, office: Office) -> MCPServer:
    """Return a server that wants a login, and is its own authorisation server."""
    with keep_logging():
        server: Any = MCPServer(
            "guarded",
            auth_server_provider=office,
            auth=AuthSettings(
                issuer_url=AnyHttpUrl(url),
                resource_server_url=AnyHttpUrl(f"{url}/mcp"),
                validate_token_resource=True,
                client_registration_options=ClientRegistrationOptions(enabled=True),
            ),
        )

    @server.tool()
    def secret() -> str:
        """Tell a secret."""
        return "The safe is behind the picture."

    return server  # type: ignore[no-any-return]

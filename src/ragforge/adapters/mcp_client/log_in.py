"""Log in: open a server's login page in a browser, and keep what it returns."""

from __future__ import annotations

import asyncio

from mcp.client.auth import OAuthFlowError, OAuthRegistrationError, OAuthTokenError
from mcp.client.client import Client
from mcp_types import Implementation

from ragforge.adapters.mcp_client.connect import PROBLEM_CHARS, describe_failure, open_http, quieten
from ragforge.adapters.mcp_client.login import CallbackServer, ShowAddress, make_login
from ragforge.domain.mcp_client import ServerSpec
from ragforge.domain.text import shorten_end
from ragforge.errors import ServerError
from ragforge.ports.mcp_client import LoginStore


async def log_in(
    spec: ServerSpec, seconds: float, logins: LoginStore, show: ShowAddress, version: str
) -> bool:
    """Log in to a server, and return whether it demanded that.

    `show` receives the address of the login page. What was kept of an earlier login is replaced.
    Raises ServerError.
    """
    quieten()
    statuses: list[int] = []
    try:
        async with asyncio.timeout(seconds), CallbackServer() as callback:
            provider, has_logged_in = make_login(spec, logins, callback, show)
            info = Implementation(name="ragforge", version=version)
            async with Client(open_http(spec, statuses, provider), client_info=info, cache=None):
                return has_logged_in()
    except TimeoutError as error:
        raise ServerError(spec.name, f"no one logged in within {seconds:g} seconds") from error
    except ServerError:
        raise
    except Exception as error:
        raise ServerError(spec.name, _describe(error, spec, statuses)) from error


def _describe(error: BaseException, spec: ServerSpec, statuses: list[int]) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, ServerError):
        return error.problem
    if isinstance(error, OAuthFlowError | OAuthRegistrationError | OAuthTokenError):
        return shorten_end(f"the login failed: {' '.join(str(error).split())}", PROBLEM_CHARS)
    return describe_failure(error, spec, statuses)

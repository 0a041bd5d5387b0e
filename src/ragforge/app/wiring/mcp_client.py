"""Servers: those of the user's configuration and, once it is trusted, of the project."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from ragforge import __version__
from ragforge.app.wiring.logins import open_logins
from ragforge.app.wiring.trust import FolderTrust
from ragforge.config.files import find_user_file
from ragforge.config.mcp_client import list_project_specs, list_user_specs, read_project_servers
from ragforge.config.settings import Settings
from ragforge.domain.distribution import format_install_command
from ragforge.domain.mcp_client import AnswerServer, ServerReport, ServerSpec
from ragforge.errors import InputError, ServerError
from ragforge.mcp_client.pool import ServerPool
from ragforge.mcp_client.server import ServerLimits
from ragforge.ports.mcp_client import LoginStore, ServerConnection

__all__ = ["ServerPool", "ServerReport", "list_reports", "log_in", "log_out", "open_servers"]

LOGIN_SECONDS = 600.0
"""How long a user may take to log in."""
IGNORED = "not started: you did not trust .mcp.json as it is now; `ragforge trust` shows it"


def open_servers(settings: Settings, project: Path, trust: FolderTrust) -> ServerPool:
    """Return the servers of a project; none is started yet."""
    mcp = settings.mcp
    limits = ServerLimits(mcp.wait_seconds, mcp.connect_seconds, mcp.call_seconds)
    logins = open_logins(settings)
    return ServerPool(
        lambda: find_specs(settings, project, trust), partial(connect, logins=logins), limits
    )


async def list_reports(settings: Settings, cwd: Path) -> list[ServerReport]:
    """Connect to all servers of a directory, and return how each of them answers."""
    trust = FolderTrust.around(settings, cwd)
    servers = open_servers(settings, trust.root, trust)
    try:
        await servers.wait(settings.mcp.connect_seconds)
        return servers.list_reports()
    finally:
        await servers.close()


def find_specs(settings: Settings, project: Path, trust: FolderTrust) -> Iterator[ServerSpec]:
    """Yield the servers of a project, the user's own first: they hide the project's."""
    cwd = str(project)
    if settings.mcp.servers:
        file = find_user_file(project, os.environ)
        yield from list_user_specs(settings.mcp.servers, str(file or "the program"), cwd)
    servers = read_project_servers(project)
    if servers.problem:
        yield ServerSpec(".mcp.json", str(servers.file), problem=servers.problem)
    elif trust.starts(servers):
        yield from list_project_specs(servers, cwd)
    else:
        for name in servers.entries:
            yield ServerSpec(str(name), str(servers.file), problem=IGNORED, is_ignored=True)


async def log_in(
    settings: Settings, cwd: Path, name: str, show: Callable[[str], Awaitable[None]]
) -> bool:
    """Log in to a server of a directory, and return whether it demanded that.

    `show` receives the address of the page on which the user logs in. Raises InputError for a
    name that no server on the web has, and ServerError if the login fails.
    """
    spec = _find_on_web(settings, cwd, name)
    sdk = await _load_sdk("log_in", name)
    return bool(await sdk.log_in(spec, LOGIN_SECONDS, open_logins(settings), show, __version__))


def log_out(settings: Settings, cwd: Path, name: str) -> bool:
    """Delete what a login to a server returned; tell whether there was a login.

    Raises InputError for a name that no server on the web has.
    """
    return open_logins(settings).delete(_find_on_web(settings, cwd, name).url)


def _find_on_web(settings: Settings, cwd: Path, name: str) -> ServerSpec:
    trust = FolderTrust.around(settings, cwd)
    specs: dict[str, ServerSpec] = {}
    for one in find_specs(settings, trust.root, trust):
        specs.setdefault(one.name, one)
    if name not in specs:
        names = ", ".join(specs) or "none"
        raise InputError(f"There is no MCP server {name!r}. Configured: {names}.")
    spec = specs[name]
    if spec.problem:
        raise InputError(f"The MCP server {name} cannot be used: {spec.problem}.")
    if not spec.url:
        raise InputError(f"The MCP server {name} is a program on this machine: it has no login.")
    if any(header.lower() == "authorization" for header in spec.headers):
        raise InputError(f"The MCP server {name} has its key under headers in {spec.origin}.")
    return spec


async def _load_sdk(module: str, name: str) -> Any:
    """Return a module that uses the SDK, loaded in a thread: it takes a second."""
    try:
        return await asyncio.to_thread(import_module, f"ragforge.adapters.mcp_client.{module}")
    except ImportError as error:
        problem = f"the MCP library is not installed: {format_install_command('mcp')}"
        raise ServerError(name, problem) from error


@asynccontextmanager
async def connect(
    spec: ServerSpec,
    seconds: float,
    leaving: asyncio.Event,
    answer: AnswerServer,
    *,
    logins: LoginStore,
) -> AsyncIterator[ServerConnection]:
    """Connect to a server."""
    sdk = await _load_sdk("connect", spec.name)
    async with sdk.connect(spec, seconds, leaving, answer, logins, __version__) as connection:
        yield connection

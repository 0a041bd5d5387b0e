"""Servers: those of the user's configuration and, once it is trusted, of the project."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path

from ragforge import __version__
from ragforge.app.wiring.trust import FolderTrust
from ragforge.config.files import find_user_file
from ragforge.config.mcp_client import list_project_specs, list_user_specs, read_project_servers
from ragforge.config.settings import Settings
from ragforge.domain.distribution import format_install_command
from ragforge.domain.mcp_client import ServerReport, ServerSpec
from ragforge.errors import ServerError
from ragforge.mcp_client.pool import ServerPool
from ragforge.mcp_client.server import ServerLimits
from ragforge.ports.mcp_client import ServerConnection

__all__ = ["ServerPool", "ServerReport", "list_reports", "open_servers"]

IGNORED = "not started: you did not trust .mcp.json as it is now; `ragforge trust` shows it"


def open_servers(settings: Settings, project: Path, trust: FolderTrust) -> ServerPool:
    """Return the servers of a project; none is started yet."""
    mcp = settings.mcp
    limits = ServerLimits(mcp.wait_seconds, mcp.connect_seconds, mcp.call_seconds)
    return ServerPool(lambda: find_specs(settings, project, trust), connect, limits)


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


@asynccontextmanager
async def connect(
    spec: ServerSpec, seconds: float, leaving: asyncio.Event
) -> AsyncIterator[ServerConnection]:
    """Connect to a server. The SDK is loaded in a thread: it takes a second."""
    try:
        sdk = await asyncio.to_thread(import_module, "ragforge.adapters.mcp_client.connect")
    except ImportError as error:
        problem = f"the MCP library is not installed: {format_install_command('mcp')}"
        raise ServerError(spec.name, problem) from error
    async with sdk.connect(spec, seconds, leaving, __version__) as connection:
        yield connection

"""Servers: those of the user's configuration and, once it is trusted, of the project."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ragforge import __version__
from ragforge.app.wiring.trust import FolderTrust
from ragforge.config.files import find_user_file
from ragforge.config.mcp_client import list_project_specs, list_user_specs, read_project_servers
from ragforge.config.services import KEYRING_SERVICE
from ragforge.config.settings import Settings
from ragforge.domain.distribution import format_install_command
from ragforge.domain.mcp_client import AnswerServer, ServerReport, ServerSpec
from ragforge.errors import InputError, ServerError
from ragforge.mcp_client.pool import ServerPool
from ragforge.mcp_client.server import ServerLimits
from ragforge.ports.mcp_client import LoginStore, ServerConnection
from ragforge.private_files import make_private_folder, replace_file

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


FOLDER = "logins"


def open_logins(settings: Settings) -> Logins:
    """Return the logins of the user."""
    return Logins(Path(settings.agent.state_dir) / FOLDER)


@dataclass(frozen=True, slots=True)
class Logins:
    """Implements `LoginStore`, with a private file for each server.

    It contains the secret on a machine without a keyring, and is empty on others: the keyring may
    ask the user to unlock it, and is not asked about servers without a login.
    """

    folder: Path

    def read(self, url: str) -> str:
        try:
            kept = self._place(url).read_text("utf-8")
        except (OSError, ValueError):
            return ""
        return kept or _read_keyring(_name_entry(url))

    def write(self, url: str, secret: str) -> None:
        kept = "" if _write_keyring(_name_entry(url), secret) else secret
        try:
            make_private_folder(self.folder)
            replace_file(str(self._place(url)), kept.encode())
        except OSError as error:
            raise InputError(f"{self.folder} cannot be written: {error.strerror}.") from error

    def delete(self, url: str) -> bool:
        was_there = bool(self.read(url))
        _delete_from_keyring(_name_entry(url))
        self._place(url).unlink(missing_ok=True)
        return was_there

    def _place(self, url: str) -> Path:
        return self.folder / f"{_digest(url)}.json"


def _name_entry(url: str) -> str:
    """Return under which name the keyring holds the login to a server.

    It depends on the whole address, so that no other server gets what this one returned.
    """
    return f"mcp@{urlsplit(url).hostname or ''}#{_digest(url)[:16]}"


def _digest(url: str) -> str:
    return sha256(url.encode(errors="replace")).hexdigest()


# Missing library, no keyring on this machine, a locked one: all of them mean "no keyring".


def _read_keyring(name: str) -> str:
    with suppress(Exception):
        import keyring

        return keyring.get_password(KEYRING_SERVICE, name) or ""
    return ""


def _write_keyring(name: str, secret: str) -> bool:
    """Tell whether the keyring took a secret: some take none, or no long ones."""
    with suppress(Exception):
        import keyring

        keyring.set_password(KEYRING_SERVICE, name, secret)
    return _read_keyring(name) == secret


def _delete_from_keyring(name: str) -> None:
    with suppress(Exception):
        import keyring

        keyring.delete_password(KEYRING_SERVICE, name)

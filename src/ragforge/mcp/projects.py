"""Projects: the project of a call, and the open applications, one for each project."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from ragforge.errors import InputError
from ragforge.folders import find_project, is_too_wide

if TYPE_CHECKING:
    from ragforge.app import App
    from ragforge.config import Settings
    from ragforge.mcp.protocol import Client

_HINT = "Name the folder of a project: `ragforge mcp FOLDER`, or the argument `project` of a tool."


class Projects:
    """Opens each project once, at its first call, and closes all of them at the end."""

    def __init__(self, chosen: Path | None, here: Path, load: Callable[[Path], Settings]) -> None:
        self._chosen = chosen  # on the command line
        self._here = here
        self._load = load
        self._roots: list[Path] | None = None  # of a client that keeps its connection
        self._opened: dict[Path, App] = {}
        self._opening = asyncio.Lock()
        self._stack = AsyncExitStack()

    async def open(self, client: Client, folder: str | None = None) -> App:
        """Return the application of a call's project.

        That is the project that the call names, or that of the server, or the first project among
        the client's folders, or that of the working directory. Only a folder named explicitly may
        be something other than a project; a home directory is always refused.
        Raises InputError if there is no project, or if the call may not name this one.
        """
        if folder is not None:
            named = find_named(Path(folder))
            await self._check_fence(named, client)
            return await self._open(named)
        if self._chosen is not None:
            return await self._open(self._chosen)
        for place in (*await self._list_roots(client), self._here):
            root = find_project(place)
            if self._is_project(root):
                return await self._open(root)
        raise InputError(f"{self._here} is not a project. {_HINT}")

    def forget_roots(self) -> None:
        """Ask for the client's folders again: they changed."""
        self._roots = None

    async def close(self) -> None:
        await self._stack.aclose()

    async def _check_fence(self, named: Path, client: Client) -> None:
        """Raise InputError if a call names a project that the server was not started for.

        Text that a model reads in one project must not make it fetch the memory of another. A
        server in a home directory was started for no project, so it has no such limit.
        """
        start = (self._chosen or self._here).resolve()
        own = [] if is_too_wide(start) else [find_project(start)]
        if any(map(named.is_relative_to, (*own, *self._list_allowed(start)))):
            return
        if self._chosen is None:
            roots = await self._list_roots(client)
            own += [find_project(root) for root in roots if not is_too_wide(root)]
        if own and not any(map(named.is_relative_to, own)):
            raise InputError(
                f"{named} is not the project of this server, which is {own[-1]}. To let agents "
                "ask about it from other folders, the user adds it to connect.projects in their "
                "own configuration file."
            )

    def _list_allowed(self, start: Path) -> list[Path]:
        """Return the folders that the user allows agents to ask about from anywhere."""
        folders = self._load(start).connect.projects.split(os.pathsep)
        return [Path(one.strip()).expanduser().resolve() for one in folders if one.strip()]

    async def _list_roots(self, client: Client) -> list[Path]:
        if "roots" not in client.capabilities:
            return []
        if client.is_modern:  # each of its requests is independent
            return _read_roots(await client.ask("roots", "roots/list", {}))
        if self._roots is None:
            self._roots = _read_roots(await client.ask("roots", "roots/list", {}))
        return self._roots

    def _is_project(self, root: Path) -> bool:
        from ragforge.app.wiring.trust import FolderTrust

        return FolderTrust.of(self._load(root), root).reads

    async def _open(self, root: Path) -> App:
        from ragforge.app import open_app

        async with self._opening:
            if root not in self._opened:
                opening = open_app(self._load(root), root, work=False)
                self._opened[root] = await self._stack.enter_async_context(opening)
        return self._opened[root]


def find_named(folder: Path) -> Path:
    """Return the project of a folder that was named explicitly.

    Raises InputError if there is no such folder, or if it holds more than a project.
    """
    try:
        place = folder.expanduser().resolve()
        is_there = place.is_dir()
    except (OSError, RuntimeError, ValueError):
        is_there = False
    if not is_there:
        raise InputError(f"{str(folder)!r} is not a folder. Name the folder of a project.")
    root = find_project(place)
    if is_too_wide(root):
        raise InputError(f"{root} is more than a project. Name the folder of a project.")
    return root


def _read_roots(answer: Mapping[str, Any]) -> list[Path]:
    """Return the folders that a client named; those not on this machine are left out."""
    listed = answer.get("roots")
    found = []
    for root in listed if isinstance(listed, list) else []:
        uri = root.get("uri") if isinstance(root, dict) else None
        parts = urlsplit(uri) if isinstance(uri, str) else None
        if parts is not None and parts.scheme == "file" and parts.netloc in ("", "localhost"):
            folder = Path(unquote(parts.path).replace("\0", ""))
            if folder.is_dir():
                found.append(folder.resolve())
    return found

"""Projects: the applications that a server has open, one for each project it is asked about."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from ragforge.errors import InputError

if TYPE_CHECKING:
    from ragforge.app import App
    from ragforge.config import Settings


class Projects:
    """Opens each project once, and closes all of them at the end."""

    def __init__(self, here: Path, load: Callable[[Path], Settings]) -> None:
        self._here = here
        self._load = load
        self._opened: dict[Path, App] = {}
        self._opening = asyncio.Lock()
        self._stack = AsyncExitStack()

    async def open(self, folder: Path | None) -> App:
        """Return the application of a project. Raises InputError if the folder is none."""
        from ragforge.app import open_app
        from ragforge.folders import find_project

        place = (folder or self._here).expanduser()
        if not place.is_dir():
            raise InputError(f"{str(place)!r} is no folder.")
        root = find_project(place.resolve())
        async with self._opening:
            if root not in self._opened:
                app = await self._stack.enter_async_context(open_app(self._load(root), root))
                self._opened[root] = app
        return self._opened[root]

    async def close(self) -> None:
        await self._stack.aclose()

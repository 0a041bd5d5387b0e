"""Apps: the applications that are open, one for each folder in which an editor works."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path

from ragforge.app import App, open_app
from ragforge.config import Settings
from ragforge.errors import InputError, RagForgeError

logger = logging.getLogger(__name__)


class Apps:
    """Opens the application of a folder once, and closes all of them at the end."""

    def __init__(self, load: Callable[[Path], Settings]) -> None:
        self._load = load
        self._opened: dict[Path, App] = {}
        self._opening = asyncio.Lock()
        self._stack = AsyncExitStack()

    async def open(self, cwd: str) -> App:
        """Return the application of a folder. Raises InputError if there is no such folder."""
        folder = find_folder(cwd)
        async with self._opening:
            if folder not in self._opened:
                opening = open_app(self._load(folder), folder, detach=True)
                app = await self._stack.enter_async_context(opening)
                self._opened[folder] = app
                if await app.code.is_ingested():
                    await read_changes(app)
        return self._opened[folder]

    async def reopen(self, app: App) -> App:
        """Return the application of a folder with the settings that are in force now.

        Sessions that have the old one keep it; it is closed at the end.
        """
        self._opened = {folder: one for folder, one in self._opened.items() if one is not app}
        return await self.open(str(app.cwd))

    def has_model(self) -> bool:
        """Tell whether a model is configured for the working directory."""
        try:
            return self._load(Path.cwd()).llm.model != "none"
        except (RagForgeError, OSError):  # opening a session reports the problem
            return False

    async def close(self) -> None:
        await self._stack.aclose()


def find_folder(cwd: str) -> Path:
    """Return the folder that an editor names. Raises InputError unless there is one."""
    path = Path(cwd)
    try:
        if path.is_absolute() and path.is_dir():
            return path.resolve()
    except (OSError, ValueError):
        pass
    raise InputError(f"{cwd!r} is not a folder on this machine. Use an absolute path.")


async def read_changes(app: App) -> None:
    """Index changed code in the background; questions do not wait for it."""
    try:
        await app.code.automatic_reading.queue()
    except RagForgeError as error:
        logger.warning("The project is not indexed: %s", error)

"""Start: open the application in a directory, and the terminal with it."""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from ragforge.app import App, open_app
from ragforge.config import Settings
from ragforge.config.store_url import is_server
from ragforge.domain.conversations import Conversation
from ragforge.domain.modes import Mode
from ragforge.errors import RagForgeError
from ragforge.records import dataclass
from ragforge.show.screen import Screen
from ragforge.tui.greeting import format_goodbye, greet, show_latest
from ragforge.tui.loop import AFTER_PROMPT_SECONDS, converse
from ragforge.tui.picker import MAX_SESSIONS, pick
from ragforge.tui.terminal import Terminal

log = logging.getLogger(__name__)

CLOSING_SECONDS = 2.0
OFFERED = 3
"""How many of the latest sessions are shown with a key each."""
TERMINATED = 143


@dataclass(frozen=True, slots=True)
class Beginning:
    """How the user wants to begin: with which session, and how much is shown."""

    resume_last: bool = False  # resume the last session of the directory
    resume: str | None = None  # the first characters of a session's id; "" lets the user pick
    verbose: bool = False
    mode: Mode = "ask"

    @property
    def is_chosen(self) -> bool:
        """Whether the user has said which session to resume."""
        return self.resume_last or self.resume is not None


def start(settings: Settings, cwd: Path, beginning: Beginning) -> None:
    """Open the terminal; return when the user leaves.

    Raises SystemExit if the system ends it: the terminal is left as it was found.
    """
    try:
        asyncio.run(_start(settings, cwd, beginning))
    except asyncio.CancelledError:
        raise SystemExit(TERMINATED) from None


async def _start(settings: Settings, cwd: Path, beginning: Beginning) -> None:
    _end_on_signals()
    url = settings.store.url
    is_first_run = not is_server(url) and not Path(url).exists()
    screen = Screen()
    async with open_app(settings, cwd, detach=True, begin_after=AFTER_PROMPT_SECONDS) as app:
        app.require_mode(beginning.mode)
        terminal = Terminal(app, screen, verbose=beginning.verbose, mode=beginning.mode)
        terminal.is_unread = not await app.code.is_ingested()
        here = await app.sessions.find(limit=MAX_SESSIONS)
        session = await _begin_with(terminal, here, beginning)
        if session is None and here and beginning.resume is not None:
            screen.note("No session was chosen.")
            return
        if not beginning.is_chosen:
            terminal.offered = tuple(one for one in here if one.turn_count)[:OFFERED]
        greet(terminal, 0 if session else len(here), is_first_run)
        screen.say()
        if session is not None:
            terminal.session = session
            await show_latest(terminal, session)
            screen.say()
        elif beginning.is_chosen and not here:
            screen.note("This directory has no earlier session. This is a new one.")
        async with _keep_current(app):
            await converse(terminal)
        if terminal.session is not None:
            with suppress(RagForgeError):  # it may be deleted, the store may be gone
                last = await app.sessions.load(terminal.session.uuid)
                screen.note(format_goodbye(last) or "")


def _end_on_signals() -> None:
    """Restore the terminal's settings when the process is ended by a signal."""
    this = asyncio.current_task()
    loop = asyncio.get_running_loop()
    for name in ("SIGTERM", "SIGHUP"):
        if this is not None and hasattr(signal, name):
            with suppress(NotImplementedError):  # Windows
                loop.add_signal_handler(getattr(signal, name), this.cancel)


async def _begin_with(
    terminal: Terminal, here: list[Conversation], beginning: Beginning
) -> Conversation | None:
    if beginning.resume:
        return await terminal.app.sessions.resolve(beginning.resume)
    if beginning.resume is not None and here:
        return await pick(terminal.app, here, terminal.screen.signs)
    return await terminal.app.sessions.find_current() if beginning.resume_last else None


@asynccontextmanager
async def _keep_current(app: App) -> AsyncIterator[None]:
    """Ingest changed files while the terminal is open. Failures only go to the log."""
    stopping = asyncio.Event()
    watching = asyncio.create_task(_watch(app, stopping))
    try:
        yield
    finally:
        stopping.set()
        done, late = await asyncio.wait([watching], timeout=CLOSING_SECONDS)
        for task in late:
            task.cancel()
        await asyncio.gather(*done, *late, return_exceptions=True)


async def _watch(app: App, stopping: asyncio.Event) -> None:
    await asyncio.sleep(AFTER_PROMPT_SECONDS)
    try:
        if await app.code.automatic_reading.queue():
            await app.code.watch(stopping)
    except Exception:
        log.exception("The project is no longer watched")

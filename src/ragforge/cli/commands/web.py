"""`ragforge web`: a page that shows memory and code."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING

import typer

from ragforge.cli.guard import FAILED, run_server
from ragforge.cli.loading import get_current_directory, load
from ragforge.cli.options import flag, option
from ragforge.errors import InputError, RagForgeError
from ragforge.records import dataclass
from ragforge.show.console import print_note

if TYPE_CHECKING:
    from ragforge.app import App
    from ragforge.web.access import Access

log = logging.getLogger(__name__)

EXTRA = ("starlette", "uvicorn", "jinja2", "markupsafe")
MISSING = (
    "ragforge web: the libraries of the page are not installed. "
    "Install them with: pip install 'ragforge-agent[web]'\n"
)
PASSWORD_VARIABLE = "RAGFORGE_WEB_PASSWORD"
MIN_PASSWORD = 12
FOLLOW_AFTER = 2.0
"""Seconds until the sessions of other agents are imported: the page opens first."""
FOLLOW_SECONDS = 4.0
"""How often new sessions are looked for while the page is open."""
FOLLOW_AGAIN = 30.0
CLOSING_SECONDS = 2.0
EVERYWHERE = ("0.0.0.0", "::", "")
REMOTE_NOTE = (
    "Other machines can reach this page. Its contents and the password are sent unencrypted: "
    "anyone who sees the traffic can read everything that your agents did."
)


def web(
    *,
    port: int = option("--port", "The port; by default a free one.", 0, min=0, max=65535),
    no_open: bool = flag("--no-open", "Print the address, but open no browser."),
    host: str = option("--host NAME", "The address to listen on.", "127.0.0.1"),
    allow_remote: bool = flag(
        "--allow-remote", "Let other machines connect, with a password, unencrypted."
    ),
) -> None:
    """Open a page with the work of all your agents.

    It shows the sessions of all your projects.
    """
    raise typer.Exit(serve_web(Where(host, port, allow_remote, not no_open)))


@dataclass(frozen=True, slots=True)
class Where:
    """Where to listen, and whether to open a browser."""

    host: str
    port: int
    is_remote_allowed: bool
    opens: bool


def serve_web(where: Where) -> int:
    """Serve the page until it is stopped; return the exit code."""
    if not all(map(_is_installed, EXTRA)):
        sys.stderr.write(MISSING)
        return FAILED
    from ragforge.app import open_app
    from ragforge.web.access import Access, is_loopback, list_hosts
    from ragforge.web.serve import listen, serve

    is_remote = not is_loopback(where.host)
    if is_remote and not where.is_remote_allowed:
        raise InputError(
            f"Other machines could reach {where.host}. Add --allow-remote to allow that."
        )
    if is_remote and where.host in EVERYWHERE:
        raise InputError(
            f"--host {where.host} is not one address. Name the address of this machine, such as "
            "--host 192.168.1.5: requests to any other name are refused."
        )
    password = _read_password() if is_remote else None
    settings = load().settings
    # No chat model: looking at the context of a question must cost nothing.
    settings = settings.model_copy(
        update={"llm": settings.llm.model_copy(update={"model": "none"})}
    )

    async def run() -> None:
        with listen(where.host, where.port) as opened:
            access = Access(opened.getsockname()[1], list_hosts(where.host), password)
            async with open_app(settings, get_current_directory(), work=False) as app:
                if is_remote:
                    print_note(REMOTE_NOTE)
                async with follow_agents(app):
                    await serve(app, access, opened, lambda: _announce(access, where.opens))

    try:
        return run_server(run)
    except OSError as error:
        raise InputError(
            f"Cannot listen at {where.host}:{where.port}: {error.strerror}."
        ) from error


def _is_installed(name: str) -> bool:
    """Tell whether a library can be imported, without importing it: that takes a while."""
    try:
        return find_spec(name) is not None
    except ValueError:  # sys.modules holds None for it
        return False


@asynccontextmanager
async def follow_agents(app: App) -> AsyncIterator[None]:
    """Import new sessions of other agents meanwhile, if the user imported from them before."""
    stopping = asyncio.Event()

    async def follow() -> None:
        await _wait_for(stopping, FOLLOW_AFTER)  # the first page has priority
        while not stopping.is_set():
            try:
                await app.imports.follow(stopping, FOLLOW_SECONDS)
            except RagForgeError as error:  # tried again later
                log.warning("New sessions of other agents are not imported: %s", error)
                await _wait_for(stopping, FOLLOW_AGAIN)

    following = asyncio.create_task(follow())
    try:
        yield
    finally:
        stopping.set()
        with suppress(TimeoutError):
            await asyncio.wait_for(following, CLOSING_SECONDS)


async def _wait_for(event: asyncio.Event, seconds: float) -> None:
    """Wait until an event is set, or until the seconds have passed."""
    with suppress(TimeoutError):
        await asyncio.wait_for(event.wait(), seconds)


def _announce(access: Access, opens: bool) -> None:
    """Print the address, which works once, and open it."""
    typer.echo(access.address)
    if opens:
        import webbrowser

        webbrowser.open(access.address)


def _read_password() -> str:
    """Return the password from the environment, or ask for one. Raises InputError."""
    given = os.environ.get(PASSWORD_VARIABLE, "")
    if not given and sys.stdin.isatty():
        given = typer.prompt("A password for the page", hide_input=True, err=True)
    if len(given) < MIN_PASSWORD:
        raise InputError(
            f"--allow-remote needs a password of at least {MIN_PASSWORD} characters, "
            f"in {PASSWORD_VARIABLE} or typed at the prompt."
        )
    return given

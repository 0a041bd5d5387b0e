"""`ragforge web`: a page to look at memory and code."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated

import typer

from ragforge.cli.exit_codes import BY_SIGNAL, FAILED, INTERRUPTED
from ragforge.cli.loading import get_current_directory
from ragforge.cli.signals import EndingSignals
from ragforge.cli.state import load
from ragforge.errors import InputError, RagForgeError
from ragforge.records import dataclass

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
"""Seconds until other agents are looked after: the page opens first."""
FOLLOW_SECONDS = 4.0
"""How often it is checked whether they have written something new: somebody looks."""
FOLLOW_AGAIN = 30.0
CLOSING_SECONDS = 2.0
EVERYWHERE = ("0.0.0.0", "::", "")
REMOTE_NOTE = (
    "Other machines can reach this page. What it shows, and the password, travel unencrypted: "
    "whoever sees the traffic can read all that your agents did."
)


def register(app: typer.Typer) -> None:
    app.command("web", epilog="web")(web)


def web(
    context: typer.Context,
    *,
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="The port; if not given, a free one.")
    ] = 0,
    no_open: Annotated[
        bool, typer.Option("--no-open", help="Only show the address, open no browser.")
    ] = False,
    host: Annotated[
        str, typer.Option("--host", metavar="NAME", help="Where to listen.")
    ] = "127.0.0.1",
    allow_remote: Annotated[
        bool,
        typer.Option(
            "--allow-remote",
            help="Let other machines reach it, with a password and without encryption.",
        ),
    ] = False,
) -> None:
    """Open a page with what all your agents did in all your projects."""

    raise typer.Exit(serve_web(context, Where(host, port, allow_remote, not no_open)))


@dataclass(frozen=True, slots=True)
class Where:
    """Where to listen, and whether to open a browser."""

    host: str
    port: int
    is_remote_allowed: bool
    opens: bool


def serve_web(context: typer.Context, where: Where) -> int:
    """Serve the page until somebody ends it; return the exit code."""
    if not all(map(_is_installed, EXTRA)):
        sys.stderr.write(MISSING)
        return FAILED
    from ragforge.app import open_app
    from ragforge.web.access import Access, is_loopback, list_hosts
    from ragforge.web.serve import listen, serve

    is_remote = not is_loopback(where.host)
    if is_remote and not where.is_remote_allowed:
        raise InputError(
            f"Other machines could reach {where.host}. Add --allow-remote if that is wanted."
        )
    if is_remote and where.host in EVERYWHERE:
        raise InputError(
            "Name the address by which others reach this machine, such as --host 192.168.1.5: "
            "requests under any other name are refused."
        )
    password = _read_password() if is_remote else None
    settings = load(context).settings
    # No chat model: to look at the context of a question costs nobody anything.
    settings = settings.model_copy(
        update={"llm": settings.llm.model_copy(update={"model": "none"})}
    )
    signals = EndingSignals()

    async def run() -> None:
        with signals.cancel_task(), listen(where.host, where.port) as opened:
            access = Access(opened.getsockname()[1], list_hosts(where.host), password)
            async with open_app(settings, get_current_directory(), work=False) as app:
                if is_remote:
                    from ragforge.show.console import print_note

                    print_note(REMOTE_NOTE)
                async with follow_agents(app):
                    await serve(app, access, opened, lambda: _announce(access, where.opens))

    try:
        asyncio.run(run())
    except KeyboardInterrupt:
        return INTERRUPTED
    except asyncio.CancelledError:
        return BY_SIGNAL + (signals.received or 0)
    except OSError as error:
        raise InputError(
            f"Cannot listen at {where.host}:{where.port}: {error.strerror}."
        ) from error
    return 0


def _is_installed(name: str) -> bool:
    """Tell whether a library can be imported; to import it takes a while."""
    try:
        return find_spec(name) is not None
    except ValueError:  # it stands among the modules as none
        return False


@asynccontextmanager
async def follow_agents(app: App) -> AsyncIterator[None]:
    """Take in what other agents write meanwhile, if the user imported from them before."""
    stopping = asyncio.Event()

    async def follow() -> None:
        await _wait_for(stopping, FOLLOW_AFTER)  # the first page comes first
        while not stopping.is_set():
            try:
                await app.imports.follow(stopping, FOLLOW_SECONDS)
            except RagForgeError as error:  # what is not taken in now is taken in later
                log.warning("The sessions of other agents are not followed: %s", error)
                await _wait_for(stopping, FOLLOW_AGAIN)

    following = asyncio.create_task(follow())
    try:
        yield
    finally:
        stopping.set()
        with suppress(TimeoutError):
            await asyncio.wait_for(following, CLOSING_SECONDS)


async def _wait_for(event: asyncio.Event, seconds: float) -> None:
    """Wait until an event is set, some seconds at most."""
    with suppress(TimeoutError):
        await asyncio.wait_for(event.wait(), seconds)


def _announce(access: Access, opens: bool) -> None:
    """Show the address, which works once, and open it."""
    typer.echo(access.address)
    if opens:
        import webbrowser

        webbrowser.open(access.address)


def _read_password() -> str:
    """Return the password of the environment, or ask for one. Raises InputError."""
    given = os.environ.get(PASSWORD_VARIABLE, "")
    if not given and sys.stdin.isatty():
        given = typer.prompt("A password for the page", hide_input=True, err=True)
    if len(given) < MIN_PASSWORD:
        raise InputError(
            f"--allow-remote needs a password of at least {MIN_PASSWORD} characters, "
            f"in {PASSWORD_VARIABLE} or typed in."
        )
    return given

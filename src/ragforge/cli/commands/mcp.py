"""`ragforge mcp`: serve memory and code to other agents."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragforge.cli.exit_codes import BY_SIGNAL, FAILED, INTERRUPTED
from ragforge.cli.signals import EndingSignals
from ragforge.errors import InputError

if TYPE_CHECKING:
    from ragforge.config import Settings


def register(app: typer.Typer) -> None:
    app.command("mcp", epilog="mcp")(mcp)


def mcp(
    context: typer.Context,
    project: Annotated[
        str | None,
        typer.Argument(
            metavar="PROJECT",
            help="The project; if not given, the agent's folder, or the repository around here.",
        ),
    ] = None,
) -> None:
    """Serve memory and code to other agents over the Model Context Protocol."""
    from ragforge.cli.loading import GlobalOptions

    options: GlobalOptions = context.obj
    raise typer.Exit(serve_mcp(project, options.store, debug=options.debug))


def run_plain(arguments: Sequence[str]) -> int | None:
    """Serve as `ragforge mcp [PROJECT]` with `--store URL`, and return the exit code.

    None for any other command line: parsing those loads more than agents should wait for.
    """
    given = list(arguments)
    store = None
    if "--store" in given[:-1]:
        at = given.index("--store")
        store = given[at + 1]
        del given[at : at + 2]
    if given[:1] != ["mcp"] or len(given) > 2 or any(one.startswith("-") for one in given):
        return None
    return serve_mcp(given[1] if len(given) == 2 else None, store)


def serve_mcp(project: str | None, store: str | None = None, *, debug: bool = False) -> int:
    """Answer the requests of one client until it leaves; return the exit code."""
    from ragforge import __version__
    from ragforge.mcp.catalog import RagForgeCatalog
    from ragforge.mcp.projects import Projects, find_named
    from ragforge.mcp.protocol import Dispatcher
    from ragforge.mcp.serve import serve
    from ragforge.mcp.streams import take_streams

    def load(root: Path) -> Settings:
        from ragforge.app.wiring import log
        from ragforge.config import load_settings

        # No chat model: an agent that asks has one of its own, and nobody pays unawares.
        settings = load_settings(root, {"store.url": store, "llm.model": "none"}).settings
        log.open_log(Path(settings.agent.state_dir), os.environ.get(log.VARIABLE), debug=debug)
        return settings

    signals = EndingSignals()

    async def run() -> None:
        with signals.cancel_task():
            projects = Projects(chosen, here, load)
            try:
                await serve(Dispatcher(RagForgeCatalog(projects), "ragforge", __version__), *files)
            finally:
                await projects.close()

    try:
        here = Path.cwd()
        chosen = None if project is None else find_named(here / Path(project).expanduser())
        files = take_streams()
        asyncio.run(run())
    except (InputError, OSError) as error:
        sys.stderr.write(f"ragforge mcp: {error}\n")
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    except asyncio.CancelledError:
        return BY_SIGNAL + (signals.received or 0)
    return 0

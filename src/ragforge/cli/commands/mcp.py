"""`ragforge mcp`: serve memory and code to other agents."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import typer

from ragforge.cli.guard import FAILED, run_server
from ragforge.cli.loading import GlobalOptions, get_options, load_quietly
from ragforge.cli.options import argument
from ragforge.errors import InputError


def mcp(
    project: str | None = argument(
        "PROJECT",
        "The project; by default the agent's folder, or the repository around this one.",
        None,
    ),
) -> None:
    """Serve memory and code over the Model Context Protocol."""
    options = get_options()
    raise typer.Exit(serve_mcp(project, options.store, debug=options.debug))


def run_plain(arguments: Sequence[str]) -> int | None:
    """Serve `ragforge mcp [PROJECT] [--store URL]`, and return the exit code.

    Returns None for any other command line: a parser would take too long to load.
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

    # No chat model: the calling agent has one, and costs must not come as a surprise.
    options = GlobalOptions(store, "none", debug)

    async def run() -> None:
        projects = Projects(chosen, here, lambda root: load_quietly(root, options))
        try:
            await serve(Dispatcher(RagForgeCatalog(projects), "ragforge", __version__), *files)
        finally:
            await projects.close()

    try:
        here = Path.cwd()
        chosen = None if project is None else find_named(here / Path(project).expanduser())
        files = take_streams()
        return run_server(run)
    except (InputError, OSError) as error:
        sys.stderr.write(f"ragforge mcp: {error}\n")
        return FAILED

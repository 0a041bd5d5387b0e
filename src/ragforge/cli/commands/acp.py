"""`ragforge acp`: run as the agent of an editor."""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress

import typer

from ragforge.cli.guard import FAILED, run_server
from ragforge.cli.loading import GlobalOptions, get_options, load_quietly

MISSING = (
    "ragforge acp: the library for editors is not installed. "
    "Install it with: pip install 'ragforge-agent[acp]'\n"
)


def acp() -> None:
    """Run as the agent of an editor, over the Agent Client Protocol."""
    raise typer.Exit(serve_acp(get_options()))


def serve_acp(options: GlobalOptions) -> int:
    """Answer the requests of one editor until it leaves; return the exit code."""
    from ragforge import __version__
    from ragforge.mcp.streams import Output, read_lines, take_streams

    try:
        from ragforge.acp.agent import serve
    except ModuleNotFoundError as error:
        if error.name != "acp":
            raise
        sys.stderr.write(MISSING)
        return FAILED

    async def run() -> None:
        this, loop = asyncio.current_task(), asyncio.get_running_loop()
        incoming, outgoing = take_streams()

        def leave() -> None:
            with suppress(RuntimeError):  # the loop is closed already
                if this is not None:
                    loop.call_soon_threadsafe(this.cancel)

        output = Output(outgoing, leave)
        try:
            await serve(
                lambda folder: load_quietly(folder, options),
                __version__,
                read_lines(incoming),
                output.send,
            )
        finally:
            output.close()

    return run_server(run)

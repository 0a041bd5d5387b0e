"""Children: programs that are over, and gone, when whoever started them goes on."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

from ragforge.errors import InputError


@asynccontextmanager
async def child(command: Sequence[str], cwd: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """Start a program without input; kill it at the end, and wait until nothing is left.

    Raises InputError if it cannot be started.
    """
    starting = asyncio.ensure_future(
        asyncio.create_subprocess_exec(
            *command,
            cwd=cwd,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for us: we end the children
        )
    )
    try:
        process = await asyncio.shield(starting)
    except asyncio.CancelledError:
        with suppress(OSError):
            await _end(await starting)  # half started, it would leave its pipes open
        raise
    except OSError as error:
        raise InputError(f"{command[0]} cannot be started in {cwd}: {error}.") from error
    try:
        yield process
    finally:
        await _end(process)


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        _kill(process)
    ending = asyncio.ensure_future(process.communicate())
    cancelled: asyncio.CancelledError | None = None
    while not ending.done():
        try:
            await asyncio.shield(ending)
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled


def _kill(process: asyncio.subprocess.Process) -> None:
    """Kill without asking first whether it lives: `Process.kill` would take its exit code away."""
    with suppress(ProcessLookupError):
        if os.name == "nt":
            process.kill()
        else:
            os.kill(process.pid, signal.SIGKILL)

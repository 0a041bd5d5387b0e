"""Processes: run programs to their end, and hide our environment from them."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TypedDict, TypeVar, Unpack

DRAIN_SECONDS = 1.0
"""How long the pipes of an ended program may stay open in processes that left its group."""

T = TypeVar("T")


_PR_SET_DUMPABLE = 4
_ENV_START = 47
"""The place in /proc/self/stat, after the name of the program, of the environment's address."""


def get_exit_code(code: int) -> int:
    """Return the code of an ended program as a shell says it: 128 and more for a signal."""
    return code if code >= 0 else 128 - code


class ProcessOptions(TypedDict, total=False):
    """What a process is started with, as in `asyncio.create_subprocess_exec`."""

    cwd: str
    env: Mapping[str, str]
    executable: str
    stdin: int
    stdout: int
    stderr: int


@asynccontextmanager
async def open_process(
    command: str | Sequence[str], grace: float = 0.0, **options: Unpack[ProcessOptions]
) -> AsyncIterator[Process]:
    """Start a program, or a shell for a command line; kill it at the end of the block.

    With a grace period, everything it started is asked to end first, even if the program itself
    is gone. Raises OSError if it cannot be started.
    """
    start = (
        asyncio.create_subprocess_shell(command, start_new_session=True, **options)
        if isinstance(command, str)  # a new session: Ctrl-C is for us, we end the program
        else asyncio.create_subprocess_exec(*command, start_new_session=True, **options)
    )
    starting = asyncio.ensure_future(start)
    try:
        process = await asyncio.shield(starting)
    except asyncio.CancelledError:
        with suppress(OSError):
            await finish(_end(starting, grace))  # half started, it would leave its pipes open
        raise
    try:
        yield process
    finally:
        await finish(_end(starting, grace))


async def finish(work: Awaitable[T]) -> T:
    """Do work to its end even if the caller is cancelled meanwhile; cancel the caller after it."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled
    return task.result()


async def _end(starting: Awaitable[Process], grace: float) -> None:
    process = await starting
    if grace:
        _signal_group(process, "SIGTERM")
        with suppress(TimeoutError):
            async with asyncio.timeout(grace):
                await process.wait()
    if process.returncode is None or (grace and _group_exists(process)):
        _signal_group(process, "SIGKILL")
    if process.stdin is not None:
        process.stdin.close()
    with suppress(TimeoutError):
        async with asyncio.timeout(DRAIN_SECONDS):
            await process.communicate()  # unread output would keep the pipes open
    await process.wait()


def _group_exists(process: Process) -> bool:
    if os.name != "posix":
        return False
    try:
        os.killpg(process.pid, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _signal_group(process: Process, name: str) -> None:
    """Signal a program and all it started.

    Not by `Process.kill`, which asks first whether it lives and so takes its exit code away.
    """
    with suppress(ProcessLookupError, PermissionError):
        if os.name == "posix":
            os.killpg(process.pid, getattr(signal, name))
        elif process.returncode is None:
            process.kill()


@cache
def hide_process() -> None:
    """Keep other processes of this user from reading the environment and memory of this one.

    `os.environ`, and what programs inherit, stay as they are. Root still reads the memory.
    """
    if sys.platform != "linux":
        return
    import ctypes  # most commands start no program

    libc = ctypes.CDLL(None)
    libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    with suppress(OSError, ValueError, IndexError):
        fields = Path("/proc/self/stat").read_text("ascii", "replace").rpartition(")")[2].split()
        _move_environment(int(fields[_ENV_START]), int(fields[_ENV_START + 1]))


def _move_environment(start: int, end: int) -> None:
    """Move the environment to where the kernel does not look for it, and erase it here."""
    import ctypes

    size = end - start
    if size <= 0:
        return
    moved = ctypes.create_string_buffer(ctypes.string_at(start, size), size)
    _kept.append(moved)
    distance = ctypes.addressof(moved) - start
    variables = ctypes.POINTER(ctypes.c_size_t).in_dll(ctypes.CDLL(None), "environ")
    number = 0
    while address := variables[number]:
        if start <= address < end:  # others were set later, and are elsewhere
            variables[number] = address + distance
        number += 1
    ctypes.memset(start, 0, size)


_kept: list[object] = []

"""Pipeline: run programs joined by pipes, with bounded output and a deadline."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import time
from asyncio.subprocess import DEVNULL, STDOUT, Process
from collections.abc import Mapping, Sequence
from dataclasses import field

from ragforge.processes import get_exit_code, open_process
from ragforge.records import dataclass
from ragforge.tools.command.plan import ErrorsTo

MAX_TEMPORARY_FILE = 256 * 1024 * 1024
_CHUNK = 65_536
_GRACE = 1.0
"""Seconds for programs whose reader has ended, before they are killed."""


@dataclass(frozen=True, slots=True)
class PipelineProgram:
    """A program to start."""

    path: str
    words: tuple[str, ...]  # the first is what it calls itself
    cwd: str
    environment: Mapping[str, str]
    errors_to: ErrorsTo = "stderr"
    silent: bool = False
    stdin: int | None = None  # a file that its caller opened, instead of the program before it


@dataclass(slots=True)
class Capture:
    """The output of programs so far, and how much of it is kept."""

    stdout_bytes: int
    stderr_bytes: int
    memory_bytes: int
    stdout: bytearray = field(default_factory=bytearray)
    stderr: bytearray = field(default_factory=bytearray)
    truncated: bool = False
    timed_out: bool = False


async def run_pipeline(
    programs: Sequence[PipelineProgram], capture: Capture, deadline: float
) -> int | None:
    """Run the programs to their end and return the exit code of the last.

    None if it was ended: at the deadline, or because it printed too much.
    """
    stdout, out = os.pipe()
    stderr, err = os.pipe()
    reading = asyncio.create_task(_read(stdout, capture.stdout, capture.stdout_bytes))
    errors = asyncio.create_task(
        _read(stderr, capture.stderr, capture.stderr_bytes, to_the_end=True)
    )
    try:
        async with contextlib.AsyncExitStack() as stack:
            try:
                processes = await _start(programs, stack, out, err, capture.memory_bytes)
            finally:
                os.close(out)
                os.close(err)
            async with asyncio.timeout(max(deadline - time.monotonic(), 0)):
                if await reading:
                    capture.truncated = True
                    return None
                code = await processes[-1].wait()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(_GRACE):
                        for process in processes:
                            await process.wait()
            return get_exit_code(code)
    except TimeoutError:
        capture.timed_out = True
        return None
    finally:
        reading.cancel()
        with contextlib.suppress(TimeoutError, asyncio.CancelledError):
            async with asyncio.timeout(_GRACE):
                capture.truncated |= await errors


async def _start(
    programs: Sequence[PipelineProgram],
    stack: contextlib.AsyncExitStack,
    out: int,
    err: int,
    memory: int,
) -> list[Process]:
    """Start every program with its input from the one before it; the stack ends them."""
    processes: list[Process] = []
    errors = {"stderr": err, "stdout": STDOUT, "nowhere": DEVNULL}
    before = -1  # the reading end of the last pipe
    try:
        for position, program in enumerate(programs):
            is_last = position == len(programs) - 1
            after, into = (-1, out) if is_last else os.pipe()
            source = DEVNULL if before < 0 else before
            try:
                process = await stack.enter_async_context(
                    open_process(
                        program.words,
                        executable=program.path,
                        cwd=program.cwd,
                        env=program.environment,
                        stdin=source if program.stdin is None else program.stdin,
                        stdout=DEVNULL if program.silent else into,
                        stderr=errors[program.errors_to],
                    )
                )
                processes.append(process)
                _limit(process.pid, memory)
            finally:
                if before >= 0:
                    os.close(before)
                before = after
                if not is_last:
                    os.close(into)
    finally:
        if before >= 0:
            os.close(before)
    return processes


def _limit(process_id: int, memory: int) -> None:
    """Limit memory and file size: a script of ten letters can double its memory with each line.

    Only Linux can limit another process; on other systems there is only the deadline.
    """
    if sys.platform != "linux":
        return
    import resource  # Windows has none

    for what, limit in (
        (resource.RLIMIT_DATA, memory),
        (resource.RLIMIT_FSIZE, MAX_TEMPORARY_FILE),
        (resource.RLIMIT_CORE, 0),
    ):
        with contextlib.suppress(OSError, ValueError):
            resource.prlimit(process_id, what, (limit, limit))


async def _read(handle: int, into: bytearray, limit: int, to_the_end: bool = False) -> bool:
    """Read until the end, or until the limit is passed; return whether it was.

    With `to_the_end` what follows the limit is read too, and not kept.
    """
    reader, transport = await _open_reader(handle)
    passed = False
    try:
        while (to_the_end or not passed) and (chunk := await reader.read(_CHUNK)):
            room = limit - len(into)
            into += chunk[:room]
            passed |= len(chunk) > room
        return passed
    finally:
        transport.close()


async def _open_reader(handle: int) -> tuple[asyncio.StreamReader, asyncio.ReadTransport]:
    reader = asyncio.StreamReader(limit=_CHUNK)
    protocol = asyncio.StreamReaderProtocol(reader)
    loop = asyncio.get_running_loop()
    transport, _ = await loop.connect_read_pipe(lambda: protocol, os.fdopen(handle, "rb", 0))
    return reader, transport

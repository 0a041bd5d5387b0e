"""Approved: run a command line that the user has allowed, in the user's shell and environment."""

from __future__ import annotations

import asyncio
import os
import time
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Collection
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

from ragforge.processes import open_process
from ragforge.tools.command.run import CommandResult

GRACE = 2.0
"""Seconds between SIGTERM and SIGKILL."""


@dataclass(frozen=True, slots=True)
class ApprovedLimits:
    """Limits of an approved command."""

    seconds: float = 120.0  # where the caller does not say
    max_seconds: float = 1_800.0
    output_bytes: int = 100_000  # of each stream: its beginning and its end


@dataclass(slots=True)
class _KeptOutput:
    """The beginning and the end of a stream."""

    most: int
    head: bytearray = field(default_factory=bytearray)
    tail: bytearray = field(default_factory=bytearray)
    size: int = 0

    def add(self, chunk: bytes) -> None:
        self.size += len(chunk)
        room = self.most // 2 - len(self.head)
        self.head += chunk[: max(room, 0)]
        self.tail += chunk[max(room, 0) :]
        del self.tail[: -self.most // 2]

    @property
    def lost(self) -> int:
        return self.size - len(self.head) - len(self.tail)

    def text(self) -> str:
        gap = f"\n[… {self.lost:,} bytes …]\n" if self.lost else ""
        return self.head.decode(errors="replace") + gap + self.tail.decode(errors="replace")


async def run_approved(
    line: str,
    cwd: str,
    seconds: float | None,
    hidden: Collection[str],
    limits: ApprovedLimits | None = None,
) -> CommandResult:
    """Run a line to its end or to its time limit; all processes it started end with it.

    `hidden` environment variables, such as keys of models, are not passed on.
    """
    limits = limits or ApprovedLimits()
    start = time.monotonic()
    variables = {name: value for name, value in os.environ.items() if name not in hidden}
    out, err = _KeptOutput(limits.output_bytes), _KeptOutput(limits.output_bytes)
    timed_out = False
    async with AsyncExitStack() as stack:
        try:
            process = await stack.enter_async_context(
                open_process(
                    line, GRACE, cwd=cwd, env=variables, stdin=DEVNULL, stdout=PIPE, stderr=PIPE
                )
            )
        except (OSError, ValueError) as error:
            return CommandResult(stderr=f"It cannot be started: {error}", exit_code=None)
        try:
            async with asyncio.timeout(min(seconds or limits.seconds, limits.max_seconds)):
                await asyncio.gather(_read(process.stdout, out), _read(process.stderr, err))
                await process.wait()
        except TimeoutError:
            timed_out = True
    return CommandResult(
        stdout=out.text(),
        stderr=err.text(),
        exit_code=None if timed_out else process.returncode,
        duration_ms=round((time.monotonic() - start) * 1000),
        timed_out=timed_out,
        truncated=bool(out.lost or err.lost),
    )


async def _read(stream: asyncio.StreamReader | None, kept: _KeptOutput) -> None:
    assert stream is not None
    while chunk := await stream.read(65_536):
        kept.add(chunk)

"""Processes: started completely or not at all, and gone when their caller continues."""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import DEVNULL, PIPE

import psutil
import pytest

from ragforge.processes import finish, open_process

SLEEP = (sys.executable, "-c", "import time; time.sleep(300)")


def children() -> set[int]:
    return {child.pid for child in psutil.Process().children(recursive=True)}


async def test_a_caller_cancelled_at_any_moment_leaves_no_process() -> None:
    before = children()

    async def use() -> None:
        async with open_process(SLEEP, stdin=DEVNULL, stdout=PIPE):
            await asyncio.sleep(300)

    for steps in range(12):
        task = asyncio.create_task(use())
        for _ in range(steps):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert children() <= before


async def test_a_program_that_prints_more_than_anyone_reads_ends() -> None:
    async with open_process("yes", stdin=DEVNULL, stdout=PIPE) as process:
        assert process.stdout is not None
        assert await process.stdout.read(2) == b"y\n"

    assert process.returncode is not None


async def test_a_program_that_cannot_be_started_raises() -> None:
    with pytest.raises(OSError, match="nowhere"):
        async with open_process(("/nowhere/program",)):
            pass


async def test_work_is_finished_although_its_caller_is_cancelled_twice() -> None:
    done = []

    async def work() -> None:
        await asyncio.sleep(0.1)
        done.append(True)

    task = asyncio.create_task(finish(work()))
    for _ in range(2):
        await asyncio.sleep(0.01)
        task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert done

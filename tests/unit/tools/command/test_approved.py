"""Commands that the user allowed: bounded, and gone when they are over."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import psutil
import pytest

from ragforge.tools.command.approved import ApprovedCommands, ApprovedLimits
from ragforge.tools.command.run import CommandResult


async def run(
    line: str, cwd: Path, seconds: float | None = None, limits: ApprovedLimits | None = None
) -> CommandResult:
    """Run a line without a sandbox; with one, see tests/security/test_sandbox.py."""
    commands = ApprovedCommands(str(cwd), "off", limits=limits or ApprovedLimits())
    return await commands.run(line, str(cwd), seconds)


def lives(file: Path) -> bool:
    """Tell whether the process that left its number there still runs, and not only exits."""
    try:
        process = psutil.Process(int(file.read_text()))
        for _ in range(100):
            if process.status() == psutil.STATUS_ZOMBIE:
                return False
            time.sleep(0.01)
    except psutil.NoSuchProcess:
        return False
    return True


async def test_output_and_exit_code_come_back(tmp_path: Path) -> None:
    result = await run("echo out; echo err >&2; exit 3", tmp_path)
    assert (result.stdout, result.stderr, result.exit_code) == ("out\n", "err\n", 3)


async def test_the_beginning_and_the_end_of_long_output_are_kept(tmp_path: Path) -> None:
    result = await run("seq 1 100000", tmp_path, limits=ApprovedLimits(output_bytes=100))
    assert result.stdout.startswith("1\n2\n")
    assert result.stdout.endswith("99999\n100000\n")
    assert "bytes …]" in result.stdout
    assert result.truncated


async def test_keys_are_not_passed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    result = await run("echo [$OPENAI_API_KEY]", tmp_path)
    assert result.stdout == "[]\n"


async def test_at_the_end_of_its_time_a_command_and_all_it_started_are_ended(
    tmp_path: Path,
) -> None:
    line = "sleep 300 & echo $! > pid; sleep 300"
    result = await run(line, tmp_path, 1)
    assert result.timed_out
    assert result.exit_code is None
    assert not lives(tmp_path / "pid")


async def test_what_does_not_end_when_asked_is_ended(tmp_path: Path) -> None:
    line = "trap '' TERM; echo $$ > pid; while true; do sleep 0.1; done"
    result = await run(line, tmp_path, 1)
    assert result.timed_out
    assert not lives(tmp_path / "pid")


async def test_a_cancelled_caller_leaves_nothing_running(tmp_path: Path) -> None:
    running = asyncio.create_task(run("echo $$ > pid; sleep 300", tmp_path))
    async with asyncio.timeout(30):
        pid = tmp_path / "pid"
        while not pid.exists() or not pid.read_text().strip():  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert not lives(tmp_path / "pid")

"""Workplace: a user with a home, a project and a store, and processes that work there."""

from __future__ import annotations

import asyncio
import math
import os
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from scripts.campaign.report import Counts
from tests.fakes.projects import SHOP, write
from tests.fakes.zygote import fork

AT_ONCE = 4
POLL_SECONDS = 0.004
LONGEST_PAUSE = 0.02  # seconds between a moment of CPU time and the kill
_ALL_THREADS = 2  # in the number of a process's clock, see clock_getcpuclockid(3)
_OWN = ("RAGFORGE_", "LC_", "LANG", "COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR")


def make_project(folder: Path) -> Path:
    """Make a small project, and return its folder."""
    project = folder / "shop"
    (project / ".git").mkdir(parents=True)
    write(project, SHOP)
    return project


def environ_of(home: Path, **more: str) -> dict[str, str]:
    """Return the variables of a user at home, whose store and settings are there."""
    home.mkdir(parents=True, exist_ok=True)
    (home / "user.yaml").touch()
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_OWN)}
    return {
        **kept,
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home),
        "XDG_DATA_HOME": str(home),
        "TERM": "xterm-256color",
        "LANG": "C.UTF-8",
        "OPENAI_API_KEY": "sk-none",
        "RAGFORGE_STORE": str(home / "store.db"),
        "RAGFORGE_CONFIG": str(home / "user.yaml"),
        "RAGFORGE_AGENT__STATE_DIR": str(home / "state"),
        "RAGFORGE_AGENT__CONTEXT__PLAN_BY": "rules",
        "RAGFORGE_EMBEDDINGS__MODEL": "none",
        "RAGFORGE_BRAIN__INGEST_AUTOMATICALLY": "false",
        "RAGFORGE_JOBS__DETACH": "false",  # nobody stays behind
        "RAGFORGE_JOBS__CLOSING_SECONDS": "0",
        **more,
    }


def read_cpu_clock(pid: int) -> float:
    """Return the CPU seconds that a process has used, or infinity where it is gone.

    Moments to kill at are counted in these: they mean the same on a busy machine.
    """
    try:
        return time.clock_gettime((~pid << 3) | _ALL_THREADS)
    except OSError:
        return math.inf


async def kill_at(kill: Callable[[], object], pid: int, cpu: float, pause: float) -> None:
    """Kill a process once it has used so much CPU time, after a pause: it may be waiting then."""
    while (used := read_cpu_clock(pid)) < cpu:  # noqa: ASYNC110
        await asyncio.sleep(POLL_SECONDS)
    if used < math.inf:  # else it is gone, and its number may be another's
        await asyncio.sleep(pause)
        kill()


class Running:
    """A process that runs a module, and can be killed in the midst of it."""

    def __init__(self, words: Sequence[str], cwd: Path, env: dict[str, str]) -> None:
        self._files = [tempfile.TemporaryFile() for _ in range(3)]  # noqa: SIM115
        self.used = 0.0  # CPU seconds
        handles = [file.fileno() for file in self._files]
        self._forked = fork(words[0], words[1:], handles, cwd, env)
        self.printed = self.errors = ""

    async def end(self, cpu: float = math.inf, pause: float = 0.0, seconds: float = 600) -> int:
        """Wait for its end, and kill it after so much CPU time; return its exit code."""
        waiting = asyncio.create_task(asyncio.to_thread(self._forked.wait))
        killing = asyncio.create_task(kill_at(self._forked.kill, self._forked.pid, cpu, pause))
        ends = time.monotonic() + seconds
        while not waiting.done():
            used = read_cpu_clock(self._forked.pid)
            self.used = self.used if used == math.inf else used
            if time.monotonic() > ends:
                self._forked.kill()
            await asyncio.wait({waiting}, timeout=2 * POLL_SECONDS)
        killing.cancel()
        _, out, err = self._files
        for file in (out, err):
            file.seek(0)
        self.printed = out.read().decode(errors="replace")
        self.errors = err.read().decode(errors="replace")
        for file in self._files:
            file.close()
        return waiting.result()


async def run_rounds(
    rounds: Sequence[Callable[[], Awaitable[Counts]]], at_once: int = AT_ONCE
) -> Counts:
    """Run rounds, some at once, and return what they counted. A round that fails is a problem."""
    total, waiting = Counts(), list(reversed(rounds))

    async def work() -> None:
        while waiting:
            try:
                total.add(await waiting.pop()())
            except Exception as error:  # a check that fails must not end the campaign
                total.problems.append(f"a round failed: {type(error).__name__}: {error}")
            total.rounds += 1

    await asyncio.gather(*(work() for _ in range(at_once)))
    return total

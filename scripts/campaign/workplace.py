"""Workplace: a user with a home, a project and a store, and processes that work there."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

from scripts.campaign.report import Counts, describe_crash
from tests.fakes.projects import SHOP, write
from tests.fakes.zygote import fork

AT_ONCE = 4
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
        "RAGFORGE_AGENT__MEMORY__WRITE_BY": "model",
        "RAGFORGE_EMBEDDINGS__MODEL": "none",
        "RAGFORGE_BRAIN__INGEST_AUTOMATICALLY": "false",
        "RAGFORGE_JOBS__DETACH": "false",  # no process stays behind
        "RAGFORGE_JOBS__CLOSING_SECONDS": "0",
        **more,
    }


class Running:
    """A process that runs a module, and what it printed."""

    def __init__(self, words: Sequence[str], cwd: Path, env: dict[str, str]) -> None:
        self._words = words
        self._cwd = cwd
        self._env = env
        self.printed = self.errors = ""

    async def end(self, seconds: float = 600) -> int:
        """Start it, wait for its end and return its exit code.

        Raises TimeoutError if it takes longer than some seconds.
        """
        with ExitStack() as files:
            given, out, err = (files.enter_context(tempfile.TemporaryFile()) for _ in range(3))
            handles = [file.fileno() for file in (given, out, err)]
            code = await asyncio.to_thread(self._run, handles, seconds)
            for file in (out, err):
                file.seek(0)
            self.printed = out.read().decode(errors="replace")
            self.errors = err.read().decode(errors="replace")
        return code

    def _run(self, handles: Sequence[int], seconds: float) -> int:
        forked = fork(self._words[0], self._words[1:], handles, self._cwd, self._env)
        try:
            return forked.wait(seconds)
        except TimeoutError:
            forked.kill()
            raise TimeoutError(f"{self._words} took longer than {seconds} s") from None


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
                total.problems.append(f"a round failed: {describe_crash(error)}")
            total.rounds += 1

    await asyncio.gather(*(work() for _ in range(at_once)))
    return total

"""Talkers: victims that write until they are killed, and acknowledge what they stored.

A question is acknowledged once the provider has it: it is stored before. An answer is
acknowledged once the command printed it, or the terminal asks for the next question.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import os
import random
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from itertools import count
from pathlib import Path

from ragforge.adapters.stores.sqlite.store import open_sqlite
from ragforge.search.tokenise import WORDS
from scripts.campaign.provider_reply import (
    NoteWriter,
    answer_of,
    content_of,
    path_of,
    question_of,
)
from scripts.campaign.report import Counts
from scripts.campaign.workplace import (
    LONGEST_PAUSE,
    Running,
    environ_of,
    kill_at,
    make_project,
    read_cpu_clock,
)
from tests.fakes.builders import conversation
from tests.fakes.terminal import ENTER, Terminal
from tests.faults.checks import look_for

KILLS_A_ROUND = 8
FIRST_GUESS = 1.0  # CPU seconds that a victim takes, until one has run to its end


class Talker(ABC):
    """One kind of victim, and how long it usually takes."""

    name = ""

    def __init__(self, server: NoteWriter, marks: Callable[[], str]) -> None:
        self.server = server
        self.marks = marks
        self.usual = FIRST_GUESS
        self.chance = random.Random(0)

    async def prepare(self, folder: Path) -> None:
        """Let one run to its end, to know how long that takes."""
        await self.play_round(folder, 0, random.Random(0))

    async def play_round(self, folder: Path, kills: int, chance: random.Random) -> Counts:
        """Kill several in one store, two at a time, then let one more end; return the counts."""
        project, counts = make_project(folder), Counts()
        env = environ_of(folder, **self.server.environ())
        acknowledged: set[str] = set()
        marks: list[str] = []

        async def one(moment: float) -> None:
            mark = self.marks()
            marks.append(mark)
            acknowledged.update(await self.talk(project, env, mark, moment, counts))

        await self.prepare_store(folder)
        for _ in range(0, kills, 2):
            await asyncio.gather(*(one(chance.uniform(0, self.usual)) for _ in range(2)))
        _age_drafts(project)
        await one(math.inf)
        acknowledged |= {question_of(mark) for mark in marks if mark in self.server.heard}
        kept = await look_for(folder / "store.db", acknowledged)
        counts.acknowledged = len(acknowledged)
        counts.lost, counts.doubled = len(kept.lost), len(kept.doubled)
        counts.problems += kept.problems
        counts.problems += [f"{folder}: lost {text!r}" for text in kept.lost]
        counts.problems += [f"{folder}: twice {text!r}" for text in kept.doubled]
        _check_notes(project, marks, kept.calls, counts)
        return counts

    async def prepare_store(self, folder: Path) -> None:  # noqa: B027 - not all need it
        """Make what the victim needs in the store."""

    @abstractmethod
    async def talk(
        self, project: Path, env: dict[str, str], mark: str, moment: float, counts: Counts
    ) -> set[str]:
        """Run a victim, kill it after so much CPU time, and return what it acknowledged."""

    def pause(self) -> float:
        return self.chance.uniform(0, LONGEST_PAUSE)


class Asking(Talker):
    """`ragforge ask`, which changes a file."""

    name = "ask"

    async def talk(
        self, project: Path, env: dict[str, str], mark: str, moment: float, counts: Counts
    ) -> set[str]:
        words = ["ragforge", "ask", "--new", "--yes", "--json", question_of(mark)]
        running = Running(words, project, env)
        code = await running.end(moment, self.pause())
        counts.kills += code == -9
        if code != -9:
            counts.ended_first += 1
            self.usual = running.used
        counts.note_errors(running.errors, f"ask {mark}")
        if code not in (0, -9):
            counts.problems.append(f"ask {mark} ended with {code}: {running.errors[-300:]}")
        with contextlib.suppress(ValueError):
            return {json.loads(running.printed)["content"]}
        return set()


class Writing(Talker):
    """A program that stores whole turns through the library, one after the other."""

    name = "library"
    LONGEST = 0.5  # CPU seconds: it ends by a kill alone

    async def prepare_store(self, folder: Path) -> None:
        store = await open_sqlite(folder / "store.db", WORDS)
        await store.conversations.create(conversation(uuid="c"))
        await store.close()

    async def talk(
        self, project: Path, env: dict[str, str], mark: str, moment: float, counts: Counts
    ) -> set[str]:
        words = ["tests.faults.writer", "turns", env["RAGFORGE_STORE"], "c", mark]
        running = Running(words, project, env)
        code = await running.end(min(moment, self.LONGEST), self.pause())
        if code == -9:
            counts.kills += 1
        else:
            counts.problems.append(f"writer {mark} ended with {code}: {running.errors[-300:]}")
        # The last line may be cut by the kill; a whole id was acknowledged.
        return {line for line in running.printed.splitlines() if len(line) == 36}


class Typing(Talker):
    """The terminal, into which somebody types."""

    name = "terminal"

    async def talk(
        self, project: Path, env: dict[str, str], mark: str, moment: float, counts: Counts
    ) -> set[str]:
        acknowledged: set[str] = set()
        async with Terminal(["-m", "ragforge"], env, project, forked=True) as terminal:

            async def type_and_wait() -> None:
                await terminal.prompt()
                terminal.type(question_of(mark) + ENTER)
                await terminal.see("Allow?")
                terminal.type("y" + ENTER)
                await terminal.see(f"The note {mark} is written.")
                await terminal.prompt()
                acknowledged.add(answer_of(mark))

            process = terminal.process
            killing = kill_at(process.kill, process.pid, moment, self.pause())
            tasks = {asyncio.create_task(type_and_wait()), asyncio.create_task(killing)}
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if acknowledged:
                self.usual = read_cpu_clock(process.pid)
            for task in tasks:
                task.cancel()
            process.kill()
            await asyncio.gather(*tasks, asyncio.to_thread(process.wait), return_exceptions=True)
            counts.kills += 1
            counts.note_errors(terminal.raw.decode(errors="replace"), f"terminal {mark}")
        return acknowledged


def _check_notes(project: Path, marks: list[str], calls: str, counts: Counts) -> None:
    """Count notes that are not all there, and those that no stored call accounts for."""
    for mark in marks:
        note = project / path_of(mark)
        if not note.exists():
            continue
        if note.read_text() != content_of(mark):
            counts.half_written += 1
        if path_of(mark) not in calls:
            counts.unknown_edits += 1
    counts.drafts += sum(1 for _ in project.rglob(".ragforge-*"))


def _age_drafts(project: Path) -> None:
    """Let what killed writes left look old enough for the next write to remove it."""
    before = time.time() - 2 * 60
    for draft in project.rglob(".ragforge-*"):
        os.utime(draft, (before, before))


def make_marks() -> Callable[[], str]:
    """Return a function that gives a new mark each time."""
    numbers = count()
    return lambda: f"m{next(numbers)}"

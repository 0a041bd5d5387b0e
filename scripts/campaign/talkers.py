"""Talkers: victims that write until they are killed, and acknowledge what they stored.

A question is acknowledged once `record_question` returned, or the provider has it. An answer is
acknowledged once the command printed it, or the terminal asks for the next question.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import time
from abc import abstractmethod
from collections.abc import Callable
from itertools import count
from pathlib import Path

from ragforge.adapters.stores.sqlite.store import open_sqlite
from ragforge.domain.schema import CONVERSATION
from ragforge.memory.secrets.redactor import REDACTOR
from ragforge.search.words.tokenise import WORDS
from scripts.campaign.provider_reply import (
    NoteWriter,
    answer_of,
    content_of,
    path_of,
    question_of,
)
from scripts.campaign.report import Counts
from scripts.campaign.traces import Moment, Trace, Usual, choose_moments
from scripts.campaign.victims import Victim
from scripts.campaign.watched import KILLED
from scripts.campaign.workplace import Running, environ_of, make_project
from tests.fakes.builders import conversation
from tests.fakes.terminal import ENTER, Terminal
from tests.faults.checks import look_for

KILLS_A_ROUND = 8
TOGETHER = 2  # victims in one store


class Talker(Victim):
    """Victims that share a store with others of their kind."""

    at_once = 2

    def __init__(self, server: NoteWriter, marks: Callable[[], str]) -> None:
        super().__init__()
        self.server = server
        self.marks = marks

    def choose_size(self, chance: random.Random) -> int:
        return KILLS_A_ROUND

    async def fill_round(
        self, folder: Path, kills: int, chance: random.Random, counts: Counts
    ) -> None:
        project = make_project(folder)
        env = environ_of(folder, **self.server.environ())
        acknowledged: set[str] = set()
        marks: list[str] = []

        async def one(moment: Moment | None) -> None:
            mark = self.marks()
            marks.append(mark)
            trace = Trace(folder, self.name)
            acknowledged.update(await self.talk(project, env, mark, moment, trace, counts))
            if mark in self.server.heard or trace.has_ended("record_question"):
                acknowledged.add(question_of(mark))

        await self.prepare_store(folder)
        moments = choose_moments(kills, chance)
        for start in range(0, kills, TOGETHER):
            await asyncio.gather(*(one(moment) for moment in moments[start : start + TOGETHER]))
        _age_drafts(project)
        await one(None)
        kept = await look_for(folder / "store.db", acknowledged)
        counts.acknowledged = len(acknowledged)
        counts.lost, counts.doubled = len(kept.lost), len(kept.doubled)
        counts.problems += kept.problems
        counts.problems += [f"{folder}: lost {text!r}" for text in kept.lost]
        counts.problems += [f"{folder}: twice {text!r}" for text in kept.doubled]
        _check_notes(project, marks, kept.calls, counts)

    async def prepare_store(self, folder: Path) -> None:
        """Make what the victim needs in the store."""

    @abstractmethod
    async def talk(
        self,
        project: Path,
        env: dict[str, str],
        mark: str,
        moment: Moment | None,
        trace: Trace,
        counts: Counts,
    ) -> set[str]:
        """Run a victim, kill it at a moment or let it end, and return what it acknowledged."""


class Asking(Talker):
    """`ragforge ask`, which changes a file."""

    name = "ask"

    async def talk(
        self,
        project: Path,
        env: dict[str, str],
        mark: str,
        moment: Moment | None,
        trace: Trace,
        counts: Counts,
    ) -> set[str]:
        words = ["ragforge", "ask", "--new", "--yes", "--json", question_of(mark)]
        running = Running(trace.watch(words, moment, self.usual), project, env)
        code = await running.end()
        counts.note_errors(running.errors, f"ask {mark}")
        if code in KILLED:
            counts.note_kill(trace.unfinished)
            with contextlib.suppress(ValueError):  # it may have printed all, a part or nothing
                return {str(json.loads(running.printed)["content"])}
            return set()
        counts.ended_first += moment is not None
        self.usual = trace.measure()
        if code != 0:
            counts.problems.append(f"ask {mark} ended with {code}: {running.errors[-300:]}")
            return set()
        content = str(json.loads(running.printed)["content"])
        if content.strip() != answer_of(mark).strip():
            counts.problems.append(f"ask {mark} answered {content[:300]!r}")
        return {content}


class Writing(Talker):
    """A program that stores whole turns through the library, one after the other."""

    name = "library"
    acknowledged_per_kill = 5
    LONGEST = Moment(share=1.0)

    def __init__(self, server: NoteWriter, marks: Callable[[], str]) -> None:
        super().__init__(server, marks)
        ever = {"cpu": 0.5, "wall": 1.0}  # it ends only by a kill
        self.usual = Usual(ever, ever)

    async def prepare_store(self, folder: Path) -> None:
        store = await open_sqlite(folder / "store.db", WORDS, REDACTOR)
        await store.records.put(CONVERSATION, conversation(uuid="c"))
        await store.close()

    async def talk(
        self,
        project: Path,
        env: dict[str, str],
        mark: str,
        moment: Moment | None,
        trace: Trace,
        counts: Counts,
    ) -> set[str]:
        words = ["tests.faults.writer", "turns", env["RAGFORGE_STORE"], "c", mark]
        words = trace.watch(words, moment or self.LONGEST, self.usual)
        running = Running(words, project, env)
        code = await running.end()
        if code in KILLED:
            counts.note_kill(trace.unfinished)
        else:
            counts.problems.append(f"writer {mark} ended with {code}: {running.errors[-300:]}")
        # The last line may be cut by the kill; a whole id was acknowledged.
        return {line for line in running.printed.splitlines() if len(line) == 36}


class Typing(Talker):
    """The terminal, into which a user types."""

    name = "terminal"

    async def talk(
        self,
        project: Path,
        env: dict[str, str],
        mark: str,
        moment: Moment | None,
        trace: Trace,
        counts: Counts,
    ) -> set[str]:
        words = ["-m", *trace.watch(["ragforge"], moment, self.usual)]
        async with Terminal(words, env, project, forked=True) as terminal:
            try:
                await _type_and_wait(terminal, mark)
            except AssertionError as error:
                if terminal.process.poll() in KILLED:
                    counts.note_kill(trace.unfinished)
                else:
                    counts.problems.append(f"terminal {mark}: {error}")
                return set()
            finally:
                counts.note_errors(terminal.raw.decode(errors="replace"), f"terminal {mark}")
            counts.ended_first += moment is not None
            self.usual = trace.measure()
        return {answer_of(mark)}


async def _type_and_wait(terminal: Terminal, mark: str) -> None:
    """Ask for a note, allow it, and wait for the answer and the next prompt."""
    await terminal.prompt()
    terminal.type(question_of(mark) + ENTER)
    await terminal.see("Allow?")
    terminal.type("y" + ENTER)
    await terminal.see(f"The note {mark} is written.")
    await terminal.prompt()


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

"""Finishers: victims that are killed, run again, and must end as if nothing had happened."""

from __future__ import annotations

import random
import shutil
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ragforge.adapters.stores.sqlite.store import open_sqlite
from ragforge.domain.conversations import MemoryFilter
from ragforge.memory.exchange.export import build_document, to_bytes
from ragforge.memory.exchange.imports import import_conversation
from ragforge.search.tokenise import WORDS
from scripts.campaign.report import Counts
from scripts.campaign.workplace import LONGEST_PAUSE, Running, environ_of, make_project
from tests.fakes.copying import everything
from tests.fakes.old_store import write_old_store
from tests.fakes.projects import snapshot, write
from tests.fakes.rich import fill_facts
from tests.faults.checks import find_damage, read_everything
from tests.faults.long_conversation import make_long_conversation
from tests.faults.summariser import check_summaries, store_turns

MOST_KILLS = 3  # in a row, before it is let run to its end
NEVER = str(10**9)
__all__ = ["FINISHERS", "Finisher", "fill_source"]


class Finisher(ABC):
    """One kind of victim: what it starts from, what it runs, and how it must end."""

    name = ""

    def __init__(self, folder: Path) -> None:
        self.origin = folder / "origin"
        self.project = make_project(self.origin)
        self.usual = 0.0
        self.expected: object = None

    async def prepare(self) -> None:
        """Make what all rounds start from, and let one run undisturbed."""
        await self.fill_origin()
        clean = self.origin.parent / "clean"
        counts = await self.play_round(clean, 0, random.Random(0))
        if counts.problems:
            raise AssertionError(f"{self.name} fails without a fault: {counts.problems}")
        self.expected = await self.look_at(clean / "store.db")

    async def fill_origin(self) -> None:  # noqa: B027 - not all need it
        """Make the files that a round starts from."""

    @abstractmethod
    def words(self, store: Path) -> list[str]:
        """Return the module that is run, and its arguments."""

    async def look_at(self, store: Path) -> object:
        """Return what must be the same however often it was killed."""
        return _without_new_ids(await read_everything(store))

    async def check_half_way(self, store: Path) -> list[str]:
        """Return what may not be so after a kill."""
        return find_damage(store)

    def is_done(self, code: int, errors: str) -> bool:
        return code == 0

    async def play_round(self, folder: Path, kills: int, chance: random.Random) -> Counts:
        """Kill it up to so many times, let it end, and compare."""
        counts, env = Counts(), environ_of(folder)
        store = folder / "store.db"
        if (self.origin / "store.db").exists():
            shutil.copy(self.origin / "store.db", store)
        for _ in range(kills):
            running = Running(self.words(store), self.project, env)
            moment = chance.uniform(0, self.usual)
            code = await running.end(moment, chance.uniform(0, LONGEST_PAUSE))
            counts.kills += code == -9
            counts.ended_first += code != -9
            counts.note_errors(running.errors, f"{self.name} in {folder}")
            counts.problems += await self.check_half_way(store)
        running = Running(self.words(store), self.project, env)
        code = await running.end()
        self.usual = running.used
        counts.note_errors(running.errors, f"{self.name} in {folder}")
        if not self.is_done(code, running.errors):
            counts.problems.append(f"{folder}: ended with {code}: {running.errors[-300:]}")
        if self.expected is not None and await self.look_at(store) != self.expected:
            counts.problems.append(f"{folder}: {self.name} did not end as an undisturbed one does")
        counts.problems += find_damage(store)
        return counts


class Importing(Finisher):
    """`ragforge sessions import`."""

    name = "import"
    TURNS = 100

    async def fill_origin(self) -> None:
        data = to_bytes(build_document(make_long_conversation(self.TURNS)))
        (self.origin / "long.json").write_bytes(data)

    def words(self, store: Path) -> list[str]:
        return ["ragforge", "sessions", "import", str(self.origin / "long.json")]

    def is_done(self, code: int, errors: str) -> bool:
        return code == 0 or "already" in errors  # the kill came after its end

    async def check_half_way(self, store: Path) -> list[str]:
        if not store.exists():
            return []
        opened = await open_sqlite(store, WORDS)
        there = await opened.archive.count("message")
        await opened.close()
        found = find_damage(store)
        if there not in (0, 2 * self.TURNS):
            found.append(f"{store}: {there} of {2 * self.TURNS} messages were imported")
        return found


class Ingesting(Finisher):
    """`ragforge ingest`."""

    name = "ingest"

    async def fill_origin(self) -> None:
        write(
            self.project,
            {
                f"more/m{n}.py": f"from more.m{n - 1} import f{n - 1}\n\n\n"
                f"def f{n}():\n    return f{n - 1}()\n"
                for n in range(40)
            },
        )

    def words(self, store: Path) -> list[str]:
        return ["ragforge", "ingest", "--json"]

    async def look_at(self, store: Path) -> object:
        opened = await open_sqlite(store, WORDS)
        try:
            return await snapshot(opened, self.project, "none")
        finally:
            await opened.close()


class Copying(Finisher):
    """`ragforge store copy`."""

    name = "copy"

    async def fill_origin(self) -> None:
        await fill_source(self.origin / "source.db")

    def words(self, store: Path) -> list[str]:
        source = str(self.origin / "source.db")
        return ["ragforge", "store", "copy", "--from", source, "--to", str(store)]

    async def look_at(self, store: Path) -> object:
        assert await read_everything(store) == await read_everything(self.origin / "source.db")
        return True


async def fill_source(path: Path) -> None:
    """Make a store that has records of every kind, and many messages."""
    store = await open_sqlite(path, WORDS)
    await fill_facts(store)
    await import_conversation(store.archive, to_bytes(build_document(make_long_conversation(300))))
    await store.close()


class Migrating(Finisher):
    """A command that opens the file of an old version."""

    name = "migration"
    TURNS = 1_000

    async def fill_origin(self) -> None:
        questions = [f"parsing header {n} of the table" for n in range(self.TURNS)]
        write_old_store(self.origin / "store.db", questions)

    def words(self, store: Path) -> list[str]:
        return ["ragforge", "sessions", "list", "--json"]

    async def look_at(self, store: Path) -> object:
        opened = await open_sqlite(store, WORDS)
        try:
            found = await opened.conversations.match_words("parse 777", MemoryFilter(), 5, reach=4)
            return _without_new_ids(await everything(opened)), [m.id for m in found.matches]
        finally:
            await opened.close()


def _without_new_ids(stored: Mapping[str, Any]) -> object:
    """Return records without what each process makes anew: the ids and moments of projects."""
    return {
        kind: [{name: one[name] for name in one if name != "project_id"} for one in some]
        for kind, some in stored.items()
        if kind != "checkout"
    }


class Summarising(Finisher):
    """A worker that summarises."""

    name = "summarising"
    talk = ""

    async def fill_origin(self) -> None:
        store = await open_sqlite(self.origin / "store.db", WORDS)
        self.talk = await store_turns(store)
        await store.close()

    def words(self, store: Path) -> list[str]:
        return ["tests.faults.summariser", str(store), NEVER]

    async def look_at(self, store: Path) -> object:
        opened = await open_sqlite(store, WORDS)
        try:
            await check_summaries(opened, self.talk)
        finally:
            await opened.close()
        return True


FINISHERS = (Importing, Ingesting, Copying, Migrating, Summarising)

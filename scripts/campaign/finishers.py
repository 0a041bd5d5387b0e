"""Finishers: victims that are killed, run again, and must end as if nothing had happened.

What an undisturbed one leaves in the store is acknowledged work: all of it must be there after
the kills, once.
"""

from __future__ import annotations

import asyncio
import hashlib
import random
import shutil
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from unittest.mock import patch

from ragforge.adapters.stores.sqlite import migrate
from ragforge.adapters.stores.sqlite.store import open_sqlite
from ragforge.domain.conversations import MemoryFilter
from ragforge.domain.schema import CONVERSATION
from ragforge.memory.export_format.reader import import_conversation
from ragforge.memory.export_format.writer import build_document, to_bytes
from ragforge.memory.secrets.redactor import REDACTOR
from ragforge.ports.store import Store, list_record_kinds
from ragforge.search.words.tokenise import WORDS
from scripts.campaign.report import Counts
from scripts.campaign.traces import Trace, choose_moments
from scripts.campaign.victims import Victim
from scripts.campaign.watched import KILLED
from scripts.campaign.workplace import Running, environ_of, make_project
from tests.fakes.builders import assistant, conversation, tool_call, tool_result, user
from tests.fakes.copying import records
from tests.fakes.old_store import write_old_store
from tests.fakes.projects import snapshot, write
from tests.fakes.rich import fill_facts
from tests.fakes.transcripts import claude_code, codex
from tests.faults.checks import find_damage
from tests.faults.long_conversation import make_long_conversation
from tests.faults.summariser import check_summaries, store_turns

MAX_KILLS = 3  # in a row, before it is let run to its end
NEVER = str(10**9)
SHOWN = 300  # letters of a record
__all__ = ["FINISHERS", "Finisher", "fill_source"]

Facts = Counter[str]


class Finisher(Victim):
    """Victims that start from the same files, and must end with the same facts."""

    acknowledged_per_kill = 20

    def __init__(self) -> None:
        super().__init__()
        self.origin = Path()
        self.project = Path()
        self.expected: Facts | None = None

    def choose_size(self, chance: random.Random) -> int:
        return chance.randint(1, MAX_KILLS)

    async def prepare(self, folder: Path) -> None:
        self.origin = folder / "origin"
        self.project = make_project(self.origin)
        await self.fill_origin()
        await super().prepare(folder)
        self.expected = await self.read_facts(self.find_model(folder / "clean" / "store.db"))

    def find_model(self, clean: Path) -> Path:
        """Return the store with the expected facts: that of the undisturbed victim, or another."""
        return clean

    async def fill_origin(self) -> None:
        """Make the files that a round starts from."""

    def environ(self, folder: Path) -> dict[str, str]:
        return environ_of(folder)

    @abstractmethod
    def words(self, store: Path) -> list[str]:
        """Return the module that is run, and its arguments."""

    async def read_facts(self, store: Path) -> Facts:
        """Return what must be the same however often it was killed."""
        return _list_facts(_without_new_ids(await _read_records(store)))

    async def check_half_way(self, store: Path, counts: Counts) -> None:
        """Look at the store after a kill."""
        counts.problems += await asyncio.to_thread(find_damage, store)

    def check_end(self, store: Path, counts: Counts) -> None:
        """Look at the store after the end, for more than its facts."""

    def is_done(self, code: int, errors: str) -> bool:
        return code == 0

    async def fill_round(
        self, folder: Path, kills: int, chance: random.Random, counts: Counts
    ) -> None:
        env, store = self.environ(folder), folder / "store.db"
        if (self.origin / "store.db").exists():
            shutil.copy(self.origin / "store.db", store)
        for moment in choose_moments(kills, chance):
            trace = Trace(folder, self.name)
            words = trace.watch(self.words(store), moment, self.usual)
            running = Running(words, self.project, env)
            code = await running.end()
            counts.note_errors(running.errors, f"{self.name} in {folder}")
            if code not in KILLED:
                counts.ended_first += 1
                self.check_code(code, running.errors, folder, counts)
                break  # nothing is left to be killed
            counts.note_kill(trace.unfinished)
            await self.check_half_way(store, counts)
        await self._finish(folder, env, counts)
        if not kills:
            return
        self.compare(await self.read_facts(store), f"{folder}: {self.name}", counts)

    async def _finish(self, folder: Path, env: dict[str, str], counts: Counts) -> None:
        """Let one run to its end."""
        store, trace = folder / "store.db", Trace(folder, self.name)
        words = trace.watch(self.words(store), None, self.usual)
        running = Running(words, self.project, env)
        code = await running.end()
        if self.expected is None:
            self.usual = trace.measure()
        counts.note_errors(running.errors, f"{self.name} in {folder}")
        self.check_code(code, running.errors, folder, counts)
        counts.problems += await asyncio.to_thread(find_damage, store)
        self.check_end(store, counts)

    def check_code(self, code: int, errors: str, folder: Path, counts: Counts) -> None:
        if not self.is_done(code, errors):
            counts.problems.append(f"{folder}: ended with {code}: {errors[-300:]}")

    def compare(self, found: Facts, what: str, counts: Counts) -> None:
        """Count what is missing and what is there too often."""
        assert self.expected is not None
        missing, more = self.expected - found, found - self.expected
        counts.acknowledged += self.expected.total()
        counts.lost += missing.total()
        counts.doubled += more.total()
        counts.problems += [f"{what} lost {fact}" for fact in list(missing)[:3]]
        counts.problems += [f"{what} has in addition {fact}" for fact in list(more)[:3]]


def _list_facts(stored: Mapping[str, Iterable[object]]) -> Facts:
    """Return records of all kinds as texts, long ones shortened."""
    return Counter(_shorten(f"{kind} {one!r}") for kind, some in stored.items() for one in some)


Records = dict[str, list[dict[str, Any]]]


async def _read_records(path: Path) -> Records:
    store = await open_sqlite(path, WORDS, REDACTOR)
    try:
        return await _list_records(store)
    finally:
        await store.close()


async def _list_records(store: Store) -> Records:
    """Return all records, by their kind, in any order."""
    return {kind: await records(store, kind) for kind in list_record_kinds()}


def _shorten(text: str) -> str:
    if len(text) <= SHOWN:
        return text
    return f"{text[:SHOWN]}… {hashlib.sha256(text.encode(errors='replace')).hexdigest()}"


class Importing(Finisher):
    """`ragforge import`, of transcripts that other agents wrote."""

    name = "import"
    SESSIONS = 12
    TURNS = 15
    KINDS = ("conversation", "message", "tool_call", "tool_result", "branch", "forgotten")

    async def fill_origin(self) -> None:
        home = self.origin / "home"
        for session in (claude_code.make_rich_session(), codex.make_rich_session()):
            session.write(home)
        for number in range(self.SESSIONS):
            session = claude_code.Claude(f"long-{number}")
            for turn in range(self.TURNS):
                session.say(f"Question {turn} of {number}?")
                call = claude_code.call(f"t{number}-{turn}", "Bash", command="ls")
                session.answer("I look.", call)
                session.give_result(f"t{number}-{turn}", f"file {turn}\n" * 99)
            session.write(home)

    def environ(self, folder: Path) -> dict[str, str]:
        return {**environ_of(folder), "HOME": str(self.origin / "home")}

    def words(self, store: Path) -> list[str]:
        return ["ragforge", "import", "--json"]

    async def read_facts(self, store: Path) -> Facts:
        stored = _without_new_ids(await _read_records(store))
        for one in stored["conversation"]:
            del one["summary"]  # a job makes it, sooner or later
        return _list_facts({kind: stored[kind] for kind in self.KINDS})


class ImportingSession(Finisher):
    """`ragforge sessions import`."""

    name = "session-import"
    TURNS = 100

    async def fill_origin(self) -> None:
        data = to_bytes(build_document(make_long_conversation(self.TURNS).to_records()))
        (self.origin / "long.json").write_bytes(data)

    def words(self, store: Path) -> list[str]:
        return ["ragforge", "sessions", "import", str(self.origin / "long.json")]

    def is_done(self, code: int, errors: str) -> bool:
        return code == 0 or "already" in errors  # the kill came after its end

    async def check_half_way(self, store: Path, counts: Counts) -> None:
        await super().check_half_way(store, counts)
        if not store.exists():
            return
        opened = await open_sqlite(store, WORDS, REDACTOR)
        there = await opened.archive.count("message")
        await opened.close()
        if there not in (0, 2 * self.TURNS):
            line = f"{store}: {there} of {2 * self.TURNS} messages were imported"
            counts.problems.append(line)


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

    async def read_facts(self, store: Path) -> Facts:
        opened = await open_sqlite(store, WORDS, REDACTOR)
        try:
            found = await snapshot(opened, self.project, "none")
        finally:
            await opened.close()
        lists = ("files", "directories", "scopes", "relations", "vectors")
        facts = _list_facts({name: getattr(found, name) for name in lists})
        return facts + Counter(unembedded=found.unembedded)


class Copying(Finisher):
    """`ragforge store copy`."""

    name = "copy"

    async def fill_origin(self) -> None:
        await fill_source(self.origin / "source.db")

    def words(self, store: Path) -> list[str]:
        source = str(self.origin / "source.db")
        return ["ragforge", "store", "copy", "--from", source, "--to", str(store)]

    def find_model(self, clean: Path) -> Path:
        return self.origin / "source.db"

    async def read_facts(self, store: Path) -> Facts:
        return _list_facts(await _read_records(store))


async def fill_source(path: Path) -> None:
    """Make a store that has records of every kind, and many messages."""
    store = await open_sqlite(path, WORDS, REDACTOR)
    await fill_facts(store)
    await import_conversation(
        store.archive, to_bytes(build_document(make_long_conversation(300).to_records()))
    )
    await store.close()


class Migrating(Finisher):
    """A command that opens the file of an old version."""

    name = "migration"
    TURNS = 2_000

    async def fill_origin(self) -> None:
        questions = [f"parsing header {n} of the table" for n in range(self.TURNS)]
        write_old_store(self.origin / "store.db", questions)

    def words(self, store: Path) -> list[str]:
        return ["ragforge", "sessions", "list", "--json"]

    async def read_facts(self, store: Path) -> Facts:
        opened = await open_sqlite(store, WORDS, REDACTOR)
        try:
            found = (await opened.index.match_turns("parse 777", MemoryFilter(), 5, reach=4))[0]
            stored = _without_new_ids(await _list_records(opened))
        finally:
            await opened.close()
        return _list_facts({**stored, "found": [match.id for match in found.matches]})


def _without_new_ids(stored: Records) -> Records:
    """Return records without what each process creates again: the ids and moments of projects."""
    return {
        kind: [{name: one[name] for name in one if name != "project_id"} for one in some]
        for kind, some in stored.items()
        if kind != "checkout"
    }


class Summarising(Finisher):
    """A worker that summarises."""

    name = "summarising"
    acknowledged_per_kill = 2
    talk = ""

    async def fill_origin(self) -> None:
        store = await open_sqlite(self.origin / "store.db", WORDS, REDACTOR)
        self.talk = await store_turns(store)
        await store.close()

    def words(self, store: Path) -> list[str]:
        return ["tests.faults.summariser", str(store), NEVER]

    async def read_facts(self, store: Path) -> Facts:
        opened = await open_sqlite(store, WORDS, REDACTOR)
        try:
            await check_summaries(opened, self.talk)
            stored = await _list_records(opened)
        finally:
            await opened.close()
        return Counter({kind: len(stored[kind]) for kind in ("message", "summary")})


class Vacuuming(Finisher):
    """`ragforge store vacuum` of a file from an earlier version: all of it is written again."""

    name = "vacuum"
    auto_vacuum = 0
    kept = 24_000_000  # letters
    deleted = 4_000_000

    async def fill_origin(self) -> None:
        path = self.origin / "store.db"
        with patch.object(migrate, "INCREMENTAL", self.auto_vacuum):
            store = await open_sqlite(path, WORDS, REDACTOR)
        # The deleted pages come first: the others have to move.
        await _fill_letters(store, "deleted", self.deleted)
        await _fill_letters(store, "kept", self.kept)
        await store.records.delete(CONVERSATION, "deleted")
        await store.close()

    def find_model(self, clean: Path) -> Path:
        return self.origin / "store.db"

    def words(self, store: Path) -> list[str]:
        return ["ragforge", "store", "vacuum", "--json"]

    async def check_half_way(self, store: Path, counts: Counts) -> None:
        await super().check_half_way(store, counts)
        self.compare(await self.read_facts(store), f"{store}, half way:", counts)

    def check_end(self, store: Path, counts: Counts) -> None:
        before, after = (self.origin / "store.db").stat().st_size, store.stat().st_size
        if after > before - self.deleted:
            counts.problems.append(f"{store}: {before} bytes became {after}")


class VacuumingInSteps(Vacuuming):
    """`ragforge store vacuum` of a file that gives pages back some at a time."""

    name = "incremental-vacuum"
    auto_vacuum = migrate.INCREMENTAL
    kept = 12_000_000
    deleted = 48_000_000


async def _fill_letters(store: Store, name: str, letters: int, turns: int = 40) -> None:
    """Store a conversation that takes so much room, in results of tools: no words are indexed."""
    chance = random.Random(name)
    await store.records.put(CONVERSATION, conversation(uuid=name))
    for number in range(turns):
        found = tool_result(chance.randbytes(letters // turns // 2).hex())
        said = [user(f"{name} {number}?"), assistant("Yes.", tool_call(result=found))]
        await store.timeline.append(name, said)


FINISHERS = (
    Importing,
    ImportingSession,
    Ingesting,
    Copying,
    Vacuuming,
    VacuumingInSteps,
    Migrating,
    Summarising,
)

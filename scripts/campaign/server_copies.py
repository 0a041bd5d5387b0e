"""Server copies: `ragforge store copy` to a Neo4j server and back, killed and run again."""

from __future__ import annotations

import random
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from ragforge.memory.secrets.redactor import REDACTOR
from ragforge.search.words.tokenise import WORDS
from scripts.campaign.finishers import fill_source
from scripts.campaign.report import Counts, Minimum, Report
from scripts.campaign.traces import Moment, Trace, Usual, choose_moments
from scripts.campaign.watched import KILLED
from scripts.campaign.workplace import Running, environ_of, make_project, run_rounds
from scripts.neo4j_server import Neo4jServer, Neo4jUnavailable
from tests.fakes.copying import everything
from tests.fakes.engines import empty_neo4j
from tests.faults.checks import find_damage, read_everything


async def break_copies(folder: Path, rounds: int, chance: random.Random, report: Report) -> None:
    """Start a server, and kill copies this many times in each direction."""
    try:
        with Neo4jServer(folder / "server") as server:
            counts = await kill_copies(folder, server.url, rounds, chance)
        report.add("server", counts, Minimum(rounds, rounds, rounds))  # of twice as many
    except Neo4jUnavailable as error:
        print(f"SERVER COPIES SKIPPED: {error}", file=sys.stderr)
        report.add("server", Counts(skipped=str(error)))


async def kill_copies(folder: Path, url: str, kills: int, chance: random.Random) -> Counts:
    """Kill copies to a server, then copies from it; each is run again, and must be complete."""
    copies = _Copies(folder, url)
    await copies.prepare()
    counts = Counts()
    for copy in (copies.to_server, copies.from_server):
        rounds = [partial(copy, moment) for moment in choose_moments(kills, chance)]
        counts.add(await run_rounds(rounds, at_once=1))
    return counts


class _Copies:
    """A file with all kinds of records, a server, and how long copies between them take."""

    def __init__(self, folder: Path, url: str) -> None:
        self._folder = folder
        self._url = url
        self._project = make_project(folder)
        self._env = environ_of(folder / "home")
        self._file = folder / "source.db"
        self._content: Mapping[str, Any] = {}
        self._usual = {"to": Usual(), "from": Usual()}
        self._rounds = 0

    async def prepare(self) -> None:
        """Fill the file, and copy it once in each direction without a kill."""
        await fill_source(self._file)
        self._content = await read_everything(self._file)
        for copy in (self.to_server, self.from_server):
            counts = await copy(None)
            if counts.failed:
                raise AssertionError(f"copies fail without a fault: {counts.problems}")

    async def to_server(self, moment: Moment | None) -> Counts:
        await empty_neo4j(self._url)
        counts = await self._copy("to", self._file, self._url, moment)
        if await self._read_server() != self._content:
            counts.problems.append(f"a copy to the server, killed at {moment}, is not complete")
        return counts

    async def from_server(self, moment: Moment | None) -> Counts:
        """Copy what the last copy to the server left there."""
        self._rounds += 1
        target = self._folder / f"back-{self._rounds}.db"
        counts = await self._copy("from", self._url, target, moment)
        if await read_everything(target) != self._content:
            counts.problems.append(f"a copy from the server, killed at {moment}, is not complete")
        counts.problems += find_damage(target)
        return counts

    async def _copy(
        self, way: str, source: object, target: object, moment: Moment | None
    ) -> Counts:
        counts = Counts(acknowledged=sum(map(len, self._content.values())))
        words = ["ragforge", "store", "copy", "--from", str(source), "--to", str(target)]
        if moment is not None:
            trace = Trace(self._folder, "copy")
            watched = trace.watch(words, moment, self._usual[way])
            running = Running(watched, self._project, self._env)
            code = await running.end()
            if code in KILLED:
                counts.note_kill(trace.unfinished)
            counts.ended_first = int(code not in KILLED)
            counts.note_errors(running.errors, "a copy that is killed")
        trace = Trace(self._folder, "copy")
        watched = trace.watch(words, None, self._usual[way])
        running = Running(watched, self._project, self._env)
        code = await running.end()
        if moment is None:
            self._usual[way] = trace.measure()
        counts.note_errors(running.errors, "a copy")
        if code != 0:
            counts.problems.append(f"a copy ended with {code}: {running.errors[-300:]}")
        return counts

    async def _read_server(self) -> object:
        from ragforge.adapters.stores.neo4j.store import open_neo4j

        store = await open_neo4j(self._url, WORDS, REDACTOR)
        try:
            return {**await everything(store)}
        finally:
            await store.close()

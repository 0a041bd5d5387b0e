"""Server copies: `ragforge store copy` to a Neo4j server and back, killed and run again."""

from __future__ import annotations

import random
import sys
from pathlib import Path

from ragforge.search.tokenise import WORDS
from scripts.campaign.finishers import fill_source
from scripts.campaign.report import Counts, Report
from scripts.campaign.workplace import LONGEST_PAUSE, Running, environ_of, make_project, run_rounds
from scripts.neo4j_server import Neo4jServer, Neo4jUnavailable
from tests.fakes.copying import everything
from tests.fakes.engines import empty_neo4j
from tests.faults.checks import find_damage, read_everything


async def break_copies(folder: Path, rounds: int, chance: random.Random, report: Report) -> None:
    """Start a server, and kill copies so many times in each direction."""
    try:
        with Neo4jServer(folder / "server") as server:
            report.add("server", await kill_copies(folder, server.url, rounds, chance))
    except Neo4jUnavailable as error:
        print(f"SERVER COPIES SKIPPED: {error}", file=sys.stderr)
        report.add("server", Counts(skipped=str(error)))


async def kill_copies(folder: Path, url: str, kills: int, chance: random.Random) -> Counts:
    """Kill copies to a server, then copies from it; each is run again, and must be complete."""
    copies = _Copies(folder, url)
    await copies.prepare()
    moments = [chance.random() for _ in range(kills)]
    counts = await run_rounds([lambda m=m: copies.to_server(m) for m in moments], at_once=1)
    moments = [chance.random() for _ in range(kills)]
    counts.add(await run_rounds([lambda m=m: copies.from_server(m) for m in moments], at_once=1))
    return counts


class _Copies:
    """A file with all kinds of records, a server, and how long copies between them take."""

    def __init__(self, folder: Path, url: str) -> None:
        self._folder = folder
        self._url = url
        self._project = make_project(folder)
        self._env = environ_of(folder / "home")
        self._file = folder / "source.db"
        self._content: object = None
        self._usual = {"to": 0.0, "from": 0.0}  # CPU seconds of a copy that is not killed
        self._rounds = 0

    async def prepare(self) -> None:
        """Fill the file, and copy it once in each direction without a kill."""
        await fill_source(self._file)
        self._content = await read_everything(self._file)
        for copy in (self.to_server, self.from_server):
            counts = await copy(None)
            if counts.failed:
                raise AssertionError(f"copies fail without a fault: {counts.problems}")

    async def to_server(self, moment: float | None) -> Counts:
        await empty_neo4j(self._url)
        counts = await self._copy("to", self._file, self._url, moment)
        if await self._read_server() != self._content:
            counts.problems.append(f"a copy to the server, killed at {moment}, is not complete")
        return counts

    async def from_server(self, moment: float | None) -> Counts:
        """Copy what the last copy to the server left there."""
        self._rounds += 1
        target = self._folder / f"back-{self._rounds}.db"
        counts = await self._copy("from", self._url, target, moment)
        if await read_everything(target) != self._content:
            counts.problems.append(f"a copy from the server, killed at {moment}, is not complete")
        counts.problems += find_damage(target)
        return counts

    async def _copy(self, way: str, source: object, target: object, moment: float | None) -> Counts:
        counts = Counts()
        words = ["ragforge", "store", "copy", "--from", str(source), "--to", str(target)]
        if moment is not None:
            running = Running(words, self._project, self._env)
            code = await running.end(moment * self._usual[way], moment * LONGEST_PAUSE)
            counts.kills, counts.ended_first = int(code == -9), int(code != -9)
            counts.note_errors(running.errors, "a copy that is killed")
        running = Running(words, self._project, self._env)
        code = await running.end()
        if moment is None:
            self._usual[way] = running.used
        counts.note_errors(running.errors, "a copy")
        if code != 0:
            counts.problems.append(f"a copy ended with {code}: {running.errors[-300:]}")
        return counts

    async def _read_server(self) -> object:
        from ragforge.adapters.stores.neo4j.store import open_neo4j

        store = await open_neo4j(self._url, WORDS)
        try:
            return {**await everything(store)}
        finally:
            await store.close()

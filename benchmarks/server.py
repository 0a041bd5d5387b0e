"""What does a Neo4j server cost compared with a SQLite file? All common work, on both, in one run.

    python -m benchmarks.server [--full] [--project FOLDER] [--turns 1000] [--only context,list]
                                [--url bolt://127.0.0.1:7687 --pid 1234]
    python -m benchmarks.server --large FOLDER     (see benchmarks/server_large.py)

The server is started here and lives on the same cores, unless one is given by its URL and process:
it is emptied, and one that has run for an hour is warmer than any that has just started. Its JVM is
warm when measuring begins: work is repeated, at most 12 times eight, until its compilers take less
than a tenth of the server's CPU; what they still take while it is measured is counted, and shown
in addition. CPU is that of this process, its children and the server together. Queries are counted
where the driver sends them, without those of the worker that looks for jobs. The code is a copy of
the given folder; the turns are cut from Python's standard library, 41 conversations of one project.

Without --full the sizes are a quarter: 1,000 turns and the source of the stores, the
memory and the searches, instead of 4,200 turns and all of this project's source. What is measured
is saved after every part, so that a run that is interrupted has its results so far.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import ExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from benchmarks.measure import cpu_seconds, make_parser, require, save
from benchmarks.memory_scale import Talker
from ragforge import App
from ragforge.adapters.stores.neo4j.driver import Neo4jDatabase, Transaction
from ragforge.app.opening import open_app
from ragforge.app.wiring.stores import copy_store, open_store
from ragforge.cli.guard import INCOMPLETE
from ragforge.config.layers import load_settings
from ragforge.config.settings import Settings
from ragforge.domain.conversations import Conversation
from ragforge.domain.schema import CONVERSATION
from ragforge.domain.text import Json

SOURCE = Path(__file__).parent.parent / "src"
PART = ("adapters", "memory", "search", "domain", "ports")
"""The rooms whose source is ingested without --full."""
ENGINES = ("sqlite", "neo4j")
SESSIONS = 41
SHOWN_TURNS = 200
STORED_TURNS = 50
SETTLE_SECONDS = 120
WARM_RUNS, WARM_ROUNDS, WARM_COPIES = 8, 12, 3
COMPILING = 0.1
"""The share of the server's CPU that its compilers take at most once it is warm."""
QUESTIONS = (
    "How does a message get its turn index?",
    "Where is the vector index asked for the nearest scopes?",
    "which function decides whether a command may run",
    "How are secrets redacted before they are stored?",
    "What happens when the process that holds a lease dies?",
    "Where does the worker put a failed job back?",
    "parse_instant",
    "How is a context kept within its budget?",
)
_OF_WORKER = (
    "MATCH (n:RagForgeJob) WHERE n.status IN ['pending', 'running']",
    "MATCH (n:RagForgeTranscript {owner: $owner, host: $host})",
)
"""What the worker looks for from time to time, in addition to what is measured."""
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(slots=True)
class Costs:
    """Wall clock, CPU and queries of the same work, many times."""

    walls: list[float] = field(default_factory=list)
    client: list[float] = field(default_factory=list)
    server: list[float] = field(default_factory=list)
    compilers: list[float] = field(default_factory=list)
    queries: list[int] = field(default_factory=list)

    def as_json(self) -> dict[str, float]:
        cpu = [sum(pair) for pair in zip(self.client, self.server, strict=True)]
        return {
            "p50_ms": round(1000 * statistics.median(self.walls), 1),
            "cpu_ms": round(1000 * statistics.mean(cpu), 1),
            "client_cpu_ms": round(1000 * statistics.mean(self.client), 1),
            "compilers_cpu_ms": round(1000 * statistics.mean(self.compilers), 1),
            "queries": round(statistics.median(self.queries)),
        }


class Meter:
    """Measures what this process and the server spend on a piece of work."""

    def __init__(self, pid: int | None) -> None:
        self._pid = pid
        self.queries = 0
        self.texts: list[str] = []

    async def measure(
        self, work: Callable[[int], Awaitable[object]], runs: int, warm_up: int = 1
    ) -> dict[str, float]:
        """Do work(0), work(1), …; the first ones warm up."""
        costs = Costs()
        await self._warm(work, warm_up)
        for number in range(runs):
            self.queries, self.texts = 0, []
            begun, client, server = time.perf_counter(), cpu_seconds(), self._server_cpu()
            compilers = self._compilers_cpu()
            await work(number)
            costs.walls.append(time.perf_counter() - begun)
            costs.client.append(cpu_seconds() - client)
            costs.server.append(self._server_cpu() - server)
            costs.compilers.append(self._compilers_cpu() - compilers)
            costs.queries.append(self.queries)
        return costs.as_json()

    async def _warm(self, work: Callable[[int], Awaitable[object]], runs: int) -> None:
        """Do work that is not measured; with many runs, until the server compiles no longer."""
        for _ in range(WARM_ROUNDS if runs >= WARM_RUNS else 1):
            self.queries = 0
            server, compilers = self._server_cpu(), self._compilers_cpu()
            for number in range(runs):
                await work(number)
            spent = self._server_cpu() - server
            if not self.queries or self._compilers_cpu() - compilers <= COMPILING * spent:
                return

    def listen(self) -> None:
        """Count what every transaction of this process sends."""
        send, send_batches = Transaction.rows, Neo4jDatabase.in_batches

        async def rows(tx: Transaction, query: str, /, **parameters: Any) -> Any:
            if not any(text in query for text in _OF_WORKER):
                self.queries += 1
                self.texts.append(query)
            return await send(tx, query, **parameters)

        async def in_batches(database: Neo4jDatabase, query: str, **parameters: Any) -> Any:
            self.queries += 1
            self.texts.append(query)
            return await send_batches(database, query, **parameters)

        Transaction.rows = rows  # type: ignore[method-assign]
        Neo4jDatabase.in_batches = in_batches  # type: ignore[method-assign]

    def _server_cpu(self) -> float:
        if self._pid is None:
            return 0.0
        return _read_cpu(Path(f"/proc/{self._pid}/stat").read_text())

    def _compilers_cpu(self) -> float:
        """Return what the JVM spent on compiling; a thread that ended is no longer counted."""
        if self._pid is None:
            return 0.0
        stats = []
        for task in Path(f"/proc/{self._pid}/task").iterdir():
            with suppress(OSError):  # it ended meanwhile
                stats.append((task / "stat").read_text())
        return sum(_read_cpu(stat) for stat in stats if " Compiler" in stat)


def _read_cpu(stat: str) -> float:
    fields = stat.rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


class Place:
    """A project and the stores of both engines, which hold the same."""

    def __init__(
        self,
        folder: Path,
        url: str,
        source: Path,
        rooms: Sequence[str] = (),
        name: str = "project",
    ) -> None:
        self.folder, self.url = folder, url
        self.project = folder / name
        if self.project.exists():  # an earlier run loaded it
            return
        for room in rooms or (".",):
            target = self.project / room
            ignored = shutil.ignore_patterns("__pycache__", ".git")
            shutil.copytree(source / room, target, ignore=ignored, symlinks=True)
        (self.project / ".git").mkdir()

    def location(self, engine: str) -> str:
        return self.url if engine == "neo4j" else str(self.folder / "store.db")

    def environ(self, engine: str) -> dict[str, str]:
        return {
            "RAGFORGE_STORE": self.location(engine),
            "RAGFORGE_CONFIG": "",
            "RAGFORGE_BRAIN__INGEST_AUTOMATICALLY": "false",
        }

    def settings(self, engine: str) -> Settings:
        return load_settings(self.project, environ=self.environ(engine)).settings

    @asynccontextmanager
    async def open(self, engine: str) -> AsyncIterator[App]:
        """Open the application, with no worker that runs at the same time."""
        async with open_app(self.settings(engine), self.project) as app:
            await app.jobs.wait(SETTLE_SECONDS)
            yield app


async def remember(app: App, turns: int) -> None:
    """Store turns of this project, and give them their vectors."""
    talker, place = Talker(), str(app.project_path)
    for number in range(SESSIONS):
        talk = Conversation(
            place,
            place,
            uuid=f"conversation-{number}",
            title=f"Talk {number}",
            project_id=app.project.id,
        )
        await app.store.records.put(CONVERSATION, talk)
        count = SHOWN_TURNS if number == 0 else (turns - SHOWN_TURNS) // (SESSIONS - 1)
        said = [message for _ in range(count) for message in talker.turn(number)]
        await app.store.timeline.append(talk.uuid, said)
    await app.maintenance.embed_memory(lambda _: None)


async def empty(url: str, with_schema: bool = True) -> None:
    """Remove all data, and every index of ours."""
    import neo4j

    async with neo4j.AsyncGraphDatabase.driver(url) as driver:
        async with driver.session() as session:
            chosen = "" if with_schema else "WHERE NOT n:RagForgeSchema"
            query = (
                f"MATCH (n) {chosen} CALL (n) {{ DETACH DELETE n }} IN TRANSACTIONS OF 1000 ROWS"
            )
            await (await session.run(query)).consume()
        for kind in ("CONSTRAINT", "INDEX") if with_schema else ():
            found, _, _ = await driver.execute_query(f"SHOW {kind} YIELD name")
            for row in found:
                if row["name"].startswith("ragforge_"):
                    await driver.execute_query(f"DROP {kind} {row['name']}")


async def ingestion(place: Place, engine: str, meter: Meter) -> dict[str, Any]:
    """Measure a first ingestion, one without changes, and one of a changed file."""
    changed = next(path for path in sorted(place.project.rglob("*.py")) if path.stat().st_size)
    text = changed.read_text()

    async def ingest(_: int) -> None:
        await app.code.ingest(lambda _: None)

    async def change(number: int) -> None:
        # Not longer each time: the server is warmed by many more changes than the file.
        changed.write_text(f"{text}\n\ndef added_{time.monotonic_ns()}():\n    pass\n")
        await ingest(number)

    async with place.open(engine) as app:
        found = {
            "ingest": await meter.measure(ingest, 1, warm_up=0),
            "ingest, no change": await meter.measure(ingest, 8, WARM_RUNS),
            "ingest, one changed file": await meter.measure(change, 8, WARM_RUNS),
        }
        require((await app.code.status()).scopes, f"Nothing was ingested on {engine}.")
        return found


async def searches(place: Place, engine: str, meter: Meter, runs: int) -> dict[str, Any]:
    async with place.open(engine) as app:

        async def context(number: int) -> None:
            built = await app.build_context(QUESTIONS[number % len(QUESTIONS)])
            answered["context"] += bool(built.text)

        async def code(number: int) -> None:
            answered["code"] += bool(await app.code.search(QUESTIONS[number % len(QUESTIONS)]))

        async def memory(number: int) -> None:
            answered["memory"] += bool(await app.memory.search(talker.query()))

        talker, answered = Talker(), Counter[str]()
        found = {
            "context": await meter.measure(context, runs, WARM_RUNS),
            "code search": await meter.measure(code, runs, WARM_RUNS),
            "memory search": await meter.measure(memory, runs, WARM_RUNS),
        }
        for name in ("context", "code", "memory"):
            require(answered[name], f"On {engine} no search has hits ({name}).")
        return found


async def lists(place: Place, engine: str, meter: Meter, runs: int) -> dict[str, Any]:
    async with place.open(engine) as app:

        async def listing(_: int) -> None:
            found = await app.sessions.find(limit=50)
            require(found, f"{engine} lists no sessions.")
            await app.sessions.add_last_messages(found)

        async def show(_: int) -> None:
            await app.sessions.load_detail("conversation-0")

        return {
            "sessions list": await meter.measure(listing, runs, WARM_RUNS),
            "session show": await meter.measure(show, runs, WARM_RUNS),
        }


async def storing(place: Place, engine: str, meter: Meter, runs: int) -> dict[str, Any]:
    """Measure storing only a turn, many turns with their jobs, and waiting for work."""
    talker = Talker()

    async def idle(_: int) -> None:
        await asyncio.sleep(10)

    async with place.open(engine) as app:
        session, recorder = (await app.sessions.create("storing")).uuid, app.recorder

        async def many(_: int) -> None:
            for _ in range(STORED_TURNS):
                await recorder.store_turn(session, talker.turn(0))
            await app.jobs.wait(SETTLE_SECONDS)

        name = f"{STORED_TURNS} turns and their jobs"
        found = {name: await meter.measure(many, 1)}
        found[name]["jobs_left"] = await app.jobs.count_waiting()
        await app.jobs.wait(SETTLE_SECONDS)
        found["idle for 10 s"] = await meter.measure(idle, 1, warm_up=0)
    store = await open_store(place.settings(engine))
    alone = replace(recorder, store=store)

    async def store_one(_: int) -> None:
        await alone.store_turn(session, talker.turn(0))

    found["store turn"] = await meter.measure(store_one, runs, WARM_RUNS)
    await store.close()
    return found


async def copying(place: Place, meter: Meter, target: str) -> dict[str, float]:
    """Copy everything to the other engine, schema included, after copies that warm the server.

    Return records a second of wall clock, and of CPU: they are the same on a machine with nothing
    else to do, and only the latter means something while other programs run.
    """
    source = place.location("neo4j" if target == "sqlite" else "sqlite")
    end = place.url if target == "neo4j" else str(place.folder / "copy.db")
    records = 0

    async def copy(_: int) -> None:
        nonlocal records
        report = await copy_store(source, end, place.settings("sqlite"), lambda _: None)
        records = sum(report.counts.values())

    async def make_room() -> None:
        if target == "neo4j":
            await empty(place.url)
        else:
            for path in place.folder.glob("copy.db*"):
                path.unlink()

    for _ in range(WARM_COPIES):
        await make_room()
        await copy(0)
    await make_room()
    found = await meter.measure(copy, 1, warm_up=0)
    return {
        **found,
        "records": records,
        "records_per_second": round(1000 * records / found["p50_ms"]),
        "records_per_cpu_second": round(1000 * records / found["cpu_ms"]),
    }


async def cold_ask(place: Place, engine: str, meter: Meter, runs: int) -> dict[str, Any]:
    """Ask in a separate process, from bytecode and without a model; count late searches."""
    late = 0
    environ = {**os.environ, **place.environ(engine), "RAGFORGE_JOBS__DETACH": "false"}
    environ["PYTHONPYCACHEPREFIX"] = str(place.folder / "bytecode")
    environ.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [sys.executable, "-m", "ragforge", "ask", QUESTIONS[0]]

    async def ask(_: int) -> None:
        nonlocal late
        done = await asyncio.to_thread(
            subprocess.run,
            command,
            cwd=place.project,
            env=environ,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )
        late += done.returncode == INCOMPLETE
        if done.returncode not in (0, INCOMPLETE):
            done.check_returncode()

    return {"cold ask": {**await meter.measure(ask, runs), "late": late}}


async def forgetting(place: Place, engine: str, meter: Meter) -> dict[str, Any]:
    async with place.open(engine) as app:

        async def forget(_: int) -> None:
            await app.code.forget(place.project)

        return {"forget the project's code": await meter.measure(forget, 1, warm_up=0)}


async def run(place: Place, pid: int, turns: int, runs: int, only: Sequence[str]) -> Json:
    meter = Meter(pid)
    meter.listen()
    results: dict[str, dict[str, Any]] = {}

    def wanted(name: str) -> bool:
        return not only or name in only

    def keep(engine: str, rows: dict[str, Any]) -> None:
        for name, row in rows.items():
            results.setdefault(name, {})[engine] = row
            print(f"{engine:<7} {name:<26} {row}", flush=True)
        save("server", results)

    await empty(place.url)
    if wanted("ingest"):
        # What a JVM has never done is measured as slow as it never is again, and a server on which
        # another run ingested before has its schema and knows how to run the queries.
        for _ in range(WARM_COPIES):
            async with place.open("neo4j") as app:
                await app.code.ingest(lambda _: None)
            await empty(place.url, with_schema=False)
        for engine in ENGINES:
            keep(engine, await ingestion(place, engine, meter))
        await empty(place.url)
    async with place.open("sqlite") as app:
        await app.code.ingest(lambda _: None)
        await remember(app, turns)
    keep("neo4j", {"copy to": await copying(place, meter, "neo4j")})
    if wanted("copy"):
        keep("neo4j", {"copy from": await copying(place, meter, "sqlite")})
    for engine in ENGINES:
        if wanted("context"):
            keep(engine, await searches(place, engine, meter, runs))
        if wanted("list"):
            keep(engine, await lists(place, engine, meter, runs))
        if wanted("store"):
            keep(engine, await storing(place, engine, meter, runs))
        if wanted("ask"):
            keep(engine, await cold_ask(place, engine, meter, max(2, runs // 3)))
        if wanted("forget"):
            keep(engine, await forgetting(place, engine, meter))
    return results


def show(results: dict[str, dict[str, Any]]) -> None:
    print(f"\n{'':<28}{'p50, ms':>18}{'CPU, ms':>20}{'×':>7}{'client ×':>10}{'queries':>9}")
    for name, rows in results.items():
        if "neo4j" not in rows:
            continue
        small, large = rows.get("sqlite", {}), rows["neo4j"]
        walls = f"{small.get('p50_ms', '–')} / {large['p50_ms']}"
        # An idle server compiles and collects: that is not what SQLite costs.
        alone = small.get("client_cpu_ms", 0.0)
        cpus = f"{alone or '–'} / {large['cpu_ms']}"
        ratio = large["cpu_ms"] / alone if alone else 0.0
        client = large["client_cpu_ms"] / alone if alone else 0.0
        print(f"{name:<28}{walls:>18}{cpus:>20}{ratio:>7.1f}{client:>10.1f}{large['queries']:>9}")


def main(arguments: Sequence[str] | None = None) -> None:
    from benchmarks.server_large import make_places, run_large
    from scripts.neo4j_server import Neo4jServer

    parser = make_parser(__doc__)
    parser.add_argument("--full", action="store_true", help="4,200 turns and all of the source")
    parser.add_argument("--large", type=Path, nargs="+", metavar="CODE", help="a team's server")
    parser.add_argument("--folder", type=Path, help="where its data are kept")
    parser.add_argument("--project", type=Path, help="other code")
    parser.add_argument("--turns", type=int)
    parser.add_argument("--runs", type=int, default=8)
    parser.add_argument(
        "--only", default="", help="ingest, turns, context, list, store, copy, ask, forget"
    )
    parser.add_argument("--url", help="of a server that runs on this machine; it is emptied")
    parser.add_argument("--pid", type=int, help="the process of that server")
    chosen = parser.parse_args(arguments)
    if (chosen.url is None) != (chosen.pid is None):
        parser.error("--url and --pid belong together")
    only = [name for name in chosen.only.split(",") if name]
    with ExitStack() as stack:
        folder = chosen.folder or stack.enter_context(tempfile.TemporaryDirectory())
        url, pid = chosen.url, chosen.pid
        if url is None:
            server = stack.enter_context(Neo4jServer(Path(folder) / "server"))
            url, pid = server.url, server.pid
        os.environ["XDG_DATA_HOME"] = str(folder)
        if chosen.large:
            places = make_places(Path(folder), url, chosen.large)
            results = asyncio.run(run_large(places, pid, chosen.turns or 100_000, only))
            show(results)
            return
        rooms = () if chosen.full or chosen.project else PART
        source = chosen.project or (SOURCE if chosen.full else SOURCE / "ragforge")
        turns = chosen.turns or (4_200 if chosen.full else 1_000)
        place = Place(Path(folder), url, source, rooms)
        results = asyncio.run(run(place, pid, turns, chosen.runs, only))
    show(results)
    save("server", results)


if __name__ == "__main__":
    main()

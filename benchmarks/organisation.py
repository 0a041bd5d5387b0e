"""How does one server bear an organisation? Many developers who ask and store, faster than real.

    python -m benchmarks.organisation [--developers 200] [--repositories 50] [--speed 10]
                                      [--minutes 10] [--history 100000] [--engine neo4j]
                                      [--url bolt://127.0.0.1:7687]

Each repository holds twenty modules of Python's standard library. First the history is stored:
turns of all developers in all repositories, shared with everybody. Then each developer opens
RagForge once, as an MCP server or a terminal does, and their turns arrive at random, at `--speed`
times the rate of forty turns in a day of eight hours. A turn is a context for the question, then
the exchange that is stored; each tenth also lists sessions, and each twentieth ingests a changed
file. Milliseconds are what the developer waits, on a machine that runs the server and all
developers; a turn that begins late, because the machine is behind, counts with its lateness. The
jobs that a turn leaves behind (vectors, summaries) are done by the same processes.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import os
import random
import statistics
import sysconfig
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.measure import megabytes, peak_memory_mb, save
from benchmarks.memory_scale import TURNS_A_CONVERSATION, Talker
from ragforge import App
from ragforge.app.opening import open_app
from ragforge.config.layers import load_settings
from ragforge.domain.conversations import Conversation
from ragforge.domain.schema import CONVERSATION

TURNS_A_DAY, HOURS = 40, 8
MODULES = 20
TURNS_A_SESSION = 15
LISTS_EVERY, CHANGES_EVERY = 10, 20
SETTLE_SECONDS = 600
OPENED_AT_ONCE = 8


@dataclass(slots=True)
class Desk:
    """A developer with RagForge open in one repository."""

    app: App
    session: str = ""
    turns: int = 0
    busy: asyncio.Lock = field(default_factory=asyncio.Lock)


@dataclass(slots=True)
class Waits:
    """What the developers waited for, by kind of work, in milliseconds."""

    milliseconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    errors: list[str] = field(default_factory=list)

    def summarise(self) -> dict[str, dict[str, float]]:
        return {
            name: {
                "times": len(found),
                "p50_ms": round(statistics.median(found)),
                "p95_ms": round(sorted(found)[math.ceil(0.95 * len(found)) - 1]),
            }
            for name, found in self.milliseconds.items()
        }


def make_repositories(folder: Path, count: int) -> list[Path]:
    """Write repositories of twenty modules each, cut from the standard library in turn."""
    library = Path(sysconfig.get_paths()["stdlib"])
    sources = sorted(path for path in library.rglob("*.py") if "site-packages" not in path.parts)
    made = []
    for number in range(count):
        root = folder / f"repository-{number}"
        (root / ".git").mkdir(parents=True, exist_ok=True)
        for place in range(MODULES):
            path = sources[(number * MODULES + place) % len(sources)]
            (root / f"{place}_{path.name}").write_bytes(path.read_bytes())
        made.append(root)
    return made


async def open_desks(
    stack: AsyncExitStack, place: str, roots: Sequence[Path], many: int
) -> list[Desk]:
    """Open RagForge for each developer, a few at once."""
    gate = asyncio.Semaphore(OPENED_AT_ONCE)

    async def open_one(number: int) -> Desk:
        root = roots[number % len(roots)]
        environ = {
            "RAGFORGE_STORE": place,
            "RAGFORGE_CONFIG": "",
            "RAGFORGE_AUTHOR": f"Developer {number} <developer-{number}@example.org>",
            "RAGFORGE_STORE__VISIBILITY": "shared",
            "RAGFORGE_BRAIN__INGEST_AUTOMATICALLY": "false",
        }
        async with gate:
            settings = load_settings(root, environ=environ).settings
            return Desk(await stack.enter_async_context(open_app(settings, root)))

    return list(await asyncio.gather(*map(open_one, range(many))))


async def store_history(desks: Sequence[Desk], turns: int) -> None:
    """Store the sessions of the time before, a conversation of each developer in turn."""
    talker = Talker()
    for number in range(turns // TURNS_A_CONVERSATION):
        app = desks[number % len(desks)].app
        here = str(app.project_path)
        talk = Conversation(
            here,
            here,
            project_id=app.project.id,
            title=f"Talk {number}",
            author=app.identity.author,
        )
        await app.store.records.put(CONVERSATION, talk)
        said = [one for _ in range(TURNS_A_CONVERSATION) for one in talker.turn(number)]
        await app.store.timeline.append(talk.uuid, said)
    await desks[0].app.maintenance.embed_memory(lambda _: None)


async def work(desks: Sequence[Desk], speed: float, minutes: float) -> Waits:
    """Let turns arrive at random for some minutes; return when the last one has ended."""
    waits, talker, chance = Waits(), Talker(), random.Random(3)
    rate = speed * len(desks) * TURNS_A_DAY / (HOURS * 3600)
    begun, due = time.monotonic(), 0.0
    async with asyncio.TaskGroup() as tasks:
        number = 0
        while (due := due + chance.expovariate(rate)) < minutes * 60:
            await asyncio.sleep(max(0.0, begun + due - time.monotonic()))
            desk = chance.choice(desks)
            tasks.create_task(take_turn(desk, talker, number, begun + due, waits))
            number += 1
    return waits


async def take_turn(desk: Desk, talker: Talker, number: int, due: float, waits: Waits) -> None:
    """Do one turn of a developer, and what belongs to some turns."""
    app = desk.app
    async with desk.busy:  # a developer does one thing at a time
        try:
            await _wait_for(waits, "context", app.build_context(talker.query()), due)
            if desk.turns % TURNS_A_SESSION == 0:
                desk.session = (await app.sessions.create()).uuid
            desk.turns += 1
            said = talker.turn(number)
            await _wait_for(waits, "store turn", app.recorder.store_turn(desk.session, said))
            if number % LISTS_EVERY == 0:
                await _wait_for(waits, "list sessions", app.sessions.find(limit=20))
                await _wait_for(waits, "memory search", app.memory.search(talker.query()))
            if number % CHANGES_EVERY == 0:
                changed = app.project_path / "changed.py"
                changed.write_text(f"def changed_{number}():\n    return {number}\n")
                await _wait_for(waits, "ingest a file", app.code.ingest(lambda _: None))
        except Exception as error:  # counted and shown: the others go on
            waits.errors.append(f"{type(error).__name__}: {error}")


async def _wait_for(waits: Waits, name: str, awaited: Any, since: float | None = None) -> None:
    begun = time.monotonic() if since is None else since
    await awaited
    waits.milliseconds[name].append(1000 * (time.monotonic() - begun))


async def run(folder: Path, place: str, chosen: argparse.Namespace) -> dict[str, Any]:
    roots = make_repositories(folder, chosen.repositories)
    disk = folder / "server/data" if chosen.engine == "neo4j" else folder / "store"
    async with AsyncExitStack() as stack:
        desks = await open_desks(stack, place, roots, chosen.developers)
        for desk in desks[: len(roots)]:
            await desk.app.code.ingest(lambda _: None)
        await store_history(desks, chosen.history)
        before = megabytes(disk)
        print(
            f"{chosen.history} turns in {chosen.repositories} repositories: {before} MB", flush=True
        )
        begun = time.monotonic()
        waits = await work(desks, chosen.speed, chosen.minutes)
        took = time.monotonic() - begun
        stored = len(waits.milliseconds["store turn"])
        if not stored or len(waits.errors) > stored / 100:
            raise SystemExit(f"{stored} turns were stored; errors: {waits.errors[:3]}")
        left = await desks[0].app.jobs.count_waiting()
        await desks[0].app.jobs.wait(SETTLE_SECONDS)
        found = await desks[0].app.memory.search(Talker().query())
        if not found:
            raise SystemExit("Nothing is found in the memory of the organisation.")
        return {
            "developers": len(desks),
            "repositories": len(roots),
            "history_turns": chosen.history,
            "speed": chosen.speed,
            "minutes": round(took / 60, 1),
            "turns": stored,
            "turns_a_second": round(stored / took, 2),
            "waits": waits.summarise(),
            "errors": waits.errors[:10],
            "disk_mb": [before, megabytes(disk)],
            "jobs_left": left,
            "jobs_left_after_waiting": await desks[0].app.jobs.count_waiting(),
            "clients_memory_mb": round(peak_memory_mb()),
            "load": os.getloadavg()[0],
        }


def main() -> None:
    from scripts.neo4j_server import Neo4jServer

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--developers", type=int, default=200)
    parser.add_argument("--repositories", type=int, default=50)
    parser.add_argument("--speed", type=float, default=10.0, help="times the rate of real work")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--history", type=int, default=100_000, help="turns that are there before")
    parser.add_argument("--engine", choices=("neo4j", "sqlite"), default="neo4j")
    parser.add_argument("--url", help="of a server that is used as it is, instead of a new one")
    chosen = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        os.environ["XDG_DATA_HOME"] = os.environ["XDG_STATE_HOME"] = str(folder / "home")
        place = chosen.url or str(folder / "store/store.db")
        if chosen.engine == "neo4j" and not chosen.url:
            place = stack.enter_context(Neo4jServer(folder / "server")).url
        results = asyncio.run(run(folder, place, chosen))
    for name, row in results.items():
        print(f"{name:<24} {row}")
    print(f"saved to {save('organisation', results)}")


if __name__ == "__main__":
    main()

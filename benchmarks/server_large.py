"""How does a server perform that a team has filled? The large part of `benchmarks.server`.

    python -m benchmarks.server --large FOLDER [FOLDER FOLDER] [--folder HOME] [--turns 100000]

Three projects of the given code are ingested into both engines, and turns of all three stored, 100
a conversation. Then: a context, searches and lists in one of the projects, and a forget of another
one, with the most memory that a transaction of the server took meanwhile. With --folder the data
stay: a run that was interrupted continues, and `--only context,list` measures what is there.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from benchmarks.measure import require, save
from benchmarks.memory_scale import TURNS_A_CONVERSATION, Talker
from benchmarks.server import ENGINES, Meter, Place, forgetting, lists, searches
from ragforge import App
from ragforge.domain.code import ScopeFilter
from ragforge.domain.conversations import Conversation
from ragforge.domain.schema import CONVERSATION, SCOPE
from ragforge.domain.text import Json

PROJECTS = 3
SAMPLE_SECONDS = 0.2


async def run_large(places: Sequence[Place], pid: int, turns: int, only: Sequence[str]) -> Json:
    meter = Meter(pid)
    meter.listen()
    results: dict[str, dict[str, Any]] = {}

    def keep(engine: str, rows: dict[str, Any]) -> None:
        for what, row in rows.items():
            results.setdefault(what, {})[engine] = row
            print(f"{engine:<7} {what:<26} {row}", flush=True)
        save("-".join(("server-large", *only)), results)

    def wanted(part: str) -> bool:
        return not only or part in only

    many = turns // len(places) // TURNS_A_CONVERSATION
    for engine in ENGINES:
        for number, place in enumerate(places):
            async with place.open(engine) as app:
                if wanted("ingest") and not await is_ingested(app):
                    keep(engine, {f"ingest, project {number}": await ingest(app, meter)})
                if wanted("turns") and (missing := await list_missing(app, number * many, many)):
                    row = await remember(app, meter, missing)
                    keep(engine, {f"turns, project {number}": row})
    for engine in ENGINES:
        if wanted("context"):
            keep(engine, await searches(places[0], engine, meter, 8))
        if wanted("list"):
            keep(engine, await lists(places[0], engine, meter, 8))
        if wanted("forget"):
            async with watch_transactions(places[0].url) as peak:
                rows = await forgetting(places[-1], engine, meter)
            [(name, row)] = rows.items()
            keep(engine, {name: row | {"transaction_mb": round(peak[0] / 1e6, 1)}})
    return results


async def is_ingested(app: App) -> bool:
    here = ScopeFilter(app.project.checkout_id)
    _, scopes = await app.store.index.count_pending(SCOPE, None, here)
    return scopes > 0


async def list_missing(app: App, first: int, many: int) -> list[int]:
    """Return the numbers of the project's conversations that are not stored yet."""
    found = await app.sessions.find(limit=many)
    stored = {one.uuid for one in found}
    return [n for n in range(first, first + many) if f"conversation-{n}" not in stored]


async def ingest(app: App, meter: Meter) -> dict[str, Any]:
    async def work(_: int) -> None:
        await app.code.ingest(lambda _: None)

    found = await meter.measure(work, 1, warm_up=0)
    require(await is_ingested(app), f"{app.project_path} was not ingested.")
    return found


async def remember(app: App, meter: Meter, numbers: Sequence[int]) -> dict[str, Any]:
    """Store conversations with these numbers, and give their turns vectors."""
    talker, place = Talker(), str(app.project_path)

    async def work(_: int) -> None:
        for number in numbers:
            talk = Conversation(
                place, place, uuid=f"conversation-{number}", project_id=app.project.id
            )
            await app.store.records.put(CONVERSATION, talk)
            said = [one for _ in range(TURNS_A_CONVERSATION) for one in talker.turn(number)]
            await app.store.timeline.append(talk.uuid, said)
        await app.maintenance.embed_memory(lambda _: None)

    return await meter.measure(work, 1, warm_up=0)


@asynccontextmanager
async def watch_transactions(url: str) -> AsyncIterator[list[int]]:
    """Yield a list whose only item is the most memory that one transaction took, in bytes."""
    import neo4j

    peak = [0]
    query = "SHOW TRANSACTIONS YIELD estimatedUsedHeapMemory AS used RETURN max(used) AS most"

    async def sample() -> None:
        while True:
            [row], _, _ = await driver.execute_query(query)
            peak[0] = max(peak[0], row["most"])
            await asyncio.sleep(SAMPLE_SECONDS)

    async with neo4j.AsyncGraphDatabase.driver(url) as driver:
        task = asyncio.create_task(sample())
        try:
            yield peak
        finally:
            task.cancel()


def make_places(folder: Path, url: str, sources: Sequence[Path]) -> list[Place]:
    """Return three projects with the given code, in turn, and one store of each engine."""
    return [
        Place(folder, url, sources[number % len(sources)], name=f"project-{number}")
        for number in range(PROJECTS)
    ]

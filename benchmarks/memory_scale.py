"""How does memory scale? Storing a turn, finding one, memory and file size.

    python -m benchmarks.memory_scale [--engines sqlite] [--turns 1000,10000,100000]

Turns are a question of 6 to 20 words and an answer of 20 to 120, cut from the sources of
Python's standard library, each conversation from a separate stretch; 100 turns a
conversation, ten projects. Every turn is embedded with the bundled model. A query is nine words
in a row from the same sources, with whatever common words it contains; it goes through
`search_conversation_history` (words, neighbours, meaning, summaries), ten results. Times are CPU
milliseconds of this process, each query the best of three tries, together with those of a
baseline in the same run: numpy's product of as many vectors with a query.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import sysconfig
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.measure import megabytes, peak_memory_mb, save
from ragforge.adapters.arrays import np
from ragforge.adapters.embedders.bundled import BundledEmbedder
from ragforge.adapters.stores.sqlite.store import open_sqlite
from ragforge.domain.conversations import Conversation, MemoryFilter, Message
from ragforge.domain.schema import CONVERSATION
from ragforge.memory.embed import embed_turns
from ragforge.memory.search.combined import search_conversation_history
from ragforge.memory.search.turns import MemorySearch
from ragforge.memory.secrets.redactor import REDACTOR
from ragforge.ports.store import Store
from ragforge.search.words.tokenise import WORDS

PROJECTS = 10
TURNS_A_CONVERSATION = 100
STRETCH = 4_000  # words of the sources that one conversation is about
QUERIES = 200
QUERY_WORDS = 9
RESULTS = 10
STORED = 100
FILTERS = {
    "everything": MemoryFilter(),
    "a project": MemoryFilter(project_ids=["/project-3"]),
    "a conversation": MemoryFilter(conversation_id="conversation-3"),
}


def words_of_the_library() -> list[str]:
    """Return the words of Python's own sources, in order: every machine has them."""
    root = Path(sysconfig.get_paths()["stdlib"])
    files = (path for path in sorted(root.rglob("*.py")) if "site-packages" not in path.parts)
    return [word for path in files for word in path.read_text("utf-8", "replace").split()]


class Talker:
    """Makes turns and queries, always the same ones."""

    def __init__(self) -> None:
        self._words = words_of_the_library()
        self._chance = random.Random(5)

    def turn(self, conversation: int) -> list[Message]:
        start = conversation * 7_919 % (len(self._words) - STRETCH - 200)
        return [
            Message("user", self._cut(start, self._chance.randrange(6, 21))),
            Message("assistant", self._cut(start, self._chance.randrange(20, 121))),
        ]

    def query(self) -> str:
        return self._cut(0, QUERY_WORDS, len(self._words) - QUERY_WORDS)

    def _cut(self, start: int, length: int, among: int = STRETCH) -> str:
        first = start + self._chance.randrange(among)
        return " ".join(self._words[first : first + length])


async def fill(store: Store, turns: int, talker: Talker, embedder: BundledEmbedder) -> None:
    """Store this many turns, a conversation at a time."""
    for number in range(turns // TURNS_A_CONVERSATION):
        project, uuid = f"/project-{number % PROJECTS}", f"conversation-{number}"
        await store.records.put(CONVERSATION, Conversation(project, project, uuid=uuid))
        said = [message for _ in range(TURNS_A_CONVERSATION) for message in talker.turn(number)]
        stored = await store.timeline.append(uuid, said)
        ids = [message.uuid for message in stored if message.role == "user"]
        await embed_turns(store, embedder, ids)


async def cpu_ms(
    work: Callable[[int], Awaitable[object]], runs: int, tries: int = 3
) -> dict[str, float]:
    """Return percentiles of the CPU time of runs, each the best of some tries.

    The first run warms up. On a shared machine the same work takes up to twice as long.
    """
    await work(0)
    spent = []
    for number in range(runs):
        each = []
        for _ in range(tries):
            start = time.process_time()
            await work(number)
            each.append((time.process_time() - start) * 1000)
        spent.append(min(each))
    spent.sort()
    return {
        "p50": round(statistics.median(spent), 2),
        "p95": round(spent[int(0.95 * (runs - 1))], 2),
    }


async def store_one(
    store: Store, talker: Talker, embedder: BundledEmbedder
) -> dict[str, dict[str, float]]:
    """Measure what a turn takes: its question, its answer, its vector."""

    async def turn(_: int) -> None:
        question, answer = talker.turn(3)
        [asked] = await store.timeline.append("conversation-3", [question])
        await store.timeline.append("conversation-3", [answer])
        await embed_turns(store, embedder, [asked.uuid])

    return await cpu_ms(turn, STORED, tries=1)


async def measure(store: Store, turns: int) -> dict[str, Any]:
    talker, embedder = Talker(), BundledEmbedder()
    await fill(store, turns, talker, embedder)
    recall = MemorySearch(store, embedder)
    queries = [talker.query() for _ in range(QUERIES)]
    found: dict[str, Any] = {}
    for name, where in FILTERS.items():

        async def search(n: int, where: MemoryFilter = where) -> object:
            return await search_conversation_history(recall, queries[n], where, max_results=RESULTS)

        async def by_words(n: int, where: MemoryFilter = where) -> object:
            return await search_conversation_history(
                recall, queries[n], where, max_results=RESULTS, semantic=False
            )

        found[name] = {
            "all": await cpu_ms(search, QUERIES),
            "words alone": await cpu_ms(by_words, QUERIES),
        }
    return {
        "turns": turns,
        "recall_cpu_ms": found,
        "floor_cpu_ms": await floor(turns),
        "store_one_cpu_ms": await store_one(store, talker, embedder),
        "peak_memory_mb": round(peak_memory_mb()),
    }


async def floor(turns: int) -> dict[str, float]:
    """Measure only numpy: this many vectors, one query."""
    vectors = np.ones((turns, BundledEmbedder.dimension), np.float32)

    async def product(_: int) -> object:
        return vectors @ vectors[0]

    return await cpu_ms(product, 20)


async def on_sqlite(folder: str, turns: int) -> dict[str, Any]:
    store = await open_sqlite(Path(folder) / "store.db", WORDS, REDACTOR)
    result = await measure(store, turns)
    await store.close()
    return {"engine": "sqlite", **result, "file_mb": megabytes(Path(folder))}


async def on_neo4j(url: str, turns: int) -> dict[str, Any]:
    from ragforge.adapters.stores.neo4j.store import open_neo4j

    store = await open_neo4j(url, WORDS, REDACTOR)
    start = time.perf_counter()
    result = await measure(store, turns)
    await store.close()
    return {"engine": "neo4j", **result, "seconds": round(time.perf_counter() - start)}


def in_separate_process(engine: str, place: str, turns: int) -> dict[str, Any]:
    """Measure in a fresh process, so that peak memory is only of this measurement."""
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_run, engine, place, turns).result()


def _run(engine: str, place: str, turns: int) -> dict[str, Any]:
    return asyncio.run((on_sqlite if engine == "sqlite" else on_neo4j)(place, turns))


def measure_in(folder: Path, engine: str, turns: int) -> dict[str, Any]:
    if engine == "sqlite":
        return in_separate_process(engine, str(folder), turns)
    from scripts.neo4j_server import Neo4jServer

    with Neo4jServer(folder) as server:
        result = in_separate_process(engine, server.url, turns)
    return {**result, "file_mb": megabytes(folder / "data" / "databases")}


def show(result: dict[str, Any]) -> None:
    one = result["store_one_cpu_ms"]
    print(
        f"{result['engine']} {result['turns']:>7} turns: store one {one['p50']} / {one['p95']} ms, "
        f"{result['peak_memory_mb']} MB, file {result['file_mb']} MB, "
        f"floor {result['floor_cpu_ms']['p50']} ms"
    )
    for name, row in result["recall_cpu_ms"].items():
        cells = "  ".join(f"{key} {cell['p50']} / {cell['p95']} ms" for key, cell in row.items())
        print(f"    {name:<15} {cells}", flush=True)


def run(engine: str, sizes: Sequence[int]) -> None:
    results = []
    for turns in sizes:
        with tempfile.TemporaryDirectory() as folder:
            results.append(measure_in(Path(folder), engine, turns))
        show(results[-1])
    print(f"saved to {save(f'memory-scale-{engine}', results)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--engines", default="sqlite", help="sqlite,neo4j: a server takes its time")
    parser.add_argument("--turns", default="1000,10000,100000")
    chosen = parser.parse_args()
    for engine in chosen.engines.split(","):
        run(engine, [int(turns) for turns in chosen.turns.split(",")])


if __name__ == "__main__":
    main()

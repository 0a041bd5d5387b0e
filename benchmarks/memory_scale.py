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

import asyncio
import random
import sysconfig
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from benchmarks.measure import (
    Row,
    cpu_ms,
    make_parser,
    megabytes,
    peak_memory_mb,
    require,
    save,
)
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
QUERIES = 60
QUERY_WORDS = 9
RESULTS = 10
STORED = 100
BARS = {10_000: (12.0, None), 100_000: (25.0, None), 1_000_000: (80.0, 400.0)}
"""Milliseconds of a search and megabytes of memory, by the number of turns."""
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


async def measure(store: Store, queries: Sequence[str]) -> dict[str, Any]:
    """Search a filled store; the memory is that of a process that has done nothing else."""
    recall = MemorySearch(store, BundledEmbedder())
    answered = 0
    for query in queries:
        hits = await search_conversation_history(recall, query, MemoryFilter(), max_results=RESULTS)
        answered += bool(hits)
    require(answered > 0.9 * len(queries), f"{answered} of {len(queries)} queries have hits.")
    found: dict[str, Any] = {}
    for name, where in FILTERS.items():

        async def search(n: int, where: MemoryFilter = where) -> object:
            return await search_conversation_history(recall, queries[n], where, max_results=RESULTS)

        async def by_words(n: int, where: MemoryFilter = where) -> object:
            return await search_conversation_history(
                recall, queries[n], where, max_results=RESULTS, semantic=False
            )

        found[name] = {
            "all": await cpu_ms(search, len(queries)),
            "words alone": await cpu_ms(by_words, len(queries)),
        }
    return {"recall_cpu_ms": found, "peak_memory_mb": round(peak_memory_mb())}


async def prepare(store: Store, turns: int, queries: int) -> dict[str, Any]:
    """Fill a store; return what one more turn costs, the floor, and queries."""
    talker, embedder = Talker(), BundledEmbedder()
    start = time.process_time()
    await fill(store, turns, talker, embedder)
    return {
        "turns": turns,
        "fill_cpu_s": round(time.process_time() - start, 1),
        "store_one_cpu_ms": await store_one(store, talker, embedder),
        "floor_cpu_ms": await floor(turns),
        "queries": [talker.query() for _ in range(queries)],
    }


async def floor(turns: int) -> dict[str, float]:
    """Measure only numpy: this many vectors, one query."""
    vectors = np.ones((turns, BundledEmbedder.dimension), np.float32)

    async def product(_: int) -> object:
        return vectors @ vectors[0]

    return await cpu_ms(product, 20)


async def work_on(engine: str, place: str, work: Callable[..., Any], *given: Any) -> Any:
    if engine == "sqlite":
        store = await open_sqlite(Path(place) / "store.db", WORDS, REDACTOR)
    else:
        from ragforge.adapters.stores.neo4j.store import open_neo4j

        store = await open_neo4j(place, WORDS, REDACTOR)
    try:
        return await work(store, *given)
    finally:
        await store.close()


def _run(*given: Any) -> Any:
    return asyncio.run(work_on(*given))


def measure_place(engine: str, place: str, turns: int, queries: int) -> dict[str, Any]:
    """Fill and measure in a fresh process each, so that memory is only that of searching."""
    with ProcessPoolExecutor(2, get_context("spawn"), max_tasks_per_child=1) as pool:
        made = pool.submit(_run, engine, place, prepare, turns, queries).result()
        found = pool.submit(_run, engine, place, measure, made.pop("queries")).result()
    return {"engine": engine, **made, **found}


def measure_in(folder: Path, engine: str, turns: int, queries: int) -> dict[str, Any]:
    if engine == "sqlite":
        result = measure_place(engine, str(folder), turns, queries)
        return {**result, "file_mb": megabytes(folder)}
    from scripts.neo4j_server import Neo4jServer

    with Neo4jServer(folder) as server:
        result = measure_place(engine, server.url, turns, queries)
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


def make_rows(results: Sequence[dict[str, Any]]) -> list[Row]:
    """Return the rows of the page: a search in the memory of everything, and what it takes."""
    rows = []
    for result in results:
        spent = result["recall_cpu_ms"]["everything"]
        words, floor_ms = spent["words alone"]["p50"], result["floor_cpu_ms"]["p50"]
        work = f"memory search, {result['turns']:,} turns"
        peer = f"numpy {floor_ms} ms, only words {words} ms, p95 {spent['all']['p95']} ms"
        limit, memory = BARS.get(result["turns"], (None, None))
        rows.append(Row(f"{work}, p50", spent["all"]["p50"], "CPU ms", limit, peer))
        file = f"file {result['file_mb']} MB"
        rows.append(Row(f"{work}: memory", result["peak_memory_mb"], "MB", memory, file))
    return rows


def run(engine: str, sizes: Sequence[int], queries: int) -> None:
    results = []
    for turns in sizes:
        with tempfile.TemporaryDirectory() as folder:
            results.append(measure_in(Path(folder), engine, turns, queries))
        show(results[-1])
        save(f"memory-scale-{engine}", results, make_rows(results))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--engines", default="sqlite", help="sqlite,neo4j: a server takes its time")
    parser.add_argument("--turns", default="1000,10000,100000")
    parser.add_argument("--queries", type=int, default=QUERIES)
    chosen = parser.parse_args(arguments)
    for engine in chosen.engines.split(","):
        run(engine, [int(turns) for turns in chosen.turns.split(",")], chosen.queries)


if __name__ == "__main__":
    main()

"""How fast are the stores? Inserts, filtered vector search, words, opening, file size.

    python -m benchmarks.store [--engines sqlite,neo4j] [--rows 20000,100000,300000]
                               [--dimensions 256,768]

Vector search on SQLite is compared with a baseline: numpy over a matrix in memory, given
exactly the rows that the filter selects. Filters select all rows, a tenth (a project) and a
thousandth (a conversation).
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import (
    Row,
    Timing,
    make_parser,
    megabytes,
    peak_memory_mb,
    require,
    save,
    timed,
)
from ragforge.adapters.stores.sqlite.store import open_sqlite
from ragforge.domain.conversations import Conversation, MemoryFilter, Message
from ragforge.domain.schema import CONVERSATION, TURN
from ragforge.domain.vectors import Vector
from ragforge.memory.secrets.redactor import REDACTOR
from ragforge.ports.store import Store
from ragforge.search.words.tokenise import WORDS

PROJECTS = 10
CONVERSATIONS = 1_000
PAGE = 10_000
TOP = 10
RUNS = 40
MODEL = "random"
VOCABULARY = [f"{stem}{n}" for n in range(400) for stem in ("parse", "token", "lock", "cache")]


@dataclass(frozen=True, slots=True)
class Data:
    """A filled store and the same vectors as a matrix, row for row."""

    matrix: NDArray[np.float32]
    conversations: list[str]
    seconds: float
    embed_seconds: float

    def rows(self, divisor: int) -> NDArray[np.int64]:
        """Return the rows of the first project (10), the first conversation (1000) or all (1)."""
        count = len(self.matrix)
        if divisor == 1:
            return np.arange(count)
        return np.flatnonzero(np.arange(count) % divisor == 0)


def vectors_like_text(rows: int, dimension: int) -> NDArray[np.float32]:
    """Return vectors with the shape of embeddings: a few hundred topics and noise."""
    chance = np.random.default_rng(7)
    topics = chance.standard_normal((300, dimension)).astype(np.float32)
    chosen = topics[chance.integers(0, len(topics), rows)]
    vectors = chosen + 0.8 * chance.standard_normal((rows, dimension)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


async def fill(store: Store, rows: int, dimension: int) -> Data:
    """Store this many turns with their vectors, spread over projects and conversations."""
    matrix = vectors_like_text(rows, dimension)
    chance = np.random.default_rng(11)
    words = chance.integers(0, len(VOCABULARY), (rows, 12))
    ids = [f"conversation-{n}" for n in range(CONVERSATIONS)]
    for n, uuid in enumerate(ids):
        project = f"/project-{n % PROJECTS}"
        await store.records.put(CONVERSATION, Conversation(project, project, uuid=uuid))
    start = time.perf_counter()
    # A page of turns at a time, as copying does; one at a time is measured by itself.
    for first in range(0, CONVERSATIONS):
        turns = range(first, rows, CONVERSATIONS)
        messages = [
            Message("user", " ".join(VOCABULARY[w] for w in words[row]), uuid=f"turn-{row}")
            for row in turns
        ]
        await store.timeline.append(ids[first], messages)
    seconds = time.perf_counter() - start
    start = time.perf_counter()
    for first in range(0, rows, PAGE):
        page = range(first, min(first + PAGE, rows))
        await store.index.embed(
            TURN, {f"turn-{row}": Vector(MODEL, matrix[row].tobytes()) for row in page}
        )
    return Data(matrix, ids, seconds, time.perf_counter() - start)


def floor(
    matrix: NDArray[np.float32], rows: NDArray[np.int64], query: NDArray[np.float32]
) -> list[int]:
    """Return the nearest of the given rows: what no store can be expected to beat."""
    cosines = matrix @ query if len(rows) == len(matrix) else matrix[rows] @ query
    best = (
        np.argpartition(cosines, len(cosines) - TOP)[-TOP:]
        if len(cosines) > TOP
        else np.arange(len(cosines))
    )
    return [int(rows[place]) for place in best[np.argsort(-cosines[best])]]


FILTERS: dict[str, tuple[int, MemoryFilter]] = {
    "all": (1, MemoryFilter()),
    "project": (PROJECTS, MemoryFilter(project_ids=["/project-0"])),
    "conversation": (CONVERSATIONS, MemoryFilter(conversation_id="conversation-0")),
}


async def measure_vectors(store: Store, data: Data, runs: int) -> dict[str, Any]:
    queries = vectors_like_text(runs + 1, data.matrix.shape[1])
    found: dict[str, Any] = {}
    for name, (divisor, where) in FILTERS.items():
        rows = data.rows(divisor)

        async def search(n: int, where: MemoryFilter = where) -> list[str]:
            vector = Vector(MODEL, queries[n].tobytes())
            return [
                m.id
                for m in (await store.index.search(TURN, "", vector, where, TOP, read=0)).by_vector
            ]

        async def scan(n: int, rows: NDArray[np.int64] = rows) -> list[int]:
            return floor(data.matrix, rows, queries[n])

        store_time, floor_time = await timed(search, runs), await timed(scan, runs)
        agree = [
            len({f"turn-{row}" for row in await scan(n)} & set(await search(n)))
            for n in range(runs)
        ]
        recall = sum(agree) / (runs * min(TOP, len(rows)))
        require(recall > 0.9, f"Of the nearest rows ({name}) only {recall:.0%} are found.")
        found[name] = {
            "rows": len(rows),
            **store_time.milliseconds(),
            "floor": floor_time.milliseconds(),
            "ratio_p50": round(store_time.p50 / floor_time.p50, 2),
            "recall": round(recall, 4),
        }
    return found


async def measure_words(store: Store, runs: int) -> dict[str, Any]:
    found = {}
    for name, (_, where) in FILTERS.items():

        async def search(n: int, where: MemoryFilter = where) -> object:
            query = f"{VOCABULARY[n * 7]} {VOCABULARY[n * 11]} {VOCABULARY[n * 13]}"
            return (await store.index.search(TURN, query, None, where, TOP, read=0)).by_words

        require(await search(0), f"Words find nothing ({name}).")
        found[name] = (await timed(search, runs)).milliseconds()
    return found


async def measure_single_appends(store: Store, runs: int) -> dict[str, float]:
    async def append(n: int) -> object:
        return await store.timeline.append("conversation-0", [Message("user", "one more")])

    timing = await timed(append, runs)
    return {**timing.milliseconds(), "per_second": round(1 / timing.p50)}


async def measure(
    open_store: Callable[[], Any], rows: int, dimension: int, runs: int
) -> dict[str, Any]:
    store = await open_store()
    data = await fill(store, rows, dimension)
    result: dict[str, Any] = {
        "rows": rows,
        "dimensions": dimension,
        "insert_turns_per_second": round(rows / data.seconds),
        "insert_vectors_per_second": round(rows / data.embed_seconds),
        "vectors": await measure_vectors(store, data, runs),
        "words": await measure_words(store, runs),
        "append_one": await measure_single_appends(store, runs),
    }
    await store.close()
    result |= await measure_open(open_store, data)
    return result


async def measure_open(open_store: Callable[[], Any], data: Data) -> dict[str, float]:
    """Measure opening, and the first search, which loads what it needs."""

    async def once(_: int) -> None:
        await (await open_store()).close()

    opening: Timing = await timed(once, 5)
    store = await open_store()
    start = time.perf_counter()
    vector = Vector(MODEL, data.matrix[0].tobytes())
    await store.index.search(TURN, "", vector, MemoryFilter(), TOP, read=0)
    first = time.perf_counter() - start
    await store.close()
    return {
        "open_ms": round(opening.p50 * 1000, 2),
        "first_vector_search_ms": round(first * 1000, 1),
    }


async def on_sqlite(folder: str, rows: int, dimension: int) -> dict[str, Any]:
    path = Path(folder) / f"store-{rows}-{dimension}.db"
    result = await measure(lambda: open_sqlite(path, WORDS, REDACTOR), rows, dimension, RUNS)
    result["file_mb"] = megabytes(Path(folder))
    result["peak_memory_mb"] = round(peak_memory_mb())
    return {"engine": "sqlite", **result}


async def on_neo4j(url: str, rows: int, dimension: int) -> dict[str, Any]:
    from ragforge.adapters.stores.neo4j.store import open_neo4j

    result = await measure(lambda: open_neo4j(url, WORDS, REDACTOR), rows, dimension, 20)
    return {"engine": "neo4j", **result}


def in_separate_process(engine: str, *arguments: Any) -> dict[str, Any]:
    """Measure in a fresh process, so that peak memory is only of this measurement."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_run, engine, *arguments).result()


def _run(engine: str, *arguments: Any) -> dict[str, Any]:
    work = on_sqlite if engine == "sqlite" else on_neo4j
    return asyncio.run(work(*arguments))


def show(result: dict[str, Any]) -> None:
    print(
        f"{result['engine']} {result['rows']:>7} × {result['dimensions']}: "
        f"{result['insert_turns_per_second']} turns/s, "
        f"{result['insert_vectors_per_second']} vectors/s, open {result['open_ms']} ms, "
        f"first search {result['first_vector_search_ms']} ms, {result.get('file_mb', '–')} MB"
    )
    for name, row in result["vectors"].items():
        print(
            f"    vectors, {name:<12} {row['rows']:>7} rows: p50 {row['p50_ms']:>8.2f} ms  "
            f"p95 {row['p95_ms']:>8.2f} ms  floor {row['floor']['p50_ms']:>7.2f} ms  "
            f"ratio {row['ratio_p50']:>6.2f}  recall {row['recall']:.3f}"
        )
    for name, row in result["words"].items():
        print(f"    words,   {name:<12} p50 {row['p50_ms']:>8.2f} ms  p95 {row['p95_ms']:>8.2f} ms")


def make_rows(results: Sequence[dict[str, Any]]) -> list[Row]:
    """Return the rows of the page."""
    rows = []
    for result in results:
        found = result["vectors"]["all"]
        work = f"{result['engine']}, {result['rows']:,} × {result['dimensions']} vectors, top 10"
        peer = f"{found['p50_ms']} ms, numpy {found['floor']['p50_ms']} ms"
        rows.append(Row(work, found["ratio_p50"], "× numpy", peer=peer))
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--engines", default="sqlite,neo4j")
    parser.add_argument("--rows", default="20000,100000,300000")
    parser.add_argument("--dimensions", default="256,768")
    chosen = parser.parse_args(arguments)
    for engine in chosen.engines.split(","):
        results = []
        for dimension in map(int, chosen.dimensions.split(",")):
            for rows in map(int, chosen.rows.split(",")):
                with tempfile.TemporaryDirectory() as folder:
                    results.append(measure_in(Path(folder), engine, rows, dimension))
                show(results[-1])
        save(f"store-{engine}", results, make_rows(results))


def measure_in(folder: Path, engine: str, rows: int, dimension: int) -> dict[str, Any]:
    """Measure an empty store: a file in the folder, or a server that has its home there."""
    if engine == "sqlite":
        return in_separate_process(engine, str(folder), rows, dimension)
    from scripts.neo4j_server import Neo4jServer

    with Neo4jServer(folder) as server:
        result = in_separate_process(engine, server.url, rows, dimension)
    databases = megabytes(folder / "data" / "databases")  # stopped: everything is on the disk
    log = megabytes(folder / "data" / "transactions")
    return {**result, "file_mb": databases, "log_mb": log}


if __name__ == "__main__":
    main()

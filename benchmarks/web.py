"""How fast is the page? Its first page, a search, a long session, on a large store.

    python -m benchmarks.web [--turns 100000] [--code /path/to/django] [--folder KEPT]

The store is that of `memory_scale`: 100 turns a conversation, ten projects, every turn embedded
with the bundled model; one session has 2,000 turns. With `--code`, the code of a project is
indexed next to it, and searched with every question. Requests go through all of the page without a
socket. Times are CPU milliseconds of this process, each request the best of three tries; searches
as one types are short questions. Start is the CPU time of a
process until it shows its address. With `--folder` the store is kept, and used again if it is
there.
"""

from __future__ import annotations

import asyncio
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2

from benchmarks.measure import (
    Row,
    clean_environ,
    cpu_ms,
    make_parser,
    peak_memory_mb,
    require,
    save,
)
from benchmarks.memory_scale import Talker, fill
from ragforge.adapters.embedders.bundled import BundledEmbedder
from ragforge.app import App, open_app
from ragforge.config import Settings
from ragforge.domain.conversations import Conversation
from ragforge.domain.schema import CONVERSATION
from ragforge.web.access import Access
from ragforge.web.site import ASSETS, build_site

LONG = 2_000
BARS = {"store": 200.0}
"""CPU milliseconds."""
QUERIES = 50
STARTS = 3
TYPED = ("lo", "login", "model+form", "query+set", "migration+error", "how+are+cookies+signed") * 4
TABS = 20


async def measure(folder: Path, turns: int, long: int, code: Path | None) -> dict[str, Any]:
    """Fill a store, and ask for each page."""
    project = code or folder / "project"
    (folder / "project" / ".git").mkdir(parents=True, exist_ok=True)
    is_filled = (folder / "memory.db").exists()
    settings = Settings.model_validate(
        {
            "store": {"url": str(folder / "memory.db")},
            "llm": {"model": "none"},
            "agent": {"state_dir": str(folder / "state")},
            "jobs": {"detach": False},
        }
    )
    talker, access = Talker(), Access(8421)
    async with open_app(settings, project, work=False) as app:
        if not is_filled:
            await fill_all(app, turns, long, talker)
        if code:
            await app.code.ingest()
        scopes = (await app.code.status()).scopes
        transport = httpx2.ASGITransport(app=build_site(app, access))
        base = f"http://127.0.0.1:8421{access.base}"
        queries = [quote(talker.query()[:200]) for _ in range(QUERIES)]
        async with httpx2.AsyncClient(transport=transport) as client:
            await client.get(access.address)

            async def get(path: str, **headers: str) -> int:
                response = await client.get(base + path, headers=headers)
                require(response.status_code == 200, f"{path}: {response.text[:200]}")
                return len(response.content)

            async def search(words: str) -> int:
                return await get(f"/search?q={words}", **{"X-Part": "1"})

            empty, found = await search("zzzzzzzz"), await search(queries[0])
            require(found > empty, "A search of the page shows no hits.")

            async def visit(path: str) -> float:
                start = time.process_time()
                await get(path)
                return round(1000 * (time.process_time() - start), 1)

            first = {name: await visit(f"/{name}") for name in ("store", "sessions", "timeline")}

            async def open_tabs(_: int) -> None:
                await asyncio.gather(*(search(one) for one in queries[:TABS]))

            pages = {}
            if code:
                file = (await app.overview.map_files(1))[0].path
                named = f"/code?name={quote(file)}"
                pages = {"map": "/map", "code": named, "file_graph": f"/graph?node=file:{file}"}
            return {
                "turns": turns,
                "scopes": scopes,
                "first_visit_cpu_ms": first,  # before anything is kept for the next one
                "first_page_cpu_ms": await cpu_ms(lambda _: get("/search"), 20),
                "sessions_cpu_ms": await cpu_ms(lambda _: get("/sessions"), 20),
                "search_cpu_ms": await cpu_ms(lambda n: search(queries[n]), QUERIES),
                "typed_search_cpu_ms": await cpu_ms(lambda n: search(TYPED[n]), len(TYPED)),
                **{
                    f"{name}_cpu_ms": await cpu_ms(lambda _, path=path: get(path), 5)
                    for name, path in pages.items()
                },
                "long_session_cpu_ms": await cpu_ms(
                    lambda n: get(f"/sessions/long-session?from={n * 90}"), 20
                ),
                "store_cpu_ms": await cpu_ms(lambda _: get("/store"), 5),
                "timeline_cpu_ms": await cpu_ms(lambda _: get("/timeline?project=/long"), 5),
                "graph_cpu_ms": await cpu_ms(lambda _: get("/graph?node=session:long-session"), 5),
                f"{TABS}_tabs_cpu_ms": await cpu_ms(open_tabs, 3),
                "asset_bytes": sum(file.stat().st_size for file in ASSETS.iterdir()),
                "peak_memory_mb": round(peak_memory_mb()),
            }


async def fill_all(app: App, turns: int, long: int, talker: Talker) -> None:
    """Store the turns of many sessions, and one session that is long."""
    await fill(app.store, turns, talker, BundledEmbedder())
    await app.store.records.put(CONVERSATION, Conversation("/long", "/long", uuid="long-session"))
    said = [message for _ in range(long) for message in talker.turn(1)]
    await app.store.timeline.append("long-session", said)


def measure_start(folder: str) -> float:
    """Return the CPU seconds from the start of a process to its address."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "ragforge", "--store", f"{folder}/m.db", "web", "--no-open"]
    environ = clean_environ(Path(folder))
    running = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=folder, env=environ
    )
    assert running.stdout is not None
    require(b"http" in running.stdout.readline(), "`web` shows no address.")
    running.terminate()
    running.wait()
    running.stdout.close()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--turns", type=int, default=100_000)
    parser.add_argument("--long", type=int, default=LONG, help="turns of the long session")
    parser.add_argument("--code", type=Path)
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as made:
        # The first of them makes the store.
        start = min(measure_start(made) for _ in range(STARTS))
        folder = given.folder or Path(made)
        folder.mkdir(parents=True, exist_ok=True)
        found = asyncio.run(measure(folder, given.turns, given.long, given.code))
    result = {"start_cpu_s": round(start, 2), **found}
    print(result)
    work = f"page, {given.turns:,} turns:"
    rows = [
        Row(f"{work} {name}, the first visit", milliseconds, "CPU ms", BARS.get(name))
        for name, milliseconds in result["first_visit_cpu_ms"].items()
    ]
    rows += [
        Row(f"{work} {name}, later", result[f"{name}_cpu_ms"]["p50"], "CPU ms", BARS.get(name))
        for name in ("store", "search", "sessions", "timeline", "long_session")
    ]
    save("web", result, [*rows, Row("page: start", result["start_cpu_s"], "CPU s")])


if __name__ == "__main__":
    main()

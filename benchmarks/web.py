"""How fast is the page? Its first page, a search, a long session, on a large store.

    python -m benchmarks.web [--turns 100000]

The store is that of `memory_scale`: 100 turns a conversation, ten projects, every turn embedded
with the bundled model; one session has 2,000 turns. Requests go through all of the page without a
socket. Times are CPU milliseconds of this process, each request the best of three tries. Start is
the CPU time of a process that serves its first page.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2

from benchmarks.measure import peak_memory_mb, save
from benchmarks.memory_scale import Talker, cpu_ms, fill
from ragforge.adapters.embedders.bundled import BundledEmbedder
from ragforge.app import open_app
from ragforge.config import Settings
from ragforge.domain.conversations import Conversation
from ragforge.web.access import Access
from ragforge.web.site import ASSETS, build_site

LONG = 2_000
QUERIES = 50
TABS = 20


async def measure(folder: Path, turns: int) -> dict[str, Any]:
    """Fill a store, and ask for each page."""
    project = folder / "project"
    (project / ".git").mkdir(parents=True)
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
        await fill(app.store, turns, talker, BundledEmbedder())
        await app.store.conversations.create(Conversation("/long", "/long", uuid="long-session"))
        said = [message for _ in range(LONG) for message in talker.turn(1)]
        await app.store.conversations.append("long-session", said)
        transport = httpx2.ASGITransport(app=build_site(app, access))
        base = f"http://127.0.0.1:8421{access.base}"
        queries = [quote(talker.query()[:200]) for _ in range(QUERIES)]
        async with httpx2.AsyncClient(transport=transport) as client:
            await client.get(access.address)

            async def get(path: str) -> int:
                response = await client.get(base + path, headers={"X-Part": "1"})
                assert response.status_code == 200, response.text
                return len(response.content)

            async def open_tabs(_: int) -> None:
                await asyncio.gather(*(get(f"/search?q={one}") for one in queries[:TABS]))

            return {
                "turns": turns,
                "sessions_cpu_ms": await cpu_ms(lambda _: get("/sessions"), 20),
                "search_cpu_ms": await cpu_ms(lambda n: get(f"/search?q={queries[n]}"), QUERIES),
                "long_session_cpu_ms": await cpu_ms(
                    lambda n: get(f"/sessions/long-session?from={n * 90}"), 20
                ),
                f"{TABS}_tabs_cpu_ms": await cpu_ms(open_tabs, 3),
                "asset_bytes": sum(file.stat().st_size for file in ASSETS.iterdir()),
                "peak_memory_mb": round(peak_memory_mb()),
            }


def measure_start() -> float:
    """Return the CPU seconds from the start of a process to its address."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "ragforge", "--store", f"{folder}/m.db", "web"]
        running = subprocess.Popen(
            [*command, "--no-open"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=folder
        )
        assert running.stdout is not None
        running.stdout.readline()
        running.terminate()
        running.wait()
        running.stdout.close()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=100_000)
    given = parser.parse_args()
    start = min(measure_start() for _ in range(5))
    with tempfile.TemporaryDirectory() as folder:
        found = asyncio.run(measure(Path(folder), given.turns))
    result = {"start_cpu_s": round(start, 2), **found}
    print(result)
    print(save("web", result))


if __name__ == "__main__":
    main()

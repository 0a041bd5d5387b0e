"""Is the right code in front of the model, and how soon? No chat model takes part.

    python -m benchmarks.context [--only gin,redux] [--stores FOLDER] [--no-speed | --no-coverage]
                                 [--turns 0,10000,100000] [--repos FOLDER] [--data FOLDER]

Coverage: each repository of the code-search set is ingested, and the whole context of every
question is built at the default budgets; a question counts if a file that answers it is in
it. Speed: Django with 0, 10,000 and 100,000 stored turns, the questions of its own set and others
like them; CPU and wall clock of a whole `build_enriched_context`, and of each search in it.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.measure import Row, make_parser, percentile, require, save
from benchmarks.memory_scale import TURNS_A_CONVERSATION, Talker
from benchmarks.opening import open_project
from benchmarks.peers import Question, Repository, add_places, choose_repositories
from ragforge.app import App
from ragforge.context.build import EnrichedContext
from ragforge.domain.conversations import Conversation
from ragforge.domain.schema import CONVERSATION, TURN

TURNS = 10_000
SPEED_QUESTIONS = (
    "Where is the session cookie set and signed?",
    "How does `QuerySet.prefetch_related` collect its lookups?",
    "Why do I get ImproperlyConfigured: Requested setting DATABASES?",
    "how are migrations ordered when two apps depend on each other",
    "What validates an email address in forms?",
    "class based views dispatch http method not allowed",
    'Where does "CSRF verification failed" come from?',
    "how is the test database created and destroyed",
    "templates autoescape strings marked safe",
    "How does the ORM quote column names in sqlite?",
)
BARS = {0: 35.0, 10_000: 45.0, 100_000: 70.0}
"""Milliseconds, by the number of turns."""


def holds(context: EnrichedContext, question: Question) -> bool:
    """Tell whether a file that answers the question is in the context."""
    files = {piece.file for piece in context.code}
    return any(
        f"/{file}".endswith(f"/{target.path}") or f"/{target.path}".endswith(f"/{file}")
        for file in files
        for target in question.targets
    )


async def covered(repo: Repository, root: Path, store: Path) -> list[tuple[str, bool, int]]:
    """Return for each question its category, whether its answer is there, and how much code is."""
    async with open_project(root, store) as app:
        found = []
        for question in repo.questions:
            context = await app.build_context(question.text)
            chars = context.receipt.count_chars("code")
            found.append((question.category, holds(context, question), chars))
        return found


async def coverage(repos: list[Repository], folder: Path, stores: Path) -> dict[str, Any]:
    by_category: dict[str, list[bool]] = defaultdict(list)
    by_repository: dict[str, float] = {}
    chars: list[int] = []
    for repo in repos:
        root = folder / repo.name / repo.root
        found = await covered(repo, root, stores / f"{repo.name}.db")
        by_repository[repo.name] = round(statistics.mean(there for _, there, _ in found), 3)
        print(f"{repo.name:<22} {by_repository[repo.name]:.3f}", flush=True)
        for category, there, size in found:
            by_category[category].append(there)
            chars.append(size)
    require(chars, "No question was asked.")
    every = [there for some in by_category.values() for there in some]
    require(any(every), "No context has the code that answers its question.")
    return {
        "questions": len(every),
        "in_context": round(statistics.mean(every), 3),
        "by_category": {name: round(statistics.mean(v), 3) for name, v in by_category.items()},
        "by_repository": by_repository,
        "mean_code_chars": round(statistics.mean(chars)),
    }


async def speed(
    root: Path, store: Path, sizes: Sequence[int], rounds: int
) -> AsyncIterator[tuple[int, dict[str, Any]]]:
    """Build contexts next to more and more stored turns; yield the figures of each size."""
    async with open_project(root, store) as app:
        for size in sorted(sizes):
            await remember(app, size)
            await app.jobs.wait(600)
            yield size, await measure_speed(app, rounds)


async def measure_speed(app: App, rounds: int) -> dict[str, Any]:
    walls: list[float] = []
    cpus: list[float] = []
    searches: dict[str, list[int]] = defaultdict(list)
    with_code = with_memory = 0
    await app.build_context(SPEED_QUESTIONS[0])
    for question in SPEED_QUESTIONS * rounds:
        wall, cpu = time.perf_counter(), time.process_time()
        context = await app.build_context(question)
        walls.append(1_000 * (time.perf_counter() - wall))
        cpus.append(1_000 * (time.process_time() - cpu))
        with_code += bool(context.code)
        with_memory += any("memory" in one.name for one in context.receipt.searches)
        for search in context.receipt.searches:
            searches[search.name.split(" ")[0]].append(search.milliseconds)
    require(with_code > len(walls) / 2, f"Only {with_code} of {len(walls)} contexts have code.")
    require(with_memory, "No context searched the memory.")
    return {
        "cpu_p50_ms": round(statistics.median(cpus), 1),
        "cpu_p95_ms": round(percentile(cpus, 0.95), 1),
        "p50_ms": round(statistics.median(walls), 1),
        "p95_ms": round(percentile(walls, 0.95), 1),
        "with_code": round(with_code / len(walls), 3),
        "searches_p50_ms": {name: statistics.median(some) for name, some in searches.items()},
    }


async def remember(app: App, turns: int = TURNS) -> None:
    """Store turns of this project until there are as many, and give them their vectors."""
    talker, place = Talker(), str(app.project_path)
    stored = (await app.store.index.count_pending(TURN, "any"))[1]
    each = min(TURNS_A_CONVERSATION, max(turns, 1))
    for number in range(stored // each, turns // each):
        talk = Conversation(place, place, uuid=f"conversation-{number}", project_id=app.project.id)
        await app.store.records.put(CONVERSATION, talk)
        said = [message for _ in range(each) for message in talker.turn(number)]
        await app.store.timeline.append(talk.uuid, said)
    await app.maintenance.embed_memory(lambda _: None)
    stored = (await app.store.index.count_pending(TURN, "any"))[1]
    require(stored >= turns, f"{stored} of {turns} turns are stored.")


def make_rows(found: dict[int, dict[str, Any]]) -> list[Row]:
    """Return the rows of the page."""
    rows = []
    for size, figures in found.items():
        cpu, wall = figures["cpu_p50_ms"], figures["p50_ms"]
        work, peer = f"context with {size:,} turns", f"{wall} ms wall clock"
        rows.append(Row(f"{work}, p50", cpu, "CPU ms", BARS.get(size), peer))
        ratio = round(figures["cpu_p95_ms"] / cpu, 2)
        rows.append(Row(f"{work}, p95", ratio, "× p50", 2.0, f"{figures['cpu_p95_ms']} CPU ms"))
    return rows


async def run(chosen: argparse.Namespace, repos: list[Repository], stores: Path) -> None:
    results: dict[str, Any] = {}
    rows: list[Row] = []
    if not chosen.no_coverage:
        results["coverage"] = await coverage(repos, chosen.repos, stores)
        covered = results["coverage"]["in_context"]
        rows.append(Row("questions whose code is in the context", covered, ""))
    if not chosen.no_speed:
        require(chosen.django.is_dir(), f"{chosen.django} is missing: a checkout of Django.")
        sizes = [int(size) for size in chosen.turns.split(",")]
        found = results["speed"] = {}
        async for size, figures in speed(chosen.django, stores / "django.db", sizes, chosen.rounds):
            found[size] = figures
            save("context", results, [*rows, *make_rows(found)])
        return
    save("context", results, rows)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--only", default="", help="names of repositories, with commas")
    parser.add_argument("--stores", type=Path, help="keep the stores here, for another run")
    parser.add_argument("--no-speed", action="store_true")
    parser.add_argument("--no-coverage", action="store_true", help="only Django's speed")
    parser.add_argument("--turns", default="0,10000,100000", help="how many are stored")
    parser.add_argument("--rounds", type=int, default=5, help="how often each question is asked")
    add_places(parser)
    chosen = parser.parse_args(arguments)
    repos = [] if chosen.no_coverage else choose_repositories(chosen)
    with tempfile.TemporaryDirectory() as work:
        stores = chosen.stores or Path(work)
        stores.mkdir(parents=True, exist_ok=True)
        asyncio.run(run(chosen, repos, stores))


if __name__ == "__main__":
    main()

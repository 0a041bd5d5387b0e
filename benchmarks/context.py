"""Is the right code in front of the model, and how soon? No chat model takes part.

    python -m benchmarks.context [--only gin,redux] [--stores FOLDER] [--no-speed | --no-coverage]
                                 [--repos FOLDER] [--data FOLDER]

Coverage: each repository of the code-search set is ingested, and the whole context of every
question is built at the default budgets; a question counts if a file that answers it is in
it. Speed: Django with 10,000 stored turns, the questions of its own set and others like them;
wall clock and CPU of a whole `build_enriched_context`, and of each search in it; and how much
longer all searches take at once than the slowest of them does by itself.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.measure import save
from benchmarks.memory_scale import TURNS_A_CONVERSATION, Talker
from benchmarks.peers import Question, Repository, add_places, check_out, repositories
from ragforge import load_settings, open_app
from ragforge.app import App
from ragforge.context.build import EnrichedContext
from ragforge.domain.conversations import Conversation
from ragforge.domain.schema import CONVERSATION, TURN

TURNS = 10_000
DJANGO = "django-a"
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
ROUNDS = 10
SINGLE_SEARCHES = ("latest", "memory", "code", "files")


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds of one run."""

    wall: float
    cpu: float


def holds(context: EnrichedContext, question: Question) -> bool:
    """Tell whether a file that answers the question is in the context."""
    files = {piece.file for piece in context.code}
    return any(
        f"/{file}".endswith(f"/{target.path}") or f"/{target.path}".endswith(f"/{file}")
        for file in files
        for target in question.targets
    )


async def open_on(root: Path, store: Path) -> Any:
    environ = {
        "RAGFORGE_STORE": str(store),
        "RAGFORGE_CONFIG": "",
        "RAGFORGE_BRAIN__INGEST_AUTOMATICALLY": "false",
    }
    return open_app(load_settings(root, environ=environ).settings, root)


async def covered(repo: Repository, root: Path, store: Path) -> list[tuple[str, bool, int]]:
    """Return for each question its category, whether its answer is there, and how much code is."""
    async with await open_on(root, store) as opened:
        app: App = opened
        if not await app.brain.is_ingested():
            await app.brain.ingest()
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
    every = [there for some in by_category.values() for there in some]
    return {
        "questions": len(every),
        "in_context": round(statistics.mean(every), 3),
        "by_category": {name: round(statistics.mean(v), 3) for name, v in by_category.items()},
        "by_repository": by_repository,
        "mean_code_chars": round(statistics.mean(chars)),
    }


async def speed(root: Path, store: Path) -> dict[str, Any]:
    async with await open_on(root, store) as opened:
        app: App = opened
        if not await app.brain.is_ingested():
            await app.brain.ingest()
        if not (await app.store.index.count_pending(TURN, "any"))[1]:
            await remember(app)
        await app.build_context(SPEED_QUESTIONS[0])
        walls: list[float] = []
        cpus: list[float] = []
        overlaps: list[float] = []
        searches: dict[str, list[int]] = defaultdict(list)
        for question in SPEED_QUESTIONS * ROUNDS:
            wall, cpu = time.perf_counter(), time.process_time()
            context = await app.build_context(question)
            walls.append(1_000 * (time.perf_counter() - wall))
            cpus.append(1_000 * (time.process_time() - cpu))
            took = context.receipt.searches
            overlaps.append(walls[-1] / max(search.milliseconds for search in took))
            for search in took:
                searches[search.name.split(" ")[0]].append(search.milliseconds)
        together = await _together(app)
    return {
        "turns": TURNS,
        "p50_ms": round(statistics.median(walls), 1),
        "p95_ms": _percentile_95(walls),
        "cpu_p50_ms": round(statistics.median(cpus), 1),
        "cpu_p95_ms": _percentile_95(cpus),
        "to_slowest_beside_the_others": round(statistics.median(overlaps), 2),
        "searches_p50_ms": {name: statistics.median(some) for name, some in searches.items()},
        **together,
    }


async def remember(app: App) -> None:
    """Store turns of this project, and give them their vectors."""
    talker, place = Talker(), str(app.project_path)
    for number in range(TURNS // TURNS_A_CONVERSATION):
        talk = Conversation(place, place, uuid=f"conversation-{number}", project_id=app.project.id)
        await app.store.records.put(CONVERSATION, talk)
        said = [message for _ in range(TURNS_A_CONVERSATION) for message in talker.turn(number)]
        await app.store.timeline.append(talk.uuid, said)
    await app.maintenance.embed_memory(lambda _: None)


async def _together(app: App) -> dict[str, Any]:
    """Compare all searches at once with the slowest of them when nothing else runs.

    For each question they take turns, and the best of many counts: the machine is shared. CPU
    is of this process, without the programs that searches of files start. The whole is the
    searches, finding the session, choosing and rendering.
    """
    best: dict[str, list[Cost]] = defaultdict(list)
    for question in SPEED_QUESTIONS:
        costs: dict[str, list[Cost]] = defaultdict(list)
        for _ in range(2 * ROUNDS):
            for name, search in (await _searches(app, question)).items():
                costs[name].append(await measured(search()))
        for name, some in costs.items():
            best[name].append(Cost(min(c.wall for c in some), min(c.cpu for c in some)))
    ratios = {
        name: [
            cost.wall / max(best[one][at].wall for one in SINGLE_SEARCHES)
            for at, cost in enumerate(some)
        ]
        for name, some in best.items()
        if name not in SINGLE_SEARCHES
    }
    return {
        "best_ms": {n: _median_ms(cost.wall for cost in some) for n, some in best.items()},
        "best_cpu_ms": {n: _median_ms(cost.cpu for cost in some) for n, some in best.items()},
        "to_slowest": {n: round(statistics.median(some), 2) for n, some in ratios.items()},
        "to_slowest_by_question": {n: [round(r, 2) for r in some] for n, some in ratios.items()},
    }


async def _searches(app: App, question: str) -> dict[str, Callable[[], Awaitable[object]]]:
    gatherer, budget = app.context.gatherer, app.context.budget
    searches = gatherer.searches
    talk = await app.sessions.find_current()
    assert talk is not None
    return {
        "latest": lambda: searches.read_own_past(talk, budget),
        "memory": lambda: searches.search_memory(talk, question, budget),
        "code": lambda: searches.search_code(question, app.cwd, budget),
        "files": lambda: searches.search_files(question, budget.code // 2),
        "together": lambda: gatherer.gather(talk, question, budget),
        "whole": lambda: app.build_context(question),
    }


def _percentile_95(some: list[float]) -> float:
    return round(sorted(some)[int(0.95 * (len(some) - 1))], 1)


def _median_ms(seconds: Iterable[float]) -> float:
    return round(1_000 * statistics.median(seconds), 1)


async def measured(work: Awaitable[object]) -> Cost:
    wall, cpu = time.perf_counter(), time.process_time()
    await work
    return Cost(time.perf_counter() - wall, time.process_time() - cpu)


async def run(chosen: argparse.Namespace, repos: list[Repository], stores: Path) -> None:
    results: dict[str, Any] = {}
    if not chosen.no_coverage:
        results["coverage"] = await coverage(repos, chosen.repos, stores)
        print(f"in the context: {results['coverage']['in_context']:.3f}")
    if not chosen.no_speed and (chosen.repos / DJANGO).is_dir():
        results["speed"] = await speed(chosen.repos / DJANGO, stores / f"{DJANGO}.db")
        print(results["speed"])
    name = "context" if not chosen.only and len(results) == 2 else "context-some"
    print(f"saved to {save(name, results)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--only", default="", help="names of repositories, with commas")
    parser.add_argument("--stores", type=Path, help="keep the stores here, for another run")
    parser.add_argument("--no-speed", action="store_true")
    parser.add_argument("--no-coverage", action="store_true", help="only Django's speed")
    add_places(parser)
    chosen = parser.parse_args()
    names = set(filter(None, chosen.only.split(",")))
    repos = [repo for repo in repositories(chosen.data) if not names or repo.name in names]
    if not chosen.no_coverage:
        check_out(chosen.repos, repos)
    with tempfile.TemporaryDirectory() as work:
        stores = chosen.stores or Path(work)
        stores.mkdir(parents=True, exist_ok=True)
        asyncio.run(run(chosen, repos, stores))


if __name__ == "__main__":
    main()

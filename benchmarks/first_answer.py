"""How soon and how well is a question answered while a project is read for the first time?

    python -m benchmarks.first_answer [--repos FOLDER] [--data FOLDER] [--django FOLDER]

Reading stops when 0, 1, 5, 20 and 100 % of the files are in the store. At each stop every
question is asked, and counts if one of the first five hits is in a file that answers it. The
questions: two sets about Django (questions/django_first.json, in the words of a newcomer, and the
English of questions/django.json), and those about requests, aiohttp, gin and redux. Questions do
not change what is read next, as they do in the product: stops are the same for all.

Seconds are of CPU, user and system. "search" and "ask" are separate processes, from bytecode,
in Django: the whole program from its start. No model is configured.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.measure import Program, cpu_seconds, make_parser, require, save
from benchmarks.peers import add_places
from ragforge.app.wiring.brain import open_brain
from ragforge.app.wiring.models import open_embedder
from ragforge.app.wiring.stores import open_store
from ragforge.brain.ingestion import progress
from ragforge.brain.ingestion.progress import IngestionStep
from ragforge.brain.project import Brain
from ragforge.config import load_settings
from ragforge.config.settings import Settings

STOPS = (0, 1, 5, 20, 100)
TOP = 5
RUNS = 3
ASKED = "Where is a password turned into something safe to store?"
QUESTIONS = Path(__file__).parent / "questions"
COMMANDS = ("search", "ask")
OTHERS = ("requests", "aiohttp", "gin", "redux")


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and the files that answer it."""

    text: str
    files: tuple[str, ...]

    def is_answered_by(self, path: str) -> bool:
        return any(path.endswith(file) or file.endswith(path) for file in self.files)


class Stopped(Exception):
    """Enough files have been read."""


def load_django(name: str, key: str) -> list[Question]:
    rows = json.loads((QUESTIONS / f"{name}.json").read_text())
    return [Question(row[key], tuple(row["files"])) for row in rows]


def load_annotations(file: Path) -> list[Question]:
    return [
        Question(
            row["query"],
            tuple(one if isinstance(one, str) else one["path"] for one in row["relevant"]),
        )
        for row in json.loads(file.read_text())
    ]


@asynccontextmanager
async def open_project(root: Path, folder: Path) -> AsyncIterator[tuple[Brain, Settings]]:
    """Open a project in a fresh store, as the program does."""
    given = {"store.url": str(folder / "store.db"), "agent.state_dir": str(folder / "state")}
    settings = load_settings(root, given).settings
    store = await open_store(settings)
    try:
        brain = open_brain(settings, store, open_embedder(settings), root)
        await brain.begin()
        yield brain, settings
    finally:
        await store.close()


async def read_until(brain: Brain, percent: int) -> None:
    """Read on until a share of the files is in the store."""
    unread = await brain.first_reading.find_unread()
    if percent == 0 or unread is None:
        return
    if (wanted := brain.ingester.find_wanted(brain.project_id)) is not None:
        wanted.take()  # questions change nothing
    before, enough = unread.reading.done, unread.reading.total * percent / 100

    def stop(step: IngestionStep) -> None:
        if step.phase == "reading" and before + step.done >= enough:
            raise Stopped

    if percent == 100:
        await brain.ingest()
        return
    with suppress(Stopped):
        await brain.ingest(stop)


async def ask_all(brain: Brain, questions: Sequence[Question]) -> dict[str, Any]:
    """Return how many questions have the right file among the first hits, and their cost."""
    begun = cpu_seconds()
    right = 0
    for question in questions:
        files = [hit.scope.file for hit in (await brain.search(question.text))[:TOP]]
        right += any(map(question.is_answered_by, files))
    seconds = (cpu_seconds() - begun) / len(questions)
    return {"right": round(right / len(questions), 3), "cpu_s": round(seconds, 3)}


async def measure_project(
    root: Path, sets: dict[str, list[Question]], is_cold: bool = False
) -> list[dict[str, Any]]:
    rows = []
    spent = 0.0
    with tempfile.TemporaryDirectory(prefix="ragforge-first-") as folder:
        async with open_project(root, Path(folder)) as (brain, settings):
            for percent in STOPS:
                begun = cpu_seconds()
                await read_until(brain, percent)
                spent += cpu_seconds() - begun
                files = len(await brain.code.file_paths(brain.project_id))
                row: dict[str, Any] = {
                    "project": root.name,
                    "percent": percent,
                    "files": files,
                    "reading_cpu_s": round(spent, 1),
                    "questions": {n: await ask_all(brain, some) for n, some in sets.items()},
                }
                if is_cold:
                    row |= {name: await measure_cold(brain, settings, name) for name in COMMANDS}
                print(json.dumps(row), flush=True)
                rows.append(row)
    return rows


async def measure_cold(brain: Brain, settings: Settings, command: str) -> float:
    """Return the CPU seconds of a question in a separate process, the best of some.

    The lock is held meanwhile, as by a process that reads: none other is started.
    """
    name = progress.name_ingestion_lock(brain.project_id)
    async with progress.hold_lock(brain.store.locks, name, brain.ingester.holder):
        return round(
            min(
                [await asyncio.to_thread(_run, command, brain.root, settings) for _ in range(RUNS)]
            ),
            2,
        )


def _run(command: str, root: Path, settings: Settings) -> float:
    state = settings.agent.state_dir
    environ = {"RAGFORGE_STORE": settings.store.url, "RAGFORGE_AGENT__STATE_DIR": state}
    cost = Program(Path(state).parent, root, environ=environ)(command, ASKED)
    require(cost.output.strip(), f"`{command}` prints nothing.")
    return cost.cpu


def main(arguments: Sequence[str] | None = None) -> None:
    asyncio.run(run(arguments))


async def run(arguments: Sequence[str] | None) -> None:
    parser = make_parser(__doc__)
    add_places(parser)
    given = parser.parse_args(arguments)
    rows = []
    django = given.django
    if django.is_dir():
        sets = {
            "newcomer": load_django("django_first", "question"),
            "short": load_django("django", "english"),
        }
        rows += await measure_project(django, sets, is_cold=True)
    for name in OTHERS:
        if (given.repos / name).is_dir():
            sets = {
                name: load_annotations(given.data / "code-search" / "annotations" / f"{name}.json")
            }
            rows += await measure_project(given.repos / name, sets)
    require(rows, f"There is no Django in {django}, and none of {', '.join(OTHERS)} in --repos.")
    for row in rows:
        if row["percent"] == 100:
            right = {name: one["right"] for name, one in row["questions"].items()}
            require(any(right.values()), f"No question about {row['project']} is answered.")
    save("first-answer", rows)


if __name__ == "__main__":
    main()

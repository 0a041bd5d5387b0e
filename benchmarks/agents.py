"""Agents: what does it cost to import the transcripts of other agents?

Real transcripts lie in a folder that is named with --samples; none of them is part of this project.
They are parsed, redacted and stored in a SQLite file without vectors. The baseline is
`json.loads` of every line. A second import finds nothing new, in a home of 1,000 written sessions.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from benchmarks.measure import peak_memory_mb, save
from ragforge.adapters.stores.sqlite.store import open_sqlite
from ragforge.domain.conversations import Identity
from ragforge.domain.projects import ProjectPlace
from ragforge.memory.importer.files import Importer, ImportReport
from ragforge.memory.secrets.redactor import REDACTOR
from ragforge.ports.store import Store
from ragforge.search.words.tokenise import WORDS
from ragforge.transcripts.claude_code import CLAUDE_CODE
from ragforge.transcripts.source import TranscriptSource
from ragforge.transcripts.sources import SOURCES
from tests.fakes.transcripts.claude_code import Claude

RESULT_CHARS = 200_000
UNCHANGED = 1_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=Path, required=True, help="a folder of transcripts")
    parser.add_argument("--agent", default=CLAUDE_CODE.name, help="who wrote them")
    parser.add_argument("--pattern", default="**/*.jsonl", help="which files are transcripts")
    parser.add_argument("--max-megabytes", type=int, default=10_000, help="how much to read")
    parser.add_argument("--no-save", action="store_true")
    options = parser.parse_args()
    source = next(one for one in SOURCES if one.name == options.agent)
    paths = pick_files(options.samples, options.pattern, options.max_megabytes * 1_000_000)
    results = asyncio.run(measure(source, paths))
    for name, value in results.items():
        print(f"{name}: {value}")
    if not options.no_save:
        print(save("agents", results))


def pick_files(folder: Path, pattern: str, maximum: int) -> list[Path]:
    """Return transcripts, until they are large enough."""
    picked, size = [], 0
    for path in sorted(folder.glob(pattern)):
        if size < maximum:
            picked.append(path)
            size += path.stat().st_size
    return picked


async def measure(source: TranscriptSource, paths: Sequence[Path]) -> dict[str, Any]:
    floor = measure_floor(paths)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        taken = await measure_import(source, paths, folder / "store.db")
        unchanged = await measure_unchanged(folder)
    return {"floor": floor, "import": taken, "nothing new": unchanged}


def measure_floor(paths: Sequence[Path]) -> dict[str, float]:
    """Return how fast the lines are parsed as JSON, and nothing else is done."""
    size, start = 0, time.process_time()
    for path in paths:
        with path.open("rb") as file:
            for line in file:
                size += len(line)
                with suppress(ValueError):  # a file of another kind
                    json.loads(line)
    return _rate(size, time.process_time() - start)


async def measure_import(
    source: TranscriptSource, paths: Sequence[Path], store: Path
) -> dict[str, Any]:
    """Return how fast transcripts are imported, and what was in them."""
    opened = await open_sqlite(store, WORDS, REDACTOR, "ann")
    report, before = ImportReport(), peak_memory_mb()
    start = time.process_time()
    await make_importer(opened).import_files(source, paths, {}, report)
    seconds = time.process_time() - start
    await opened.close()
    about = report.of(source.name)
    return {
        **_rate(about.size, seconds),
        "files": about.files,
        "sessions": about.sessions,
        "turns": about.turns,
        "messages": about.messages,
        "calls": about.calls,
        "unknown kinds": dict(about.unknown),
        "lines left out": dict(about.skipped),
        "files that failed": len(report.problems),
        "peak memory, MB": round(peak_memory_mb()),
        "memory before, MB": round(before),
        "store, MB": round(store.stat().st_size / 1e6, 1),
    }


async def measure_unchanged(folder: Path) -> dict[str, float]:
    """Return what an import costs that finds nothing new in many files."""
    home = folder / "home"
    for number in range(UNCHANGED):
        one = Claude(f"s{number}")
        one.say("Why is the cart total wrong?")
        one.answer("It skips an item.")
        one.write(home)
    opened = await open_sqlite(folder / "unchanged.db", WORDS, REDACTOR, "ann")
    seconds = {}
    for name in ("first", "again"):
        start = time.process_time()
        paths = list(CLAUDE_CODE.find(home, {}))
        stamps = (await opened.transcripts.stamps("")).get(CLAUDE_CODE.name, {})
        await make_importer(opened).import_files(CLAUDE_CODE, paths, stamps, ImportReport())
        seconds[f"{name}, CPU s"] = round(time.process_time() - start, 3)
    await opened.close()
    return {"files": UNCHANGED, **seconds}


def make_importer(store: Store) -> Importer:
    async def find_place(cwd: str, remote: str | None) -> ProjectPlace:
        return ProjectPlace.at(cwd)

    return Importer(store, Identity("ann", "host"), "", find_place, RESULT_CHARS)


def _rate(size: int, seconds: float) -> dict[str, float]:
    return {
        "MB": round(size / 1e6, 1),
        "CPU s": round(seconds, 2),
        "MB per CPU s": round(size / 1e6 / max(seconds, 1e-9), 1),
    }


if __name__ == "__main__":
    main()

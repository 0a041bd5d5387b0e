"""A program that imports the transcripts of a home in small pieces, and reports each one."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from ragforge.domain.conversations import Identity
from ragforge.domain.projects import ProjectPlace
from ragforge.memory.importer.files import Importer, ImportReport
from ragforge.ports.store import Store
from ragforge.transcripts import source as source_module
from ragforge.transcripts.claude_code import CLAUDE_CODE
from ragforge.transcripts.codex import CODEX
from tests.fakes.engines import Engines

PIECE = 1_500


async def find_place(cwd: str, remote: str | None) -> ProjectPlace:
    return ProjectPlace.at(cwd)


async def take_in(store: Store, home: Path, *, say: bool = False) -> ImportReport:
    """Import what is new in a home."""
    report = ImportReport()
    importer = Importer(store, Identity("Ann", "host"), "", find_place, 200_000)
    for source in (CLAUDE_CODE, CODEX):
        paths = list(source.find(home, {}))
        read = (await store.transcripts.stamps("")).get(source.name, {})
        await importer.import_files(
            source, paths, read, report, lambda step: print(step.path, flush=True) if say else None
        )
    assert report.problems == []
    return report


async def main(location: str, home: str) -> None:
    source_module.PIECE_BYTES = PIECE
    engines = Engines(Path(home), lambda: location)
    await take_in(await engines.open_at(location), Path(home), say=True)
    await engines.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))

"""The brain: opens what is known of a project's code, with all that reading and searching need."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ragforge.adapters.stores.holders import this_process
from ragforge.app.wiring.projects import open_git
from ragforge.brain.files.exclusions import FileLimits
from ragforge.brain.ingestion.ingest import Ingester, make_place
from ragforge.brain.project import Brain
from ragforge.brain.status import FirstReading
from ragforge.memory.secrets.redactor import REDACTOR

if TYPE_CHECKING:
    from ragforge.config.settings import Settings
    from ragforge.domain.projects import ProjectPlace
    from ragforge.ports.models import Embedder
    from ragforge.ports.search_index import WordCounts
    from ragforge.ports.store import Store

INGEST_JOB = "ingest"
"""The kind of ingestion jobs that earlier versions queued; now it names the project too."""
COUNTING_SECONDS = 5.0
"""How long words are counted in files that were not read."""


def open_brain(
    settings: Settings,
    store: Store,
    embedder: Embedder | None,
    root: Path,
    recognised: ProjectPlace | None = None,
) -> Brain:
    """Return the brain of a project's checkout at a path."""
    place = recognised or make_place(root.resolve())
    limits = FileLimits(settings.brain.max_file_bytes, settings.brain.max_files)
    folder = Path(settings.agent.state_dir) / "reading"

    def is_trusted() -> bool:
        from ragforge.app.wiring.trust import FolderTrust

        return FolderTrust.of(settings, root).obeys

    ingester = Ingester(store, this_process(), limits, folder, REDACTOR, is_trusted)

    # Most commands need none of what these functions import.

    async def link_turns() -> None:
        from ragforge.memory.code.pending_links import enqueue_links

        await enqueue_links(store, place.ids)

    async def link_again() -> None:
        from ragforge.memory.code.pending_links import enqueue_links_again

        await enqueue_links_again(store, place.ids)

    async def count_words(files: Sequence[str], words: Sequence[str]) -> WordCounts:
        from ragforge.tools.confine import Root
        from ragforge.tools.scan import count_stems

        return await count_stems(Root.at(root), files, words, COUNTING_SECONDS)

    async def list_recent() -> Sequence[str]:
        return await open_git(root).list_recent_files()

    first_reading = FirstReading(root, place.checkout_id, ingester, count_words, list_recent)
    return Brain(root, ingester, place, first_reading, embedder, link_turns, link_again)


def name_ingest_kind(project_id: str) -> str:
    """Return the kind of a project's ingestion jobs: only processes that have it open run them."""
    return f"{INGEST_JOB}:{project_id}"

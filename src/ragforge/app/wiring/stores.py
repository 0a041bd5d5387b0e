"""Stores: open the engine of a URL, look at a store, and copy one to another."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from ragforge.app.wiring.identity import find_identity
from ragforge.config.services import find_neo4j_credentials
from ragforge.config.settings import Settings
from ragforge.config.store_url import is_server
from ragforge.domain.queries import Query, QueryResult
from ragforge.errors import InputError, StoreCorrupt
from ragforge.memory.secrets.redactor import REDACTOR
from ragforge.ports.store import Health, Store, list_record_kinds
from ragforge.search.words.tokenise import WORDS

if TYPE_CHECKING:
    from ragforge.memory.store_copy import CopyProgress, CopyReport, RescueReport
    from ragforge.ports.store import VacuumReport

# For the doors, from the rooms below.
__all__ = ["CopyProgress", "Health", "RescueReport", "VacuumReport"]


async def open_store(
    settings: Settings, url: str | None = None, *, as_administrator: bool = False
) -> Store:
    """Open the store of the settings, or the one at a URL. No secret gets into it.

    It is opened for the user of the settings, or for an administrator, who sees everything.

    Raises a StoreUnavailable that says what is wrong and what to do.
    """
    place = url or settings.store.url
    viewer = None if as_administrator else find_identity(settings, place).key
    if is_server(place):
        from ragforge.adapters.stores.neo4j.store import open_neo4j

        user, password = find_neo4j_credentials(place) or (None, None)
        return await open_neo4j(
            place,
            WORDS,
            REDACTOR,
            user=user,
            password=password,
            database=settings.store.neo4j_database,
            viewer=viewer,
            state=Path(settings.agent.state_dir),
        )
    from ragforge.adapters.stores.sqlite.store import open_sqlite

    return await open_sqlite(place, WORDS, REDACTOR, viewer)


@asynccontextmanager
async def use_store(
    settings: Settings, url: str | None = None, *, as_administrator: bool = False
) -> AsyncIterator[Store]:
    """Open a store as `open_store` does, and close it at the end."""
    store = await open_store(settings, url, as_administrator=as_administrator)
    try:
        yield store
    finally:
        await store.close()


async def inspect_store(settings: Settings) -> tuple[Health, Mapping[str, int]]:
    """Return the state of the store, and how many records it holds of each kind.

    Nothing else is done: to look at a store starts no work that waits in it.
    """
    async with use_store(settings) as store:
        counts = {str(kind): await store.archive.count(kind) for kind in list_record_kinds()}
        return await store.health(), counts


async def copy_store(
    source: str, target: str, settings: Settings, on_progress: Callable[[CopyProgress], None]
) -> CopyReport:
    """Copy everything in one store to another, also what is private to others.

    An interrupted copy continues where it stopped.

    Of a file, its state at one moment is copied, whoever writes to it meanwhile.
    Raises InputError if both are the same.
    """
    if source == target:
        raise InputError(f"{source} is both source and target. Name two stores.")
    from ragforge.app.wiring.copied_ids import find_copied_ids
    from ragforge.memory.store_copy import copy_store

    with TemporaryDirectory(prefix="ragforge-copy-") as folder:
        place = source
        if not is_server(source) and Path(source).is_file():
            from ragforge.adapters.stores.sqlite.backup import back_up

            place = str(Path(folder) / "snapshot.db")
            await asyncio.to_thread(back_up, Path(source), Path(place))
        async with (
            use_store(settings, place, as_administrator=True) as origin,
            use_store(settings, target, as_administrator=True) as destination,
        ):
            ids = await find_copied_ids(origin, destination)
            return await copy_store(
                origin.archive, destination.archive, f"copy:{source}", on_progress, ids.translate
            )


async def back_up_store(
    settings: Settings, target: Path, on_progress: Callable[[str, int, int], None]
) -> None:
    """Write everything in the store of the settings to one new file, while others use the store.

    Raises InputError if the file exists.
    """
    from ragforge.adapters.stores.sqlite.backup import back_up, open_draft

    source = settings.store.url
    with open_draft(target) as draft:
        if is_server(source):
            draft.unlink()  # a store begins with nothing
            await copy_store(
                source,
                str(draft),
                settings,
                lambda step: on_progress(step.kind, step.done, step.total),
            )
        else:
            _require_file(source)
            await asyncio.to_thread(back_up, Path(source), draft, partial(on_progress, "pages"))


async def query_store(settings: Settings, query: Query) -> QueryResult:
    """Run a query of the user's own in the store of the settings; it can only read.

    Raises InputError for one that cannot be run, would change something or takes too long.
    """
    if not is_server(settings.store.url):
        _require_file(settings.store.url)
    async with use_store(settings) as store:
        return await store.query(query)


async def repair_store(
    settings: Settings, target: Path, on_progress: Callable[[int, int], None]
) -> RescueReport:
    """Save what can be read of the damaged file of the settings into a new one.

    Raises InputError if it is not a file or the target exists, StoreCorrupt if nothing can be read.
    """
    from ragforge.adapters.stores.sqlite.backup import copy_file, open_draft

    source = settings.store.url
    if is_server(source):
        raise InputError("repair works on SQLite files only; use the server's own tools for Neo4j.")
    _require_file(source)
    with TemporaryDirectory(prefix="ragforge-repair-") as folder, open_draft(target) as draft:
        damaged = Path(folder) / "damaged.db"
        is_cut = await asyncio.to_thread(copy_file, Path(source), damaged)
        try:
            report = await _rescue_from(damaged, draft, on_progress)
        except StoreCorrupt as error:  # it names the copy, which is gone after this
            raise StoreCorrupt(_describe_loss(source)) from error
        if is_cut and not (report.saved or report.partly or report.notes):
            raise StoreCorrupt(_describe_loss(source))
        return report


async def _rescue_from(
    damaged: Path, draft: Path, on_progress: Callable[[int, int], None]
) -> RescueReport:
    from ragforge.adapters.stores.sqlite.backup import list_sessions, open_damaged
    from ragforge.adapters.stores.sqlite.store import open_sqlite
    from ragforge.memory.store_copy import rescue

    origin = await asyncio.to_thread(open_damaged, damaged, WORDS)
    try:
        named = await asyncio.to_thread(list_sessions, damaged)
        fresh = await open_sqlite(draft, WORDS, REDACTOR)
        try:
            return await rescue(origin, named, fresh.archive, on_progress)
        finally:
            await fresh.close()
    finally:
        await origin.close()


def _describe_loss(source: str) -> str:
    return f"Nothing can be read of {source}. Restore a copy of it."


async def vacuum_store(settings: Settings, on_progress: Callable[[int, int], None]) -> VacuumReport:
    """Give the space that deletions left in the file of the settings back to the disk.

    Raises InputError if it is a server, StoreBusy, StoreFull.
    """
    from ragforge.adapters.stores.sqlite.vacuum import vacuum

    source = settings.store.url
    if is_server(source):
        raise InputError("vacuum works on SQLite files only; Neo4j reuses freed space itself.")
    _require_file(source)
    return await vacuum(Path(source), on_progress)


def _require_file(source: str) -> None:
    if not Path(source).is_file():
        raise InputError(f"There is no store at {source} yet. The first question creates it.")

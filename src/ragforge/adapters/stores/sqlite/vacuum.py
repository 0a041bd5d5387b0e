"""Vacuum: return the space of deleted data to the disk."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import apsw

from ragforge.adapters.stores.sqlite.database import (
    BUSY_MS,
    PAGE_BYTES,
    connect,
    measure_log,
    shrink_log,
)
from ragforge.adapters.stores.sqlite.failures import translate_errors
from ragforge.adapters.stores.sqlite.migrate import INCREMENTAL, is_locked, prepare
from ragforge.errors import StoreBusy, StoreFull, StoreReadOnly
from ragforge.ports.store import VacuumReport

STEP_PAGES = 512
"""How many pages one transaction returns: 2 MB, which takes some milliseconds."""
SPARE_PAGES = 256
"""How many free pages are kept for the next writes."""
_REPORT_SECONDS = 0.2


def has_spare_pages(connection: apsw.Connection, spare: int = SPARE_PAGES) -> bool:
    """Tell whether more than `spare` free pages can be returned a few at a time."""
    free = int(str(connection.pragma("freelist_count")))
    return free > spare and _is_incremental(connection)


def give_back(connection: apsw.Connection) -> None:
    """Give some free pages back, within a transaction."""
    connection.execute(f"PRAGMA incremental_vacuum({STEP_PAGES})").fetchall()


async def vacuum(path: Path, on_progress: Callable[[int, int], None]) -> VacuumReport:
    """Give all free pages of a store back to the disk; report how many of how many are done.

    Pages are returned a few at a time, while others use the store. A file of an earlier version
    is rewritten once: others can read meanwhile, and their writes wait.
    Raises StoreBusy, StoreFull if there is no room to rewrite the file, StoreReadOnly.
    """
    if is_locked(path):
        raise StoreReadOnly(f"{path} is read-only: vacuum cannot return its free space.")
    await asyncio.to_thread(prepare, path)
    before = _measure(path)
    with translate_errors(str(path)), closing(connect(path)) as connection:
        if _is_incremental(connection):
            await asyncio.to_thread(_give_all_back, connection, on_progress)
        else:
            _require_room(path, connection)
            await _rewrite(path, connection, on_progress)
        is_shrunk = await asyncio.to_thread(shrink_log, connection)
    return VacuumReport(before, _measure(path), is_delayed=not is_shrunk)


def _give_all_back(connection: apsw.Connection, on_progress: Callable[[int, int], None]) -> None:
    total = int(str(connection.pragma("freelist_count")))
    while has_spare_pages(connection, 0):
        on_progress(total - int(str(connection.pragma("freelist_count"))), total)
        connection.execute("BEGIN IMMEDIATE")
        give_back(connection)
        connection.execute("COMMIT")
    on_progress(total, total)


async def _rewrite(
    path: Path, connection: apsw.Connection, on_progress: Callable[[int, int], None]
) -> None:
    """Rewrite the file, so that it is small and can return pages later.

    It is written into the log first: others read the old pages until it is there, and a process
    that is killed leaves the file as it was.
    """
    total = _count_used(connection)
    running = asyncio.create_task(asyncio.to_thread(_run_vacuum, path, connection))
    try:
        while not running.done():
            on_progress(min(measure_log(path) // PAGE_BYTES, total), total)
            await asyncio.wait({running}, timeout=_REPORT_SECONDS)
        await running
    except asyncio.CancelledError:
        connection.interrupt()
        await asyncio.gather(running, return_exceptions=True)
        raise
    on_progress(total, total)


def _run_vacuum(path: Path, connection: apsw.Connection) -> None:
    connection.pragma("auto_vacuum", INCREMENTAL)
    connection.pragma("temp_store", "FILE")  # all of it would not fit into memory
    connection.pragma("temp_store_directory", str(path.parent))  # that has the room, and is private
    try:
        connection.execute("VACUUM")
    except apsw.BusyError as error:
        raise StoreBusy(
            f"{path} is in use: another process has been writing to it for {BUSY_MS // 1000} "
            "seconds. Try again when it is done."
        ) from error
    finally:
        connection.pragma("temp_store_directory", "")


def measure_free(folder: Path) -> int:
    """Return how many bytes are free on the disk of a folder."""
    return shutil.disk_usage(folder).free


def _require_room(path: Path, connection: apsw.Connection) -> None:
    """Raise StoreFull unless there is room for two copies of the file."""
    needed = 2 * _count_used(connection) * PAGE_BYTES
    free = measure_free(path.parent)
    if free < needed:
        raise StoreFull(
            f"To make {path} smaller, {needed / 1e6:,.0f} MB must be free on its disk for a while; "
            f"{free / 1e6:,.0f} MB are. Make room, try again."
        )


def _is_incremental(connection: apsw.Connection) -> bool:
    return int(str(connection.pragma("auto_vacuum"))) == INCREMENTAL


def _count_used(connection: apsw.Connection) -> int:
    """Return how many pages hold something."""
    pages = int(str(connection.pragma("page_count")))
    return pages - int(str(connection.pragma("freelist_count")))


def _measure(path: Path) -> int:
    """Return the size of the file and its log in bytes."""
    return path.stat().st_size + measure_log(path)

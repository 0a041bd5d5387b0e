"""Stores: open the engine of a URL, and copy one store to another."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ragforge.config.environment import read_neo4j_credentials
from ragforge.config.settings import Settings
from ragforge.config.store_url import is_server
from ragforge.errors import InputError
from ragforge.ports.store import Store
from ragforge.search.tokenise import WORDS

if TYPE_CHECKING:
    from ragforge.memory.exchange.copy import CopyProgress, CopyReport

__all__ = ["CopyProgress", "CopyReport", "copy_store", "open_store"]


async def open_store(settings: Settings, url: str | None = None) -> Store:
    """Open the store of the settings, or the one at a URL.

    Raises a StoreUnavailable that says what is wrong and what to do.
    """
    place = url or settings.store.url
    if is_server(place):
        from ragforge.adapters.stores.neo4j.store import open_neo4j

        user, password = read_neo4j_credentials() or (None, None)
        return await open_neo4j(
            place,
            WORDS,
            user=user,
            password=password,
            database=settings.store.neo4j_database,
        )
    from ragforge.adapters.stores.sqlite.store import open_sqlite

    return await open_sqlite(place, WORDS)


async def copy_store(
    source: str, target: str, settings: Settings, on_progress: Callable[[CopyProgress], None]
) -> CopyReport:
    """Copy everything in one store to another; an interrupted copy continues where it stopped.

    Raises InputError if both are the same.
    """
    from ragforge.memory.exchange.copy import copy_store

    if source == target:
        raise InputError(f"{source} is both source and target. Name two stores.")
    origin = await open_store(settings, source)
    try:
        destination = await open_store(settings, target)
        try:
            return await copy_store(
                origin.archive, destination.archive, f"copy:{source}", on_progress
            )
        finally:
            await destination.close()
    finally:
        await origin.close()

"""Upkeep of a SQLite file: its words, the space that deletions left, and the log beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import apsw

from ragforge.adapters.stores.sqlite import reindex
from ragforge.adapters.stores.sqlite.database import LOG_BYTES, Database, measure_log
from ragforge.adapters.stores.sqlite.vacuum import give_back, has_spare_pages

if TYPE_CHECKING:
    from ragforge.ports.upkeep import ReindexProgress
    from ragforge.ports.words import Tokeniser


class SqliteUpkeep:
    """Keeps the promises of `Upkeep`."""

    def __init__(self, database: Database, tokeniser: Tokeniser) -> None:
        self._database = database
        self._tokeniser = tokeniser

    async def step(self) -> bool:
        database, tokeniser = self._database, self._tokeniser
        if database.read_only:
            return False
        if await database.read(lambda c: reindex.is_due(c, tokeniser)):
            await database.write(lambda c: reindex.take_step(c, tokeniser))
            return True
        if await database.read(has_spare_pages):
            if await database.write(_give_back):
                return True
            await database.shrink_log()  # the file itself gets smaller with that
        elif measure_log(database.path) > LOG_BYTES:
            await database.shrink_log()
        return False

    async def reindexing(self) -> ReindexProgress | None:
        return await self._database.read(reindex.read_progress)


def _give_back(connection: apsw.Connection) -> bool:
    """Give some pages back; return whether more are left."""
    give_back(connection)
    return has_spare_pages(connection)

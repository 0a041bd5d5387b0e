"""Projects and their checkouts in SQLite."""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from ragforge.adapters.stores.rows import CHECKOUT
from ragforge.adapters.stores.sqlite.database import Database
from ragforge.adapters.stores.sqlite.sql import Where, add_any, as_json, select, upsert
from ragforge.domain.projects import Checkout, RepositoryIdentity, join_checkout
from ragforge.domain.text import check_text


class SqliteProjects:
    """Keeps the promises of `ProjectStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def related(self, path: str, identity: RepositoryIdentity) -> list[Checkout]:
        check_text("path", path)
        check_text("remote", identity.remote)
        statement = """
            SELECT * FROM checkout WHERE project_id IN (
              SELECT project_id FROM checkout WHERE path = ?1 UNION
              SELECT project_id FROM checkout WHERE remote = ?2 UNION
              SELECT project_id FROM checkout WHERE roots = ?3 AND roots <> '[]')
            ORDER BY seen_at DESC, uuid"""
        given = (path, identity.remote, as_json(identity.roots))
        return await self._database.read(
            lambda c: [CHECKOUT.decode(row) for row in select(c, statement, given)]
        )

    async def save(self, checkout: Checkout) -> None:
        row = CHECKOUT.encode(checkout)
        await self._database.write(lambda c: upsert(c, "checkout", row, ["uuid"]))

    async def join(self, project_ids: Sequence[str], into: str) -> None:
        where = add_any(Where(), "project_id", [one for one in project_ids if one != into])

        def work(connection: apsw.Connection) -> None:
            statement = f"SELECT * FROM checkout WHERE {where}"
            for row in list(select(connection, statement, where.bindings)):
                joined = join_checkout(CHECKOUT.decode(row), into)
                upsert(connection, "checkout", CHECKOUT.encode(joined), ["uuid"])

        await self._database.write(work)

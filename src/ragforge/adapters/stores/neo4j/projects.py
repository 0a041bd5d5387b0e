"""Projects and their checkouts in Neo4j."""

from __future__ import annotations

from collections.abc import Sequence

from ragforge.adapters.stores.neo4j.cypher import LOCK, assign, select_fields
from ragforge.adapters.stores.neo4j.driver import Database, Transaction
from ragforge.adapters.stores.rows import CHECKOUT
from ragforge.adapters.stores.table import Stored
from ragforge.domain.projects import Checkout, RepositoryIdentity, join_checkout
from ragforge.domain.text import check_text

_ROW = select_fields("n", CHECKOUT)


class Neo4jProjects:
    """Keeps the promises of `ProjectStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def related(self, path: str, identity: RepositoryIdentity) -> list[Checkout]:
        check_text("path", path)
        check_text("remote", identity.remote)
        query = f"""CALL () {{
                      MATCH (k:Checkout {{path: $path}}) RETURN k
                      UNION MATCH (k:Checkout {{remote: $remote}}) RETURN k
                      UNION MATCH (k:Checkout) WHERE size($roots) > 0 AND k.roots = $roots
                      RETURN k }}
                    WITH collect(DISTINCT k.project_id) AS ids
                    MATCH (n:Checkout) WHERE n.project_id IN ids
                    RETURN {_ROW} AS row ORDER BY n.seen_at DESC, n.uuid"""
        given = {"path": path, "remote": identity.remote, "roots": list(identity.roots)}
        return [CHECKOUT.decode(row) for row in await self._database.column(query, **given)]

    async def save(self, checkout: Checkout) -> None:
        row = CHECKOUT.encode(checkout)
        await self._database.write(lambda tx: put(tx, [row]))

    async def join(self, project_ids: Sequence[str], into: str) -> None:
        others = [one for one in project_ids if one != into]

        async def work(tx: Transaction) -> None:
            query = f"MATCH (n:Checkout) WHERE n.project_id IN $ids {LOCK} RETURN {_ROW} AS row"
            found = await tx.column(query, ids=others)
            joined = [join_checkout(CHECKOUT.decode(row), into) for row in found]
            await put(tx, [CHECKOUT.encode(one) for one in joined])

        await self._database.write(work)


async def read_with_ids(tx: Transaction, ids: Sequence[str]) -> dict[str, Checkout]:
    """Return checkouts by id; unknown ids are left out."""
    query = f"MATCH (n:Checkout) WHERE n.uuid IN $ids {LOCK} RETURN {_ROW} AS row"
    found = (CHECKOUT.decode(row) for row in await tx.column(query, ids=list(ids)))
    return {one.uuid: one for one in found}


async def put(tx: Transaction, rows: Sequence[Stored]) -> None:
    """Store checkouts as they are, or change those that are there."""
    await tx.each(
        f"MERGE (n:Checkout {{uuid: row.uuid}}) SET {assign('n', CHECKOUT)}",
        [dict(row) for row in rows],
    )

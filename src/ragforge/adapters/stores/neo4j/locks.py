"""Locks in Neo4j."""

from __future__ import annotations

from datetime import timedelta

from ragforge.adapters.stores.holders import is_dead, log_takeover
from ragforge.adapters.stores.neo4j.cypher import LOCK
from ragforge.adapters.stores.neo4j.driver import Database, Transaction
from ragforge.adapters.stores.neo4j.leases import (
    LEASE,
    decode_holder,
    encode_lease,
    from_milliseconds,
    read_server_ms,
)
from ragforge.adapters.stores.table import Row
from ragforge.domain.text import check_id, check_text
from ragforge.domain.work import Holder, Lock


class Neo4jLocks:
    """Keeps the promises of `LockStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def acquire(self, name: str, holder: Holder, ttl: timedelta) -> bool:
        check_id("lock name", name)

        async def work(tx: Transaction) -> bool:
            # The node stays when the lock is free: a deleted one could not be waited for.
            await tx.rows(f"MERGE (n:RagForgeLock {{name: $name}}) {LOCK}", name=name)
            start = await read_server_ms(tx)
            left = await _read(tx, name)
            known = _pick_held(left, start)
            if known is not None and known["token"] != holder.token:
                return False
            if left is not None and known is None:
                log_takeover(f"Lock {name}", left)
            row = encode_lease(holder, start, ttl)
            row["acquired_ms"] = start if known is None else known["acquired_ms"]
            await tx.rows("MATCH (n:RagForgeLock {name: $name}) SET n += $row", name=name, row=row)
            return True

        return await self._database.write(work)

    async def release(self, name: str, holder: Holder) -> None:
        check_text("lock name", name)

        async def work(tx: Transaction) -> None:
            await tx.rows(f"MATCH (n:RagForgeLock {{name: $name}}) {LOCK}", name=name)
            await tx.rows(
                "MATCH (n:RagForgeLock {name: $name, token: $token}) SET n = {name: $name}",
                name=name,
                token=holder.token,
            )

        await self._database.write(work)

    async def holder(self, name: str) -> Lock | None:
        check_text("lock name", name)

        async def work(tx: Transaction) -> Row | None:
            return _pick_held(await _read(tx, name), await read_server_ms(tx))

        row = await self._database.read(work)
        if row is None:
            return None
        return Lock(
            name=name,
            holder=decode_holder(row),
            acquired_at=from_milliseconds(row["acquired_ms"]),
            expires_at=from_milliseconds(row["lease_until"]),
        )


async def _read(tx: Transaction, name: str) -> Row | None:
    """Return the lock with its last holder; None if it was released."""
    row: Row | None = await tx.value(
        f"""MATCH (n:RagForgeLock {{name: $name}}) WHERE n.token IS NOT NULL
            RETURN n {{{LEASE}, .acquired_ms}}""",
        name=name,
    )
    return row


def _pick_held(row: Row | None, now_ms: int) -> Row | None:
    """Return the lock if somebody alive holds it in time."""
    if row is None or row["lease_until"] <= now_ms:
        return None
    return None if is_dead(row["host"], row["pid"], row["started"]) else row

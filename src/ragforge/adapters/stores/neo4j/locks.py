"""Locks in Neo4j."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from ragforge.adapters.stores.holders import is_dead, log_takeover
from ragforge.adapters.stores.neo4j.cypher import LOCK
from ragforge.adapters.stores.neo4j.driver import Database, Transaction
from ragforge.adapters.stores.neo4j.leases import (
    LEASE,
    decode_holder,
    encode_lease,
    from_milliseconds,
)
from ragforge.domain.kinds import Row
from ragforge.domain.text import check_id, check_text
from ragforge.domain.work import Holder, Lock

_STATE = f"""timestamp() AS ms,
    CASE WHEN n.token IS NOT NULL THEN n {{{LEASE}, .acquired_ms}} END AS lock"""
"""The server's time, and a lock with its last holder: null if it was released."""
_TAKE = f"""
    MERGE (n:RagForgeLock {{name: $name}}) {LOCK}
    WITH n, {_STATE}, n.token = $row.token AND n.lease_until > timestamp() AS own,
         n.token IS NULL OR n.token IN $free OR n.lease_until <= timestamp() AS taken
    FOREACH (_ IN CASE WHEN taken THEN [1] ELSE [] END |
      SET n.acquired_ms = CASE WHEN own THEN n.acquired_ms ELSE timestamp() END
      SET n += $row, n.lease_until = timestamp() + $row.lease_until)
    RETURN ms, lock, taken"""
"""Take a lock that nobody holds in time, or one of the `$free` tokens."""


class Neo4jLocks:
    """Keeps the promises of `LockStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def acquire(self, name: str, holder: Holder, ttl: timedelta) -> bool:
        check_id("lock name", name)

        async def work(tx: Transaction) -> bool:
            # The node stays when the lock is free: a deleted one could not be waited for.
            row, free = encode_lease(holder, 0, ttl), [holder.token]
            [found] = await tx.rows(_TAKE, name=name, row=row, free=free)
            left = found["lock"]
            if not found["taken"]:
                if _pick_held(left, found["ms"]) is not None:
                    return False
                free.append(left["token"])  # whoever held it died
                await tx.rows(_TAKE, name=name, row=row, free=free)
            if left is not None and left["token"] != holder.token:
                log_takeover(f"Lock {name}", left)
            return True

        return await self._database.write(work)

    async def release(self, name: str, holder: Holder) -> None:
        check_text("lock name", name)

        async def work(tx: Transaction) -> None:
            await tx.rows(
                f"""MATCH (n:RagForgeLock {{name: $name}}) {LOCK}
                    WITH n WHERE n.token = $token SET n = {{name: $name}}""",
                name=name,
                token=holder.token,
            )

        await self._database.write(work)

    async def holder(self, name: str) -> Lock | None:
        check_text("lock name", name)

        held = await self._read_held([name])
        if not held:
            return None
        [row] = held
        return Lock(
            name=name,
            holder=decode_holder(row),
            acquired_at=from_milliseconds(row["acquired_ms"]),
            expires_at=from_milliseconds(row["lease_until"]),
        )

    async def is_any_held(self, names: Sequence[str]) -> bool:
        return bool(await self._read_held(names))

    async def _read_held(self, names: Sequence[str]) -> list[Row]:
        """Return those of the locks that somebody alive holds in time."""
        query = f"MATCH (n:RagForgeLock) WHERE n.name IN $names RETURN {_STATE}"
        rows = await self._database.rows(query, names=list(names))
        held = (_pick_held(row["lock"], row["ms"]) for row in rows)
        return [row for row in held if row is not None]


def _pick_held(row: Row | None, now_ms: int) -> Row | None:
    """Return the lock if somebody alive holds it in time."""
    if row is None or row["lease_until"] <= now_ms:
        return None
    return None if is_dead(row["host"], row["pid"], row["started"]) else row

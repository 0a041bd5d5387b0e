"""Locks in Neo4j."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from ragforge.adapters.stores.holders import decode_holder, encode_holder, is_dead, log_takeover
from ragforge.adapters.stores.neo4j.cypher import LOCK
from ragforge.adapters.stores.neo4j.driver import Database, Transaction
from ragforge.domain.kinds import Row
from ragforge.domain.text import check_id, check_text
from ragforge.domain.work import Holder, Lock

_STATE = """timestamp() AS ms, CASE WHEN n.token IS NOT NULL
      THEN n {.name, .token, .host, .pid, .started, .lease_until, .acquired_ms} END AS lock"""
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
            row, free = encode_lease(holder, ttl), [holder.token]
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

    async def held(self, names: Sequence[str]) -> dict[str, Lock]:
        query = f"MATCH (n:RagForgeLock) WHERE n.name IN $names RETURN {_STATE}"
        rows = await self._database.rows(query, names=list(names))
        held = (_pick_held(row["lock"], row["ms"]) for row in rows)
        return {row["name"]: _decode_lock(row) for row in held if row is not None}


def encode_lease(holder: Holder, span: timedelta) -> Row:
    """Return what is stored of a lease, whose end is to be added to the server's time.

    That is the one clock that all processes share.
    """
    return {**encode_holder(holder), "lease_until": to_milliseconds(span)}


def to_milliseconds(span: timedelta) -> int:
    return span // timedelta(milliseconds=1)


def from_milliseconds(ms: int) -> datetime:
    """Return a server's time with the local offset."""
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=ms)).astimezone()


def _decode_lock(row: Row) -> Lock:
    return Lock(
        name=row["name"],
        holder=decode_holder(row),
        acquired_at=from_milliseconds(row["acquired_ms"]),
        expires_at=from_milliseconds(row["lease_until"]),
    )


def _pick_held(row: Row | None, now_ms: int) -> Row | None:
    """Return the lock if somebody alive holds it in time."""
    if row is None or row["lease_until"] <= now_ms:
        return None
    return None if is_dead(row["host"], row["pid"], row["started"]) else row

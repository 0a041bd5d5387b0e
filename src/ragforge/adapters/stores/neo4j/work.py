"""Jobs and locks in Neo4j."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, get_args

from ragforge.adapters.stores.holders import decode_holder, encode_holder, is_dead, log_takeover
from ragforge.adapters.stores.neo4j.cypher import (
    LOCK,
    CypherFilter,
    assign,
    filter_seen,
    select_fields,
)
from ragforge.adapters.stores.neo4j.driver import Neo4jDatabase, Transaction
from ragforge.domain.kinds import Row
from ragforge.domain.rows import encode_job, encode_outcome
from ragforge.domain.schema import JOB
from ragforge.domain.text import check_id, check_text
from ragforge.domain.work import FURTHEST_MS, Holder, Job, JobCounts, JobStatus, Lock, NewJob
from ragforge.errors import LeaseLost
from ragforge.records import dataclass

_ROW = select_fields("n", JOB)
_DUE = """(n.status = 'pending'
      AND (n.run_after_ms <= timestamp() OR n.run_after_ms > timestamp() + $furthest)
    OR n.status = 'running' AND (n.lease_until <= timestamp() OR n.token IN $dead))"""


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
"""Take a lock that is free or expired, or held by one of the `$free` tokens."""


class Neo4jJobs:
    """Implements `JobQueue`."""

    def __init__(self, database: Neo4jDatabase) -> None:
        self._database = database

    async def enqueue(self, jobs: Sequence[NewJob], again: bool = False) -> int:
        async def work(tx: Transaction) -> int:
            queue = await _lock_queue(tx, [job.key for job in jobs])
            created = from_milliseconds(queue["ms"])
            redactor = self._database.redactor
            rows = [encode_job(job, created, tx.viewer, redactor) for job in jobs]
            new = await _create(tx, queue, rows)
            known = [row for row in rows if row["key"] in queue["known"]]
            return new + (await _restart(tx, known) if again and known else 0)

        return await self._database.write(work)

    async def claim(
        self, holder: Holder, lease: timedelta, kinds: Sequence[str] | None = None
    ) -> Job | None:
        row = encode_lease(holder, lease)
        # Looking needs no lock: most of the time there is nothing to do.
        where = CypherFilter().add(filter_seen(JOB))
        where.add("(n.machine IS NULL OR n.machine = $machine)", machine=holder.machine)
        where.add("n.kind IN $kinds", kinds=None if kinds is None else list(kinds))
        while (due := await self._database.read(partial(_find_due, where=where))) is not None:
            taken = await self._database.write(partial(_take, due=due, row=row))
            if taken is None:  # another process took it just before the lock was had
                continue
            if taken["left"] is not None:
                log_takeover(f"Job {due.key}", taken["left"])
            return JOB.decode(taken["row"])
        return None

    async def heartbeat(self, key: str, holder: Holder, lease: timedelta) -> None:
        later = "n.lease_until = timestamp() + $span"
        await self._change_held(key, holder, later, span=to_milliseconds(lease))

    async def settle(self, job: Job, holder: Holder) -> None:
        row = encode_outcome(job, self._database.redactor)
        await self._change_held(job.key, holder, assign("n", row, "$row"), row=row)

    async def count(self) -> JobCounts:
        own = filter_seen(JOB)
        rows = await self._database.rows(
            f"""MATCH (n:RagForgeJob) WHERE {own} OR n.status IN ['pending', 'running']
                WITH {own} AS own, n
                RETURN own, CASE WHEN own THEN n.status ELSE n.owner END AS name, count(n) AS jobs
                ORDER BY name"""
        )
        by_status = dict.fromkeys(get_args(JobStatus), 0)
        by_status |= {row["name"]: row["jobs"] for row in rows if row["own"]}
        return JobCounts(by_status, {row["name"]: row["jobs"] for row in rows if not row["own"]})

    async def _change_held(self, key: str, holder: Holder, change: str, **values: Any) -> None:
        """Change a job that the holder has. Raises LeaseLost."""

        async def work(tx: Transaction) -> None:
            changed = await tx.value(
                f"""MATCH (n:RagForgeJob {{key: $key}}) {LOCK}
                    WITH n WHERE n.status = 'running' AND n.token = $token
                    SET {change} RETURN n.key""",
                key=key,
                token=holder.token,
                **values,
            )
            if changed is None:
                raise LeaseLost(key)

        await self._database.write(work)


async def add(tx: Transaction, rows: Sequence[Row]) -> int:
    """Store those jobs whose keys are new, in their order; return how many."""
    return await _create(tx, await _lock_queue(tx, [row["key"] for row in rows]), rows)


async def _lock_queue(tx: Transaction, keys: Sequence[str]) -> Row:
    """Take the queue's lock; return the server's time, the last number and which keys are known.

    The lock makes adding a key that is not there one step, and keeps the order.
    """
    found = await tx.row(
        f"""MERGE (n:RagForgeQueue {{name: 'jobs'}}) {LOCK} WITH n
            RETURN timestamp() AS ms, coalesce(n.last, 0) AS last, COLLECT {{
              MATCH (j:RagForgeJob) WHERE j.key IN $keys RETURN j.key }} AS known""",
        keys=list(dict.fromkeys(keys)),
    )
    assert found is not None
    return found


async def _create(tx: Transaction, queue: Row, rows: Sequence[Row]) -> int:
    """Store those jobs whose keys are new in a locked queue; return how many."""
    distinct = {row["key"]: row for row in reversed(rows)}
    new = [row for row in reversed(distinct.values()) if row["key"] not in queue["known"]]
    if new:
        await tx.rows(
            f"""MATCH (q:RagForgeQueue {{name: 'jobs'}}) SET q.last = $last
                WITH q UNWIND $rows AS row CREATE (n:RagForgeJob) SET {assign("n", JOB)}""",
            last=queue["last"] + len(new),
            rows=[row | {"sequence": queue["last"] + place} for place, row in enumerate(new)],
        )
    return len(new)


async def _restart(tx: Transaction, rows: Sequence[Row]) -> int:
    """Restart those of the jobs that are done or dead; return how many."""
    return int(
        await tx.value(
            f"""UNWIND $rows AS row MATCH (n:RagForgeJob {{key: row.key}})
                WHERE n.status IN ['done', 'dead'] SET {assign("n", JOB)} RETURN count(n)""",
            rows=list({row["key"]: row for row in reversed(rows)}.values()),
        )
    )


@dataclass(frozen=True, slots=True)
class _Due:
    """A job that may be taken, and the processes that died holding jobs."""

    key: str
    dead: Sequence[str]


async def _find_due(tx: Transaction, where: CypherFilter, dead: Sequence[str] = ()) -> _Due | None:
    """Return the job that has been due the longest, or None."""
    found = await tx.row(
        f"""OPTIONAL CALL () {{
              MATCH (n:RagForgeJob) WHERE n.status IN ['pending', 'running'] AND {_DUE} AND {where}
              RETURN n.key AS key ORDER BY n.run_after_ms, n.sequence LIMIT 1
            }}
            RETURN key, COLLECT {{
              MATCH (n:RagForgeJob {{status: 'running'}})
              WHERE n.lease_until > timestamp() AND NOT n.token IN $dead
              RETURN DISTINCT [n.token, n.host, n.pid, n.started] }} AS held""",
        dead=list(dead),
        furthest=FURTHEST_MS,
        **where.parameters,
    )
    assert found is not None
    died = [token for token, host, pid, started in found["held"] if is_dead(host, pid, started)]
    if died:  # what they held is due as well, perhaps for longer
        return await _find_due(tx, where, [*dead, *died])
    return None if found["key"] is None else _Due(found["key"], dead)


async def _take(tx: Transaction, due: _Due, row: Row) -> Row | None:
    """Take a job and return it, with who left it, unless it is not due any more."""
    return await tx.row(
        f"""MATCH (n:RagForgeJob {{key: $key}}) {LOCK}
            WITH n WHERE {_DUE}
            WITH n, CASE n.status WHEN 'running' THEN n {{.pid, .host}} END AS left
            SET n += $row, n.lease_until = timestamp() + $row.lease_until, n.status = 'running',
                n.attempts = n.attempts + 1, n.error = null
            RETURN {_ROW} AS row, left""",
        key=due.key,
        row=row,
        dead=list(due.dead),
        furthest=FURTHEST_MS,
    )


class Neo4jLocks:
    """Implements `LockStore`."""

    def __init__(self, database: Neo4jDatabase) -> None:
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
                free.append(left["token"])  # its holder died
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
    """Return the columns of a lease; its duration is added to the server's time.

    That is the only clock that all processes share.
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
    """Return the lock if its holder is alive and it has not expired."""
    if row is None or row["lease_until"] <= now_ms:
        return None
    return None if is_dead(row["host"], row["pid"], row["started"]) else row

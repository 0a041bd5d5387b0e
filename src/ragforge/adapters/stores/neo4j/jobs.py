"""Jobs in Neo4j."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, get_args

from ragforge.adapters.stores.holders import is_dead, log_takeover
from ragforge.adapters.stores.neo4j.cypher import LOCK, Where, assign, select_fields
from ragforge.adapters.stores.neo4j.driver import Database, Transaction
from ragforge.adapters.stores.neo4j.leases import (
    encode_lease,
    from_milliseconds,
    read_server_ms,
    to_milliseconds,
)
from ragforge.adapters.stores.rows import JOB, encode_job
from ragforge.adapters.stores.table import Row, format_time
from ragforge.domain.instants import to_epoch_ms
from ragforge.domain.text import check_text
from ragforge.domain.work import FURTHEST_MS, Holder, Job, JobStatus, NewJob
from ragforge.errors import JobNotFound, LeaseLost

_ROW = select_fields("n", JOB)
_LATER = "n.run_after = datetime($run_after), n.run_after_ms = $run_after_ms"
_DUE = """(n.status = 'pending'
      AND (n.run_after_ms <= timestamp() OR n.run_after_ms > timestamp() + $furthest)
    OR n.status = 'running' AND (n.lease_until <= timestamp() OR n.token IN $dead))"""


class Neo4jJobs:
    """Keeps the promises of `JobQueue`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def enqueue(self, jobs: Sequence[NewJob], again: bool = False) -> int:
        async def work(tx: Transaction) -> int:
            created = from_milliseconds(await read_server_ms(tx))
            rows = [encode_job(job, created) for job in jobs]
            new = await add(tx, rows)
            return new + (await _restart(tx, rows) if again else 0)

        return await self._database.write(work)

    async def claim(
        self, holder: Holder, lease: timedelta, kinds: Sequence[str] | None = None
    ) -> Job | None:
        # Looking needs no lock: most of the time there is nothing to do.
        if await self._database.read(lambda tx: _find_due(tx, kinds)) is None:
            return None

        async def work(tx: Transaction) -> Job | None:
            while (key := await _find_due(tx, kinds)) is not None:
                await tx.rows(f"MATCH (n:RagForgeJob {{key: $key}}) {LOCK}", key=key)
                # Another process may have taken it just before the lock was had.
                if await _find_due(tx, kinds, key) is not None:
                    row = encode_lease(holder, await read_server_ms(tx), lease)
                    taken = f"""MATCH (n:RagForgeJob {{key: $key}})
                                SET n += $row, n.status = 'running', n.attempts = n.attempts + 1,
                                    n.error = null
                                RETURN {_ROW} AS row"""
                    left = await tx.value(
                        """MATCH (n:RagForgeJob {key: $key, status: 'running'})
                           RETURN n {.pid, .host}""",
                        key=key,
                    )
                    if left is not None:
                        log_takeover(f"Job {key}", left)
                    return JOB.decode(await tx.value(taken, key=key, row=row))
            return None

        return await self._database.write(work)

    async def heartbeat(self, key: str, holder: Holder, lease: timedelta) -> None:
        later = "n.lease_until = timestamp() + $span"
        await self._change_held(key, holder, later, span=to_milliseconds(lease))

    async def release(self, key: str, holder: Holder) -> None:
        back = "n.status = 'pending', n.attempts = n.attempts - 1"
        await self._change_held(key, holder, back)

    async def finish(self, key: str, holder: Holder) -> None:
        await self._change_held(key, holder, "n.status = 'done'")

    async def fail(self, key: str, holder: Holder, error: str, retry_at: datetime | None) -> None:
        check_text("error", error)
        if retry_at is None:
            dead = "n.status = 'dead', n.error = $error"
            await self._change_held(key, holder, dead, error=error)
            return
        await self._change_held(
            key,
            holder,
            f"n.status = 'pending', n.error = $error, {_LATER}",
            error=error,
            run_after=format_time("retry_at", retry_at),
            run_after_ms=to_epoch_ms(retry_at),
        )

    async def revive(self, key: str) -> None:
        async def work(tx: Transaction) -> None:
            await _read(tx, key)
            start = await read_server_ms(tx)
            await tx.rows(
                f"""MATCH (n:RagForgeJob {{key: $key, status: 'dead'}})
                    SET n.status = 'pending', n.attempts = 0, {_LATER}""",
                key=key,
                run_after=format_time("run_after", from_milliseconds(start)),
                run_after_ms=start,
            )

        await self._database.write(work)

    async def get(self, key: str) -> Job:
        return JOB.decode(await self._database.read(lambda tx: _read(tx, key)))

    async def find(self, status: JobStatus | None = None, limit: int = 100) -> list[Job]:
        where = Where().add("n.status = $status", status=status)
        query = f"""MATCH (n:RagForgeJob) WHERE {where}
                    RETURN {_ROW} AS row ORDER BY n.sequence LIMIT $limit"""
        rows = await self._database.column(query, limit=limit, **where.parameters)
        return [JOB.decode(row) for row in rows]

    async def counts(self) -> Mapping[JobStatus, int]:
        query = "MATCH (n:RagForgeJob) RETURN n.status AS status, count(n) AS jobs"
        found = {row["status"]: row["jobs"] for row in await self._database.rows(query)}
        return {status: found.get(status, 0) for status in get_args(JobStatus)}

    async def _change_held(self, key: str, holder: Holder, change: str, **values: Any) -> None:
        """Change a job that the holder has. Raises LeaseLost."""

        async def work(tx: Transaction) -> None:
            await tx.rows(f"MATCH (n:RagForgeJob {{key: $key}}) {LOCK}", key=key)
            changed = await tx.value(
                f"""MATCH (n:RagForgeJob {{key: $key, status: 'running', token: $token}})
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
    distinct = {row["key"]: row for row in reversed(rows)}
    # The queue's lock makes adding a key that is not there one step, and keeps the order.
    await tx.rows(f"MERGE (n:RagForgeQueue {{name: 'jobs'}}) {LOCK}")
    known = set(
        await tx.column(
            "MATCH (n:RagForgeJob) WHERE n.key IN $keys RETURN n.key", keys=list(distinct)
        )
    )
    new = [row for row in reversed(distinct.values()) if row["key"] not in known]
    last = await tx.value(
        """MATCH (n:RagForgeQueue {name: 'jobs'})
           SET n.last = coalesce(n.last, 0) + $count RETURN n.last""",
        count=len(new),
    )
    first = last - len(new)
    await tx.each(
        f"CREATE (n:RagForgeJob) SET {assign('n', JOB)}",
        [row | {"sequence": first + place} for place, row in enumerate(new)],
    )
    return len(new)


async def _restart(tx: Transaction, rows: Sequence[Row]) -> int:
    """Start those of the jobs anew that are done or dead; return how many."""
    return int(
        await tx.value(
            f"""UNWIND $rows AS row MATCH (n:RagForgeJob {{key: row.key}})
                WHERE n.status IN ['done', 'dead'] SET {assign("n", JOB)} RETURN count(n)""",
            rows=list({row["key"]: row for row in reversed(rows)}.values()),
        )
    )


async def _find_due(
    tx: Transaction, kinds: Sequence[str] | None, key: str | None = None
) -> str | None:
    """Return the key of the job that has been due the longest, or None."""
    where = Where().add("n.key = $key", key=key)
    where.add("n.kind IN $kinds", kinds=None if kinds is None else list(kinds))
    query = f"""MATCH (n:RagForgeJob) WHERE n.status IN ['pending', 'running']
                  AND {_DUE} AND {where}
                RETURN n.key ORDER BY n.run_after_ms, n.sequence LIMIT 1"""
    found: str | None = await tx.value(
        query, dead=await _find_dead_tokens(tx), furthest=FURTHEST_MS, **where.parameters
    )
    return found


async def _find_dead_tokens(tx: Transaction) -> list[str]:
    """Return the tokens of processes that died holding a job."""
    rows = await tx.rows(
        """MATCH (n:RagForgeJob {status: 'running'})
           RETURN DISTINCT n.token AS token, n.host AS host, n.pid AS pid, n.started AS started"""
    )
    return [row["token"] for row in rows if is_dead(row["host"], row["pid"], row["started"])]


async def _read(tx: Transaction, key: str) -> Row:
    row: Row | None = await tx.value(
        f"MATCH (n:RagForgeJob {{key: $key}}) RETURN {_ROW} AS row", key=key
    )
    if row is None:
        raise JobNotFound(key)
    return row

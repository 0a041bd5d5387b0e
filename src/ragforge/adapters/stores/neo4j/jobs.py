"""Jobs in Neo4j."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, get_args

from ragforge.adapters.stores.holders import is_dead, log_takeover
from ragforge.adapters.stores.neo4j.cypher import LOCK, Where, assign, is_own_job, select_fields
from ragforge.adapters.stores.neo4j.driver import Database, Transaction
from ragforge.adapters.stores.neo4j.leases import (
    encode_lease,
    from_milliseconds,
    read_server_ms,
    to_milliseconds,
)
from ragforge.domain.instants import to_epoch_ms
from ragforge.domain.kinds import Row, format_time
from ragforge.domain.rows import encode_job
from ragforge.domain.schema import JOB
from ragforge.domain.text import check_text
from ragforge.domain.work import FURTHEST_MS, Holder, Job, JobStatus, NewJob
from ragforge.errors import JobNotFound, LeaseLost
from ragforge.records import dataclass

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
        row = encode_lease(holder, 0, lease)
        # Looking needs no lock: most of the time there is nothing to do.
        where = Where().add(is_own_job("n"))
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

    async def release(self, key: str, holder: Holder) -> None:
        back = "n.status = 'pending', n.attempts = n.attempts - 1"
        await self._change_held(key, holder, back)

    async def finish(self, key: str, holder: Holder) -> None:
        await self._change_held(key, holder, "n.status = 'done'")

    async def fail(self, key: str, holder: Holder, error: str, retry_at: datetime | None) -> None:
        check_text("error", error)
        error = self._database.redactor.redact(error)
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

    async def existing(self, keys: Sequence[str]) -> set[str]:
        query = f"""MATCH (n:RagForgeJob) WHERE n.key IN $keys AND {is_own_job("n")}
                    RETURN n.key"""
        return set(await self._database.column(query, keys=list(keys)))

    async def find(self, status: JobStatus | None = None, limit: int = 100) -> list[Job]:
        where = Where().add(is_own_job("n")).add("n.status = $status", status=status)
        query = f"""MATCH (n:RagForgeJob) WHERE {where}
                    RETURN {_ROW} AS row ORDER BY n.sequence LIMIT $limit"""
        rows = await self._database.column(query, limit=limit, **where.parameters)
        return [JOB.decode(row) for row in rows]

    async def counts(self) -> Mapping[JobStatus, int]:
        query = f"""MATCH (n:RagForgeJob) WHERE {is_own_job("n")}
                    RETURN n.status AS status, count(n) AS jobs"""
        found = {row["status"]: row["jobs"] for row in await self._database.rows(query)}
        return {status: found.get(status, 0) for status in get_args(JobStatus)}

    async def waiting_of_others(self) -> Mapping[str, int]:
        rows = await self._database.rows(
            f"""MATCH (n:RagForgeJob) WHERE n.status IN ['pending', 'running']
                  AND NOT {is_own_job("n")}
                RETURN n.owner AS owner, count(n) AS jobs ORDER BY owner"""
        )
        return {row["owner"]: row["jobs"] for row in rows}

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
    """Start those of the jobs anew that are done or dead; return how many."""
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


async def _find_due(tx: Transaction, where: Where, dead: Sequence[str] = ()) -> _Due | None:
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


async def _read(tx: Transaction, key: str) -> Row:
    row: Row | None = await tx.value(
        f"MATCH (n:RagForgeJob {{key: $key}}) WHERE {is_own_job('n')} RETURN {_ROW} AS row", key=key
    )
    if row is None:
        raise JobNotFound(key)
    return row

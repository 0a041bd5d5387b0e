"""Work in SQLite: the job queue and the named locks."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, get_args

from ragforge.adapters.stores.holders import (
    decode_holder,
    encode_holder,
    is_dead,
    is_this_boot,
    log_takeover,
    read_boot_clock,
)
from ragforge.adapters.stores.sqlite.database import SqliteDatabase
from ragforge.adapters.stores.sqlite.sql import Connection, SqlFilter, as_json
from ragforge.adapters.stores.sqlite.visibility import is_own_job
from ragforge.domain.instants import format_instant, now, parse_instant, to_epoch_ms
from ragforge.domain.kinds import CleanRow, Row
from ragforge.domain.rows import encode_job, encode_outcome
from ragforge.domain.schema import JOB
from ragforge.domain.text import check_id, check_text
from ragforge.domain.work import FURTHEST_MS, Holder, Job, JobCounts, JobStatus, Lock, NewJob
from ragforge.errors import LeaseLost


class SqliteJobs:
    """Implements `JobQueue`."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    async def enqueue(self, jobs: Sequence[NewJob], again: bool = False) -> int:
        viewer, redactor = self._database.viewer, self._database.redactor
        rows = [encode_job(job, now(), viewer, redactor) for job in jobs]

        def work(db: Connection) -> int:
            new = 0
            for row in rows:
                status = db.value("SELECT status FROM job WHERE key = ?", (row["key"],))
                if status is None:
                    db.insert("job", row)
                elif again and status in ("done", "dead"):
                    db.upsert("job", row, ["key"])
                else:
                    continue
                new += 1
            return new

        return await self._database.write(work)

    async def claim(
        self, holder: Holder, lease: timedelta, kinds: Sequence[str] | None = None
    ) -> Job | None:
        taken = {**encode_holder(holder), "status": "running", "error": None}
        # Looking needs no lock: most of the time there is nothing to do.
        where = SqlFilter().add(is_own_job(self._database.viewer))
        where.add("(machine IS NULL OR machine = ?)", holder.machine)
        if kinds is not None:
            where.add("kind IN (SELECT value FROM json_each(?))", as_json(kinds))
        if await self._database.read(lambda c: _find_due(c, where)) is None:
            return None

        def work(db: Connection) -> Job | None:
            job = _find_due(db, where)
            if job is None:
                return None
            if job["status"] == "running":
                log_takeover(f"Job {job['key']}", job)
            changes = {**taken, **_compute_ends(lease), "attempts": job["attempts"] + 1}
            _change(db, changes, "id = :id", id=job["id"])
            return JOB.decode({**job, **changes})

        return await self._database.write(work)

    async def heartbeat(self, key: str, holder: Holder, lease: timedelta) -> None:
        check_text("job key", key)
        await self._database.write(lambda c: _change_held(c, key, holder, _compute_ends(lease)))

    async def settle(self, job: Job, holder: Holder) -> None:
        row = encode_outcome(job, self._database.redactor)
        await self._database.write(lambda c: _change_held(c, job.key, holder, row))

    async def count(self) -> JobCounts:
        own = is_own_job(self._database.viewer)
        by_status = f"SELECT status, count(*) FROM main.job WHERE {own} GROUP BY status"
        of_others = f"""SELECT owner, count(*) FROM main.job WHERE NOT {own}
                        AND status IN ('pending', 'running') GROUP BY owner ORDER BY owner"""

        def work(db: Connection) -> JobCounts:
            found = dict(db.execute(by_status))
            counts = {status: found.get(status, 0) for status in get_args(JobStatus)}
            return JobCounts(counts, dict(db.execute(of_others)))

        return await self._database.read(work)


class SqliteLocks:
    """Implements `LockStore`."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    async def acquire(self, name: str, holder: Holder, ttl: timedelta) -> bool:
        check_id("lock name", name)
        row = {"name": name, **encode_holder(holder)}

        def work(db: Connection) -> bool:
            left = db.row("SELECT * FROM lock WHERE name = ?", (name,))
            known = None if left is None or _is_over(left) else left
            if known is not None and known["token"] != holder.token:
                return False
            if left is not None and known is None:
                log_takeover(f"Lock {name}", left)
            since = format_instant(now()) if known is None else known["acquired_at"]
            taken = {**row, "acquired_at": since, **_compute_ends(ttl)}
            db.upsert("lock", CleanRow(taken), ["name"])
            return True

        return await self._database.write(work)

    async def release(self, name: str, holder: Holder) -> None:
        check_text("lock name", name)
        statement = "DELETE FROM lock WHERE name = ? AND token = ?"
        await self._database.write(lambda c: c.execute(statement, (name, holder.token)) and None)

    async def held(self, names: Sequence[str]) -> dict[str, Lock]:
        statement = "SELECT * FROM lock WHERE name IN (SELECT value FROM json_each(?))"
        wanted = as_json(names)
        rows = await self._database.read(lambda c: list(c.rows(statement, (wanted,))))
        return {row["name"]: _decode_lock(row) for row in rows if not _is_over(row)}


def _compute_ends(span: timedelta) -> Row:
    """Return when a lease that starts now ends, by the time of day and since the boot."""
    length, clock = span // timedelta(milliseconds=1), read_boot_clock()
    return {
        "lease_until": to_epoch_ms(now()) + length,
        "lease_clock": None if clock is None else clock + length,
    }


def _is_over(row: Row) -> bool:
    """Tell whether a lease may be taken: its time is up, or its process is dead.

    The clock of the boot decides where it can: setting the time of day ends no lease.
    """
    clock = read_boot_clock()
    if clock is not None and row["lease_clock"] is not None and is_this_boot(row["host"]):
        is_late = row["lease_clock"] <= clock
    else:
        is_late = row["lease_until"] <= to_epoch_ms(now())
    return is_late or is_dead(row["host"], row["pid"], row["started"])


def _find_due(db: Connection, among: SqlFilter) -> Row | None:
    """Return the job that has been due the longest, or None."""
    moment = to_epoch_ms(now())
    due = SqlFilter().add(
        """((status = 'pending' AND (run_after_ms <= ? OR run_after_ms > ?))
            OR (status = 'running' AND id IN (SELECT value FROM json_each(?))))""",
        moment,
        moment + FURTHEST_MS,
        as_json(_find_left(db)),
    )
    statement = f"SELECT * FROM main.job WHERE {due} AND {among} ORDER BY run_after_ms, id LIMIT 1"
    return db.row(statement, (*due.bindings, *among.bindings))


def _find_left(db: Connection) -> list[int]:
    """Return the numbers of running jobs whose processes are dead or late."""
    running = list(db.rows("SELECT * FROM main.job WHERE status = 'running'"))
    return [row["id"] for row in running if _is_over(row)]


def _change_held(db: Connection, key: str, holder: Holder, changes: Row) -> None:
    """Change a job that the holder has. Raises LeaseLost."""
    held = "key = :key AND status = 'running' AND token = :token"
    _change(db, changes, held, key=key, token=holder.token)
    if not db.changes():
        raise LeaseLost(key)


def _change(db: Connection, changes: Row, where: str, **bindings: Any) -> None:
    new = ", ".join(f"{name} = :{name}" for name in changes)
    db.execute(f"UPDATE job SET {new} WHERE {where}", {**changes, **bindings})


def _decode_lock(row: Row) -> Lock:
    return Lock(
        name=row["name"],
        holder=decode_holder(row),
        acquired_at=parse_instant(row["acquired_at"]),
        expires_at=datetime.fromtimestamp(row["lease_until"] / 1000, UTC).astimezone(),
    )

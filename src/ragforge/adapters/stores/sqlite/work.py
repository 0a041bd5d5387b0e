"""Work in SQLite: the job queue and the named locks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import cast

import apsw

from ragforge.adapters.stores.holders import (
    is_dead,
    is_this_boot,
    log_takeover,
    read_boot_clock,
)
from ragforge.adapters.stores.sqlite.database import Database
from ragforge.adapters.stores.sqlite.sql import (
    Where,
    as_json,
    insert,
    select,
    select_column,
    select_one,
    select_value,
    upsert,
)
from ragforge.adapters.stores.sqlite.viewers import is_own_job
from ragforge.domain.instants import format_instant, now, parse_instant, to_epoch_ms
from ragforge.domain.kinds import CleanRow, Row, format_time
from ragforge.domain.rows import encode_job
from ragforge.domain.schema import JOB
from ragforge.domain.text import check_id, check_text
from ragforge.domain.work import FURTHEST_MS, Holder, Job, JobStatus, Lock, NewJob
from ragforge.errors import JobNotFound, LeaseLost

_STATUSES: tuple[JobStatus, ...] = ("pending", "running", "done", "dead")


class SqliteJobs:
    """Keeps the promises of `JobQueue`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def enqueue(self, jobs: Sequence[NewJob], again: bool = False) -> int:
        viewer, redactor = self._database.viewer, self._database.redactor
        rows = [encode_job(job, now(), viewer, redactor) for job in jobs]

        def work(connection: apsw.Connection) -> int:
            new = 0
            for row in rows:
                status = select_value(
                    connection, "SELECT status FROM job WHERE key = ?", (row["key"],)
                )
                if status is None:
                    insert(connection, "job", row)
                elif again and status in ("done", "dead"):
                    upsert(connection, "job", row, ["key"])
                else:
                    continue
                new += 1
            return new

        return await self._database.write(work)

    async def claim(
        self, holder: Holder, lease: timedelta, kinds: Sequence[str] | None = None
    ) -> Job | None:
        check_text("host", holder.host)
        # Looking needs no lock: most of the time there is nothing to do.
        where = Where().add(is_own_job(self._database.viewer))
        where.add("(machine IS NULL OR machine = ?)", holder.machine)
        if kinds is not None:
            where.add("kind IN (SELECT value FROM json_each(?))", as_json(kinds))
        if await self._database.read(lambda c: _find_due(c, where)) is None:
            return None

        def work(connection: apsw.Connection) -> Job | None:
            job = _find_due(connection, where)
            if job is None:
                return None
            if job["status"] == "running":
                log_takeover(f"Job {job['key']}", job)
            connection.execute(
                """UPDATE job SET status = 'running', attempts = attempts + 1, error = NULL,
                   token = ?, host = ?, pid = ?, started = ?, lease_until = ?, lease_clock = ?
                   WHERE key = ?""",
                (
                    holder.token,
                    holder.host,
                    holder.pid,
                    holder.started,
                    *_compute_ends(lease),
                    job["key"],
                ),
            )
            return JOB.decode(_read_job(connection, job["key"]))

        return await self._database.write(work)

    async def heartbeat(self, key: str, holder: Holder, lease: timedelta) -> None:
        await self._database.write(
            lambda c: _change_held(
                c,
                "UPDATE job SET lease_until = ?, lease_clock = ?",
                _compute_ends(lease),
                key,
                holder,
            )
        )

    async def release(self, key: str, holder: Holder) -> None:
        change = "UPDATE job SET status = 'pending', attempts = max(attempts - 1, 0)"
        await self._database.write(lambda c: _change_held(c, change, (), key, holder))

    async def finish(self, key: str, holder: Holder) -> None:
        await self._database.write(
            lambda c: _change_held(c, "UPDATE job SET status = 'done'", (), key, holder)
        )

    async def fail(self, key: str, holder: Holder, error: str, retry_at: datetime | None) -> None:
        check_text("error", error)
        error = self._database.redactor.redact(error)
        if retry_at is None:
            change, bindings = "UPDATE job SET status = 'dead', error = ?", (error,)
        else:
            change = "UPDATE job SET status = 'pending', error = ?, run_after = ?, run_after_ms = ?"
            bindings = (error, format_time("retry_at", retry_at), to_epoch_ms(retry_at))  # type: ignore[assignment]
        await self._database.write(lambda c: _change_held(c, change, bindings, key, holder))

    async def revive(self, key: str) -> None:
        moment = now()

        def work(connection: apsw.Connection) -> None:
            self._read(connection, key)
            connection.execute(
                """UPDATE job SET status = 'pending', attempts = 0, run_after = ?, run_after_ms = ?
                   WHERE key = ? AND status = 'dead'""",
                (format_instant(moment), to_epoch_ms(moment), key),
            )

        await self._database.write(work)

    async def get(self, key: str) -> Job:
        return JOB.decode(await self._database.read(lambda c: self._read(c, key)))

    async def existing(self, keys: Sequence[str]) -> set[str]:
        own = is_own_job(self._database.viewer)
        statement = f"SELECT key FROM job WHERE key IN (SELECT value FROM json_each(?)) AND {own}"
        wanted = as_json(keys)
        return set(await self._database.read(lambda c: select_column(c, statement, (wanted,))))

    async def find(self, status: JobStatus | None = None, limit: int = 100) -> list[Job]:
        where = Where().add("status = ?", status).add(is_own_job(self._database.viewer))
        statement = f"SELECT * FROM job WHERE {where} ORDER BY id LIMIT ?"
        bindings = (*where.bindings, limit)
        return await self._database.read(
            lambda c: [JOB.decode(row) for row in select(c, statement, bindings)]
        )

    async def counts(self) -> Mapping[JobStatus, int]:
        own = is_own_job(self._database.viewer)
        statement = f"SELECT status, count(*) FROM job WHERE {own} GROUP BY status"
        found = await self._database.read(lambda c: dict(c.execute(statement)))
        return {status: cast(int, found.get(status, 0)) for status in _STATUSES}

    async def waiting_of_others(self) -> Mapping[str, int]:
        statement = f"""SELECT owner, count(*) FROM job WHERE status IN ('pending', 'running')
                        AND NOT {is_own_job(self._database.viewer)} GROUP BY owner ORDER BY owner"""
        return await self._database.read(lambda c: dict(c.execute(statement)))

    def _read(self, connection: apsw.Connection, key: str) -> Row:
        """Return a job of the viewer's, or of anybody's. Raises JobNotFound."""
        row = _read_job(connection, key)
        if self._database.viewer is not None and row["owner"] not in (None, self._database.viewer):
            raise JobNotFound(key)
        return row


class SqliteLocks:
    """Keeps the promises of `LockStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def acquire(self, name: str, holder: Holder, ttl: timedelta) -> bool:
        check_id("lock name", name)
        check_text("host", holder.host)

        def work(connection: apsw.Connection) -> bool:
            left = _read_lock(connection, name)
            known = _pick_held(left)
            if known is not None and known["token"] != holder.token:
                return False
            if left is not None and known is None:
                log_takeover(f"Lock {name}", left)
            until, clock = _compute_ends(ttl)
            row = {
                "name": name,
                "token": holder.token,
                "host": holder.host,
                "pid": holder.pid,
                "started": holder.started,
                "acquired_at": format_instant(now()) if known is None else known["acquired_at"],
                "lease_until": until,
                "lease_clock": clock,
            }
            upsert(connection, "lock", CleanRow(row), ["name"])
            return True

        return await self._database.write(work)

    async def release(self, name: str, holder: Holder) -> None:
        check_text("lock name", name)
        statement = "DELETE FROM lock WHERE name = ? AND token = ?"
        await self._database.write(lambda c: c.execute(statement, (name, holder.token)) and None)

    async def is_any_held(self, names: Sequence[str]) -> bool:
        statement = "SELECT * FROM lock WHERE name IN (SELECT value FROM json_each(?))"
        wanted = as_json(names)
        rows = await self._database.read(lambda c: list(select(c, statement, (wanted,))))
        return any(_pick_held(row) is not None for row in rows)

    async def holder(self, name: str) -> Lock | None:
        check_text("lock name", name)
        row = _pick_held(await self._database.read(lambda c: _read_lock(c, name)))
        if row is None:
            return None
        return Lock(
            name=name,
            holder=Holder(row["host"], row["pid"], row["started"], row["token"]),
            acquired_at=parse_instant(row["acquired_at"]),
            expires_at=datetime.fromtimestamp(row["lease_until"] / 1000, UTC).astimezone(),
        )


def _compute_ends(span: timedelta) -> tuple[int, int | None]:
    """Return when a lease that starts now ends, by the time of day and since the boot."""
    length, clock = span // timedelta(milliseconds=1), read_boot_clock()
    return to_epoch_ms(now()) + length, None if clock is None else clock + length


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


def _find_due(connection: apsw.Connection, among: Where) -> Row | None:
    """Return the job that has been due the longest, or None."""
    moment = to_epoch_ms(now())
    due = Where().add(
        """((status = 'pending' AND (run_after_ms <= ? OR run_after_ms > ?))
            OR (status = 'running' AND id IN (SELECT value FROM json_each(?))))""",
        moment,
        moment + FURTHEST_MS,
        as_json(_find_left(connection)),
    )
    statement = f"SELECT * FROM job WHERE {due} AND {among} ORDER BY run_after_ms, id LIMIT 1"
    return select_one(connection, statement, (*due.bindings, *among.bindings))


def _find_left(connection: apsw.Connection) -> list[int]:
    """Return the numbers of running jobs whose processes are dead or late."""
    running = list(select(connection, "SELECT * FROM job WHERE status = 'running'"))
    return [row["id"] for row in running if _is_over(row)]


def _change_held(
    connection: apsw.Connection, change: str, bindings: tuple[object, ...], key: str, holder: Holder
) -> None:
    """Change a job that the holder has. Raises LeaseLost."""
    check_text("job key", key)
    connection.execute(
        f"{change} WHERE key = ? AND status = 'running' AND token = ?",
        (*bindings, key, holder.token),
    )
    if not connection.changes():
        raise LeaseLost(key)


def _read_job(connection: apsw.Connection, key: str) -> Row:
    check_text("job key", key)
    row = select_one(connection, "SELECT * FROM job WHERE key = ?", (key,))
    if row is None:
        raise JobNotFound(key)
    return row


def _read_lock(connection: apsw.Connection, name: str) -> Row | None:
    return select_one(connection, "SELECT * FROM lock WHERE name = ?", (name,))


def _pick_held(row: Row | None) -> Row | None:
    """Return the lock if somebody alive holds it in time."""
    return None if row is None or _is_over(row) else row

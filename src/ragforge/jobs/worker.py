"""The worker: takes due jobs, does them, and puts failed ones back for later."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from datetime import timedelta
from typing import TypeAlias

from ragforge.domain.instants import now
from ragforge.domain.text import Json
from ragforge.domain.work import Holder, Job, fail, finish, release
from ragforge.errors import JobRefused, LeaseLost, StoreError
from ragforge.ports.store import JobQueue
from ragforge.records import dataclass

Handler: TypeAlias = Callable[[Json], Awaitable[object]]

log = logging.getLogger(__name__)

POLL_SECONDS = 1.0
FIRST_RETRY = timedelta(seconds=2)
LAST_RETRY = timedelta(minutes=15)


def compute_retry_delay(attempts: int) -> timedelta:
    """Return how long to wait after failed attempts: twice as long each time, up to a limit."""
    doubled: timedelta = FIRST_RETRY * 2 ** min(attempts - 1, 20)
    return min(doubled, LAST_RETRY)


def describe_error(error: BaseException) -> str:
    """Return why a job failed; a group of errors by what is in it, each cause once."""
    found: dict[str, None] = {}
    waiting = [error]
    while waiting:
        one = waiting.pop(0)
        if isinstance(one, BaseExceptionGroup):
            waiting = [*one.exceptions, *waiting]
        else:
            found[f"{type(one).__name__}: {one}".removesuffix(": ")] = None
    return "; ".join(found).encode(errors="replace").decode()


@dataclass(frozen=True, slots=True)
class Worker:
    """Runs the jobs it has handlers for."""

    queue: JobQueue
    holder: Holder
    handlers: Mapping[str, Handler]
    lease: timedelta
    max_attempts: int

    async def run(self, stopping: asyncio.Event) -> None:
        """Work until `stopping` is set, then finish what is due.

        A store that cannot be reached is tried again.
        """
        while not stopping.is_set():
            try:
                await self.drain()
            except StoreError as error:
                log.warning("The queue cannot be reached: %s", error)
            # Not `wait_for`: that drops a cancellation that comes with the event.
            with suppress(TimeoutError):
                async with asyncio.timeout(POLL_SECONDS):
                    await stopping.wait()
        await self.drain()

    async def drain(self) -> int:
        """Do every job that is due now and return how many were taken."""
        taken = 0
        while job := await self.queue.claim(self.holder, self.lease, list(self.handlers)):
            taken += 1
            with suppress(LeaseLost):  # its new holder will finish it
                if job.attempts > self.max_attempts:
                    # No failure was stored: the process ended each time without a word.
                    reason = f"its process died {job.attempts - 1} times"
                    log.warning("Job %s is not tried again: %s", job.key, reason)
                    await self.queue.settle(fail(job, reason, None), self.holder)
                else:
                    await self._do(job)
        return taken

    async def _do(self, job: Job) -> None:
        beating = asyncio.create_task(self._keep(job))
        try:
            await self.handlers[job.kind](job.payload)
        except Exception as error:  # a job may fail in any way; none may stop the worker
            is_last = job.attempts >= self.max_attempts or isinstance(error, JobRefused)
            retry_at = None if is_last else now() + compute_retry_delay(job.attempts)
            attempt = f"attempt {job.attempts} of {self.max_attempts}"
            log.warning("Job %s failed, %s", job.key, attempt, exc_info=True)
            await self.queue.settle(fail(job, describe_error(error), retry_at), self.holder)
        except asyncio.CancelledError:  # this process ends, which is not the job's fault
            with suppress(StoreError):
                await self.queue.settle(release(job), self.holder)
            raise
        else:
            await self.queue.settle(finish(job), self.holder)
        finally:
            beating.cancel()
            await asyncio.gather(beating, return_exceptions=True)  # no heartbeat after the job

    async def _keep(self, job: Job) -> None:
        """Prolong the lease while the job is being done."""
        while True:
            await asyncio.sleep(self.lease.total_seconds() / 3)
            with suppress(StoreError):
                await self.queue.heartbeat(job.key, self.holder, self.lease)

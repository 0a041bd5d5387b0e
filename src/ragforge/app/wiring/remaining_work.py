"""Remaining work: upkeep of a store, and processes that finish what a command could not."""

from __future__ import annotations

import asyncio
import logging
import os
import subprocess
import time
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

from ragforge.child_python import python_command
from ragforge.config.settings import Settings
from ragforge.domain.work import Holder
from ragforge.errors import StoreError
from ragforge.ports.store import ReindexProgress, Store

# For the doors, from the rooms below.
__all__ = ["ReindexProgress"]

LOCK = "upkeep"
LEASE = timedelta(seconds=30)
PAUSE_SECONDS = 0.1
"""Between two steps: others write, and this process answers."""
IDLE_SECONDS = 30.0
CLOSING_SECONDS = 0.5
"""How long a finished command continues with it."""


log = logging.getLogger(__name__)


async def do_upkeep(store: Store, holder: Holder, seconds: float = CLOSING_SECONDS) -> bool:
    """Do what is due, up to a number of seconds; return whether work is left for this process."""
    ends = time.monotonic() + seconds
    with suppress(StoreError):  # it is done another time
        while await _step(store, holder):
            if time.monotonic() >= ends:
                return True
    return False


async def keep_up(store: Store, holder: Holder, stopping: asyncio.Event) -> bool:
    """Do what is due until `stopping` is set, and a little of it then.

    Returns whether work is left for this process.
    """
    while not stopping.is_set():
        is_more = False
        with suppress(StoreError):
            is_more = await _step(store, holder)
        with suppress(TimeoutError):
            async with asyncio.timeout(PAUSE_SECONDS if is_more else IDLE_SECONDS):
                await stopping.wait()
    return await do_upkeep(store, holder)


async def _step(store: Store, holder: Holder) -> bool:
    """Do a piece; return whether this process is to do another one.

    One process at a time does more than one: the others would only get into its way.
    """
    # The lock is free again soon after the last step, or when this process ends.
    return await store.upkeep.step() and await store.locks.acquire(LOCK, holder, LEASE)


def start_detached_worker(settings: Settings, cwd: Path) -> None:
    """Start a process that does the queued jobs and ends; nothing waits for it.

    If it cannot be started, the next process that opens the store does them.
    """
    _start(settings, cwd, "memory", "work")


def start_detached_reading(settings: Settings, root: Path) -> None:
    """Start a process that reads a project and ends; nothing waits for it.

    If it cannot be started, the next question starts it.
    """
    _start(settings, root, "ingest", "--background")


def _start(settings: Settings, cwd: Path, *arguments: str) -> None:
    # The store goes through the environment: an address may hold a password.
    environ = {**os.environ, "RAGFORGE_STORE": settings.store.url}
    quiet = subprocess.DEVNULL
    try:
        subprocess.Popen(
            python_command("ragforge", *arguments),
            cwd=cwd,
            env=environ,
            stdin=quiet,
            stdout=quiet,
            stderr=quiet,
            start_new_session=True,
        )
    except OSError:
        log.warning("No process could be started in the background", exc_info=True)

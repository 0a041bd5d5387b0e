"""The detached worker: a process for the jobs that a command could not finish."""

from __future__ import annotations

import logging
import os
import subprocess
from pathlib import Path

from ragforge.child_python import python_command
from ragforge.config.settings import Settings

log = logging.getLogger(__name__)


def start_detached_worker(settings: Settings, cwd: Path) -> None:
    """Start a process that does the queued jobs and ends; nothing waits for it.

    If it cannot be started, the next process that opens the store does them.
    """
    # The store goes through the environment: an address may hold a password.
    environ = {**os.environ, "RAGFORGE_STORE": settings.store.url}
    quiet = subprocess.DEVNULL
    try:
        subprocess.Popen(
            python_command("ragforge", "memory", "work"),
            cwd=cwd,
            env=environ,
            stdin=quiet,
            stdout=quiet,
            stderr=quiet,
            start_new_session=True,
        )
    except OSError:
        log.warning("No process could be started for the jobs that are left", exc_info=True)

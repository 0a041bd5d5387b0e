"""Detached workers: processes for the work that a command could not finish."""

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

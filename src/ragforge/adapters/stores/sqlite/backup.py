"""Backup: one consistent file of a store, whoever writes to it meanwhile."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from ragforge.adapters.stores.holders import is_running
from ragforge.adapters.stores.sqlite.database import BUSY_MS, open_for_reading
from ragforge.adapters.stores.sqlite.failures import translate_errors
from ragforge.errors import InputError, StoreUnavailable

PAGES = 4_096
"""How many pages are copied between two reports."""


@contextmanager
def open_draft(target: Path) -> Iterator[Path]:
    """Give the place of a new file, private to its owner; it becomes the target at the end.

    If the block fails, nothing is left. Raises InputError if the target exists.
    """
    if target.exists():
        raise InputError(f"{target} exists already. Name a new file.")
    draft = target.with_name(f".ragforge-{os.getpid()}-{target.name}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _remove_left(target)
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except OSError as error:
        raise StoreUnavailable(f"{draft} cannot be written: {error.strerror}") from error
    try:
        yield draft
        os.replace(draft, target)
    finally:
        for end in ("", "-wal", "-shm", "-journal"):
            Path(f"{draft}{end}").unlink(missing_ok=True)


def _remove_left(target: Path) -> None:
    """Remove what killed processes left of the same file."""
    for left in target.parent.glob(".ragforge-*"):
        match = re.fullmatch(rf"\.ragforge-(\d+)-{re.escape(target.name)}(-\w+)?", left.name)
        if match and (int(match[1]) == os.getpid() or not is_running(int(match[1]))):
            left.unlink(missing_ok=True)


def back_up(
    source: Path, target: Path, on_progress: Callable[[int, int], None] = lambda done, total: None
) -> None:
    """Copy a store into an empty file as it is at one moment; others go on writing.

    Raises StoreCorrupt if a page cannot be read, StoreFull.
    """
    with translate_errors(str(source)):
        origin = open_for_reading(source)
    try:
        copy = apsw.Connection(str(target))
        try:
            copy.set_busy_timeout(BUSY_MS)
            with translate_errors(str(source)):
                # A transaction over all steps: without it, each write of another process would
                # make the copy begin anew.
                origin.execute("BEGIN")
                origin.execute("SELECT count(*) FROM sqlite_schema").get  # noqa: B018
                with copy.backup("main", origin, "main") as running:
                    while not running.done:
                        running.step(PAGES)
                        on_progress(running.page_count - running.remaining, running.page_count)
                origin.execute("ROLLBACK")
                # One file, that can be read where nothing may be written.
                copy.pragma("journal_mode", "delete")
        finally:
            copy.close()
    finally:
        origin.close()

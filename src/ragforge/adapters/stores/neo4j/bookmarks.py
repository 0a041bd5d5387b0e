"""Bookmarks: what one process wrote on a cluster is seen by the next, kept in a file between them.

A member of a cluster may be a moment behind the others. A bookmark names a write; a server that
receives it waits until it has that write before it answers.
"""

from __future__ import annotations

import json
import logging
import os
import tempfile
import time
from collections.abc import Iterable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from neo4j import AsyncGraphDatabase
from neo4j import Bookmarks as RawBookmarks
from neo4j.api import AsyncBookmarkManager

from ragforge.private_files import make_private_folder

log = logging.getLogger(__name__)

KEPT_SECONDS = 600
"""Later every member has the writes, or the database was replaced and never will."""
SAVE_SECONDS = 1.0
"""Between two writes of the file: a turn makes many transactions."""
MOST = 20


class BookmarkFile:
    """The bookmarks of one database of one server, for their owner alone."""

    def __init__(self, folder: Path, url: str, database: str | None) -> None:
        name = sha256(f"{url}\n{database or ''}".encode()).hexdigest()[:32]
        self.path = folder / "bookmarks" / f"{name}.json"
        self.loaded = frozenset(self._read())
        self._newest = self._written = self.loaded
        self._saved_at = float("-inf")

    def make_manager(self) -> AsyncBookmarkManager:
        """Return what gives the driver these bookmarks, and notes new ones."""
        return AsyncGraphDatabase.bookmark_manager(
            initial_bookmarks=RawBookmarks.from_raw_values(self.loaded),
            bookmarks_consumer=self._note,
        )

    def forget(self) -> None:
        """Remove them: the server does not know what they name."""
        self.loaded = self._newest = self._written = frozenset()
        with suppress(OSError):
            self.path.unlink()

    def save(self) -> None:
        """Write them to the file, beside those that other processes wrote meanwhile."""
        if self._newest == self._written:
            return
        others = frozenset(self._read()) - self.loaded - self._written
        kept = [*sorted(self._newest), *sorted(others - self._newest)][:MOST]
        try:
            _replace_file(self.path, json.dumps(kept))
        except OSError as error:  # the next process may see an older state for a moment
            log.warning("Bookmarks cannot be kept: %s", error)
        self._written, self._saved_at = self._newest, time.monotonic()

    async def _note(self, found: RawBookmarks) -> None:
        self._newest = frozenset(found.raw_values)
        if time.monotonic() - self._saved_at >= SAVE_SECONDS:
            self.save()

    def _read(self) -> Iterable[str]:
        try:
            if time.time() - self.path.stat().st_mtime > KEPT_SECONDS:
                return ()
            found = json.loads(self.path.read_text("utf-8"))
        except (OSError, ValueError):
            return ()
        return [one for one in found if isinstance(one, str)] if isinstance(found, list) else ()


def _replace_file(path: Path, text: str) -> None:
    make_private_folder(path.parent)
    handle, draft = tempfile.mkstemp(dir=path.parent)  # for its owner alone
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(draft, path)
    except OSError:
        with suppress(OSError):
            os.unlink(draft)
        raise

"""Watch: report the files of a project that change, in batches."""

from __future__ import annotations

import asyncio
import os
import re
import stat
import sys
import time
from collections.abc import AsyncGenerator, Collection, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import watchfiles

from ragforge.brain.files.compare import STRUCTURE
from ragforge.brain.files.exclusions import FileLimits, check_filename
from ragforge.brain.files.ignore import IGNORE_FILES, read_rules_in
from ragforge.brain.files.walk import check_directory, check_name, walk

STEP_MS = 50  # how often the thread checks whether to stop
POLL_SECONDS = 2.0
POLL_SHARE = 20  # a walk takes at most 1/20 of the time
# On other systems one watch covers a tree. On Linux each directory needs one, and there are not
# enough of them for the directories of packages too.
ONE_BY_ONE = sys.platform.startswith("linux")

MANY = 1_000  # from here a walk is cheaper, and the system may have dropped some reports

# Temporary files of vim, Emacs, JetBrains, GNOME and browsers, written while they save a file.
TEMPORARY = re.compile(
    r"""
    4913 | .*~ | \#.*\# | \.\#.* | .*\.(?:sw[a-p]|tmp|crswap)
    | .*___jb_(?:tmp|old|bak)___ | \.goutputstream-.*
    """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)


async def watch_changes(
    root: Path,
    stopping: asyncio.Event,
    *,
    limits: FileLimits | None = None,
    quiet_ms: int = 300,
    longest_ms: int = 5_000,
    polling: bool = False,
) -> AsyncGenerator[frozenset[str], None]:
    """Yield the paths of files that appeared, changed or went, as a walk would name them.

    The first batch is empty: from now on nothing is missed, so walk once to be current. A batch
    ends when nothing happened for `quiet_ms`, or after `longest_ms`. When an ignore file changes,
    the files that it hides or shows are reported too. Runs until `stopping` is set. With
    `polling`, or if the system has no watches left, it walks again and again.

    Raises OSError if the root cannot be listed, then or later.
    """
    tree = WatchedTree(Path(os.path.realpath(root)), limits or FileLimits())
    watch = _Watch(tree, stopping, quiet_ms, longest_ms, polling)
    batches = watch.watch()
    loop = asyncio.get_running_loop()
    # A separate thread: walking a large tree and setting its watches takes a while.
    with ThreadPoolExecutor(1, thread_name_prefix="ragforge-watch") as thread:
        try:
            while (batch := await loop.run_in_executor(thread, next, batches, None)) is not None:
                yield batch
        finally:
            watch.closed = True
            await asyncio.shield(loop.run_in_executor(thread, batches.close))


class _Interrupted(Exception):
    """The watcher lost track: start again, and walk to catch up."""


class _OutOfWatches(Exception):
    """The system has no watches left."""


@dataclass(slots=True)
class _Watch:
    """The part in the thread; it is also the event that stops the watcher."""

    tree: WatchedTree
    stopping: asyncio.Event
    quiet_ms: int
    longest_ms: int
    polling: bool
    closed: bool = False
    began: bool = False

    def is_set(self) -> bool:
        return self.closed or self.stopping.is_set()

    def watch(self) -> Generator[frozenset[str]]:
        self.tree.walk()
        while not self.is_set():
            try:
                yield from self._poll() if self.polling else self._watch_directories()
            except _Interrupted:
                missed = self.tree.walk()
                if missed and self.began:
                    yield missed
            except _OutOfWatches:
                self.polling = True

    def _poll(self) -> Iterator[frozenset[str]]:
        # The watcher's own polling compares whole seconds, and misses a second save in one.
        if not self.began:
            self.began = True
            yield frozenset()
        while not self.is_set():
            start = time.monotonic()
            changed = self.tree.walk()
            rest = max(POLL_SECONDS, POLL_SHARE * (time.monotonic() - start))
            if changed:
                yield changed
            while not self.is_set() and time.monotonic() < start + rest:
                time.sleep(STEP_MS / 1000)

    def _watch_directories(self) -> Iterator[frozenset[str]]:
        """Watch until a directory without a watch needs one."""
        watched = set(self.tree.directories)
        with closing(self._receive_reports()) as reports:
            if next(reports, None) is None:
                return
            missed = self.tree.walk()  # what happened before the watches were set
            if missed or not self.began:
                yield missed if self.began else frozenset()
            self.began = True
            gathered: set[str] = set()
            until = 0.0
            while self.tree.directories == watched or not ONE_BY_ONE:
                if (report := next(reports, None)) is None:
                    return
                if report and not gathered:
                    until = time.monotonic() + self.longest_ms / 1000
                gathered |= report
                if gathered and (not report or time.monotonic() > until):
                    if changed := self.tree.sort_out(gathered):
                        yield changed
                    gathered.clear()

    def _receive_reports(self) -> Generator[set[str]]:
        """Yield what the system reports, and an empty set when it is quiet, until stopped."""
        root = self.tree.root
        each = [str(root / path) for path in sorted(self.tree.directories)]
        watched = each if ONE_BY_ONE else [root]
        reports = watchfiles.watch(
            *watched,
            recursive=not ONE_BY_ONE,
            watch_filter=None,
            stop_event=self,
            step=STEP_MS,
            debounce=self.longest_ms,
            rust_timeout=self.quiet_ms,
            yield_on_timeout=True,
            force_polling=False,
        )
        try:
            for report in reports:
                yield {path for _, path in report}
        except FileNotFoundError as error:  # a directory was removed before its watch was set
            raise _Interrupted from error
        except (OSError, RuntimeError) as error:
            if isinstance(error, RuntimeError) and "Error creating" not in str(error):
                raise _Interrupted from error  # a name that is not UTF-8, which it cannot report
            raise _OutOfWatches from error
        finally:
            reports.close()


@dataclass(slots=True)
class WatchedTree:
    """The files and directories of the last walk, with the changes since."""

    root: Path
    limits: FileLimits
    files: dict[str, tuple[int, int]] = field(default_factory=dict)
    directories: set[str] = field(default_factory=set)

    def walk(self) -> frozenset[str]:
        """Walk the tree, and return the files that changed."""
        before, walked = self.files, walk(self.root, self.limits)
        self.files = {file.path: (file.size, file.mtime_ns) for file in walked.files}
        self.directories = set(walked.directories)
        return frozenset(path for path, _ in before.items() ^ self.files.items())

    def sort_out(self, touched: Collection[str]) -> frozenset[str]:
        """Return which files changed, given the absolute paths that were reported."""
        paths = [path for place in touched if (path := self._find_own_path(place)) is not None]
        if len(touched) <= MANY and not any(self._is_structure(path) for path in paths):
            return frozenset([path for path in paths if self._take(path)])
        before = self.files
        changed = self.walk()
        return changed.union(
            path
            for path in paths
            if path in before or path in self.files or _get_name(path) in IGNORE_FILES
        )

    def _find_own_path(self, place: str) -> str | None:
        """Return the relative path, unless it is in a directory that no walk enters."""
        try:
            path = Path(place).relative_to(self.root).as_posix()
        except ValueError:
            return None
        path = "" if path == "." else path
        is_own = _get_parent(path) in self.directories
        return path if is_own and not TEMPORARY.fullmatch(_get_name(path)) else None

    def _is_structure(self, path: str) -> bool:
        """Tell whether directories came or went, or rules changed: then a walk is needed."""
        if _get_name(path) in STRUCTURE:
            return True
        place = self.root / path
        is_directory = place.is_dir() and not place.is_symlink()
        if path in self.directories:
            return not is_directory
        rules = read_rules_in(self.root, _get_parent(path))
        return is_directory and not check_directory(path, _get_name(path), rules)

    def _take(self, path: str) -> bool:
        """Update one path, and return whether it is or was a file of the project."""
        try:
            facts = os.lstat(self.root / path)
        except OSError:
            return self.files.pop(path, None) is not None
        if not stat.S_ISREG(facts.st_mode):
            return self.files.pop(path, None) is not None
        if path not in self.files and self._is_left_out(path, facts.st_size):
            return False
        self.files[path] = (facts.st_size, facts.st_mtime_ns)
        return True

    def _is_left_out(self, path: str, size: int) -> bool:
        if self.limits.is_too_large(path, size) or check_filename(path):
            return True
        return (
            check_name(path, _get_name(path), read_rules_in(self.root, _get_parent(path)))
            is not None
        )


def _get_parent(path: str) -> str:
    return path.rpartition("/")[0]


def _get_name(path: str) -> str:
    return path.rpartition("/")[2]

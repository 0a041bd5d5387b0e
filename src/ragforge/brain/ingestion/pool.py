"""Pool: read and parse files on all cores, a bounded number at a time.

Each worker is this module, run as a program: it reads the files named on its input until that ends.
"""

from __future__ import annotations

import asyncio
import copyreg
import gc
import os
import pickle
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

from ragforge.brain.files.walk import FoundFile
from ragforge.brain.languages.language import Import
from ragforge.brain.parse.outline import Definition, Outline
from ragforge.brain.parse.read_source import NeedsFence, ReadFile, read_file
from ragforge.child_python import python_command
from ragforge.domain.code import File, ParsedFile, Scope
from ragforge.processes import open_process

try:
    import resource
except ImportError:  # not on this system
    resource = None  # type: ignore[assignment]

MANY_FILES = 300
"""With fewer files, starting processes takes longer than it saves."""
BATCH_FILES = 40
"""So few that a run that is interrupted loses little, and that a question soon finds some."""
BATCH_BYTES = 1_000_000
MAX_WORKERS = 8
AHEAD = 2
"""How many batches a worker may be ahead of the store: it bounds memory."""
LENGTH_BYTES = 8
BATCH_SECONDS = 120.0
"""A worker that takes longer for a batch, or for a single file of it, is replaced. A batch takes
about a second: a machine that has other things to do is not meant."""
WORKER_BYTES = 4 * 1024**3
"""How much memory a worker may reserve, where the system can limit it."""
FILE_SECONDS = 15
"""How much CPU time a worker may take for one file, where the system can limit it."""

Job: TypeAlias = tuple[str, int, str | None]  # path, time, known hash


def _as_call(value: object) -> tuple[type, tuple[object, ...]]:
    """Pickle a dataclass as a call: the default for frozen ones with slots is ten times slower."""
    kind = type(value)
    return kind, tuple([getattr(value, name) for name in kind.__match_args__])  # type: ignore[attr-defined]


for _kind in (Definition, File, Import, Outline, ParsedFile, ReadFile, Scope):
    copyreg.pickle(_kind, _as_call)


class SourceReader:
    """Reads the files of one project; use it as a context manager.

    The workers are separate programs, not `multiprocessing`'s: that would run the main module
    of the program that uses this library again in each of them.
    """

    def __init__(self, root: Path, project_id: str, expected: int) -> None:
        self._root = str(root)
        self._project_id = project_id
        self._count = _count_workers() if expected >= MANY_FILES else 0
        self._tasks: list[asyncio.Task[None]] = []
        self._batches: deque[list[Job]] = deque()
        self._done: asyncio.Queue[list[ReadFile]] = asyncio.Queue(max(self._count, 1) * AHEAD)

    async def __aenter__(self) -> SourceReader:
        return self

    async def __aexit__(self, *error: object) -> None:
        self._batches.clear()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def read_batches(
        self, files: Sequence[FoundFile], hashes: Mapping[str, str]
    ) -> AsyncIterator[list[ReadFile]]:
        """Yield the files as they are read, in batches."""
        jobs = [(file.path, file.mtime_ns, hashes.get(file.path)) for file in files]
        self._batches.extend(_split_batches(files, jobs))
        left = len(files)
        if not self._count:
            risky: list[Job] = []
            while self._batches:
                batch = self._batches.popleft()
                yield await asyncio.to_thread(read_here, self._root, self._project_id, batch, risky)
            self._batches = deque([job] for job in risky)
            left = len(risky)
        if left:
            workers = max(self._count, 1)
            self._tasks = [asyncio.create_task(self._work()) for _ in range(workers)]
        while left:
            read = await self._take_next()
            left -= len(read)
            yield read

    def prefer(self, paths: Sequence[str]) -> None:
        """Read these files next, if they still wait to be read."""
        wanted = set(paths)
        waiting = {job[0]: job for batch in self._batches for job in batch if job[0] in wanted}
        if not waiting:
            return
        others = ([job for job in batch if job[0] not in waiting] for batch in self._batches)
        first = [waiting[path] for path in dict.fromkeys(paths) if path in waiting]
        self._batches = deque([first, *filter(None, others)])

    async def _take_next(self) -> list[ReadFile]:
        """Return the next batch. Raises the error of a worker task that failed."""
        waiting = asyncio.ensure_future(self._done.get())
        try:
            await asyncio.wait([waiting, *self._tasks], return_when=asyncio.FIRST_COMPLETED)
            while not waiting.done():
                for task in self._tasks:
                    if task.done():
                        task.result()
                running = [task for task in self._tasks if not task.done()]
                await asyncio.wait([waiting, *running], return_when=asyncio.FIRST_COMPLETED)
            return waiting.result()
        finally:
            waiting.cancel()

    async def _work(self) -> None:
        """Read batches until there are none left; a process that dies is replaced."""
        worker = "ragforge.brain.ingestion.pool"
        command = python_command(worker, self._root, self._project_id)
        while self._batches:
            async with open_process(command, stdin=PIPE, stdout=PIPE) as process:
                while self._batches:
                    batch = self._batches.popleft()
                    read = await _ask(process, batch)
                    if read is None:
                        await self._isolate(batch)
                        break
                    await self._done.put(read)

    async def _isolate(self, batch: list[Job]) -> None:
        """Queue the files of a batch one by one; one that ends a worker by itself is left out."""
        if len(batch) == 1:
            await self._done.put([ReadFile(batch[0][0], skipped="costly")])
        else:
            self._batches.extendleft([job] for job in reversed(batch))


async def _ask(process: Process, batch: list[Job]) -> list[ReadFile] | None:
    """Let a worker read a batch; return None if the worker died or takes too long."""
    assert process.stdin is not None
    assert process.stdout is not None
    data = pickle.dumps(batch)
    try:
        async with asyncio.timeout(BATCH_SECONDS):
            process.stdin.write(len(data).to_bytes(LENGTH_BYTES, "little") + data)
            await process.stdin.drain()
            length = int.from_bytes(await process.stdout.readexactly(LENGTH_BYTES), "little")
            read: list[ReadFile] = pickle.loads(await process.stdout.readexactly(length))
    except (ConnectionError, asyncio.IncompleteReadError, TimeoutError):
        return None
    return read


def _count_workers() -> int:
    """Return how many processes to start; the one that stores results needs a core too."""
    return min(max((os.cpu_count() or 1) - 1, 1), MAX_WORKERS)


def read_here(root: str, project_id: str, jobs: Sequence[Job], risky: list[Job]) -> list[ReadFile]:
    """Read files in this process; those that only a worker may parse are added to `risky`."""
    read = []
    for job in jobs:
        try:
            read.append(read_file(root, project_id, *job, is_fenced=False))
        except NeedsFence:
            risky.append(job)
    return read


def _split_batches(files: Sequence[FoundFile], jobs: Sequence[Job]) -> list[list[Job]]:
    batches: list[list[Job]] = []
    size = 0
    for file, job in zip(files, jobs, strict=True):
        if not batches or len(batches[-1]) >= BATCH_FILES or size + file.size > BATCH_BYTES:
            batches.append([])
            size = 0
        batches[-1].append(job)
        size += file.size
    return batches


def main() -> None:
    """Read files as a worker."""
    root, project_id = sys.argv[1:]
    limit_memory(WORKER_BYTES)
    gc.disable()  # a file makes many objects, and none of them is part of a cycle
    asked, answers = sys.stdin.buffer, sys.stdout.buffer
    while head := asked.read(LENGTH_BYTES):
        length = int.from_bytes(head, "little")
        job = asked.read(length)
        if len(job) < length:  # the parent was killed while it wrote
            return
        read = []
        for file in pickle.loads(job):
            limit_time(FILE_SECONDS)
            read.append(read_file(root, project_id, *file))
        data = pickle.dumps(read, pickle.HIGHEST_PROTOCOL)
        answers.write(len(data).to_bytes(LENGTH_BYTES, "little"))
        answers.write(data)
        answers.flush()


def limit_memory(limit: int) -> None:
    """Let this process fail before a file takes the memory of all others."""
    if resource is not None:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def limit_time(seconds: int) -> None:
    """Let the system end this process if it takes more CPU time from now on."""
    if resource is not None:
        with suppress(ValueError, OSError):
            _, maximum = resource.getrlimit(resource.RLIMIT_CPU)
            end = int(time.process_time()) + 1 + seconds
            resource.setrlimit(resource.RLIMIT_CPU, (end, maximum))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # it would leave a dump


if __name__ == "__main__":
    try:
        main()
    except (BrokenPipeError, MemoryError):  # the parent was killed, or replaces this process
        os._exit(1)  # print nothing, not even at exit

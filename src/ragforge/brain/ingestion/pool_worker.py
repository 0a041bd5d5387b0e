"""Pool worker: reads and parses the files named on its input, until that ends."""

from __future__ import annotations

import gc
import os
import pickle
import sys
import time
from contextlib import suppress

from ragforge.brain.ingestion.pool import FILE_SECONDS, LENGTH_BYTES, WORKER_BYTES, read_fenced


def main() -> None:
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
            read.append(read_fenced(root, project_id, file))
        data = pickle.dumps(read, pickle.HIGHEST_PROTOCOL)
        answers.write(len(data).to_bytes(LENGTH_BYTES, "little"))
        answers.write(data)
        answers.flush()


def limit_memory(most: int) -> None:
    """Let this process fail alone before a file takes the memory of all others."""
    try:
        import resource
    except ImportError:  # not on this system
        return
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def limit_time(seconds: int) -> None:
    """Let the system end this process if it takes more CPU time from now on."""
    try:
        import resource
    except ImportError:  # not on this system
        return
    with suppress(ValueError, OSError):
        _, most = resource.getrlimit(resource.RLIMIT_CPU)
        end = int(time.process_time()) + 1 + seconds
        resource.setrlimit(resource.RLIMIT_CPU, (end, most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # it would leave a dump


if __name__ == "__main__":
    try:
        main()
    except (BrokenPipeError, MemoryError):  # the parent was killed, or replaces this process
        os._exit(1)  # print nothing, not even at exit

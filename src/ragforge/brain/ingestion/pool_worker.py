"""A worker of the pool: reads and parses the files it is told to, until its input ends."""

from __future__ import annotations

import gc
import os
import pickle
import sys

from ragforge.brain.ingestion.pool import LENGTH_BYTES, read_all


def main() -> None:
    root, project_id = sys.argv[1:]
    gc.disable()  # what is made of a file are many objects, and none refers to itself
    asked, answers = sys.stdin.buffer, sys.stdout.buffer
    while head := asked.read(LENGTH_BYTES):
        length = int.from_bytes(head, "little")
        job = asked.read(length)
        if len(job) < length:  # whoever asked was killed over it
            return
        data = pickle.dumps(read_all(root, project_id, pickle.loads(job)), pickle.HIGHEST_PROTOCOL)
        answers.write(len(data).to_bytes(LENGTH_BYTES, "little"))
        answers.write(data)
        answers.flush()


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:  # whoever asked was killed: nobody is to be told, not at exit either
        os._exit(1)

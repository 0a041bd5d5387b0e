"""A worker of the pool: reads and parses the files it is told to, until its input ends."""

from __future__ import annotations

import pickle
import sys
from contextlib import suppress

from ragforge.brain.pool import LENGTH_BYTES, read_all


def main() -> None:
    root, project_id = sys.argv[1:]
    asked, answers = sys.stdin.buffer, sys.stdout.buffer
    while head := asked.read(LENGTH_BYTES):
        jobs = pickle.loads(asked.read(int.from_bytes(head, "little")))
        data = pickle.dumps(read_all(root, project_id, jobs), pickle.HIGHEST_PROTOCOL)
        answers.write(len(data).to_bytes(LENGTH_BYTES, "little"))
        answers.write(data)
        answers.flush()


if __name__ == "__main__":
    with suppress(BrokenPipeError):  # whoever asked was killed: nobody is to be told
        main()

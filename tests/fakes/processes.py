"""Processes: real ones that hold leases and can be killed."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from ragforge.domain.work import Holder

_TELL_AND_WAIT = """
import json, sys
from dataclasses import asdict
from ragforge.adapters.stores.holders import this_process
print(json.dumps(asdict(this_process())), flush=True)
sys.stdin.read()
"""


@dataclass(frozen=True, slots=True)
class Other:
    """Another process, as it names itself when it takes a lease."""

    holder: Holder
    process: subprocess.Popen[str]

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@contextmanager
def another_process() -> Iterator[Other]:
    """Start a process that does nothing until it is killed."""
    command = [sys.executable, "-c", _TELL_AND_WAIT]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        try:
            assert process.stdout is not None
            yield Other(Holder(**json.loads(process.stdout.readline())), process)
        finally:
            process.kill()

"""Watched: runs a module as `python -m` does, notes when its work begins and ends, and is killed.

    python -m scripts.campaign.watched TRACE KIND START CLOCK SECONDS MODULE ARGUMENTS…

The parts of the work are functions of RagForge. Each call of one writes a line to the trace before
and one after, so that it is known after a kill which part it hit.

A timer of the kernel ends the process some SECONDS after the START of its `run` or `work`, on the
`cpu` or the `wall` clock. Its signal is not handled, so no more code of the process runs, as after
kill -9. A killer outside would come late on a busy machine. 0 seconds mean no timer.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import os
import runpy
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

_STORES = "ragforge.adapters.stores.sqlite"
_TURN = (
    "ragforge.agent.turn:Agent.take_turn",
    "ragforge.memory.record:Recorder.record_question",
    "ragforge.memory.record:Recorder.record_answer",
    "ragforge.memory.record:Recorder.end_turn",
)
PARTS = {
    "ask": _TURN,
    "terminal": _TURN,
    "library": (f"{_STORES}.timeline:SqliteTimeline.append",),
    "import": ("ragforge.memory.importer.files:Importer.import_files",),
    "session-import": ("ragforge.memory.export_format.reader:import_conversation",),
    "ingest": ("ragforge.brain.ingestion.ingestion_run:IngestionRun.execute",),
    "copy": ("ragforge.memory.store_copy:copy_store",),
    "vacuum": (f"{_STORES}.vacuum:_run_vacuum", f"{_STORES}.vacuum:shrink_log"),
    "incremental-vacuum": (f"{_STORES}.vacuum:_give_all_back", f"{_STORES}.vacuum:shrink_log"),
    "migration": (f"{_STORES}.migrate:_upgrade",),
    "summarising": ("ragforge.jobs.worker:Worker.drain",),
}
"""The functions that do the work of each kind of victim."""
BEGINS, ENDS = "begins", "ends"
RUN, WORK = "run", "work"
TIMERS = {
    "cpu": (signal.ITIMER_PROF, signal.SIGPROF),
    "wall": (signal.ITIMER_REAL, signal.SIGALRM),
}
KILLED = tuple(-number for _, number in TIMERS.values())
"""The exit codes of a process that its timer ended."""


def find(part: str) -> tuple[Any, str]:
    """Return where a function is, and its name; `part` is `module:Class.function`."""
    module, _, path = part.partition(":")
    *classes, name = path.split(".")
    return functools.reduce(getattr, classes, importlib.import_module(module)), name


def watch(part: str, note: Callable[[str, str], None]) -> None:
    """Note before and after each call of a function."""
    place, name = find(part)
    setattr(place, name, _wrap(getattr(place, name), name, note))


def _wrap(operation: Any, name: str, note: Callable[[str, str], None]) -> Any:
    async def wait(*given: Any, **named: Any) -> Any:
        note(BEGINS, name)
        try:
            return await operation(*given, **named)
        finally:
            note(ENDS, name)

    def call(*given: Any, **named: Any) -> Any:
        note(BEGINS, name)
        try:
            return operation(*given, **named)
        finally:
            note(ENDS, name)

    wrapper = wait if inspect.iscoroutinefunction(operation) else call
    return functools.wraps(operation)(wrapper)


def main(trace: str, kind: str, start: str, clock: str, seconds: str, module: str) -> None:
    file = os.open(trace, os.O_WRONLY | os.O_APPEND)
    timer, number = TIMERS[clock]
    signal.signal(number, signal.SIG_DFL)
    begun: set[str] = set()

    def note(event: str, name: str) -> None:
        line = f"{event} {name} {time.process_time()} {time.monotonic()}\n"
        os.write(file, line.encode())
        stage = RUN if name == RUN else WORK
        if stage not in begun:
            begun.add(stage)
            if stage == start:
                signal.setitimer(timer, float(seconds))

    for part in PARTS[kind]:
        watch(part, note)
    sys.argv = sys.argv[6:]
    note(BEGINS, RUN)
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    finally:
        note(ENDS, RUN)


if __name__ == "__main__":
    main(*sys.argv[1:7])

"""A process that does the jobs of a store, and is killed at one step of it.

    python -m tests.faults.summariser STORE STEP

Steps are counted from 0: one before and one after everything that is asked of the store or
of the model. Without a step that comes, it does all the jobs and prints how many steps it took.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ragforge.domain.chat import ChatRequest
from ragforge.domain.schema import CONVERSATION
from ragforge.ports.store import Store
from tests.fakes.remembering import check_levels, memory_of
from tests.fakes.scripted_model import ScriptedModel

LONG = "word " * 500


class Steps:
    """Counts steps, and does something at one of them."""

    def __init__(self, last: int, at_last: Callable[[], None]) -> None:
        self.taken = 0
        self._last = last
        self._at_last = at_last

    def take(self) -> None:
        if self.taken == self._last:
            self._at_last()
        self.taken += 1


class Watched:
    """Wraps a port, and takes a step before and after each of its operations."""

    def __init__(self, port: object, steps: Steps) -> None:
        self._port = port
        self._steps = steps

    def __getattr__(self, name: str) -> Any:
        operation = getattr(self._port, name)

        async def watched(*args: Any, **named: Any) -> Any:
            self._steps.take()
            result = await operation(*args, **named)
            self._steps.take()
            return result

        return watched


def watched(store: Store, steps: Steps) -> Store:
    """Return the store with its memory and its jobs watched."""
    names = ("timeline", "jobs", "code")
    return replace(store, **{name: Watched(getattr(store, name), steps) for name in names})


def draft(_: ChatRequest) -> str:
    return json.dumps({"conversation_summary": "About carts. ".ljust(400, ".")})


async def store_turns(store: Store) -> str:
    """Store turns that call for two short-term summaries and a long-term one."""
    memory = memory_of(store, ScriptedModel(draft))
    talk = await memory.start()
    for number in range(2):
        await memory.say(talk, f"Question {number}?", LONG)
    return talk


async def check_summaries(store: Store, talk: str) -> None:
    """Check that each summary that was due is there once, and that no job is left."""
    memory = memory_of(store, ScriptedModel(draft))
    first, second = await check_levels(memory, await store.records.get(CONVERSATION, talk))
    assert (len(first), len(second)) == (2, 1)
    counts = (await store.jobs.count()).by_status
    assert (counts["pending"], counts["running"], counts["dead"]) == (0, 0, 0)


async def work(location: str, last: int) -> int:
    from ragforge.adapters.stores.sqlite.store import open_sqlite
    from ragforge.memory.secrets.redactor import REDACTOR
    from ragforge.search.words.tokenise import WORDS

    steps = Steps(last, lambda: os.kill(os.getpid(), signal.SIGKILL))

    def script(request: ChatRequest) -> str:
        steps.take()
        return draft(request)

    store = await open_sqlite(location, WORDS, REDACTOR)
    memory = memory_of(watched(store, steps), ScriptedModel(script))
    await memory.worker.drain()
    await store.close()
    return steps.taken


if __name__ == "__main__":
    print(asyncio.run(work(sys.argv[1], int(sys.argv[2]))))

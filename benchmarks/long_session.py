"""Does a turn cost more the longer its session is?

    python -m benchmarks.long_session [--turns 3000] [--every 500]

One session in one process, with a model that answers at once and no code beside it. Printed is
the CPU of a turn, background jobs included, over the 50 turns before each mark: what the first
turns of a session cost is what all of them should cost, within 1.3.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import tempfile
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

from benchmarks.measure import save
from ragforge import load_settings, open_app
from ragforge.domain.chat import AssistantMessage, ChatRequest, Reply, StreamEvent, Usage
from ragforge.llm.ask import Asker

BUCKET = 50
WORDS = 5_000
ANSWER_WORDS = 60


class InstantModel:
    """Answers every question at once with some words."""

    name = "instant:model"
    calls_tools = True

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance

    async def prepare(self) -> None:
        """Do nothing: there is nothing to load."""

    async def reply(self, request: ChatRequest) -> Reply:
        text = speak(self._chance, ANSWER_WORDS) if request.tools else '{"title": "A title"}'
        return Reply(AssistantMessage(text), Usage(1, 1, 1))

    async def stream(self, request: ChatRequest) -> AsyncIterator[StreamEvent]:
        yield await self.reply(request)

    async def close(self) -> None:
        """Do nothing: nothing was opened."""


def speak(chance: random.Random, count: int) -> str:
    """Return some words; as in every language, few of them are frequent and most are rare."""
    return " ".join(f"word{int(WORDS ** chance.random())}" for _ in range(count))


async def measure(turns: int, every: int) -> dict[int, float]:
    """Return the CPU of a turn in milliseconds, by the number of turns before."""
    chance = random.Random(16)
    found: dict[int, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / "project"
        (project / ".git").mkdir(parents=True)
        environ = {
            "RAGFORGE_STORE": f"{folder}/store.db",
            "RAGFORGE_AGENT__STATE_DIR": f"{folder}/state",
            "RAGFORGE_JOBS__DETACH": "false",
            "RAGFORGE_AGENT__CONTEXT__PLAN_BY": "rules",
        }
        settings = load_settings(project, environ=environ).settings
        async with open_app(settings, project) as opened:
            app = replace(opened, chat=Asker(InstantModel(chance)))
            session = await app.sessions.create()
            begun = 0.0
            for number in range(1, turns + 1):
                if (number + BUCKET - 1) % every == 0 or number == BUCKET + 1:
                    begun = time.process_time()
                await app.ask(f"How does {speak(chance, 8)} work?", session.uuid)
                if number % every == 0 or number == 2 * BUCKET:
                    found[number] = 1_000 * (time.process_time() - begun) / BUCKET
                    print(f"turns {number - BUCKET}-{number}: {found[number]:.0f} ms", flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=3_000)
    parser.add_argument("--every", type=int, default=500)
    given = parser.parse_args()
    found = asyncio.run(measure(given.turns, given.every))
    first, *_, last = found.values()
    print(f"the last costs {last / first:.2f} of the first")
    save("long_session", {"cpu_ms": found})


if __name__ == "__main__":
    main()

"""Does a turn cost more the longer its session is?

    python -m benchmarks.long_session [--turns 10000] [--every 1000] [--ask-all]

One session in one process, with a model that answers at once and no code next to it. Printed is
the CPU of a turn, background jobs included, over the 50 turns before each mark: what the first
turns of a session cost is what all of them should cost, within 1.3.

Between the marks, turns are stored as they would be after an answer, each with the receipt of a
full context, and their jobs are done; with `--ask-all` every turn is asked. A busy machine has slow
CPU seconds: a fixed work is timed before and after every 5 turns, the cost is also given in units
of it, and the median of the ten counts.
"""

from __future__ import annotations

import asyncio
import random
import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.measure import Row, make_parser, require, save
from ragforge import App, load_settings, open_app
from ragforge.domain.chat import ChatRequest
from ragforge.domain.conversations import Message
from ragforge.domain.text import Json
from ragforge.llm.ask import ChatClient
from tests.fakes.scripted_model import ScriptedModel

BUCKET = 50
GROUP = 5
"""How many turns are measured for each run of the fixed work."""
WARM = 20
"""How many turns are asked before those that are measured."""
FIRST_MARKS = (70, 120, 250, 500)
WORDS = 5_000
MAX_RATIO = 1.3
"""Of what a turn costs at the end, to what it cost at the start."""
ANSWER_WORDS = 60


def make_model(chance: random.Random) -> ScriptedModel:
    """Return a model that answers every question at once with some words."""

    def answer(request: ChatRequest) -> str:
        return speak(chance, ANSWER_WORDS) if request.tools else '{"title": "A title"}'

    return ScriptedModel(answer)


def speak(chance: random.Random, count: int) -> str:
    """Return some words; as in every language, few of them are frequent and most are rare."""
    return " ".join(f"word{int(WORDS ** chance.random())}" for _ in range(count))


def time_fixed_work() -> float:
    """Return the CPU of a work that is always the same, in milliseconds."""
    begun = time.process_time()
    counts: dict[str, int] = {}
    for number in range(200_000):
        name = f"word{number % 5_000}"
        counts[name] = counts.get(name, 0) + 1
    return 1_000 * (time.process_time() - begun)


async def store_turns(
    app: App, session_id: str, chance: random.Random, count: int, receipt: Json
) -> None:
    """Store turns as if they had been asked, and do the jobs that follow them."""
    for start in range(0, count, BUCKET):
        await app.recorder.store_turns(
            session_id,
            [
                (
                    Message("user", f"How does {speak(chance, 8)} work?"),
                    Message("assistant", speak(chance, ANSWER_WORDS), receipt=receipt),
                )
                for _ in range(start, min(start + BUCKET, count))
            ],
        )
        await app.jobs.wait(600)


async def measure(
    turns: int, every: int, bucket: int, ask_all: bool
) -> dict[int, dict[str, float]]:
    """Return what a turn costs, by the number of turns before: CPU, and in units of fixed work."""
    chance = random.Random(16)
    found: dict[int, dict[str, float]] = {}
    marks = sorted({*FIRST_MARKS, *range(every, turns + 1, every)})
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
            app = replace(opened, chat=ChatClient(make_model(chance)))
            session = await app.sessions.create()

            async def ask() -> Json:
                answer = await app.ask(f"How does {speak(chance, 8)} work?", session.uuid)
                require(answer.content and answer.problem is None, f"No answer: {answer.problem}")
                return replace(answer.receipt, layout=None).to_json()

            done, receipt = 0, None
            for mark in (mark for mark in marks if mark <= turns):
                ahead = mark - done - bucket
                if not ask_all and (stored := ahead - WARM) > 0:
                    await store_turns(app, session.uuid, chance, stored, receipt)
                    ahead = WARM
                for _ in range(ahead):
                    await ask()
                costs: list[tuple[float, float]] = []
                for _ in range(bucket // GROUP):
                    fixed = time_fixed_work()
                    begun = time.process_time()
                    for _ in range(GROUP):
                        receipt = await ask()
                    cpu = 1_000 * (time.process_time() - begun) / GROUP
                    costs.append((cpu, 2 * cpu / (fixed + time_fixed_work())))
                cpu, works = (statistics.median(each) for each in zip(*costs, strict=True))
                cheapest = min(each for _, each in costs)
                found[mark] = {"cpu_ms": cpu, "fixed_works": works, "least_fixed_works": cheapest}
                done = mark
                line = f"{cpu:.0f} ms, {works:.2f} fixed works (at least {cheapest:.2f})"
                print(f"turns {mark - bucket}-{mark}: {line}", flush=True)
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--turns", type=int, default=10_000)
    parser.add_argument("--every", type=int, default=1_000)
    parser.add_argument("--bucket", type=int, default=BUCKET, help="turns that are measured")
    parser.add_argument("--ask-all", action="store_true")
    given = parser.parse_args(arguments)
    found = asyncio.run(measure(given.turns, given.every, given.bucket, given.ask_all))
    require(len(found) > 1, f"{given.turns} turns have fewer than two marks ({FIRST_MARKS}).")
    first, *_, last = (each["fixed_works"] for each in found.values())
    peer = f"{min(found)} turns: {found[min(found)]['cpu_ms']:.0f} CPU ms"
    work = f"a turn after {max(found):,} others"
    save("long-session", found, [Row(work, round(last / first, 2), "× the first", MAX_RATIO, peer)])


if __name__ == "__main__":
    main()

"""Clock: one that is wrong, or is set while processes run. Needs Debian's `faketime`."""

from __future__ import annotations

import asyncio
import random
import sys
from functools import partial
from pathlib import Path

from ragforge.adapters.stores.sqlite.store import open_sqlite
from ragforge.domain.schema import CONVERSATION
from ragforge.memory.secrets.redactor import REDACTOR
from ragforge.search.words.tokenise import WORDS
from scripts.campaign.report import Counts, Minimum, Report
from scripts.campaign.workplace import environ_of, make_project, run_rounds
from tests.fakes.builders import conversation
from tests.faults.checks import look_for
from tests.faults.summariser import check_summaries, store_turns

JUMPS = ("-3650d", "-1d", "-1h", "-3s", "+3s", "+1h", "+1d", "+1500d")
MESSAGES = 60
NEVER = str(10**9)
LONGEST = 240  # seconds


async def set_clocks(folder: Path, rounds: int, chance: random.Random, report: Report) -> None:
    """Let processes work whose clock jumps, next to others whose clock is right."""
    library = find_library()
    if library is None:
        reason = "faketime is not installed"
        print(f"CLOCK JUMPS SKIPPED: {reason}", file=sys.stderr)
        report.add("clock", Counts(skipped=reason))
        return
    played = [
        partial(play_round, library, folder / str(number), random.Random(chance.random()))
        for number in range(rounds)
    ]
    counts = await run_rounds(played, at_once=2)
    report.add("clock", counts, Minimum(acknowledged=rounds))


def find_library() -> Path | None:
    """Return the library that `faketime` puts before the system's."""
    return next(iter(Path("/usr/lib").glob("*/faketime/libfaketime.so.1")), None)


async def play_round(library: Path, folder: Path, chance: random.Random) -> Counts:
    """Write and summarise with two clocks at once; then ask with the right one."""
    counts, project = Counts(), make_project(folder)
    env, clock, place = environ_of(folder), folder / "clock", folder / "store.db"
    clock.write_text("+0")
    wrong = {
        **env,
        "LD_PRELOAD": str(library),
        "FAKETIME_TIMESTAMP_FILE": str(clock),
        "FAKETIME_NO_CACHE": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }
    store = await open_sqlite(place, WORDS, REDACTOR)
    await store.records.put(CONVERSATION, conversation(uuid="c"))
    talk = await store_turns(store)
    await store.close()

    writer = ["tests.faults.writer", "messages", str(place), "c"]
    summariser = ["tests.faults.summariser", str(place), NEVER]
    started = [
        await _start([*writer, "wrong", str(MESSAGES)], project, wrong),
        await _start([*writer, "right", str(MESSAGES)], project, env),
        await _start(summariser, project, wrong),
        await _start(summariser, project, env),
    ]
    jumping = asyncio.create_task(_jump(clock, chance))
    ends = [await process.communicate() for process in started]
    jumping.cancel()
    jumps = clock.read_text()
    for process, (_, errors) in zip(started, ends, strict=True):
        counts.note_errors(errors.decode(), f"{folder.name}: the clock was set by {jumps}")
        if process.returncode:
            counts.problems.append(f"{folder.name}: ended with {process.returncode}, {jumps}")

    kept = await look_for(place, [f"{who} {n}" for who in ("wrong", "right") for n in range(60)])
    counts.acknowledged, counts.lost = 2 * MESSAGES, len(kept.lost)
    counts.problems += kept.problems
    store = await open_sqlite(place, WORDS, REDACTOR)
    said = [message.content for message in await store.timeline.messages("c")]
    for who in ("wrong", "right"):
        own = [text for text in said if text.startswith(f"{who} ")]
        counts.doubled += len(own) - len(set(own))
        if own != [f"{who} {n}" for n in range(MESSAGES)]:
            counts.problems.append(f"{folder.name}: messages out of order after {jumps}")
    await check_summaries(store, talk)
    await store.close()
    return counts


async def _start(
    words: list[str], project: Path, env: dict[str, str]
) -> asyncio.subprocess.Process:
    """Start a new Python: the library must be loaded before anything else."""
    pipe = asyncio.subprocess.PIPE
    variables = {**env, "PYTHONPATH": ":".join(part for part in sys.path if part)}
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", *words, cwd=project, env=variables, stdout=pipe, stderr=pipe
    )


async def _jump(clock: Path, chance: random.Random) -> None:
    """Set the clock again and again."""
    while True:
        await asyncio.sleep(chance.uniform(0.05, 0.5))
        draft = clock.with_suffix(".new")
        draft.write_text(chance.choice(JUMPS))
        draft.replace(clock)  # whole, so that no process reads half a number

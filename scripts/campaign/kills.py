"""Kills: everything that writes is killed at random moments."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from scripts.campaign.finishers import FINISHERS
from scripts.campaign.provider_reply import NoteWriter
from scripts.campaign.report import Counts, Minimum, Report, describe_crash
from scripts.campaign.talkers import Asking, Typing, Writing, make_marks
from scripts.campaign.victims import Victim
from scripts.campaign.workplace import run_rounds
from tests.faults.checks import find_processes

TALKERS = (Asking, Writing, Typing)
NAMES = tuple(kind.name for kind in (*TALKERS, *FINISHERS))
INSIDE = 0.5  # of the kills must hit the work
ATTEMPTS = 20


async def kill_all(
    folder: Path, kills: int, seed: int, report: Report, wanted: Callable[[str], bool]
) -> None:
    """Kill each kind of victim as often as every other."""
    each = math.ceil(kills / len(NAMES))
    async with NoteWriter() as server:
        marks = make_marks()
        talkers = [kind(server, marks) for kind in TALKERS]
        for victim in (*talkers, *(kind() for kind in FINISHERS)):
            if wanted(victim.name):
                chance = random.Random(f"{seed} {victim.name}")
                await kill_often(victim, folder / victim.name, each, chance, report)


async def kill_often(
    victim: Victim, folder: Path, kills: int, chance: random.Random, report: Report
) -> None:
    """Kill victims until there are this many kills, and note the minimum that this must show."""
    begun, counts = time.monotonic(), Counts()
    try:
        await victim.prepare(folder)
        counts.remarks.append(f"its work takes {victim.usual.work['cpu']:.2f} CPU s")
        for attempt in range(ATTEMPTS):  # some victims end before they can be killed
            rounds = [
                partial(victim.play_round, folder / f"{attempt}-{n}", size, _branch(chance))
                for n, size in enumerate(_split(kills - counts.kills, victim, chance))
            ]
            counts.add(await run_rounds(rounds, victim.at_once))
    except Exception as error:  # the other kinds are killed all the same
        counts.problems.append(f"the campaign failed: {describe_crash(error)}")
    counts.problems += [f"left over: {one}" for one in find_processes(folder)]
    counts.seconds = time.monotonic() - begun
    acknowledged = math.ceil(kills * victim.acknowledged_per_kill)
    minimum = Minimum(kills, math.ceil(kills * INSIDE), acknowledged)
    report.add(victim.name, counts, minimum)


def _branch(chance: random.Random) -> random.Random:
    """Return a separate random generator, so that concurrent rounds do not depend on each other."""
    return random.Random(chance.random())


def _split(total: int, victim: Victim, chance: random.Random) -> Iterator[int]:
    """Yield the sizes of rounds that make up a total."""
    while total > 0:
        part = min(total, victim.choose_size(chance))
        total -= part
        yield part

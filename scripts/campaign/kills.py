"""Kills: kill -9 at random moments of everything that writes."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from scripts.campaign.finishers import FINISHERS, MOST_KILLS
from scripts.campaign.provider_reply import NoteWriter
from scripts.campaign.report import Report
from scripts.campaign.talkers import KILLS_A_ROUND, Asking, Typing, Writing, make_marks
from scripts.campaign.workplace import run_rounds
from tests.faults.checks import find_processes

TALKERS = (Asking, Writing, Typing)
NAMES = tuple(kind.name for kind in (*TALKERS, *FINISHERS))


async def kill_all(
    folder: Path, kills: int, chance: random.Random, report: Report, wanted: Callable[[str], bool]
) -> None:
    """Kill each kind of victim about as often as every other."""
    each = max(1, kills // len(NAMES))
    async with NoteWriter() as server:
        marks = make_marks()
        for talker in (kind(server, marks) for kind in TALKERS if wanted(kind.name)):
            place = folder / talker.name
            await talker.prepare(place / "clean")
            rounds = [
                partial(talker.play_round, place / str(n), amount, random.Random(chance.random()))
                for n, amount in enumerate(_split(each, lambda: KILLS_A_ROUND))
            ]
            report.add(talker.name, await run_rounds(rounds, at_once=2))
            _note_end(place, talker.name, talker.usual, report)
    for kind in FINISHERS:
        if wanted(kind.name):
            place = folder / kind.name
            finisher = kind(place)
            await finisher.prepare()
            rounds = [
                partial(finisher.play_round, place / str(n), amount, random.Random(chance.random()))
                for n, amount in enumerate(_split(each, lambda: chance.randint(1, MOST_KILLS)))
            ]
            report.add(kind.name, await run_rounds(rounds))
            _note_end(place, kind.name, finisher.usual, report)


def _split(total: int, size: Callable[[], int]) -> Iterator[int]:
    """Yield the sizes of rounds that make up a total."""
    while total > 0:
        part = min(total, size())
        total -= part
        yield part


def _note_end(folder: Path, name: str, usual: float, report: Report) -> None:
    """Note which processes are left, and what a victim costs that is not killed."""
    part = report.parts[name]
    part.problems += [f"left over: {one}" for one in find_processes(folder)]
    part.remarks.append(f"a run to its end takes {usual:.2f} CPU s")

"""Run: all parts of a campaign, one after the other."""

from __future__ import annotations

import asyncio
import gc
import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from scripts.campaign.clock import set_clocks
from scripts.campaign.damage import damage_copies
from scripts.campaign.disk import fill_disks
from scripts.campaign.kills import NAMES, kill_all
from scripts.campaign.provider import trouble_turns
from scripts.campaign.report import Counts, Report, describe_crash
from scripts.campaign.server_copies import break_copies
from tests.faults.checks import find_processes

KILLS = "kills"
FAMILIES = {
    "damage": damage_copies,
    "disk": fill_disks,
    "clock": set_clocks,
    "provider": trouble_turns,
    "server": break_copies,
}
"""What is done in addition to kills."""


async def run_campaign(
    folder: Path,
    *,
    kills: int,
    damaged: int,
    rounds: int,
    seed: int,
    only: str | None = None,
) -> Report:
    """Run a campaign in an empty folder; the seed decides what happens, not exactly when."""
    report = Report(seed)
    names = {None: {*NAMES, *FAMILIES}, KILLS: set(NAMES)}.get(only, {only})

    def is_wanted(name: str) -> bool:
        if name in names:
            print(f"{name} …", file=sys.stderr, flush=True)
        return name in names

    with noting_crashes(report):
        await kill_all(folder, kills, seed, report, is_wanted)
        for name, attack in FAMILIES.items():
            if is_wanted(name):
                amount = damaged if name == "damage" else rounds
                try:
                    await attack(folder / name, amount, random.Random(seed), report)
                except Exception as error:  # the other families have their turn all the same
                    report.add(name, Counts(problems=[f"it failed: {describe_crash(error)}"]))
                left = find_processes(folder / name)
                report.parts[name].problems += [f"left over: {one}" for one in left]
    return report


@contextmanager
def noting_crashes(report: Report) -> Iterator[None]:
    """Note what the campaign's own servers and tasks raise: asyncio would only log it."""

    def note(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        what = f": {describe_crash(error)}" if isinstance(error, BaseException) else ""
        report.note_crash(context["message"] + what)

    loop = asyncio.get_running_loop()
    before = loop.get_exception_handler()
    loop.set_exception_handler(note)
    try:
        yield
        gc.collect()  # a task that was not awaited reports its exception when it is collected
    finally:
        loop.set_exception_handler(before)

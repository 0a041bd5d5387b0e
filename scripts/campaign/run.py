"""Run: all parts of a campaign, one after the other."""

from __future__ import annotations

import random
import sys
from pathlib import Path

from scripts.campaign.clock import set_clocks
from scripts.campaign.damage import damage_copies
from scripts.campaign.disk import fill_disks
from scripts.campaign.kills import kill_all
from scripts.campaign.provider import trouble_turns
from scripts.campaign.report import Report
from scripts.campaign.server_copies import break_copies
from tests.faults.checks import find_processes

FAMILIES = {
    "damage": damage_copies,
    "disk": fill_disks,
    "clock": set_clocks,
    "provider": trouble_turns,
    "server": break_copies,
}


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

    def is_wanted(name: str) -> bool:
        if only in (None, name):
            print(f"{name} …", file=sys.stderr, flush=True)
        return only in (None, name)

    await kill_all(folder, kills, random.Random(seed), report, is_wanted)
    for name, attack in FAMILIES.items():
        if is_wanted(name):
            amount = damaged if name == "damage" else rounds
            await attack(folder / name, amount, random.Random(seed), report)
            left = find_processes(folder / name)
            report.parts[name].problems += [f"left over: {one}" for one in left]
    return report

"""Victims: what the kinds of victims have in common."""

from __future__ import annotations

import random
import shutil
from abc import ABC, abstractmethod
from pathlib import Path

from scripts.campaign.report import Counts
from scripts.campaign.traces import Usual


class Victim(ABC):
    """One kind of victim: what it does, and how long that usually takes."""

    name = ""
    at_once = 4  # rounds
    acknowledged_per_kill = 0.75  # the minimum that a campaign must have checked

    def __init__(self) -> None:
        self.usual = Usual()

    @abstractmethod
    def choose_size(self, chance: random.Random) -> int:
        """Return how many kills one round has at most."""

    async def prepare(self, folder: Path) -> None:
        """Make what all rounds start from, and let one victim run undisturbed.

        Raises AssertionError if it fails, or if its work was not seen.
        """
        counts = await self.play_round(folder / "clean", 0, random.Random(0))
        if counts.failed:
            raise AssertionError(f"{self.name} fails without a fault: {counts.problems}")
        if not self.usual.work:
            raise AssertionError(f"{self.name} does no work: see PARTS in watched.py")

    async def play_round(self, folder: Path, kills: int, chance: random.Random) -> Counts:
        """Kill up to this many in a new folder, let one end, and look at what is there.

        The folder is kept if something is wrong.
        """
        counts = Counts()
        await self.fill_round(folder, kills, chance, counts)
        if not counts.failed and kills:
            shutil.rmtree(folder)
        return counts

    @abstractmethod
    async def fill_round(
        self, folder: Path, kills: int, chance: random.Random, counts: Counts
    ) -> None:
        """Play the round, and add to its counts."""

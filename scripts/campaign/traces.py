"""Traces: what a victim noted of its work, and when it is killed."""

from __future__ import annotations

import os
import random
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from scripts.campaign.watched import BEGINS, ENDS, RUN, TIMERS, WORK

ANYWHERE = 0.1  # of the kills come at any moment of a run, also before or after the work
SOONEST = 1e-5  # seconds; 0 would be no timer
CLOCKS = tuple(TIMERS)

Seconds = Mapping[str, float]
"""How long something took, by clock."""


@dataclass(frozen=True, slots=True)
class Usual:
    """How long a victim takes that is not killed, and its work, which is a part of that."""

    run: Seconds = field(default_factory=dict)
    work: Seconds = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Moment:
    """When to kill a victim: after a share of its run or of its work."""

    share: float
    clock: str = "cpu"  # the other one also hits a victim that waits
    start: str = WORK

    def describe(self, usual: Usual) -> list[str]:
        """Return it as `watched` wants it."""
        lengths = usual.run if self.start == RUN else usual.work
        return [self.start, self.clock, str(max(SOONEST, self.share * lengths[self.clock]))]


NEVER = [RUN, "cpu", "0"]


def choose_moments(kills: int, chance: random.Random) -> list[Moment]:
    """Choose this many moments."""
    return [
        Moment(chance.random(), chance.choice(CLOCKS), RUN if chance.random() < ANYWHERE else WORK)
        for _ in range(kills)
    ]


@dataclass(frozen=True, slots=True)
class _Note:
    event: str
    part: str
    seconds: Seconds


class Trace:
    """The file in which a victim notes the parts of its work."""

    def __init__(self, folder: Path, kind: str) -> None:
        file, path = tempfile.mkstemp(prefix="trace-", dir=folder)
        os.close(file)
        self.path = Path(path)
        self._kind = kind

    def watch(self, words: Sequence[str], moment: Moment | None, usual: Usual) -> list[str]:
        """Return the module and arguments that run a module, note its work here and end it."""
        when = NEVER if moment is None else moment.describe(usual)
        return ["scripts.campaign.watched", str(self.path), self._kind, *when, *words]

    def _read(self) -> list[_Note]:
        lines = (line.split() for line in self.path.read_text().splitlines())
        return [
            _Note(event, part, dict(zip(CLOCKS, map(float, seconds), strict=True)))
            for event, part, *seconds in lines
        ]

    def measure(self) -> Usual:
        """Return how long the run and its work took, from the first note to the last."""
        notes = self._read()
        return Usual(_measure(notes), _measure([one for one in notes if one.part != RUN]))

    def has_ended(self, name: str) -> bool:
        """Tell whether a part of the work was done once."""
        return any((one.event, one.part) == (ENDS, name) for one in self._read())

    @property
    def unfinished(self) -> str:
        """The part of the work that began last and has not ended, or nothing."""
        notes = [one for one in self._read() if one.part != RUN]
        begun = Counter(one.part for one in notes if one.event == BEGINS)
        begun -= Counter(one.part for one in notes if one.event == ENDS)
        return next((one.part for one in reversed(notes) if begun[one.part]), "")


def _measure(notes: Sequence[_Note]) -> Seconds:
    if not notes:
        return {}
    return {clock: notes[-1].seconds[clock] - notes[0].seconds[clock] for clock in CLOCKS}

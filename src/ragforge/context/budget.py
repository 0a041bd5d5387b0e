"""Budget: select what fits into a number of characters, the best first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field, replace
from typing import Generic, TypeVar

from ragforge.domain.chat import WindowShares
from ragforge.domain.text import shorten
from ragforge.records import dataclass

MIN_CUT = 200
"""A shorter part is not worth showing."""
BETWEEN = 2
"""Characters between two entries."""
ENTRIES = 4
"""Even a small budget shows several memories."""
MISSES = 10
"""After this number of misses in a row the others are not tried: they are hardly shorter."""

Thing = TypeVar("Thing")


@dataclass(frozen=True, slots=True)
class Budget:
    """How many characters a context and its parts may have, fences included.

    Memories get the rest. Counts that are None do not restrict.
    """

    total: int
    queries: int
    recent: int
    code: int
    code_hits: int = 100  # how many are searched for, before the selection
    recent_turns: int | None = None
    memories: int | None = None
    level_1: int | None = None  # of the conversation's own short-term summaries
    min_score: float = 0.0  # of memories
    recalls: bool = True  # else only the newest turns of the conversation are used
    keeps_code: bool = False  # the part of code is not made smaller for memories

    def shrink(self, shares: WindowShares) -> Budget:
        """Return the budget with all parts made smaller, if it is larger than a model takes."""
        total = shares.context
        if total is None or total >= self.total:
            return self
        parts = ("queries", "recent", "code")
        smaller = {part: getattr(self, part) * total // self.total for part in parts}
        if shares.code is not None:  # a small model rarely searches again
            return replace(self, total=total, **{**smaller, "code": shares.code}, keeps_code=True)
        return replace(self, total=total, **smaller)

    @property
    def entry(self) -> int:
        """The most characters of one memory, so that the best leaves room for the next."""
        return max(min(1_000, self.total // ENTRIES), self.total // 20)

    @property
    def own_summaries(self) -> int:
        """For the conversation's own summaries, which are part of every request."""
        return self.total * 3 // 10 if self.recalls else 0

    @property
    def instructions(self) -> int:
        """For the project's own instructions."""
        return self.total // 10


@dataclass(frozen=True, slots=True)
class Fit(Generic[Thing]):
    """Which things are shown, and which are left out."""

    shown: list[tuple[Thing, str]] = field(default_factory=list)  # with its text
    cut: list[Thing] = field(default_factory=list)  # shown, without their middle
    left_out: list[Thing] = field(default_factory=list)

    @property
    def chars(self) -> int:
        return sum(len(text) + BETWEEN for _, text in self.shown)


def select_fitting(
    things: Sequence[Thing], text_of: Callable[[Thing], str], chars: int, *, may_cut: bool = False
) -> Fit[Thing]:
    """Return the things whose texts fit, in their order. One that does not fit is skipped.

    With `may_cut`, the best of those skipped is shown without its middle, if there is room.
    """
    fit: Fit[Thing] = Fit()
    kept: dict[int, str] = {}
    skipped: dict[int, str] = {}
    misses = 0
    for at, thing in enumerate(things):
        if misses == MISSES:
            break
        text = text_of(thing)
        if len(text) + BETWEEN <= chars:
            kept[at] = text
            chars -= len(text) + BETWEEN
            misses = 0
        else:
            skipped[at] = text
            misses += 1
    if may_cut and skipped and chars - BETWEEN >= MIN_CUT:
        best = min(skipped)
        kept[best] = shorten(skipped[best], chars - BETWEEN)
        fit.cut.append(things[best])
    left = [at for at in range(len(things)) if at not in kept]
    fit.shown.extend((things[at], kept[at]) for at in sorted(kept))
    fit.left_out.extend(things[at] for at in left)
    return fit


def select_newest(
    things: Sequence[Thing], text_of: Callable[[Thing], str], chars: int
) -> Fit[Thing]:
    """Return the newest things that fit, without gaps. The things come oldest first."""
    fit: Fit[Thing] = Fit()
    for at in range(len(things) - 1, -1, -1):
        text = text_of(things[at])
        chars -= len(text) + BETWEEN
        if chars < 0:
            fit.left_out.extend(things[: at + 1])
            break
        fit.shown.insert(0, (things[at], text))
    return fit

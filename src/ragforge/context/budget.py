"""Budget: what fits into a number of characters, the best first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from ragforge.domain.text import shorten

LEAST_CUT = 200
"""Less of something is not worth showing."""
BETWEEN = 2
"""Characters between two entries."""

Thing = TypeVar("Thing")


@dataclass(frozen=True, slots=True)
class Budget:
    """How many characters a context may have, and some parts of it; fences count.

    What memory finds gets all the rest. Counts that are None do not restrict.
    """

    total: int
    queries: int
    recent: int
    code: int
    code_hits: int = 100  # found in code before characters decide
    recent_turns: int | None = None
    memories: int | None = None
    level_1: int | None = None  # of the conversation's own short-term summaries
    min_score: float = 0.0  # of memories
    recalls: bool = True  # without, only the newest turns of the conversation are remembered

    @property
    def entry(self) -> int:
        """The most characters of one memory: the best must not leave the next without room."""
        return max(1_000, self.total // 20)

    @property
    def own_summaries(self) -> int:
        """For the conversation's own summaries, which come with every question."""
        return self.total * 3 // 10 if self.recalls else 0

    @property
    def instructions(self) -> int:
        """For the project's own instructions."""
        return self.total // 10


@dataclass(frozen=True, slots=True)
class Fit(Generic[Thing]):
    """What is shown of some things, and what is not."""

    shown: list[tuple[Thing, str]] = field(default_factory=list)  # with its text
    cut: list[Thing] = field(default_factory=list)  # shown, without their middle
    left_out: list[Thing] = field(default_factory=list)

    @property
    def chars(self) -> int:
        return sum(len(text) + BETWEEN for _, text in self.shown)


def select_fitting(
    things: Sequence[Thing], text_of: Callable[[Thing], str], chars: int, *, may_cut: bool = False
) -> Fit[Thing]:
    """Return the things whose texts fit, in their order; one that is too long makes way.

    With `may_cut` the best of those that are left is shown without its middle, if there is
    room for some of it.
    """
    fit: Fit[Thing] = Fit()
    texts = {at: text_of(thing) for at, thing in enumerate(things)}
    kept: dict[int, str] = {}
    for at, text in texts.items():
        if len(text) + BETWEEN <= chars:
            kept[at] = text
            chars -= len(text) + BETWEEN
    left = [at for at in texts if at not in kept]
    if may_cut and left and chars - BETWEEN >= LEAST_CUT:
        best = left.pop(0)
        kept[best] = shorten(texts[best], chars - BETWEEN)
        fit.cut.append(things[best])
    fit.shown.extend((things[at], kept[at]) for at in sorted(kept))
    fit.left_out.extend(things[at] for at in left)
    return fit


def select_newest(
    things: Sequence[Thing], text_of: Callable[[Thing], str], chars: int
) -> Fit[Thing]:
    """Return the newest of things that stand oldest first: without gaps, in their order."""
    fit: Fit[Thing] = Fit()
    for at in range(len(things) - 1, -1, -1):
        text = text_of(things[at])
        chars -= len(text) + BETWEEN
        if chars < 0:
            fit.left_out.extend(things[: at + 1])
            break
        fit.shown.insert(0, (things[at], text))
    return fit

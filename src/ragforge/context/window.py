"""Window: which of a conversation's newest turns are sent as messages.

A provider's cache is used as long as a request begins like the previous one. So the window grows
only at its end, until it is too long; then a whole summarised stretch leaves it.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from itertools import accumulate

from ragforge.context.replay import ReplayLimits, Replays
from ragforge.domain.chat import ChatMessage
from ragforge.domain.receipts import Layout
from ragforge.domain.turns import Turn
from ragforge.records import dataclass

TURN_CHARS = 40
"""What a turn costs in addition to its text: the marks between messages."""
MAX_QUERIES = 20
"""How many turns beyond the window are read for their questions."""
GROWTH = 3.0
"""How many times its least length the window may have before a stretch leaves it."""
ENOUGH = 0.75
"""The share that may be in use after older results are shortened; else a stretch leaves too."""


@dataclass(frozen=True, slots=True)
class Window:
    """The turns that are shown: the first, and the first with whole tool results."""

    first: int
    whole_from: int


@dataclass(frozen=True, slots=True)
class WindowLimits:
    """The least and the most characters of the window, and the limits of a turn in it."""

    min_chars: int
    max_chars: int
    whole: ReplayLimits  # of the newest turns
    short: ReplayLimits  # of older ones

    @classmethod
    def of(cls, recent: int, total: int) -> WindowLimits:
        """Return the limits for a budget of recent turns within a total."""
        unit = min(max(recent, total // 10), total // 3)
        whole, short = ReplayLimits(2 * unit, unit // 2), ReplayLimits(unit, unit // 10)
        max_chars = min(round(GROWTH * recent), total)
        return cls(recent, max(max_chars, whole.total), whole, short)

    def get_turn_limits(self, index: int, window: Window) -> ReplayLimits:
        """Return how much of a turn is shown."""
        return self.whole if index >= window.whole_from else self.short


def get_index(turn: Turn) -> int:
    """Return the number of a stored turn in its conversation."""
    return turn.user.turn_index or 0


def list_shown(turns: Sequence[Turn], window: Window) -> list[Turn]:
    """Return the turns that a window shows, oldest first."""
    return [turn for turn in turns if get_index(turn) >= window.first]


def replay_window(
    turns: Sequence[Turn], window: Window, limits: WindowLimits, replays: Replays
) -> list[list[ChatMessage]]:
    """Return the messages of each turn that the window shows."""
    return [
        replays.of(turn, limits.get_turn_limits(get_index(turn), window))
        for turn in list_shown(turns, window)
    ]


def choose_window(
    turns: Sequence[Turn],
    starts: Collection[int],
    before: Window | None,
    limits: WindowLimits,
    replays: Replays,
) -> Window:
    """Return the window over turns, oldest first; `starts` are where summarised stretches begin.

    The previous window stays until it is too long. The newest turn is always included.
    """
    if not turns:
        return Window(0, 0)
    newest = get_index(turns[-1])
    sizes = _Sizes(turns, limits, replays)
    oldest = get_index(turns[0])
    kept = before if before is not None and oldest <= before.first <= newest else None
    kept = kept or Window(oldest, oldest)
    if sizes.total(kept) <= limits.max_chars:
        return kept
    shorter = Window(kept.first, newest)
    if sizes.total(shorter) <= ENOUGH * limits.max_chars:
        return shorter
    later = [index for index in map(get_index, turns) if index > kept.first]
    for candidates in ([index for index in later if index in starts], later):
        enough = [
            window
            for index in reversed(candidates)
            if sizes.total(window := Window(index, newest)) >= limits.min_chars
        ]
        if enough and sizes.total(enough[0]) <= limits.max_chars:
            return enough[0]
    return shorter if sizes.total(shorter) <= limits.max_chars else Window(newest, newest)


class TurnsToRead:
    """Decides which of the newest turns to read: for the window, or for their questions.

    The previous window is read again. Turns are passed newest first.
    """

    def __init__(
        self, limits: WindowLimits, queries: int, replays: Replays, before: Layout | None
    ) -> None:
        self._first = math.inf if before is None else before.first_turn
        self._replays = replays
        self._limits = limits
        self._left = limits.max_chars
        self._queries = queries
        self._beyond = 0

    def wants(self, turn: Turn) -> bool:
        """Tell whether to read a turn, and count its size."""
        if self._left > 0 or get_index(turn) >= self._first:
            self._left -= TURN_CHARS + self._replays.size(turn, self._limits.short)
            return True
        self._beyond += 1
        self._queries -= len(turn.user.content)
        return self._queries >= 0 and self._beyond <= MAX_QUERIES


class _Sizes:
    """The total size of turns, with whole and with short tool results."""

    def __init__(self, turns: Sequence[Turn], limits: WindowLimits, replays: Replays) -> None:
        self._indexes = [get_index(turn) for turn in turns]
        self._whole = _add_up(replays.size(turn, limits.whole) for turn in turns)
        self._short = _add_up(replays.size(turn, limits.short) for turn in turns)

    def total(self, window: Window) -> int:
        """Return how many characters a window shows."""
        first = bisect_left(self._indexes, window.first)
        whole = max(first, bisect_left(self._indexes, window.whole_from))
        return self._short[whole] - self._short[first] + self._whole[-1] - self._whole[whole]


def _add_up(sizes: Iterable[int]) -> list[int]:
    """Return how many characters come before each turn, and the total."""
    return [0, *accumulate(TURN_CHARS + size for size in sizes)]

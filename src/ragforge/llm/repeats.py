"""Repeats: notice when a model makes the same call with the same result again and again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from ragforge.domain.text import to_text
from ragforge.llm.calls import ExecutedCall

POINTED_OUT = 3
"""From so many times on the model reads that it repeats itself; if it goes on, it is stopped."""


class Repeats:
    """Counts equal calls with equal results, as long as nothing is changed between them."""

    def __init__(self, changing: Collection[str], limit: int = POINTED_OUT) -> None:
        self._limit = limit
        self._changing = changing  # the names of tools that change something
        self._times: Counter[tuple[str, str, str]] = Counter()
        self._pointed_out: set[tuple[str, str, str]] = set()
        self.is_stuck = False  # it was pointed out, and the model did it again

    def take(self, made: Sequence[ExecutedCall]) -> list[str]:
        """Count the calls of a round; return a note for the model about each, mostly empty."""
        shapes = [self._count(call) for call in made]
        self.is_stuck = not self._pointed_out.isdisjoint(shapes)
        often = {shape for shape in shapes if self._times[shape] >= self._limit}
        self._pointed_out |= often
        return [_describe(self._times[shape]) if shape in often else "" for shape in shapes]

    def _count(self, call: ExecutedCall) -> tuple[str, str, str]:
        result = call.error or call.result
        if isinstance(result, dict):  # how long it took is not what came out
            result = {key: value for key, value in result.items() if key != "duration_ms"}
        shape = (call.name, to_text(call.arguments), to_text(result))
        if call.success and call.name in self._changing and shape not in self._times:
            self._times.clear()  # the same call may give something else now
            self._pointed_out.clear()
        self._times[shape] += 1
        return shape


def _describe(times: int) -> str:
    return (
        f"(This call was made {times} times with this same result. It will not change: "
        "do something else, or answer with what you have.)"
    )

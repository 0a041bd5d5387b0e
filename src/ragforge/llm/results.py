"""Results: the outcome of each item, and the progress of a batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeAlias

from ragforge.domain.chat import Usage
from ragforge.errors import RagForgeError
from ragforge.llm.calls import ExecutedCall
from ragforge.llm.task import Output
from ragforge.records import dataclass


@dataclass(frozen=True, slots=True)
class Outcome(Generic[Output]):
    """The outcome of one item: an output or an error, and the calls made for it."""

    index: int
    output: Output | None = None
    error: RagForgeError | None = None
    calls: tuple[ExecutedCall, ...] = ()  # in the mode `global`, those of its whole batch


@dataclass(frozen=True, slots=True)
class BatchResult(Generic[Output]):
    """One outcome an item, in the order of the items; every call that was executed."""

    outcomes: tuple[Outcome[Output], ...]
    calls: tuple[ExecutedCall, ...]
    usage: Usage

    @property
    def outputs(self) -> list[Output | None]:
        return [outcome.output for outcome in self.outcomes]

    @property
    def failed(self) -> list[Outcome[Output]]:
        return [outcome for outcome in self.outcomes if outcome.error is not None]


@dataclass(frozen=True, slots=True)
class BatchProgress:
    """How far a batch is; failed items are among the done."""

    done: int
    failed: int
    total: int


OnProgress: TypeAlias = Callable[[BatchProgress], None]


class ProgressCounter:
    """Counts finished items and reports the progress of a batch."""

    def __init__(self, total: int, on_progress: OnProgress | None) -> None:
        self._progress = BatchProgress(0, 0, total)
        self._on_progress = on_progress

    def add(self, outcomes: Sequence[Outcome[Any]]) -> None:
        if not outcomes:
            return
        failed = sum(outcome.error is not None for outcome in outcomes)
        before = self._progress
        self._progress = BatchProgress(
            before.done + len(outcomes), before.failed + failed, before.total
        )
        if self._on_progress is not None:
            self._on_progress(self._progress)

"""Progress on stderr: bars in a terminal, a line now and then in a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from ragforge.show.console import is_for_reader, open_console, print_note

if TYPE_CHECKING:
    from rich.progress import Progress

    from ragforge.app.features.code import Code, IngestionStep, OnStep

OnProgress: TypeAlias = Callable[[str, int, int], None]
"""Receives what is counted, the number done, and the total."""

LINE_SECONDS = 10.0
_NAMES = {
    "waiting": "waiting for another process",
    "copying": "copying another checkout",
    "reading": "reading files",
    "relating": "relating",
    "embedding": "embedding scopes",
}


@contextmanager
def show_progress() -> Iterator[OnProgress]:
    """Show the progress of some work; yields the function to call with every step."""
    with _open_bars(13) as bars:
        task = bars.add_task("", total=None, detail="")
        yield lambda name, done, total: bars.update(
            task, description=name, completed=done, total=total
        )


@contextmanager
def show_ingestion() -> Iterator[OnStep]:
    """Show the progress of an ingestion; yields the function to pass to it."""
    if not sys.stderr.isatty() or is_for_reader():
        yield _show_lines()
        return
    with _open_bars(28) as bars:
        tasks = {
            phase: bars.add_task(name, start=False, visible=False, detail="")
            for phase, name in _NAMES.items()
        }

        def on_step(step: IngestionStep) -> None:
            task = tasks[step.phase]
            bars.start_task(task)
            total = step.total or None
            detail = format_detail(step, bars.tasks[task].speed)
            bars.update(task, visible=True, completed=step.done, total=total, detail=detail)

        yield on_step


def _open_bars(name_width: int) -> Progress:
    """Return bars that are hidden where no one can see them; each task has a `detail`."""
    from rich.progress import (  # slow to load: most commands show no bar
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    out = open_console(stderr=True)
    columns = (
        TextColumn(f"{{task.description:<{name_width}}}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[detail]}"),
        TimeRemainingColumn(),
    )
    is_hidden = not out.is_terminal or is_for_reader()
    return Progress(*columns, console=out, transient=True, disable=is_hidden)


def _show_lines() -> OnStep:
    lines = ProgressLines(time.monotonic())

    def on_step(step: IngestionStep) -> None:
        line = lines.describe(step, time.monotonic())
        if line is not None:
            print_note(line)

    return on_step


@dataclass(slots=True)
class ProgressLines:
    """Lines about a long ingestion, one every ten seconds; none about a short one."""

    last: float  # when the last line was made, or the ingestion began
    phase: str = ""
    begun: float = 0.0  # the phase
    before: int = 0  # how much of it was done then

    def describe(self, step: IngestionStep, now: float) -> str | None:
        """Return the line about a step, or None if it is too early for another one."""
        if step.phase != self.phase:
            self.phase, self.begun, self.before = step.phase, now, step.done
        if now < self.last + LINE_SECONDS:
            return None
        self.last = now
        if not step.total:
            return _NAMES[step.phase]
        parts = [f"{_NAMES[step.phase]}: {step.done:,} of {step.total:,}"]
        passed = now - self.begun
        speed = (step.done - self.before) / passed if passed else 0.0
        if detail := format_detail(step, speed):
            parts.append(detail)
        if speed:
            parts.append(f"{(step.total - step.done) / speed:,.0f} s left")
        return ", ".join(parts)


def format_detail(step: IngestionStep, speed: float | None) -> str:
    """Return the details next to the count: the speed, and how much was found."""
    parts = [f"{speed:,.0f}/s"] if speed else []
    parts += [f"{step.scopes:,} scopes"] if step.scopes else []
    return ", ".join(parts)


async def read_first(code: Code) -> None:
    """Start the first reading of a project, with a bar; the answer says if it is unfinished."""
    if await code.is_whole():  # a bar takes a while to load
        return
    with show_ingestion() as on_step:
        await code.automatic_reading.begin(on_step)

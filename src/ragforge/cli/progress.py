"""Progress: bars on stderr, which show in a terminal only."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from ragforge.app.code import Code, IngestionStep, OnStep

OnProgress: TypeAlias = Callable[[str, int, int], None]
"""Receives what is counted, how many are done, and how many there are."""

_NAMES = {
    "waiting": "waiting for another process",
    "copying": "copying another checkout",
    "reading": "reading files",
    "relating": "relating",
    "embedding": "embedding scopes",
}


@contextmanager
def show_progress() -> Iterator[OnProgress]:
    """Show how far something is: call what this yields with every step."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    from ragforge.show.console import open_console

    out = open_console(stderr=True)
    columns = (
        TextColumn("{task.description:<13}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=out, transient=True, disable=not out.is_terminal) as bar:
        task = bar.add_task("", total=None)
        yield lambda name, done, total: bar.update(
            task, description=name, completed=done, total=total
        )


@contextmanager
def show_ingestion() -> Iterator[OnStep]:
    """Show how far an ingestion is; give it what this yields."""
    if not sys.stderr.isatty():  # nobody would see it, and it takes a while to load
        yield lambda _: None
        return
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    from ragforge.show.console import open_console

    out = open_console(stderr=True)
    columns = (
        TextColumn("{task.description:<28}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[detail]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=out, transient=True, disable=not out.is_terminal) as bar:
        tasks = {
            phase: bar.add_task(name, start=False, visible=False, detail="")
            for phase, name in _NAMES.items()
        }

        def on_step(step: IngestionStep) -> None:
            task = tasks[step.phase]
            bar.start_task(task)
            total = step.total or None
            speed = bar.tasks[task].speed
            detail = format_detail(step, speed)
            bar.update(task, visible=True, completed=step.done, total=total, detail=detail)

        yield on_step


def format_detail(step: IngestionStep, speed: float | None) -> str:
    """Return what is shown beside the count: how fast it goes, and how much was found."""
    parts = [f"{speed:,.0f}/s"] if speed else []
    parts += [f"{step.scopes:,} scopes"] if step.scopes else []
    return ", ".join(parts)


async def read_first(code: Code) -> None:
    """Begin the first reading of a project, with a bar; the answer says if it is not finished."""
    if await code.is_whole():  # a bar takes a while to load
        return
    with show_ingestion() as on_step:
        await code.automatic_reading.begin(on_step)

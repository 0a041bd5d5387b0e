"""The toolbar: model, context, cost and work in the background, on one line below the prompt."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from typing import TYPE_CHECKING

from ragforge.errors import StoreError
from ragforge.show.console import fit_line

if TYPE_CHECKING:
    from ragforge.domain.chat import Usage
    from ragforge.domain.modes import Mode
    from ragforge.tui.terminal import Terminal

LOOK_SECONDS = 2.0


def format_toolbar(terminal: Terminal) -> str:
    """Return the line, as much of it as fits."""
    parts = [terminal.app.model or "no model"]
    if terminal.window_share is not None:
        parts.append(f"window {terminal.window_share:.0%}")
    elif (receipt := terminal.receipt) is not None:
        parts.append(f"context {receipt.chars / max(1, receipt.max_chars):.0%}")
    if taken := format_usage(terminal.usage):
        parts.append(taken)
    if terminal.jobs:
        parts.append("1 job" if terminal.jobs == 1 else f"{terminal.jobs:,} jobs")
    if running := terminal.app.background.count_running():
        parts.append("1 command runs" if running == 1 else f"{running} commands run")
    width = shutil.get_terminal_size().columns
    return fit_line(terminal.screen.signs.between.join(parts), max(width - 1, 10))


def format_mode(mode: Mode) -> str:
    """Return the text before the prompt in a mode; nothing in the default mode."""
    return "" if mode == "ask" else mode.replace("-", " ")


def format_usage(usage: Usage) -> str:
    """Return the tokens that models used, how many were cached, and the price where it is known."""
    tokens = usage.input_tokens + usage.output_tokens
    if not tokens:
        return ""
    cached = f" ({usage.cached_tokens:,} cached)" if usage.cached_tokens else ""
    price = "" if usage.usd is None else f", ${usage.usd:.4f}"
    return f"{tokens:,} tokens{cached}{price}"


async def watch_jobs(terminal: Terminal, redraw: Callable[[], None]) -> None:
    """Keep the number of waiting jobs current."""
    while True:
        try:
            jobs = await terminal.app.jobs.count_waiting()
        except StoreError:
            jobs = terminal.jobs
        if jobs != terminal.jobs:
            terminal.jobs = jobs
            redraw()
        await asyncio.sleep(LOOK_SECONDS)

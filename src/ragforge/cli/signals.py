"""Signals: end a command in order when the system or a closed terminal asks it to end."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

_NAMES = ("SIGTERM", "SIGHUP")


class EndingSignals:
    """Cancels a task at SIGTERM or SIGHUP, as Ctrl-C does, so that it keeps what it has done."""

    def __init__(self) -> None:
        self.received: int | None = None  # the number of the signal that came

    @contextmanager
    def cancel_task(self) -> Iterator[None]:
        """Cancel the current task when such a signal comes, until the end of the block."""
        import asyncio  # slow to load: help needs none of it

        loop = asyncio.get_running_loop()
        task = asyncio.current_task()
        numbers = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]

        def end(number: int) -> None:
            self.received = number
            if task is not None:
                task.cancel()

        handled = []
        try:
            for number in numbers:
                loop.add_signal_handler(number, end, number)
                handled.append(number)
        except (NotImplementedError, RuntimeError, ValueError):  # Windows, or not the main thread
            pass
        try:
            yield
        finally:
            for number in handled:
                loop.remove_signal_handler(number)

"""The keyboard during a turn: keys are neither echoed nor lost, Ctrl-C interrupts."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import sys
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager, suppress
from typing import Any

try:
    from termios import error as _TermiosError
except ImportError:  # Windows
    _TermiosError = OSError  # type: ignore[misc,assignment]


class Interruptible:
    """Work that Ctrl-C ends."""

    def __init__(self) -> None:
        self._task: asyncio.Task[Any] | None = None
        self._presses = 0

    def interrupt(self) -> None:
        """Cancel the work. A second call does nothing: it gets time to store what it did."""
        self._presses += 1
        if self._task is not None and self._presses != 2:
            self._task.cancel()

    async def run(self, work: Coroutine[Any, Any, None]) -> bool:
        """Do the work; return whether it was completed."""
        self._task, self._presses = asyncio.ensure_future(work), 0
        loop = asyncio.get_running_loop()
        with suppress(NotImplementedError):  # Windows: Ctrl-C ends the program there
            loop.add_signal_handler(signal.SIGINT, self.interrupt)
        try:
            await self._task
            return True
        except asyncio.CancelledError:
            here = asyncio.current_task()
            if here is not None and here.cancelling():  # the caller is cancelled too
                raise
            return False
        finally:
            self._task = None
            with suppress(NotImplementedError):
                loop.remove_signal_handler(signal.SIGINT)


@contextmanager
def hide_typing() -> Iterator[None]:
    """Do not echo what is typed; the next prompt gets it."""
    try:
        import termios

        stdin = sys.stdin.fileno()
        before = termios.tcgetattr(stdin)
    except (ImportError, OSError, ValueError, _TermiosError):  # Windows, or no terminal
        yield
        return
    quiet = [*before]
    quiet[0] &= ~termios.ICRNL  # Enter stays Enter, as a prompt reads it
    quiet[3] &= ~(termios.ECHO | termios.ICANON)
    quiet[3] |= termios.NOFLSH  # Ctrl-C keeps what was typed before
    termios.tcsetattr(stdin, termios.TCSANOW, quiet)
    try:
        yield
    finally:
        with suppress(OSError, ValueError, _TermiosError):  # the terminal may be gone
            termios.tcsetattr(stdin, termios.TCSANOW, before)


def read_typed_lines() -> str:
    """Return the lines that were typed before the prompt was shown; an unfinished line stays.

    A terminal in its default mode turns Enter into a line feed, which a prompt treats as a new
    line: it would never be sent.
    """
    typed = b""
    with suppress(ImportError, OSError, ValueError, _TermiosError):
        import termios

        stdin = sys.stdin.fileno()
        if not termios.tcgetattr(stdin)[3] & termios.ICANON:
            return ""  # single keys would be read, and the prompt reads them better
        while select.select([stdin], [], [], 0)[0] and (more := os.read(stdin, 4096)):
            typed += more
    return typed.decode(errors="replace")


def forget_typed() -> None:
    """Discard what was typed before a question: it cannot be the answer."""
    from prompt_toolkit.application.current import get_app_session
    from prompt_toolkit.input.typeahead import clear_typeahead

    clear_typeahead(get_app_session().input)
    with suppress(ImportError, OSError, ValueError, _TermiosError):
        import termios

        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)

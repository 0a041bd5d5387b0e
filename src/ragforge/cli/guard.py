"""Guard: one run of the program; errors become sentences, errors and signals an exit code."""

from __future__ import annotations

import errno
import gc
import logging
import os
import signal
import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

from ragforge.errors import RagForgeError, SettingsError
from ragforge.show.console import print_error

log = logging.getLogger(__name__)

COLLECT_EVERY = (150_000, 500)
"""What a command loads stays in use: collecting garbage more often costs more than it frees."""
_SENTENCES = {
    errno.EMFILE: (
        "Too many files are open in this process. Raise the limit: ulimit -n 1024, "
        "then run the command again."
    ),
    errno.ENFILE: "Too many files are open on this machine. Close some programs.",
    errno.EAGAIN: (
        "No more threads or processes can be started. Close some programs, or raise the limit: "
        "ulimit -u."
    ),
    errno.ENOMEM: "There is not enough memory. Close some programs.",
    errno.ENOSPC: "The disk is full. Free some space.",
}
_SIGNALS = ("SIGTERM", "SIGHUP")
_THREADS = ("can't start new thread", "can't create new thread")


def run_process(run: Callable[[], int]) -> None:
    """Call `run`, and end the process with the exit code that it returns."""
    gc.set_threshold(*COLLECT_EVERY)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a narrow encoding loses letters, not the run
    code = run()
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _close_quietly()
    gc.freeze()  # the process ends: a last collection would free nothing
    sys.exit(code)


def run_guarded(work: Callable[[], object], debug: bool) -> int:
    """Do some work and return the exit code; errors become sentences on stderr."""
    try:
        work()
    except SystemExit as stop:
        return _exit_code(stop)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _close_quietly()
        return FAILED
    except RagForgeError as error:
        log.error("The command failed: %s", error, exc_info=debug)
        _print_traceback(debug)
        print_error(str(error))
        return MISUSED if isinstance(error, SettingsError) else FAILED
    except Exception as error:
        log.exception("The command failed")
        _print_traceback(debug)
        if sentence := explain_system_error(error):
            print_error(sentence)
            return FAILED
        hint = "" if debug else " Run the command again with --debug to see where."
        print_error(f"Something unexpected went wrong: {_describe(error)}.{hint}")
        return FAILED
    return 0


def _exit_code(stop: SystemExit) -> int:
    if stop.code is None or isinstance(stop.code, int):
        return stop.code or 0
    print_error(stop.code)
    return FAILED


def _describe(error: Exception) -> str:
    """Name the error in one line."""
    text = " ".join(str(error).split()).rstrip(".")
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _print_traceback(debug: bool) -> None:
    if debug:
        import traceback

        traceback.print_exc()


def _close_quietly() -> None:
    """Discard the last flush of the interpreter: the reader is gone."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def explain_system_error(error: BaseException) -> str | None:
    """Return the sentence for an error of the system, None for any other."""
    if isinstance(error, BaseExceptionGroup):
        found = (explain_system_error(one) for one in error.exceptions)
        return next((sentence for sentence in found if sentence), None)
    if isinstance(error, MemoryError):
        return _SENTENCES[errno.ENOMEM]
    if isinstance(error, RuntimeError) and any(text in str(error) for text in _THREADS):
        return _SENTENCES[errno.EAGAIN]
    if isinstance(error, OSError) and error.errno is not None:
        return _SENTENCES.get(error.errno)
    return None


class EndingSignals:
    """Cancels a task at SIGTERM or SIGHUP, as Ctrl-C does, so that finished work is kept."""

    def __init__(self) -> None:
        self.received: int | None = None

    @property
    def exit_code(self) -> int:
        """The exit code of what was cancelled: by a signal, or else by Ctrl-C."""
        return INTERRUPTED if self.received is None else BY_SIGNAL + self.received

    @contextmanager
    def cancel_task(self) -> Iterator[None]:
        """Cancel the current task when such a signal comes, until the end of the block."""
        import asyncio  # slow to load: help needs none of it

        loop = asyncio.get_running_loop()
        task = asyncio.current_task()
        numbers = [getattr(signal, name) for name in _SIGNALS if hasattr(signal, name)]

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


def run_server(serve: Callable[[], Coroutine[Any, Any, None]]) -> int:
    """Serve until the client leaves, or until Ctrl-C or a signal; return the exit code."""
    import asyncio

    signals = EndingSignals()

    async def run() -> None:
        with signals.cancel_task():
            await serve()

    try:
        asyncio.run(run())
    except KeyboardInterrupt:
        return INTERRUPTED
    except asyncio.CancelledError:  # without a signal: the client stopped reading
        return 0 if signals.received is None else signals.exit_code
    return 0


FAILED = 1
"""Something failed; one sentence on stderr says what."""
MISUSED = 2
"""Wrong arguments or settings."""
INCOMPLETE = 3
"""An answer is missing or broke off, or something could not be searched or imported."""
INTERRUPTED = 130
"""The user interrupted it."""
BY_SIGNAL = 128
"""Added to the number of the signal that ended it: 129 for SIGHUP, 143 for SIGTERM."""

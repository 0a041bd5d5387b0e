"""Hook run: one call of the hook, which ends in time with what has been found by then."""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path

from ragforge.app.hook.call import HookCall, format_answer, name_file_id
from ragforge.app.hook.outcomes import HookOutcome, Result, record_outcome
from ragforge.app.hook.session import ContextEntry, HookAnswer

CLOSING_SECONDS = 0.5
"""How long a late process may take to count the call and to write to the log."""


class HookRun:
    """One call. At its deadline the process ends with the last text that the search offered."""

    def __init__(self, agent: str = "", folder: Path | None = None) -> None:
        self.agent = agent
        self.call: HookCall | None = None  # once it has been read
        self.state_dir = folder  # of the settings, once they are known
        self.answer = HookAnswer()
        self._begun = time.monotonic()
        self.deadline_ms = 0
        self._ending = threading.Lock()
        self._has_ended = False
        self._timer: threading.Timer | None = None

    def set_deadline(self, milliseconds: int) -> None:
        """Set how long the process may take from its beginning."""
        if self._timer is not None and milliseconds == self.deadline_ms:
            return
        if self._timer is not None:
            self._timer.cancel()
        self.deadline_ms = milliseconds
        left = milliseconds / 1_000 - (time.monotonic() - self._begun)
        self._timer = threading.Timer(max(left, 0), self._end_late)
        self._timer.daemon = True
        self._timer.start()

    @property
    def is_timed(self) -> bool:
        """Whether an agent waits for the run."""
        return self._timer is not None

    def has_new_files(self) -> bool:
        """Tell whether the session has received nothing yet about a file of the call."""
        files = self.call.files if self.call is not None else ()
        return any(not self.answer.was_given(name_file_id(one)) for one in files)

    def end(self, result: Result, why: str = "") -> bool:
        """Give what was offered, and count the call; return False if the deadline has done so."""
        offered = self._give()
        if offered is None:
            time.sleep(2 * CLOSING_SECONDS)  # its thread ends the process
            return False
        self._count(result, offered, why)
        return True

    def _give(self) -> ContextEntry | None:
        """Write what was offered, and return it; None if that has been done."""
        with self._ending:  # nothing is written twice or cut in the middle
            if self._has_ended:
                return None
            self._has_ended = True
            offered = self.answer.offered
            if offered.text and self.call is not None:
                sys.stdout.write(format_answer(self.call, offered.text))
                sys.stdout.flush()
            return offered

    def _count(self, result: Result, offered: ContextEntry, why: str) -> None:
        self.answer.note_given(offered.ids)
        if self.state_dir is None:
            return
        kind = self.call.kind if self.call is not None else "none"
        taken = round(1_000 * (time.monotonic() - self._begun))
        outcome = HookOutcome(time.time(), self.agent, kind, result, taken, len(offered.text), why)
        record_outcome(self.state_dir, outcome)

    def _end_late(self) -> None:
        """End the process: with what there is, unless the other thread has given its answer."""
        offered = self._give()
        closing = threading.Thread(target=self._close_late, args=(offered,), daemon=True)
        closing.start()
        closing.join(CLOSING_SECONDS)
        os._exit(0)

    def _close_late(self, offered: ContextEntry | None) -> None:
        if offered is None:  # the other thread is about to end
            time.sleep(CLOSING_SECONDS)
            return
        self._count("late", offered, self.answer.doing)
        given = f"{len(offered.text)} characters were" if offered.text else "Nothing was"
        said = f"{given} given: not done after {self.deadline_ms} ms ({self.answer.doing})"
        if self.state_dir is not None:
            log_late(self.state_dir, said, self.deadline_ms)


def log_late(folder: Path, sentence: str, deadline_ms: int) -> None:
    """Write to the log that a hook was late, and how the last ones went.

    The lines are those of the log itself, which would take too long to load.
    """
    try:
        if os.environ.get("RAGFORGE_LOG", "").lower() in ("error", "off"):
            return
        from ragforge.private_files import open_private

        when = time.strftime("%Y-%m-%d %H:%M:%S")
        head = f"{when},000 WARNING {os.getpid()} ragforge.cli.hook"
        with open_private(folder / "ragforge.log") as file:
            file.write(f"{head}: {sentence}\n")
            file.flush()
            file.write(f"{head}: {describe_last(folder, deadline_ms)}\n")
    except BaseException:
        return


def describe_last(folder: Path, deadline_ms: int) -> str:
    """Return how the last hooks went, in one sentence."""
    from ragforge.app.hook.report import describe_hooks, read_hook_report

    return describe_hooks(read_hook_report(folder, deadline_ms))

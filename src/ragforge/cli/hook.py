"""`ragforge hook`, from its first line: nothing is imported before it is needed.

An agent waits for it at every turn. It never fails the agent: whatever happens, it ends with 0
and writes to the log.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from ragforge.app.hook_call import HookCall, format_answer, read_call
from ragforge.child_python import python_command

MOST_BYTES = 20_000_000
DEFAULT_MS = 300
LOGGING_SECONDS = 0.1
"""How long an agent waits beyond the deadline for a line in the log."""
_DEADLINE = re.compile(r"^[^#\n]*\bdeadline_?ms[\"']?\s*:\s*([\d_]+)", re.I | re.M)


class Deadline:
    """Ends the process in time, with all of the answer or with none of it."""

    def __init__(self, milliseconds: int) -> None:
        self.state_dir = ""  # of the settings, once they are known
        self._milliseconds = milliseconds
        self._begun = time.monotonic()
        self._writing = threading.Lock()
        self._timer: threading.Timer | None = None
        self.set(milliseconds)

    def set(self, milliseconds: int) -> None:
        """Set how long the process may take from its beginning."""
        if self._timer is not None:
            self._timer.cancel()
        self._milliseconds = milliseconds
        left = milliseconds / 1_000 - (time.monotonic() - self._begun)
        self._timer = threading.Timer(max(left, 0), self._end)
        self._timer.daemon = True
        self._timer.start()

    def write(self, text: str) -> None:
        """Write the answer; the process is not ended in the middle of it."""
        with self._writing:
            sys.stdout.write(text)
            sys.stdout.flush()

    def _end(self) -> None:
        with self._writing:
            said = f"Nothing was given: not done after {self._milliseconds} ms"
            logging = threading.Thread(target=_log_line, args=(self.state_dir, said), daemon=True)
            logging.start()
            logging.join(LOGGING_SECONDS)
            os._exit(0)


def run_hook(arguments: Sequence[str]) -> None:
    """Answer one call of an agent, and end the process."""
    deadline = Deadline(DEFAULT_MS)
    try:
        deadline.set(_find_milliseconds())
        if arguments[:1] in (["--prepare"], ["--take-in"]):  # nobody waits for these
            deadline.set(60_000)
            _prepare() if arguments[0] == "--prepare" else take_in(*arguments[1:4])
        else:
            _answer(arguments, deadline)
    except BaseException:
        _log_failure(deadline.state_dir)
    finally:
        os._exit(0)


def _answer(arguments: Sequence[str], deadline: Deadline) -> None:
    agent, event = _parse(arguments)
    data = b"" if sys.stdin is None or sys.stdin.isatty() else sys.stdin.buffer.read(MOST_BYTES)
    call = read_call(data, agent, event)
    if call.kind == "ring":
        ring(call)
    wants_context = call.kind == "start" or (call.kind == "prompt" and call.prompt.strip())
    if wants_context and (text := find_text(call, deadline)):
        deadline.write(format_answer(call, text))


def find_text(call: HookCall, deadline: Deadline | None = None) -> str:
    """Return the context for a call; empty where nothing is given."""
    import asyncio

    from ragforge.app import hook, hook_settings

    cwd = Path(call.cwd or os.getcwd())
    settings = hook_settings.read_kept(cwd, os.environ)
    if settings is None:
        if deadline is not None and hook_settings.can_keep(cwd):
            start_detached(["hook", "--prepare"])  # this call may be too late; the next is not
        settings = hook_settings.load_hook_settings(cwd, os.environ)
    if deadline is not None:
        deadline.state_dir = settings.state_dir
        deadline.set(settings.deadline_ms)
    if not hook.is_served(cwd, settings):
        return ""
    return asyncio.run(hook.find_context(call, settings))


def ring(call: HookCall) -> None:
    """Have new lines of a transcript taken in, by a process that nobody waits for.

    Without a path the next sweep finds them.
    """
    if call.transcript and Path(call.transcript).is_file():
        start_detached(["hook", "--take-in", call.agent, call.transcript, call.cwd])


def take_in(agent: str, transcript: str, cwd: str) -> None:
    """Become `ragforge import` for one transcript, unless its folder is excluded."""
    from ragforge.app import hook, hook_settings

    place = Path(cwd or os.getcwd())
    settings = hook_settings.read_kept(place, os.environ)
    settings = settings or hook_settings.load_hook_settings(place, os.environ)
    if not hook.is_left_out(place, settings):
        command = python_command("ragforge", "import", "--from", agent, "--path", transcript)
        os.execv(command[0], command)


def start_detached(arguments: Sequence[str]) -> None:
    """Start this program with other arguments, and do not wait for it."""
    quiet = subprocess.DEVNULL
    subprocess.Popen(
        python_command("ragforge", *arguments),
        stdin=quiet,
        stdout=quiet,
        stderr=quiet,
        start_new_session=True,
    )


def _parse(arguments: Sequence[str]) -> tuple[str, str]:
    """Return the agent and the event that are named; what else there is does not matter."""
    agent, event = "claude-code", ""
    rest = iter(arguments)
    for argument in rest:
        if argument == "--agent":
            agent = next(rest, agent)
        elif not argument.startswith("-"):
            event = argument
    return agent, event


def _find_milliseconds() -> int:
    """Return the deadline of the user's own settings.

    Reading all settings may take longer than the default, which would then be the deadline.
    """
    if text := os.environ.get("RAGFORGE_HOOK__DEADLINE_MS"):
        return int(text) if text.isdecimal() else DEFAULT_MS
    from ragforge.config.files import find_user_file

    file = find_user_file(Path.cwd(), os.environ)
    found = None if file is None else _DEADLINE.search(file.read_text("utf-8"))
    return DEFAULT_MS if found is None else int(found[1])


def _prepare() -> None:
    from ragforge.app.hook_settings import prepare

    prepare()


def _log_failure(state_dir: str) -> None:
    """Write what went wrong to the log, if that is possible."""
    try:
        import logging

        from ragforge.app import log

        log.open_log(_find_log_folder(state_dir), os.environ.get(log.VARIABLE))
        logging.getLogger(__name__).exception("A hook failed")
    except BaseException:
        return


def _log_line(state_dir: str, sentence: str) -> None:
    """Write a line to the log as the log does, which would take too long to load."""
    try:
        if os.environ.get("RAGFORGE_LOG", "").lower() in ("error", "off"):
            return
        from ragforge.private_files import open_private

        when = time.strftime("%Y-%m-%d %H:%M:%S")
        with open_private(_find_log_folder(state_dir) / "ragforge.log") as file:
            file.write(f"{when},000 WARNING {os.getpid()} {__name__}: {sentence}\n")
    except BaseException:
        return


def _find_log_folder(state_dir: str) -> Path:
    """Return where the log is, as far as it is known without the settings."""
    import platformdirs

    known = state_dir or os.environ.get("RAGFORGE_AGENT__STATE_DIR")
    return Path(known or platformdirs.user_data_dir("ragforge", appauthor=False))

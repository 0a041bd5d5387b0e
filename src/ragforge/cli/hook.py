"""`ragforge hook`: nothing is imported before it is needed, because agents wait at every turn.

It never fails the agent: it always exits with 0, counts the result and writes to the log.
"""

from __future__ import annotations

import os
import re
import sys
import threading
import time
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragforge.app.hook.call import HookCall, format_answer, name_file_id, read_call
from ragforge.app.hook.outcomes import HookOutcome, Result, describe_failure, record_outcome
from ragforge.app.hook.session import ContextEntry, HookAnswer, ReceivedEntries, remove_old_sessions
from ragforge.concurrency import run_without_loop
from ragforge.folders import find_user_folder
from ragforge.patterns import compile_on_use

if TYPE_CHECKING:
    from ragforge.app.hook.hook_settings import HookConfig

MAX_BYTES = 20_000_000
DEFAULT_MS = 4_000
BACKGROUND_MS = 60_000
"""The deadline of background processes, which no agent waits for."""
_DEADLINE = compile_on_use(r"^[^#\n]*\bdeadline_?ms[\"']?\s*:\s*([\d_]+)", re.I | re.M)


def run_hook(arguments: Sequence[str]) -> None:
    """Answer one call of an agent, and end the process."""
    run = HookRun()
    try:
        if arguments[:1] in (["--prepare"], ["--take-in"]):
            run.set_deadline(BACKGROUND_MS)
            _prepare() if arguments[0] == "--prepare" else take_in(*arguments[1:4])
        else:
            run.state_dir = _guess_state_dir()  # only what an agent waits for is counted
            run.set_deadline(_find_milliseconds())
            _answer(arguments, run)
    except BaseException as error:
        if run.end("failed", describe_failure(error)):
            _log_failure(run)
        if type(error).__name__ == "SchemaTooOld":  # RagForge itself was upgraded
            start_detached(["memory", "work"])  # opens the store to write, and so upgrades it
    finally:
        os._exit(0)


def _answer(arguments: Sequence[str], run: HookRun) -> None:
    run.answer.doing = "reading the call"
    run.agent, event = _parse(arguments)
    data = b"" if sys.stdin is None or sys.stdin.isatty() else sys.stdin.buffer.read(MAX_BYTES)
    call = run.call = read_call(data, run.agent, event)
    if call.kind == "ring":
        ring(call)
        if call.loses_context:
            _prepare_run(call, run)
    elif call.kind == "prompt" and not call.prompt.strip():
        run.end("empty", "no prompt")
    elif call.kind in ("start", "prompt") or call.files:
        settings = _prepare_run(call, run)
        if call.kind != "file" or run.has_new_files():
            run.end(find(call, run, settings), run.answer.why)


def find_text(call: HookCall) -> str:
    """Return the context for a call; empty where nothing is given."""
    run = HookRun(call.agent)
    find(call, run, _prepare_run(call, run))
    return run.answer.offered.text


def find(call: HookCall, run: HookRun, settings: HookConfig) -> Result:
    """Find the answer of a run; return the result."""
    from ragforge.app.hook import context
    from ragforge.config.store_url import is_server

    run.answer.doing = "recognising the folder"
    if why := context.explain_silence(_find_folder(call), settings):
        run.answer.why = why
        return "excluded"
    run.answer.doing = "loading"
    if not os.path.isfile(call.transcript):  # reading a pipe might never end
        call = call._replace(transcript="")
    finding = context.find_context(call, settings, run.answer)
    found = _run_with_server(finding) if is_server(settings.store) else run_without_loop(finding)
    return "given" if found else "empty"


def _run_with_server(finding: Coroutine[Any, Any, str]) -> str:
    import asyncio

    return asyncio.run(finding)


def _prepare_run(call: HookCall, run: HookRun) -> HookConfig:
    """Give a run its settings, and what its session has received. Raises SettingsError."""
    from ragforge.app.hook import hook_settings

    run.answer.doing = "reading the settings"
    folder = _find_folder(call)
    settings = hook_settings.read_kept(folder, os.environ)
    if settings is None:
        if run.is_timed and hook_settings.can_keep(folder):
            start_detached(["hook", "--prepare"])  # this call may be too late; the next is not
        settings = hook_settings.load_hook_settings(folder, os.environ)
    run.state_dir = Path(settings.state_dir)
    if run.is_timed:
        run.set_deadline(settings.deadline_ms)
    run.answer.received = ReceivedEntries(run.state_dir, call.agent, call.session)
    if call.loses_context:
        run.answer.received.reset()
    return settings


def ring(call: HookCall) -> None:
    """Import the new lines of a transcript in a background process.

    Without a path, the next sweep finds them.
    """
    if call.transcript and Path(call.transcript).is_file():
        start_detached(["hook", "--take-in", call.agent, call.transcript, call.cwd])


def take_in(agent: str, transcript: str, cwd: str) -> None:
    """Become `ragforge import` for one transcript, unless its folder is excluded."""
    from ragforge.app.hook import context, hook_settings
    from ragforge.child_python import python_command

    place = Path(cwd or os.getcwd())
    settings = hook_settings.read_kept(place, os.environ)
    settings = settings or hook_settings.load_hook_settings(place, os.environ)
    remove_old_sessions(Path(settings.state_dir))
    if not context.is_left_out(place, settings):
        command = python_command("ragforge", "import", "--from", agent, "--path", transcript)
        os.execv(command[0], command)


def start_detached(arguments: Sequence[str]) -> None:
    """Start this program with other arguments, and do not wait for it."""
    import subprocess

    from ragforge.child_python import python_command

    quiet = subprocess.DEVNULL
    subprocess.Popen(
        python_command("ragforge", *arguments),
        stdin=quiet,
        stdout=quiet,
        stderr=quiet,
        start_new_session=True,
    )


def _parse(arguments: Sequence[str]) -> tuple[str, str]:
    """Return the agent and the event that are named; ignore everything else."""
    agent, event = "claude-code", ""
    rest = iter(arguments)
    for argument in rest:
        if argument == "--agent":
            agent = next(rest, agent)
        elif not argument.startswith("-"):
            event = argument
    return agent, event


def _find_folder(call: HookCall) -> Path:
    return Path(call.cwd or os.getcwd())


def _find_milliseconds() -> int:
    """Return the deadline of the user's own settings, before the time starts to run out.

    Reading all settings may take longer. A project's file counts once they have been read.
    """
    if text := os.environ.get("RAGFORGE_HOOK__DEADLINE_MS"):
        return int(text) if text.isdecimal() else DEFAULT_MS
    from ragforge.config.files import find_user_file
    from ragforge.errors import SettingsError

    try:
        file = find_user_file(Path.cwd(), os.environ)
        found = None if file is None else _DEADLINE.search(file.read_text("utf-8"))
    except (SettingsError, OSError, UnicodeError):  # reported when all settings are read
        return DEFAULT_MS
    return DEFAULT_MS if found is None else int(found[1])


def _prepare() -> None:
    from ragforge.app.hook.hook_settings import prepare

    prepare()


def _log_failure(run: HookRun) -> None:
    """Write what went wrong to the log, and how the last hooks went, if that is possible."""
    try:
        import logging

        from ragforge.app.wiring import log

        folder = run.state_dir or _guess_state_dir()
        log.open_log(folder, os.environ.get(log.VARIABLE))
        logger = logging.getLogger(__name__)
        logger.exception("A hook failed")
        logger.warning("%s", describe_last(folder, run.deadline_ms))
    except BaseException:
        return


def _guess_state_dir() -> Path:
    """Return the state folder, as far as it is known without the settings."""
    if known := os.environ.get("RAGFORGE_AGENT__STATE_DIR"):
        return Path(known)
    return find_user_folder("data")


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

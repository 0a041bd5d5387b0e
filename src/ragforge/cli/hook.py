"""`ragforge hook`: nothing is imported before it is needed, because agents wait at every turn.

It never fails the agent: it always exits with 0, counts the result and writes to the log.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragforge.app.hook.call import HookCall, read_call
from ragforge.app.hook.outcomes import describe_failure
from ragforge.app.hook.session import ReceivedEntries, remove_old_sessions
from ragforge.cli.hook_run import HookRun, describe_last
from ragforge.concurrency import run_without_loop
from ragforge.folders import find_user_folder
from ragforge.patterns import compile_on_use

if TYPE_CHECKING:
    from ragforge.app.hook.hook_settings import HookConfig
    from ragforge.app.hook.outcomes import Result

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

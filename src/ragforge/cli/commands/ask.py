"""`ragforge ask`: ask a question and show the answer with its sources."""

from __future__ import annotations

import asyncio
import json
import os
import select
import stat
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

import typer

from ragforge.cli import outputs
from ragforge.cli.guard import EndingSignals
from ragforge.cli.loading import get_current_directory, load
from ragforge.cli.options import JsonOption, ModeOption, argument, complete_session, flag, option
from ragforge.cli.progress import read_first
from ragforge.cli.state import open_here
from ragforge.cli.trust_questions import settle_reading
from ragforge.domain.text import fence
from ragforge.errors import InputError
from ragforge.show.console import print_note

if TYPE_CHECKING:
    from ragforge.app import App
    from ragforge.config import Settings
    from ragforge.domain.chat import JsonSchema
    from ragforge.permissions import Approve

INTERRUPTED = "Interrupted. What was done is kept; `ragforge -c`, then /retry, resumes it."
MAX_QUESTION_BYTES = 10_000_000
PIPE_SECONDS = 3.0


InputForm: TypeAlias = Literal["text", "stream-json"]
Form: TypeAlias = Literal["text", "json", "stream-json"]


def ask(
    question: str | None = argument("QUESTION", "The question; '-' reads it from stdin.", None),
    *,
    resume_last: bool = flag("-c --continue", "In the last session here; the default."),
    new: bool = flag("--new", "In a new session."),
    session: str | None = option(
        "--session ID", "In this session: its first characters.", autocompletion=complete_session
    ),
    yes: bool = flag("--yes -y", "Change files in the project without asking."),
    mode: ModeOption = None,
    stdin: bool = flag("--stdin", "Wait for piped input as long as it takes."),
    form: Form = option(
        "--output", "The answer as text or JSON, or each event as a line of JSON.", "text"
    ),
    as_json: JsonOption = False,
    input_form: InputForm = option(
        "--input", "stream-json: a message per line of stdin, until it ends.", "text"
    ),
    max_turns: int | None = option(
        "--max-turns N", "The model must conclude after N steps.", min=1, max=10_000
    ),
    allowed: list[str] | None = option(
        "--allowed-tools RULES", "Allow this without asking: 'edit_file,run_command(make test)'."
    ),
    instructions: str = option(
        "--append-system-prompt TEXT", "Instructions after the system prompt; @FILE reads them.", ""
    ),
    output_schema: str | None = option(
        "--output-schema FILE|JSON", "The answer is JSON that fits this JSON schema."
    ),
) -> None:
    """Ask a question; it and the answer are remembered.

    The question belongs to the last session of this directory, unless another is chosen. In a
    terminal the answer is shown as it is written, in a pipe as plain text.
    """
    if new + resume_last + (session is not None) > 1:
        raise typer.BadParameter("choose one of --continue, --new and --session")
    if yes and mode is not None:
        raise typer.BadParameter("choose one of --yes and --mode")
    form = "json" if as_json else form
    streams = input_form == "stream-json"
    if streams and (form != "stream-json" or question is not None):
        raise typer.BadParameter(
            "it needs --output stream-json, and no QUESTION", param_hint="--input"
        )
    text = "" if streams else read_question(question, stdin)
    turns = outputs.Turns(
        _make_output(form, output_schema is not None),
        "accept-edits" if yes else mode or "ask",
        _read_allowed(allowed or []),
        _read_instructions(instructions),
        _read_schema(output_schema),
    )

    settings = _limit_steps(load(asks=True).settings, max_turns)
    settle_reading(settings, get_current_directory())
    ending = EndingSignals()

    async def answer() -> int:
        async with open_here(settings, detach=True) as app:
            chosen = await _choose_session(app, new, session)
            with ending.cancel_task():
                await read_first(app.code)
                if isinstance(turns.output, outputs.AsStream) and streams:
                    return await turns.take_all(app, chosen, turns.output)
                return await turns.take(app, text, chosen)

    try:
        code = asyncio.run(answer())
    except (asyncio.CancelledError, KeyboardInterrupt):
        if sys.stderr.isatty():
            print_note(INTERRUPTED)
        raise typer.Exit(ending.exit_code) from None
    raise typer.Exit(code)


def _make_output(form: Form, is_value: bool) -> outputs.Output:
    """Return what shows the answer; with `is_value` it is JSON that follows a schema."""
    if form == "json":
        return outputs.AsJson()
    if form == "stream-json":
        return outputs.AsStream()
    if not outputs.is_terminal():
        return outputs.AsValue() if is_value else outputs.AsText()
    from ragforge.cli.live_output import LiveOutput  # slow to load: scripts do without it

    return LiveOutput()


async def _choose_session(app: App, new: bool, session: str | None) -> str | None:
    """Return the id of the session to ask in, or None for the current one."""
    if session is not None:
        return (await app.sessions.resolve(session)).uuid
    return (await app.sessions.create()).uuid if new else None


def read_question(argument: str | None, wait: bool = False) -> str:
    """Return the question, followed by what is piped in, in a code fence.

    Raises BadParameter if the question is empty or too long.
    """
    if argument is None and sys.stdin.isatty():
        raise typer.BadParameter("give a question, or pipe one to stdin", param_hint="QUESTION")
    if argument in (None, "-"):
        text = _from_stdin()
    else:
        text = argument or ""
        if text.strip() and (wait or _is_piped()):
            text = with_input(text, _from_stdin())
    if not text.strip():
        raise typer.BadParameter("the question is empty", param_hint="QUESTION")
    return text


def with_input(question: str, text: str) -> str:
    """Return a question followed by a text, in a code fence that the text cannot close."""
    if not text.strip():
        return question
    return f"{question}\n\n{fence(text)}"


def _is_piped() -> bool:
    """Tell whether stdin is a file, or a pipe with input.

    The parent process may have left an empty pipe open by accident.
    """
    try:
        stdin = sys.stdin.fileno()
        mode = os.fstat(stdin).st_mode
    except (OSError, ValueError, AttributeError):  # there is no stdin
        return False
    if stat.S_ISREG(mode):
        return True
    if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
        return False
    try:
        ready, _, _ = select.select([stdin], [], [], PIPE_SECONDS)
    except (OSError, ValueError):  # on Windows only for sockets
        return True
    if not ready:
        print_note(
            f"No input on stdin after {PIPE_SECONDS:.0f} s; continuing without it "
            "(use --stdin to wait)."
        )
    return bool(ready)


def _from_stdin() -> str:
    data = sys.stdin.buffer.read(MAX_QUESTION_BYTES + 1)
    if len(data) > MAX_QUESTION_BYTES:
        raise typer.BadParameter(
            f"the question is longer than {MAX_QUESTION_BYTES:,} bytes", param_hint="QUESTION"
        )
    return data.decode("utf-8", errors="replace").removeprefix("\ufeff").rstrip("\r\n")


def _limit_steps(settings: Settings, steps: int | None) -> Settings:
    """Return the settings with another limit of the model's steps in a turn, if one is given."""
    if steps is None:
        return settings
    turn = settings.agent.turn.model_copy(update={"max_steps": steps})
    return settings.model_copy(update={"agent": settings.agent.model_copy(update={"turn": turn})})


def _read_allowed(texts: Sequence[str]) -> Callable[[Approve], Approve]:
    """Return what makes an `approve` say yes to the listed rules. Raises BadParameter."""
    if not texts:
        return lambda approve: approve
    from ragforge.app.features.permission_rules import allow_listed, parse_allowed

    try:
        rules = parse_allowed(texts)
    except InputError as error:
        raise typer.BadParameter(str(error), param_hint="--allowed-tools") from error
    return lambda approve: allow_listed(rules, approve)


def _read_instructions(text: str) -> str:
    """Return the text of an option, or of the file that it names as `@FILE`."""
    if not text.startswith("@"):
        return text
    return _read_file(text[1:], "--append-system-prompt")


def _read_schema(text: str | None) -> JsonSchema | None:
    """Return the schema that an option contains or names, if it is given. Raises BadParameter."""
    if text is None:
        return None
    from ragforge.domain.json_schema import check_answer_schema

    option = "--output-schema"
    written = text if text.lstrip().startswith("{") else _read_file(text, option)
    try:
        return check_answer_schema(json.loads(written))
    except (InputError, ValueError, RecursionError) as error:
        why = str(error) if isinstance(error, InputError) else f"it is not valid JSON: {error}"
        raise typer.BadParameter(why, param_hint=option) from error


def _read_file(path: str, option: str) -> str:
    try:
        return Path(path).expanduser().read_text("utf-8")
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise typer.BadParameter(f"{path!r} cannot be read: {why}", param_hint=option) from error

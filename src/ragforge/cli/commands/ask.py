"""`ragforge ask`: ask a question and see the answer with what it rests on."""

from __future__ import annotations

import os
import re
import select
import stat
import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from ragforge.cli.exit_codes import BY_SIGNAL, INCOMPLETE
from ragforge.cli.loading import get_current_directory
from ragforge.cli.signals import EndingSignals
from ragforge.cli.state import JsonOption, ModeOption, use_app
from ragforge.show.console import print_note

if TYPE_CHECKING:
    from ragforge.app import App
    from ragforge.cli.outputs import Output
    from ragforge.config import Settings
    from ragforge.domain.answers import Answer
    from ragforge.domain.modes import Mode

INTERRUPTED = "Interrupted. What was done is kept; `ragforge -c`, then /retry, resumes it."


MAX_QUESTION_BYTES = 10_000_000
PIPE_SECONDS = 3.0


class Form(StrEnum):
    """How an answer is printed."""

    text = "text"
    json = "json"
    stream = "stream-json"


def register(app: typer.Typer) -> None:
    app.command("ask", epilog="ask")(ask)


def ask(
    context: typer.Context,
    question: Annotated[
        str | None,
        typer.Argument(metavar="QUESTION", help="The question; '-' reads it from stdin."),
    ] = None,
    *,
    go_on: Annotated[
        bool,
        typer.Option("-c", "--continue", help="In the last session here: the default."),
    ] = False,
    new: Annotated[bool, typer.Option("--new", help="In a new session.")] = False,
    session: Annotated[
        str | None,
        typer.Option("--session", metavar="ID", help="In this session: the start of its id."),
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Change files in the project without asking.")
    ] = False,
    mode: ModeOption = None,
    stdin: Annotated[
        bool, typer.Option("--stdin", help="Wait for what is piped in, however long.")
    ] = False,
    form: Annotated[
        Form,
        typer.Option(
            "--output", help="The answer as text, as JSON, or every event on a line as it comes."
        ),
    ] = Form.text,
    as_json: JsonOption = False,
) -> None:
    """Ask a question; it and the answer are remembered.

    The question belongs to the last session of this directory, unless another is chosen. In a
    terminal the answer is shown as it is written, in a pipe as plain text.
    """
    import asyncio

    from ragforge.cli.progress import read_first
    from ragforge.show.console import print_note

    if new + go_on + (session is not None) > 1:
        raise typer.BadParameter("choose one of --continue, --new and --session")
    if yes and mode is not None:
        raise typer.BadParameter("choose one of --yes and --mode")
    chosen_mode: Mode = "accept-edits" if yes else mode or "ask"
    text = read_question(question, stdin)
    output = _make_output(Form.json if as_json else form)

    ending = EndingSignals()

    async def take_turn(app: App) -> Answer:
        chosen = await _choose_session(app, new, session)
        with ending.cancel_task():
            await read_first(app.code)
            return await show_turn(app, chosen)

    async def show_turn(app: App, chosen: str | None) -> Answer:
        async with output:
            answer = await app.ask(
                text, chosen, on_event=output.on_event, approve=output.approve, mode=chosen_mode
            )
        output.end(answer)  # before the application closes, which may take a moment
        return answer

    try:
        answer = use_app(context, take_turn, detach=True, asks=True, before=_settle_reading)
    except (asyncio.CancelledError, KeyboardInterrupt):
        if sys.stderr.isatty():
            print_note(INTERRUPTED)
        if ending.received is not None:
            raise typer.Exit(BY_SIGNAL + ending.received) from None
        raise KeyboardInterrupt from None
    if not answer.is_complete:
        raise typer.Exit(INCOMPLETE)


def _settle_reading(settings: Settings) -> None:
    from ragforge.cli.trust_questions import settle_reading

    settle_reading(settings, get_current_directory())


def _make_output(form: Form) -> Output:
    from ragforge.cli import outputs

    if form is Form.json:
        return outputs.AsJson()
    if form is Form.stream:
        return outputs.AsStream()
    if not outputs.is_terminal():
        return outputs.AsText()
    from ragforge.cli.live_output import LiveOutput

    return LiveOutput()


async def _choose_session(app: App, new: bool, session: str | None) -> str | None:
    """Return the id of the session to ask in, or None for the current one."""
    if session is not None:
        return (await app.sessions.resolve(session)).uuid
    return (await app.sessions.create()).uuid if new else None


def read_question(argument: str | None, wait: bool = False) -> str:
    """Return the question; what is piped in beside one stands below it, fenced.

    Raises BadParameter if there is none, or too much of it.
    """
    if argument is None and sys.stdin.isatty():
        raise typer.BadParameter("give a question, or pipe one in", param_hint="QUESTION")
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
    """Return a question with a text below it, in a fence that the text cannot close."""
    if not text.strip():
        return question
    longest = max((len(run) for run in re.findall("`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{question}\n\n{fence}\n{text}\n{fence}"


def _is_piped() -> bool:
    """Tell whether stdin is a file, or a pipe from which something comes.

    An empty pipe may be an accident of the process that started this one.
    """
    try:
        stdin = sys.stdin.fileno()
        mode = os.fstat(stdin).st_mode
    except (OSError, ValueError, AttributeError):  # there is none
        return False
    if stat.S_ISREG(mode):
        return True
    if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
        return False
    try:
        ready, _, _ = select.select([stdin], [], [], PIPE_SECONDS)
    except (OSError, ValueError):  # Windows has this for sockets alone
        return True
    if not ready:
        print_note("Nothing comes from stdin: the question is asked without it. --stdin waits.")
    return bool(ready)


def _from_stdin() -> str:
    data = sys.stdin.buffer.read(MAX_QUESTION_BYTES + 1)
    if len(data) > MAX_QUESTION_BYTES:
        raise typer.BadParameter(
            f"the question is longer than {MAX_QUESTION_BYTES:,} bytes", param_hint="QUESTION"
        )
    return data.decode("utf-8", errors="replace").removeprefix("\ufeff").rstrip("\r\n")

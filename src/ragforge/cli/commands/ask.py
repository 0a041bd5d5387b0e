"""`ragforge ask`: ask a question and see the answer with what it rests on."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from ragforge.cli.exit_codes import BY_SIGNAL, INCOMPLETE
from ragforge.cli.loading import get_current_directory
from ragforge.cli.question import read_question
from ragforge.cli.signals import EndingSignals
from ragforge.cli.state import JsonOption, ModeOption, use_app

if TYPE_CHECKING:
    from ragforge.app import App
    from ragforge.cli.outputs import Output
    from ragforge.config import Settings
    from ragforge.domain.answers import Answer
    from ragforge.domain.modes import Mode

INTERRUPTED = "Interrupted. What was done is kept; `ragforge -c`, then /retry, resumes it."


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

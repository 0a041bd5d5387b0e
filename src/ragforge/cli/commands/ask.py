"""`ragforge ask`: ask a question and see the answer with what it rests on."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from ragforge.cli.question import question_of
from ragforge.cli.state import JsonOption, current_directory, load

if TYPE_CHECKING:
    from ragforge.app import App
    from ragforge.cli.outputs import Output
    from ragforge.config import Settings
    from ragforge.domain.answers import Answer

BROKE_OFF = 3
INTERRUPTED = "Interrupted. What was done is kept; `ragforge -c`, then /retry, goes on."

EXAMPLES = """\b
Examples:
  ragforge ask "How did we fix the login loop?"
  git diff | ragforge ask "Is this right?"
  ragforge ask - < question.txt
  ragforge ask --new --yes "Add a test for the lease"
  ragforge ask --json "Where is the lease renewed?" | jq -r .content
  ragforge ask --output stream-json "Tidy up" | while read -r event; do echo "$event"; done

\b
What is asked:
  QUESTION, and below it what is piped in. A pipe from which nothing comes for three
  seconds is left aside; --stdin waits for it however long it takes.

\b
What may be done:
  Reading needs no permission. Before a file is changed or a command is run you are asked,
  in a terminal. Without one the answer is no; --yes allows changes of files inside the
  project, and nothing else. Rules that you made in the terminal hold here too.

\b
Exit codes:
  0    answered; without a model, with what was found
  1    something failed; one sentence on stderr says what
  2    wrong arguments or settings
  3    the answer broke off: the model failed, or a limit was reached; what there is of it is shown
  130  interrupted

Events of stream-json are described in docs/terminal.md.
"""


class Form(StrEnum):
    """How an answer is printed."""

    text = "text"
    json = "json"
    stream = "stream-json"


def register(app: typer.Typer) -> None:
    app.command("ask", epilog=EXAMPLES)(ask)


def ask(
    context: typer.Context,
    question: Annotated[
        str | None,
        typer.Argument(metavar="QUESTION", help="The question; '-' reads it from stdin."),
    ] = None,
    *,
    go_on: Annotated[
        bool, typer.Option("-c", "--continue", help="In the last session here; so it is anyway.")
    ] = False,
    new: Annotated[bool, typer.Option("--new", help="In a new session.")] = False,
    session: Annotated[
        str | None,
        typer.Option("--session", metavar="ID", help="In this session: the start of its id."),
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Change files in the project without asking.")
    ] = False,
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

    The answer goes on with the last session of this directory. It is written as it comes in a
    terminal, plainly in a pipe.
    """
    import asyncio

    from ragforge.show.console import print_note

    if new + go_on + (session is not None) > 1:
        raise typer.BadParameter("choose one of --continue, --new and --session")
    settings = load(context).settings
    text = question_of(question, stdin)
    output = _output(Form.json if as_json else form, yes)
    try:
        answer = asyncio.run(_ask(settings, text, output, new, session))
    except (asyncio.CancelledError, KeyboardInterrupt):
        if sys.stderr.isatty():
            print_note(INTERRUPTED)
        raise KeyboardInterrupt from None
    if answer.stopped is not None:
        raise typer.Exit(BROKE_OFF)


def _output(form: Form, yes: bool) -> Output:
    from ragforge.cli import outputs

    if form is Form.json:
        return outputs.AsJson(yes)
    if form is Form.stream:
        return outputs.AsStream(yes)
    if not outputs.is_terminal():
        return outputs.AsText(yes)
    from ragforge.cli.live_output import Lively

    return Lively(yes)


async def _ask(
    settings: Settings, question: str, output: Output, new: bool, session: str | None
) -> Answer:
    from ragforge.app import open_app

    async with open_app(settings, current_directory(), detach=True) as app:
        chosen = await _session(app, new, session)
        async with output:
            answer = await app.ask(
                question, chosen, on_event=output.on_event, approve=output.approve
            )
        # Shown at once: closing may take a moment, while jobs are finished.
        output.end(answer)
        return answer


async def _session(app: App, new: bool, session: str | None) -> str | None:
    """Return the id of the session that is meant, or None for the current one."""
    from ragforge.memory.sessions import create_session

    if session is not None:
        return (await app.session_called(session)).uuid
    if new:
        made = await create_session(app.store.conversations, app.cwd, app.project_path)
        return made.uuid
    return None

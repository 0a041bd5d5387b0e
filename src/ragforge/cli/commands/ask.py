"""`ragforge ask`: ask a question and see the answer with what it rests on."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from ragforge.cli.state import JsonOption, current_directory, load

if TYPE_CHECKING:
    from ragforge.agent.answer import Answer
    from ragforge.config import Settings

MAX_QUESTION_BYTES = 10_000_000
PASSAGE_CHARS = 100

EXAMPLES = """\b
Examples:
  ragforge ask "How did we fix the login loop?"
  ragforge ask --json "Where is the lease renewed?"
  ragforge ask - < question.txt
"""


def register(app: typer.Typer) -> None:
    app.command("ask", epilog=EXAMPLES)(ask)


def ask(
    context: typer.Context,
    question: Annotated[
        str | None,
        typer.Argument(metavar="QUESTION", help="The question; '-' reads it from stdin."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Ask a question; it and the answer are remembered."""
    import asyncio

    from ragforge.tui.console import print_json

    def show(answer: Answer) -> None:
        if as_json:
            print_json(_as_json(answer))
        else:
            _show(answer)

    asyncio.run(_ask(load(context).settings, _question(question), show))


def _question(argument: str | None) -> str:
    """Return the question from the argument or from stdin."""
    if argument is None and sys.stdin.isatty():
        raise typer.BadParameter("give a question, or pipe one in", param_hint="QUESTION")
    text = _from_stdin() if argument in (None, "-") else argument
    if not text or not text.strip():
        raise typer.BadParameter("the question is empty", param_hint="QUESTION")
    return text


def _from_stdin() -> str:
    data = sys.stdin.buffer.read(MAX_QUESTION_BYTES + 1)
    if len(data) > MAX_QUESTION_BYTES:
        raise typer.BadParameter(
            f"the question is longer than {MAX_QUESTION_BYTES:,} bytes", param_hint="QUESTION"
        )
    return data.decode("utf-8", errors="replace").removeprefix("\ufeff").rstrip("\r\n")


async def _ask(settings: Settings, question: str, show: Callable[[Answer], None]) -> None:
    from ragforge.app import open_app

    async with open_app(settings, current_directory(), detach=True) as app:
        # Shown at once: closing may take a moment, while jobs are finished.
        show(await app.ask(question))


def _as_json(answer: Answer) -> dict[str, object]:
    return {
        "content": answer.content,
        "conversation_id": answer.conversation_id,
        "turn_index": answer.turn_index,
        "model": answer.model,
        "problem": answer.problem,
        "reasoning": answer.reasoning,
        "usage": {
            "input_tokens": answer.usage.input_tokens,
            "output_tokens": answer.usage.output_tokens,
            "usd": answer.usage.usd,
        },
        "passages": [
            {"source": p.source, "score": round(p.score, 4), "text": p.text}
            for p in answer.passages
        ],
    }


def _show(answer: Answer) -> None:
    from ragforge.tui.console import console, print_note, printable

    out = console()
    if answer.problem is not None:
        print_note(answer.problem)
    out.print(printable(answer.content))
    if answer.passages:
        _show_passages(answer)
    if answer.model is None and answer.problem is None:
        from ragforge.app.models import NO_CHAT_MODEL

        print_note(NO_CHAT_MODEL)


def _show_passages(answer: Answer) -> None:
    from ragforge.tui.console import console, one_line, printable

    out = console()
    out.print()
    for number, passage in enumerate(answer.passages, start=1):
        out.print(f"[{number}] {passage.score:.2f}  ", style="dim", end="")
        if passage.source not in answer.content:  # it may name its sources itself
            out.print(f"{printable(passage.source)}  ", style="cyan", end="")
        out.print(one_line(passage.text, PASSAGE_CHARS), style="italic")

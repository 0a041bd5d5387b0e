"""`ragforge sessions similar` and `about`: sessions by what they were about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ragforge.cli.commands.sessions.told import AllOption, line_as_json
from ragforge.cli.commands.sessions.told import as_json as session_as_json
from ragforge.cli.state import JsonOption, current_directory, load
from ragforge.tui.sessions import short, show_lines

if TYPE_CHECKING:
    from ragforge.config import Settings
    from ragforge.memory.sessions import SessionLine
    from ragforge.memory.similar import Similar

SIMILAR_EXAMPLES = """\b
Examples:
  ragforge sessions similar "refactoring authentication"
  ragforge sessions similar "flaky tests" --all --limit 3
  ragforge sessions similar --json "leases"
"""

ABOUT_EXAMPLES = """\b
Examples:
  ragforge sessions about AuthService
  ragforge sessions about src/auth.py
  ragforge sessions about src/web --json

Code that is gone is found by the name or path that it had.
"""

WIDEST = 100


def register(group: typer.Typer) -> None:
    group.command("similar", epilog=SIMILAR_EXAMPLES)(similar)
    group.command("about", epilog=ABOUT_EXAMPLES)(about)


def similar(
    context: typer.Context,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What it was about.")],
    *,
    everywhere: AllOption = False,
    limit: Annotated[
        int, typer.Option("-k", "--limit", min=1, max=1000, help="How many to show.")
    ] = 5,
    as_json: JsonOption = False,
) -> None:
    """Find sessions of this project that were about the same thing."""
    import asyncio

    from ragforge.tui.console import print_json

    if not text.strip():
        raise typer.BadParameter("the text is empty", param_hint="TEXT")
    found = asyncio.run(_similar(load(context).settings, text, limit, everywhere))
    if as_json:
        print_json({"query": text, "sessions": [_similar_as_json(one) for one in found]})
    else:
        _show_similar(found, everywhere)


async def _similar(settings: Settings, text: str, limit: int, everywhere: bool) -> list[Similar]:
    from ragforge.app import open_app
    from ragforge.memory.similar import Likeness

    async with open_app(settings, current_directory()) as app:
        likeness = Likeness(app.store.conversations, app.store.summaries, app.recall.embedder)
        project = None if everywhere else str(app.project_path)
        return await likeness.find_similar_conversations(text, limit, project)


def _similar_as_json(one: Similar) -> dict[str, object]:
    return {
        **session_as_json(one.conversation),
        "score": round(one.score, 4),
        "found_by": list(one.found_by),
        "turn_index": one.turn.user.turn_index if one.turn else None,
        "question": one.turn.user.content if one.turn else None,
    }


def _show_similar(found: list[Similar], everywhere: bool) -> None:
    from rich.text import Text

    from ragforge.tui.console import console, one_line, print_note, printable
    from ragforge.tui.sessions import NO_TITLE

    if not found:
        print_note("Nothing found." if everywhere else "Nothing found. Try --all.")
        return
    out = console()
    for one in found:
        about = one.conversation
        head = Text(short(about.uuid), style="cyan")
        head.append(f"  {one.score:.2f}  {', '.join(one.found_by)}", style="dim")
        head.append(f"  {about.updated_at:%Y-%m-%d %H:%M}", style="dim")
        if everywhere:
            head.append(f"  {printable(about.cwd)}", style="dim")
        head.append(f"  {one_line(about.title or NO_TITLE, WIDEST)}", style="bold")
        out.print(head)
        if about.summary:
            out.print(f"  {one_line(about.summary, WIDEST)}")
        if one.turn is not None:
            out.print(f"  turn {one.turn.user.turn_index}: ", style="dim", end="")
            out.print(one_line(one.turn.user.content, WIDEST))


def about(
    context: typer.Context,
    subject: Annotated[
        str,
        typer.Argument(metavar="NAME_OR_PATH", help="A file, a directory, a class, a function."),
    ],
    *,
    everywhere: AllOption = False,
    as_json: JsonOption = False,
) -> None:
    """Find sessions that touched a file or something in the code."""
    import asyncio

    from ragforge.tui.console import print_json, print_note

    if not subject.strip():
        raise typer.BadParameter("the name is empty", param_hint="NAME_OR_PATH")
    lines = asyncio.run(_about(load(context).settings, subject, everywhere))
    if as_json:
        print_json({"subject": subject, "sessions": [line_as_json(line) for line in lines]})
    elif lines:
        show_lines(lines, with_directory=everywhere)
    else:
        where = "" if everywhere else " of this project"
        print_note(
            f"No session{where} touched {subject}. To look for the words: "
            f"ragforge sessions similar {subject}"
        )


async def _about(settings: Settings, subject: str, everywhere: bool) -> list[SessionLine]:
    from ragforge.app import open_app
    from ragforge.memory.code.about import conversations_about
    from ragforge.memory.sessions import with_last_messages

    async with open_app(settings, current_directory()) as app:
        conversations = app.store.conversations
        found = await conversations_about(
            conversations, app.store.code, subject, app.cwd, app.project_path, everywhere
        )
        return await with_last_messages(conversations, found)

"""`ragforge sessions similar` and `about`: sessions by what they were about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ragforge.cli.commands.sessions.arguments import AllOption
from ragforge.cli.commands.sessions.arguments import as_json as session_as_json
from ragforge.cli.state import JsonOption, current_directory, load
from ragforge.show.sessions import short

if TYPE_CHECKING:
    from ragforge.config import Settings
    from ragforge.memory.code.about import ConversationAbout
    from ragforge.memory.similar import SimilarConversation

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

Each turn says what was done there: edited, read or named; a mere search hit does not count. A class
is touched when its method is. Code that is gone is found by the name or path that it had. Commits
are those of git, where the project has it.
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

    from ragforge.show.console import print_json

    if not text.strip():
        raise typer.BadParameter("the text is empty", param_hint="TEXT")
    found = asyncio.run(_similar(load(context).settings, text, limit, everywhere))
    if as_json:
        print_json({"query": text, "sessions": [_similar_as_json(one) for one in found]})
    else:
        _show_similar(found, everywhere)


async def _similar(
    settings: Settings, text: str, limit: int, everywhere: bool
) -> list[SimilarConversation]:
    from ragforge.app import open_app
    from ragforge.memory.similar import SimilaritySearch

    async with open_app(settings, current_directory()) as app:
        likeness = SimilaritySearch(
            app.store.conversations, app.store.summaries, app.recall.embedder
        )
        project = None if everywhere else str(app.project_path)
        return await likeness.find_similar_conversations(text, limit, project)


def _similar_as_json(one: SimilarConversation) -> dict[str, object]:
    return {
        **session_as_json(one.conversation),
        "score": round(one.score, 4),
        "found_by": list(one.found_by),
        "turn_index": one.turn.user.turn_index if one.turn else None,
        "question": one.turn.user.content if one.turn else None,
    }


def _show_similar(found: list[SimilarConversation], everywhere: bool) -> None:
    from rich.text import Text

    from ragforge.show.console import console, one_line, print_note, printable
    from ragforge.show.sessions import NO_TITLE

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
    limit: Annotated[
        int, typer.Option("-k", "--limit", min=1, max=1000, help="How many sessions to show.")
    ] = 10,
    as_json: JsonOption = False,
) -> None:
    """Find sessions that touched some code, and what became of it since."""
    import asyncio

    from ragforge.show.console import print_json, print_note
    from ragforge.show.touched_sessions import show_about

    if not subject.strip():
        raise typer.BadParameter("the name is empty", param_hint="NAME_OR_PATH")
    found = asyncio.run(_about(load(context).settings, subject, everywhere))
    if as_json:
        print_json({"subject": subject, "sessions": [_about_as_json(one) for one in found[:limit]]})
    elif found:
        show_about(found[:limit], with_directory=everywhere)
        if len(found) > limit:
            print_note(f"{len(found) - limit:,} more sessions. --limit shows more.")
    else:
        where = "" if everywhere else " of this project"
        print_note(
            f"No session{where} touched {subject}. To look for the words: "
            f"ragforge sessions similar {subject}"
        )


def _about_as_json(one: ConversationAbout) -> dict[str, object]:
    from ragforge.show.touched_sessions import touched_as_json

    touched = [touched_as_json(code) for code in one.touched]
    return {**session_as_json(one.conversation), "touched": touched}


async def _about(settings: Settings, subject: str, everywhere: bool) -> list[ConversationAbout]:
    from ragforge.app import open_app

    async with open_app(settings, current_directory()) as app:
        return await app.find_conversations_about(subject, everywhere=everywhere)

"""`ragforge sessions similar` and `about`: sessions by what they were about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ragforge.cli.commands.sessions.arguments import AllOption
from ragforge.cli.state import JsonOption, use_app

if TYPE_CHECKING:
    from ragforge.app import App
    from ragforge.app.features.sessions import ConversationAbout, SimilarConversation


def register(group: typer.Typer) -> None:
    group.command("similar", epilog="sessions/similar")(similar)
    group.command("about", epilog="sessions/about")(about)


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
    from ragforge.show.console import print_json
    from ragforge.show.sessions import show_similar, similar_to_json

    if not text.strip():
        raise typer.BadParameter("the text is empty", param_hint="TEXT")

    async def find(app: App) -> tuple[list[SimilarConversation], str]:
        return await app.sessions.find_similar(text, limit, everywhere), app.identity.key

    found, viewer = use_app(context, find)
    if as_json:
        print_json({"query": text, "sessions": [similar_to_json(one) for one in found]})
    else:
        show_similar(found, everywhere, viewer)


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
    from ragforge.cli.progress import show_ingestion
    from ragforge.show.console import print_json, print_note
    from ragforge.show.touched_sessions import about_to_json, show_about

    if not subject.strip():
        raise typer.BadParameter("the name is empty", param_hint="NAME_OR_PATH")

    async def find(app: App) -> list[ConversationAbout]:
        if app.code.is_read:
            with show_ingestion() as on_step:  # of a project that was never read
                await app.code.ingest_once(on_step)
        return await app.sessions.find_about(subject, everywhere)

    found = use_app(context, find)
    if as_json:
        print_json({"subject": subject, "sessions": [about_to_json(one) for one in found[:limit]]})
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

"""`ragforge sessions branch`: go another way from some point on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ragforge.cli.commands.sessions.arguments import SessionArgument
from ragforge.cli.commands.sessions.arguments import as_json as session_as_json
from ragforge.cli.state import JsonOption, current_directory, load
from ragforge.show.sessions import named, turns_of

if TYPE_CHECKING:
    from ragforge.config import Settings
    from ragforge.domain.conversations import Conversation

EXAMPLES = """\b
Examples:
  ragforge sessions branch 9719cf4e --from 3
  ragforge sessions branch 9719cf4e --from 5f0c0a52 --title "Without a cache"

A turn is named by its number, a message by its id or the start of it; both stand in
`ragforge sessions show`.
"""


def register(group: typer.Typer) -> None:
    group.command("branch", epilog=EXAMPLES)(branch)


def branch(
    context: typer.Context,
    session: SessionArgument,
    *,
    point: Annotated[
        str,
        typer.Option("--from", metavar="TURN|MESSAGE_ID", help="The last that both will share."),
    ],
    title: Annotated[str | None, typer.Option("--title", help="What to call the branch.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Begin a new session from a turn or message of another."""
    import asyncio

    from ragforge.show.console import print_json, print_note

    source, made = asyncio.run(_branch(load(context).settings, session, point, title))
    if as_json:
        print_json({**session_as_json(made), "branch_of": source.uuid})
    else:
        print_note(
            f"{named(made)} branches from {named(source)}, with {turns_of(made)}. "
            f"It is the session that `ragforge ask` goes on with in {made.cwd}."
        )


async def _branch(
    settings: Settings, session: str, point: str, title: str | None
) -> tuple[Conversation, Conversation]:
    from ragforge.app import open_app
    from ragforge.memory import sessions

    async with open_app(settings, current_directory()) as app:
        conversations = app.store.conversations
        source = await app.session_called(session)
        return source, await sessions.branch(conversations, source, point, title)

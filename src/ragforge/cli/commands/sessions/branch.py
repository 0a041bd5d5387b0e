"""`ragforge sessions branch`: go another way from some point on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ragforge.cli.commands.sessions.arguments import SessionArgument
from ragforge.cli.state import JsonOption, use_app

if TYPE_CHECKING:
    from ragforge.app import App
    from ragforge.domain.conversations import Conversation


def register(group: typer.Typer) -> None:
    group.command("branch", epilog="sessions/branch")(branch)


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
    from ragforge.show.console import print_json, print_note
    from ragforge.show.sessions import count_turns, name_session, session_to_json

    async def make(app: App) -> tuple[Conversation, Conversation]:
        source = await app.sessions.resolve(session)
        return source, await app.sessions.branch(source, point, title)

    source, made = use_app(context, make)
    if as_json:
        print_json({**session_to_json(made), "branch_of": source.uuid})
    else:
        print_note(
            f"{name_session(made)} branches from {name_session(source)}, with {count_turns(made)}. "
            f"It is now the current session of {made.cwd}."
        )

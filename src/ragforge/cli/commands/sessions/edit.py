"""`ragforge sessions archive`, `tag`, `rename`, `share`, `delete`: look after sessions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated

import typer

from ragforge.cli.commands.sessions.arguments import (
    ForceOption,
    SessionArgument,
    SessionsArgument,
)
from ragforge.cli.state import JsonOption, confirm, require_terminal, use_app
from ragforge.errors import InputError, NotAuthor
from ragforge.show.sessions import count_turns, name_other, name_session, session_to_json

if TYPE_CHECKING:
    from ragforge.app import App
    from ragforge.domain.authors import Visibility
    from ragforge.domain.conversations import Conversation, ConversationStatus

TagsArgument = Annotated[list[str], typer.Argument(metavar="TAG", help="One tag or several.")]


def register(group: typer.Typer) -> None:
    group.command("archive", epilog="sessions/archive")(archive)
    group.command("unarchive", epilog="sessions/unarchive")(unarchive)
    group.command("tag", epilog="sessions/tag")(tag)
    group.command("untag", epilog="sessions/untag")(untag)
    group.command("rename", epilog="sessions/rename")(rename)
    group.command("share", epilog="sessions/share")(share)
    group.command("unshare", epilog="sessions/unshare")(unshare)
    group.command("delete", epilog="sessions/delete")(delete)


def archive(
    context: typer.Context,
    sessions: SessionsArgument,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Put sessions away."""
    _set_status(context, sessions, "archived", force, as_json)


def unarchive(
    context: typer.Context,
    sessions: SessionsArgument,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Bring archived sessions back."""
    _set_status(context, sessions, "active", force, as_json)


def tag(
    context: typer.Context,
    session: SessionArgument,
    tags: TagsArgument,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Mark a session with tags."""
    _change(
        context,
        [session],
        lambda app, one: app.sessions.retag(one, add=tags, force=force),
        _describe_tags,
        as_json,
    )


def untag(
    context: typer.Context,
    session: SessionArgument,
    tags: TagsArgument,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Take tags off a session."""
    _change(
        context,
        [session],
        lambda app, one: app.sessions.retag(one, remove=tags, force=force),
        _describe_tags,
        as_json,
    )


def rename(
    context: typer.Context,
    session: SessionArgument,
    title: Annotated[str, typer.Argument(metavar="TITLE", help="What to call it.")],
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Give a session another title."""
    _change(
        context,
        [session],
        lambda app, one: app.sessions.rename(one, title, force=force),
        lambda made: f"It is {name_session(made)} now.",
        as_json,
    )


def delete(
    context: typer.Context,
    sessions: SessionsArgument,
    *,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Delete sessions for good."""
    from ragforge.show.console import sanitise

    async def find(app: App) -> tuple[list[Conversation], str | None]:
        return await app.sessions.resolve_all(sessions), app.identity.key

    if not yes:
        require_terminal()
        found, viewer = use_app(context, find)
        names = ", ".join(_describe(one, viewer) for one in found)
        confirm(f"Delete {sanitise(names)}?")
    _change(
        context,
        sessions,
        lambda app, one: app.sessions.delete(one, force=force),
        lambda gone: f"Deleted {name_session(gone)}.",
        as_json,
    )


def share(context: typer.Context, sessions: SessionsArgument, as_json: JsonOption = False) -> None:
    """Let all who use the store read sessions of yours."""
    _set_visibility(context, sessions, "shared", as_json)


def unshare(
    context: typer.Context, sessions: SessionsArgument, as_json: JsonOption = False
) -> None:
    """Keep sessions of yours to yourself."""
    _set_visibility(context, sessions, "private", as_json)


def _set_visibility(
    context: typer.Context, sessions: list[str], visibility: Visibility, as_json: bool
) -> None:
    _change(
        context,
        sessions,
        lambda app, one: app.sessions.set_visibility(one, visibility),
        lambda made: f"{name_session(made)} is {made.visibility}.",
        as_json,
        "",
    )


def _describe(one: Conversation, viewer: str | None) -> str:
    """Return a session as it stands in a question, with its author if that is not the viewer."""
    other = name_other(one.author, viewer)
    whose = f" of {other}" if other else ""
    return f"{name_session(one)}{whose} with {count_turns(one)}"


def _set_status(
    context: typer.Context,
    sessions: list[str],
    status: ConversationStatus,
    force: bool,
    as_json: bool,
) -> None:
    _change(
        context,
        sessions,
        lambda app, one: app.sessions.set_status(one, status, force=force),
        lambda made: f"{name_session(made)} is {made.status}.",
        as_json,
    )


def _describe_tags(made: Conversation) -> str:
    from ragforge.show.console import fit_line

    tags = fit_line(", ".join(made.tags), 200)
    return (
        f"{name_session(made)} is tagged {tags}." if tags else f"{name_session(made)} has no tags."
    )


def _change(
    context: typer.Context,
    sessions: list[str],
    change: Callable[[App, Conversation], Awaitable[Conversation]],
    describe: Callable[[Conversation], str],
    as_json: bool,
    hint: str = " --force does it anyway.",
) -> None:
    """Change sessions and show the result; all must exist before the first is changed."""
    from ragforge.show.console import print_json, print_note

    async def change_all(app: App) -> list[Conversation]:
        return [await change(app, one) for one in await app.sessions.resolve_all(sessions)]

    try:
        changed = use_app(context, change_all)
    except NotAuthor as error:
        raise InputError(f"{error}{hint}") from error
    if as_json:
        print_json({"sessions": [session_to_json(one) for one in changed]})
        return
    for one in changed:
        print_note(describe(one))

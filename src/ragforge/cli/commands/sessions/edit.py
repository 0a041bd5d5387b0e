"""`ragforge sessions archive`, `tag`, `rename`, `delete`: look after sessions."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from ragforge.cli.commands.sessions.arguments import SessionArgument, SessionsArgument
from ragforge.cli.commands.sessions.arguments import as_json as session_as_json
from ragforge.cli.state import JsonOption, current_directory, load
from ragforge.show.sessions import named, turns_of

if TYPE_CHECKING:
    from ragforge.app import App
    from ragforge.config import Settings
    from ragforge.domain.conversations import Conversation, ConversationStatus
    from ragforge.ports.conversations import ConversationStore

    Change: TypeAlias = Callable[[ConversationStore, Conversation], Awaitable[Conversation]]

ARCHIVE_EXAMPLES = """\b
Examples:
  ragforge sessions archive 9719cf4e
  ragforge sessions archive 9719cf4e 0c7c8d2e

It stays searchable, but is neither listed nor gone on with.
"""
UNARCHIVE_EXAMPLES = """\b
Examples:
  ragforge sessions unarchive 9719cf4e
  ragforge sessions list --status archived
"""
TAG_EXAMPLES = """\b
Examples:
  ragforge sessions tag 9719cf4e auth urgent
  ragforge sessions list --tag auth
"""
UNTAG_EXAMPLES = """\b
Examples:
  ragforge sessions untag 9719cf4e urgent
"""
RENAME_EXAMPLES = """\b
Examples:
  ragforge sessions rename 9719cf4e "How leases are renewed"
"""
DELETE_EXAMPLES = """\b
Examples:
  ragforge sessions delete 9719cf4e
  ragforge sessions delete 9719cf4e --yes

Its messages, summaries and vectors go too. Sessions branched from it stay.
"""

TagsArgument = Annotated[list[str], typer.Argument(metavar="TAG", help="One tag or several.")]


def register(group: typer.Typer) -> None:
    group.command("archive", epilog=ARCHIVE_EXAMPLES)(archive)
    group.command("unarchive", epilog=UNARCHIVE_EXAMPLES)(unarchive)
    group.command("tag", epilog=TAG_EXAMPLES)(tag)
    group.command("untag", epilog=UNTAG_EXAMPLES)(untag)
    group.command("rename", epilog=RENAME_EXAMPLES)(rename)
    group.command("delete", epilog=DELETE_EXAMPLES)(delete)


def archive(
    context: typer.Context, sessions: SessionsArgument, as_json: JsonOption = False
) -> None:
    """Put sessions away."""
    _set_status(context, sessions, "archived", as_json)


def unarchive(
    context: typer.Context, sessions: SessionsArgument, as_json: JsonOption = False
) -> None:
    """Bring archived sessions back."""
    _set_status(context, sessions, "active", as_json)


def tag(
    context: typer.Context,
    session: SessionArgument,
    tags: TagsArgument,
    as_json: JsonOption = False,
) -> None:
    """Mark a session with tags."""

    async def change(store: ConversationStore, known: Conversation) -> Conversation:
        from ragforge.memory.sessions import retag

        return await retag(store, known, add=tags)

    _change(context, [session], change, _tagged, as_json)


def untag(
    context: typer.Context,
    session: SessionArgument,
    tags: TagsArgument,
    as_json: JsonOption = False,
) -> None:
    """Take tags off a session."""

    async def change(store: ConversationStore, known: Conversation) -> Conversation:
        from ragforge.memory.sessions import retag

        return await retag(store, known, remove=tags)

    _change(context, [session], change, _tagged, as_json)


def rename(
    context: typer.Context,
    session: SessionArgument,
    title: Annotated[str, typer.Argument(metavar="TITLE", help="What to call it.")],
    as_json: JsonOption = False,
) -> None:
    """Give a session another title."""

    async def change(store: ConversationStore, known: Conversation) -> Conversation:
        from ragforge.memory.sessions import rename as give_title

        return await give_title(store, known, title)

    _change(context, [session], change, lambda made: f"It is {named(made)} now.", as_json)


def delete(
    context: typer.Context,
    sessions: SessionsArgument,
    *,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Delete sessions for good."""

    async def change(store: ConversationStore, known: Conversation) -> Conversation:
        await store.delete(known.uuid)
        return known

    if not yes and not sys.stdin.isatty():
        raise typer.BadParameter("nobody can be asked here: add --yes", param_hint="--yes")
    if not yes:
        typer.confirm(f"Delete {_asked(context, sessions)}?", abort=True, err=True)
    _change(context, sessions, change, lambda gone: f"Deleted {named(gone)}.", as_json)


def _asked(context: typer.Context, sessions: list[str]) -> str:
    """Return what is about to be deleted, for a question."""
    import asyncio

    from ragforge.show.console import printable

    found = asyncio.run(_resolved(load(context).settings, sessions))
    told = (f"{named(one)} with {turns_of(one)}" for one in found)
    return printable(", ".join(told))


def _set_status(
    context: typer.Context, sessions: list[str], status: ConversationStatus, as_json: bool
) -> None:
    async def change(store: ConversationStore, known: Conversation) -> Conversation:
        from ragforge.domain.conversations import ConversationChanges

        return await store.update(known.uuid, ConversationChanges(status=status))

    _change(context, sessions, change, lambda made: f"{named(made)} is {made.status}.", as_json)


def _tagged(made: Conversation) -> str:
    from ragforge.show.console import one_line

    tags = one_line(", ".join(made.tags), 200)
    return f"{named(made)} is tagged {tags}." if tags else f"{named(made)} has no tags."


def _change(
    context: typer.Context,
    sessions: list[str],
    change: Change,
    told: Callable[[Conversation], str],
    as_json: bool,
) -> None:
    """Change sessions and tell how they are; all must be known before the first is changed."""
    import asyncio

    from ragforge.show.console import print_json, print_note

    changed = asyncio.run(_changed(load(context).settings, sessions, change))
    if as_json:
        print_json({"sessions": [session_as_json(one) for one in changed]})
        return
    for one in changed:
        print_note(told(one))


async def _resolved(settings: Settings, sessions: list[str]) -> list[Conversation]:
    from ragforge.app import open_app

    async with open_app(settings, current_directory()) as app:
        return await _each(app, sessions)


async def _changed(settings: Settings, sessions: list[str], change: Change) -> list[Conversation]:
    from ragforge.app import open_app

    async with open_app(settings, current_directory()) as app:
        store = app.store.conversations
        return [await change(store, one) for one in await _each(app, sessions)]


async def _each(app: App, sessions: list[str]) -> list[Conversation]:
    """Return the sessions that are meant, each once."""
    found = [await app.session_called(session) for session in sessions]
    return list({one.uuid: one for one in found}.values())

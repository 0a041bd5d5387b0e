"""`ragforge sessions archive`, `tag`, `rename`, `delete`: look after sessions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated

import typer

from ragforge.cli.commands.sessions.arguments import SessionArgument, SessionsArgument
from ragforge.cli.state import JsonOption, confirm, require_terminal, use_app
from ragforge.show.sessions import count_turns, name_session, session_to_json

if TYPE_CHECKING:
    from ragforge.app import App
    from ragforge.domain.conversations import Conversation, ConversationStatus

ARCHIVE_EXAMPLES = """\b
Examples:
  ragforge sessions archive 9719cf4e
  ragforge sessions archive 9719cf4e 0c7c8d2e

It stays searchable, but is not listed and not continued.
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
    _change(
        context,
        [session],
        lambda app, one: app.sessions.retag(one, add=tags),
        _describe_tags,
        as_json,
    )


def untag(
    context: typer.Context,
    session: SessionArgument,
    tags: TagsArgument,
    as_json: JsonOption = False,
) -> None:
    """Take tags off a session."""
    _change(
        context,
        [session],
        lambda app, one: app.sessions.retag(one, remove=tags),
        _describe_tags,
        as_json,
    )


def rename(
    context: typer.Context,
    session: SessionArgument,
    title: Annotated[str, typer.Argument(metavar="TITLE", help="What to call it.")],
    as_json: JsonOption = False,
) -> None:
    """Give a session another title."""
    _change(
        context,
        [session],
        lambda app, one: app.sessions.rename(one, title),
        lambda made: f"It is {name_session(made)} now.",
        as_json,
    )


def delete(
    context: typer.Context,
    sessions: SessionsArgument,
    *,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Delete sessions for good."""
    from ragforge.show.console import sanitise

    if not yes:
        require_terminal()
        found = use_app(context, lambda app: app.sessions.resolve_all(sessions))
        names = ", ".join(f"{name_session(one)} with {count_turns(one)}" for one in found)
        confirm(f"Delete {sanitise(names)}?")
    _change(
        context,
        sessions,
        lambda app, one: app.sessions.delete(one),
        lambda gone: f"Deleted {name_session(gone)}.",
        as_json,
    )


def _set_status(
    context: typer.Context, sessions: list[str], status: ConversationStatus, as_json: bool
) -> None:
    _change(
        context,
        sessions,
        lambda app, one: app.sessions.set_status(one, status),
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
) -> None:
    """Change sessions and show the result; all must exist before the first is changed."""
    from ragforge.show.console import print_json, print_note

    async def change_all(app: App) -> list[Conversation]:
        return [await change(app, one) for one in await app.sessions.resolve_all(sessions)]

    changed = use_app(context, change_all)
    if as_json:
        print_json({"sessions": [session_to_json(one) for one in changed]})
        return
    for one in changed:
        print_note(describe(one))

"""`ragforge sessions branch`, `import`, `archive`, `tag`, `share`, `delete`: change sessions."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragforge.cli.options import (
    ForceOption,
    JsonOption,
    SessionArgument,
    SessionsArgument,
    YesOption,
    argument,
    flag,
    option,
)
from ragforge.cli.state import confirm, open_here, require_terminal
from ragforge.domain.conversation_bundle import MAX_EXPORT_BYTES
from ragforge.errors import DuplicateId, InputError, NotAuthor
from ragforge.show.console import fit_line, print_json, print_note, sanitise
from ragforge.show.sessions import count_turns, name_other, name_session, session_to_json

if TYPE_CHECKING:
    from ragforge.app import App
    from ragforge.domain.conversations import Conversation

TagsArgument = Annotated[list[str], typer.Argument(metavar="TAG", help="One tag or several.")]


async def branch(
    session: SessionArgument,
    *,
    point: str = option("--from TURN|MESSAGE_ID", "The last that both will share.", ...),
    title: str | None = option("--title", "The title of the branch."),
    as_json: JsonOption = False,
) -> None:
    """Begin a new session from a turn or message of another."""
    async with open_here() as app:
        source = await app.sessions.resolve(session)
        made = await app.sessions.branch(source, point, title)
    if as_json:
        print_json({**session_to_json(made), "branch_of": source.uuid})
    else:
        print_note(
            f"{name_session(made)} branches from {name_session(source)}, with {count_turns(made)}. "
            f"It is now the current session of {made.cwd}."
        )


async def import_(
    file: str = argument("FILE", "An exported session; '-': stdin."),
    *,
    as_new: bool = flag("--as-new", "Import a copy with new ids; change nothing else."),
    here: bool = flag("--here", "Assign it to this directory and project."),
    as_json: JsonOption = False,
) -> None:
    """Read an exported session into the store."""
    data = _read(file)
    try:
        async with open_here() as app:
            imported = await app.sessions.import_document(data, as_new=as_new, here=here)
    except DuplicateId as error:
        raise InputError(
            f"{error}. Nothing was changed. --as-new imports a copy with new ids."
        ) from error
    made = imported.conversation
    if as_json:
        print_json({**session_to_json(made), "redacted": imported.redacted})
        return
    secrets = f" Secrets were redacted in {imported.redacted} texts." if imported.redacted else ""
    print_note(f"Imported {name_session(made)} with {count_turns(made)} into {made.cwd}.{secrets}")


def _read(file: str) -> bytes:
    try:
        if file == "-":
            return sys.stdin.buffer.read(MAX_EXPORT_BYTES + 1)
        with Path(file).open("rb") as opened:
            return opened.read(MAX_EXPORT_BYTES + 1)
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}.") from error
    except ValueError as error:  # a NUL in the name
        raise InputError(f"{file} cannot be read: {error}.") from error


async def archive(
    sessions: SessionsArgument,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Archive sessions: they stay searchable, but are not listed."""
    changed = await _change(
        sessions, lambda app, one: app.sessions.set_status(one, "archived", force=force)
    )
    _report(changed, as_json, lambda made: f"{name_session(made)} is {made.status}.")


async def unarchive(
    sessions: SessionsArgument,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Restore archived sessions."""
    changed = await _change(
        sessions, lambda app, one: app.sessions.set_status(one, "active", force=force)
    )
    _report(changed, as_json, lambda made: f"{name_session(made)} is {made.status}.")


async def tag(
    session: SessionArgument,
    tags: TagsArgument,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Add tags to a session."""
    changed = await _change(
        [session], lambda app, one: app.sessions.retag(one, add=tags, force=force)
    )
    _report(changed, as_json, _describe_tags)


async def untag(
    session: SessionArgument,
    tags: TagsArgument,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Remove tags from a session."""
    changed = await _change(
        [session], lambda app, one: app.sessions.retag(one, remove=tags, force=force)
    )
    _report(changed, as_json, _describe_tags)


async def rename(
    session: SessionArgument,
    title: str = argument("TITLE", "The new title."),
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Change the title of a session."""
    changed = await _change(
        [session], lambda app, one: app.sessions.rename(one, title, force=force)
    )
    _report(changed, as_json, lambda made: f"It is {name_session(made)} now.")


async def share(sessions: SessionsArgument, as_json: JsonOption = False) -> None:
    """Let all who use the store read sessions of yours."""
    changed = await _change(
        sessions, lambda app, one: app.sessions.set_visibility(one, "shared"), hint=""
    )
    _report(changed, as_json, lambda made: f"{name_session(made)} is {made.visibility}.")


async def unshare(sessions: SessionsArgument, as_json: JsonOption = False) -> None:
    """Make sessions of yours private again."""
    changed = await _change(
        sessions, lambda app, one: app.sessions.set_visibility(one, "private"), hint=""
    )
    _report(changed, as_json, lambda made: f"{name_session(made)} is {made.visibility}.")


async def delete(
    sessions: SessionsArgument,
    *,
    yes: YesOption = False,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Delete sessions permanently."""
    if not yes:
        require_terminal()
        async with open_here() as app:
            found = await app.sessions.resolve_all(sessions)
            names = ", ".join(_describe(one, app.identity.key) for one in found)
        confirm(f"Delete {sanitise(names)}?")
    deleted = await _change(sessions, lambda app, one: app.sessions.delete(one, force=force))
    _report(deleted, as_json, lambda gone: f"Deleted {name_session(gone)}.")


def _describe(one: Conversation, viewer: str | None) -> str:
    """Return a session as a question names it, with its author if that is another user."""
    other = name_other(one.author, viewer)
    whose = f" of {other}" if other else ""
    return f"{name_session(one)}{whose} with {count_turns(one)}"


def _describe_tags(made: Conversation) -> str:
    tags = fit_line(", ".join(made.tags), 200)
    return f"{name_session(made)} " + (f"is tagged {tags}." if tags else "has no tags.")


async def _change(
    sessions: list[str],
    change: Callable[[App, Conversation], Awaitable[Conversation]],
    *,
    hint: str = " --force does it anyway.",
) -> list[Conversation]:
    """Change sessions and return them; all must exist before the first is changed."""
    try:
        async with open_here() as app:
            return [await change(app, one) for one in await app.sessions.resolve_all(sessions)]
    except NotAuthor as error:
        raise InputError(f"{error}{hint}") from error


def _report(
    changed: list[Conversation], as_json: bool, describe: Callable[[Conversation], str]
) -> None:
    if as_json:
        print_json({"sessions": [session_to_json(one) for one in changed]})
        return
    for one in changed:
        print_note(describe(one))

"""`ragforge sessions`: everything about past conversations."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ragforge.app.features.sessions import save_file
from ragforge.cli.options import (
    AllOption,
    CommandGroup,
    ForceOption,
    JsonOption,
    SessionArgument,
    SessionsArgument,
    YesOption,
    argument,
    flag,
    option,
)
from ragforge.cli.progress import show_ingestion
from ragforge.cli.state import confirm, open_here, require_terminal
from ragforge.domain.conversation_bundle import MAX_EXPORT_BYTES
from ragforge.errors import DuplicateId, InputError, NotAuthor
from ragforge.show.console import fit_line, print_json, print_note, print_result, sanitise
from ragforge.show.sessions import (
    about_to_json,
    count_turns,
    detail_to_json,
    line_to_json,
    name_other,
    name_session,
    session_to_json,
    show_about,
    show_detail,
    show_sessions,
    show_similar,
    similar_to_json,
)

if TYPE_CHECKING:
    from ragforge.app import App
    from ragforge.domain.conversations import Conversation, ConversationStatus, Visibility

TURNS = 20


async def list_sessions(
    *,
    everywhere: AllOption = False,
    status: Literal["active", "archived", "any"] = option("--status", "Which of them.", "active"),
    tags: list[str] | None = option("--tag TAG", "Only with this tag, or any of several."),
    limit: int = option("--limit", "How many to show.", 50, min=1, max=10_000),
    as_json: JsonOption = False,
) -> None:
    """List sessions, most recently active first."""
    async with open_here() as app:
        wanted = None if status == "any" else status
        found = await app.sessions.find(wanted, tags or (), limit, everywhere=everywhere)
        lines = await app.sessions.add_last_messages(found)
        viewer = app.identity.key
    if as_json:
        print_json({"sessions": [line_to_json(line) for line in lines]})
    elif lines:
        show_sessions(lines, everywhere, viewer)
        if len(lines) == limit:
            print_note(f"These are the last {limit}. --limit shows more.")
    else:
        place = "" if everywhere else " of this project"
        hint = "" if everywhere else " Try --all."
        kind = "" if status == "any" else f" {status}"
        tagged = f" tagged {' or '.join(tags)}" if tags else ""
        print_note(f"There are no{kind} sessions{tagged}{place}.{hint}")


async def show(
    session: SessionArgument,
    *,
    turns: int = option("--turns", "How many of the latest turns to show.", TURNS, min=0),
    full: bool = flag("--full", "Show long texts in full."),
    as_json: JsonOption = False,
) -> None:
    """Show the turns of a session, with tools, states and summaries."""
    async with open_here() as app:
        found = await app.sessions.load_detail(session)
    print_result(as_json, detail_to_json(found), lambda: show_detail(found, turns, full))


async def similar(
    text: str = argument("TEXT", "What it was about."),
    *,
    everywhere: AllOption = False,
    limit: int = option("-k --limit", "How many to show.", 5, min=1, max=1000),
    as_json: JsonOption = False,
) -> None:
    """Find sessions of this project about the same subject."""
    if not text.strip():
        raise typer.BadParameter("the text is empty", param_hint="TEXT")
    async with open_here() as app:
        found = await app.sessions.find_similar(text, limit, everywhere)
        viewer = app.identity.key
    listed = {"query": text, "sessions": [similar_to_json(one) for one in found]}
    print_result(as_json, listed, lambda: show_similar(found, everywhere, viewer))


async def about(
    subject: str = argument("NAME_OR_PATH", "A file, a directory, a class, a function."),
    *,
    everywhere: AllOption = False,
    limit: int = option("-k --limit", "How many sessions to show.", 10, min=1, max=1000),
    as_json: JsonOption = False,
) -> None:
    """Find sessions that touched some code, and what changed since."""
    if not subject.strip():
        raise typer.BadParameter("the name is empty", param_hint="NAME_OR_PATH")
    async with open_here() as app:
        if app.code.is_read:
            with show_ingestion() as on_step:  # of a project that was never read
                await app.code.ingest_once(on_step)
        found = await app.sessions.find_about(subject, everywhere)
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


async def export(
    session: SessionArgument,
    *,
    output: Path | None = option("-o --output FILE", "Where to write it."),
    with_embeddings: bool = flag(
        "--with-embeddings", "Include vectors; otherwise import makes new ones."
    ),
) -> None:
    """Write a session as JSON, to a file or to stdout."""
    async with open_here() as app:
        known = await app.sessions.resolve(session)
        data = await app.sessions.export_bytes(known.uuid, with_embeddings)
    if output is None or str(output) == "-":
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    else:
        save_file(output, data)
        print_note(f"Wrote {len(data):,} bytes to {output}.")


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
    sessions: SessionsArgument, force: ForceOption = False, as_json: JsonOption = False
) -> None:
    """Archive sessions: they stay searchable, but are not listed."""
    await _set_status(sessions, "archived", force, as_json)


async def unarchive(
    sessions: SessionsArgument, force: ForceOption = False, as_json: JsonOption = False
) -> None:
    """Restore archived sessions."""
    await _set_status(sessions, "active", force, as_json)


async def _set_status(
    sessions: list[str], status: ConversationStatus, force: bool, as_json: bool
) -> None:
    changed = await _change(
        sessions, lambda app, one: app.sessions.set_status(one, status, force=force)
    )
    _report(changed, as_json, lambda made: f"{name_session(made)} is {made.status}.")


async def tag(
    session: SessionArgument,
    tags: TagsArgument,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Add tags to a session."""
    await _retag(session, tags, (), force, as_json)


async def untag(
    session: SessionArgument,
    tags: TagsArgument,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Remove tags from a session."""
    await _retag(session, (), tags, force, as_json)


async def _retag(
    session: str, add: Sequence[str], remove: Sequence[str], force: bool, as_json: bool
) -> None:
    changed = await _change(
        [session], lambda app, one: app.sessions.retag(one, add, remove, force=force)
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
    await _set_visibility(sessions, "shared", as_json)


async def unshare(sessions: SessionsArgument, as_json: JsonOption = False) -> None:
    """Make sessions of yours private again."""
    await _set_visibility(sessions, "private", as_json)


async def _set_visibility(sessions: list[str], visibility: Visibility, as_json: bool) -> None:
    changed = await _change(
        sessions, lambda app, one: app.sessions.set_visibility(one, visibility), hint=""
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


GROUP = CommandGroup(
    help="Show, find, branch, move and delete sessions.", epilog="sessions", no_args_is_help=True
)
_COMMANDS: dict[str, Callable[..., object]] = {
    "list": list_sessions,
    "show": show,
    "similar": similar,
    "about": about,
    "export": export,
    "branch": branch,
    "import": import_,
    "archive": archive,
    "unarchive": unarchive,
    "tag": tag,
    "untag": untag,
    "rename": rename,
    "share": share,
    "unshare": unshare,
    "delete": delete,
}
for name, command in _COMMANDS.items():
    GROUP.command(name, epilog=f"sessions/{name}")(command)

"""`ragforge sessions export` and `import`: a session as a file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragforge.cli.commands.sessions.arguments import SessionArgument
from ragforge.cli.state import JsonOption, use_app
from ragforge.errors import DuplicateId, InputError

if TYPE_CHECKING:
    from ragforge.app import App


def register(group: typer.Typer) -> None:
    group.command("export", epilog="sessions/export")(export)
    group.command("import", epilog="sessions/import")(import_)


def export(
    context: typer.Context,
    session: SessionArgument,
    *,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Where to write it.")
    ] = None,
    with_embeddings: Annotated[
        bool, typer.Option("--with-embeddings", help="Write vectors too; else they are remade.")
    ] = False,
) -> None:
    """Write a session as JSON, to a file or to stdout."""
    from ragforge.app.features.sessions import save_file
    from ragforge.show.console import print_note

    async def read(app: App) -> bytes:
        known = await app.sessions.resolve(session)
        return await app.sessions.export_bytes(known.uuid, with_embeddings)

    data = use_app(context, read)
    if output is None or str(output) == "-":
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    else:
        save_file(output, data)
        print_note(f"Wrote {len(data):,} bytes to {output}.")


def import_(
    context: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", help="An exported session; '-': stdin.")],
    *,
    as_new: Annotated[
        bool, typer.Option("--as-new", help="Give it new ids: a copy beside what is there.")
    ] = False,
    here: Annotated[
        bool, typer.Option("--here", help="Let it belong to this directory and project.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Read an exported session into the store."""
    from ragforge.show.console import print_json, print_note
    from ragforge.show.sessions import count_turns, name_session, session_to_json

    data = _read(file)
    try:
        imported = use_app(
            context, lambda app: app.sessions.import_document(data, as_new=as_new, here=here)
        )
    except DuplicateId as error:
        raise InputError(
            f"{error}. Nothing was changed. --as-new imports a copy with new ids."
        ) from error
    about = imported.conversation
    if as_json:
        print_json({**session_to_json(about), "redacted": imported.redacted})
        return
    secrets = f" Secrets were redacted in {imported.redacted} texts." if imported.redacted else ""
    print_note(
        f"Imported {name_session(about)} with {count_turns(about)} into {about.cwd}.{secrets}"
    )


def _read(file: str) -> bytes:
    from ragforge.domain.conversation_bundle import MAX_EXPORT_BYTES

    try:
        if file == "-":
            return sys.stdin.buffer.read(MAX_EXPORT_BYTES + 1)
        with Path(file).open("rb") as opened:
            return opened.read(MAX_EXPORT_BYTES + 1)
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}.") from error
    except ValueError as error:  # a NUL in the name
        raise InputError(f"{file} cannot be read: {error}.") from error

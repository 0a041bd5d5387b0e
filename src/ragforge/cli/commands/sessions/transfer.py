"""`ragforge sessions export` and `import`: a session as a file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragforge.cli.commands.sessions.arguments import SessionArgument
from ragforge.cli.commands.sessions.arguments import as_json as session_as_json
from ragforge.cli.state import JsonOption, current_directory, load
from ragforge.errors import DuplicateId, InputError
from ragforge.show.sessions import named, turns_of

if TYPE_CHECKING:
    from ragforge.config import Settings
    from ragforge.memory.exchange.imports import ImportResult

EXPORT_EXAMPLES = """\b
Examples:
  ragforge sessions export 9719cf4e > leases.json
  ragforge sessions export 9719cf4e -o leases.json --with-embeddings

The format stands in docs/export-format.md.
"""

IMPORT_EXAMPLES = """\b
Examples:
  ragforge sessions import leases.json
  ragforge sessions import leases.json --as-new --here
  ssh build ragforge sessions export 9719cf4e | ragforge sessions import -

It is imported whole or not at all. Secrets in it are redacted.
"""


def register(group: typer.Typer) -> None:
    group.command("export", epilog=EXPORT_EXAMPLES)(export)
    group.command("import", epilog=IMPORT_EXAMPLES)(import_)


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
    import asyncio

    from ragforge.app.save_file import write_whole
    from ragforge.show.console import print_note

    data = asyncio.run(_export(load(context).settings, session, with_embeddings))
    if output is None or str(output) == "-":
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    else:
        write_whole(output, data)
        print_note(f"Wrote {len(data):,} bytes to {output}.")


async def _export(settings: Settings, session: str, with_embeddings: bool) -> bytes:
    import asyncio

    from ragforge.app import open_app
    from ragforge.memory.exchange.export import export_conversation, to_bytes

    async with open_app(settings, current_directory()) as app:
        known = await app.session_called(session)
        document = await export_conversation(
            app.store.archive, known.uuid, with_embeddings=with_embeddings
        )
        return await asyncio.to_thread(to_bytes, document)


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
    import asyncio

    from ragforge.show.console import print_json, print_note

    settings = load(context).settings
    imported = asyncio.run(_import(settings, _read(file), as_new, here))
    about = imported.conversation
    if as_json:
        print_json({**session_as_json(about), "redacted": imported.redacted})
        return
    secrets = f" Secrets were redacted in {imported.redacted} texts." if imported.redacted else ""
    print_note(f"Imported {named(about)} with {turns_of(about)} into {about.cwd}.{secrets}")


def _read(file: str) -> bytes:
    from ragforge.memory.exchange.imports import MAX_BYTES

    try:
        if file == "-":
            return sys.stdin.buffer.read(MAX_BYTES + 1)
        with Path(file).open("rb") as opened:
            return opened.read(MAX_BYTES + 1)
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}.") from error
    except ValueError as error:  # a NUL in the name
        raise InputError(f"{file} cannot be read: {error}.") from error


async def _import(settings: Settings, data: bytes, as_new: bool, here: bool) -> ImportResult:
    from ragforge.app import open_app
    from ragforge.memory.code.later import enqueue_links
    from ragforge.memory.embed import enqueue_missing
    from ragforge.memory.exchange.imports import import_conversation

    async with open_app(settings, current_directory()) as app:
        place = (app.cwd, app.project_path) if here else None
        try:
            imported = await import_conversation(
                app.store.archive, data, as_new=as_new, place=place
            )
        except DuplicateId as error:
            raise InputError(
                f"{error}. Nothing was changed. --as-new imports a copy with new ids."
            ) from error
        if app.recall.embedder is not None:
            await enqueue_missing(app.store, app.recall.embedder)
        await enqueue_links(app.store, imported.conversation.project_path)
        return imported

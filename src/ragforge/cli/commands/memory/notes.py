"""`ragforge memory remember`, `notes` and `forget-note`: what is to be remembered of a project."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ragforge.cli.commands.memory.summaries import AllOption
from ragforge.cli.state import JsonOption, current_directory, load

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragforge.config import Settings
    from ragforge.domain.notes import Note, NoteFilter

REMEMBER_EXAMPLES = """\b
Examples:
  ragforge memory remember "We deploy on Fridays"
  ragforge memory remember "We deploy on Mondays" --supersedes 9719cf4e --tag deploy
"""
EXAMPLES = """\b
Examples:
  ragforge memory notes
  ragforge memory notes "when do we deploy"
  ragforge memory notes --tag deploy --superseded --json
"""
FORGET_EXAMPLES = """\b
Examples:
  ragforge memory forget-note 9719cf4e

A note that it superseded is found again.
"""
WIDEST = 120
LISTED = "`ragforge memory notes` lists them."

TagOption = Annotated[
    list[str] | None, typer.Option("--tag", metavar="TAG", help="A tag; may be given again.")
]


def remember(
    context: typer.Context,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What to remember.")],
    tags: TagOption = None,
    supersedes: Annotated[
        str | None,
        typer.Option(metavar="ID", help="The note in whose place it is found from now on."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Keep a note of this project: an insight, a decision, a rule."""
    import asyncio

    from ragforge.show.console import print_json, print_note
    from ragforge.show.hits import note_as_json
    from ragforge.show.sessions import short

    note = asyncio.run(_remember(load(context).settings, text, tags or (), supersedes))
    if as_json:
        print_json(note_as_json(note))
    else:
        print_note(f"Remembered as {short(note.uuid)}.")


def notes(
    context: typer.Context,
    query: Annotated[
        str | None, typer.Argument(metavar="QUERY", help="Only those that bear on it, best first.")
    ] = None,
    tags: TagOption = None,
    superseded: Annotated[
        bool, typer.Option("--superseded", help="Those too in whose place others stand.")
    ] = False,
    limit: Annotated[
        int, typer.Option("-k", "--limit", min=1, max=10_000, help="How many to show.")
    ] = 50,
    everywhere: AllOption = False,
    as_json: JsonOption = False,
) -> None:
    """Show the notes of this project, the newest first."""
    import asyncio

    from ragforge.domain.notes import NoteFilter
    from ragforge.show.console import print_json
    from ragforge.show.hits import note_as_json

    where = NoteFilter(tags=tuple(tags or ()), with_superseded=superseded)
    found = asyncio.run(_find(load(context).settings, query, where, limit, everywhere=everywhere))
    if as_json:
        print_json({"notes": [note_as_json(note) for note in found]})
    else:
        _show(found, with_project=everywhere)


def forget_note(
    context: typer.Context,
    note_id: Annotated[
        str, typer.Argument(metavar="ID", help="The id of a note, or the start of it.")
    ],
    as_json: JsonOption = False,
) -> None:
    """Delete a note."""
    import asyncio

    from ragforge.show.console import one_line, print_json, print_note
    from ragforge.show.hits import note_as_json
    from ragforge.show.sessions import short

    note = asyncio.run(_forget(load(context).settings, note_id))
    if as_json:
        print_json(note_as_json(note))
    else:
        print_note(f"Forgot {short(note.uuid)}: {one_line(note.text, WIDEST)}")


def _show(found: Sequence[Note], *, with_project: bool) -> None:
    from ragforge.show.console import one_line, print_note, print_table
    from ragforge.show.sessions import short

    if not found:
        print_note('There are no such notes. `ragforge memory remember "…"` keeps one.')
        return
    last = ["Project"] if with_project else []
    rows = [
        [
            short(note.uuid),
            f"{note.created_at:%Y-%m-%d %H:%M}",
            one_line(note.text, WIDEST),
            " ".join(f"#{tag}" for tag in note.tags),
            *([note.project_path] if with_project else []),
        ]
        for note in found
    ]
    print_table(["Note", "Kept", "Text", "Tags", *last], rows, one_line_each=("Text",))


async def _remember(
    settings: Settings, text: str, tags: Sequence[str], supersedes: str | None
) -> Note:
    from ragforge.app import open_app
    from ragforge.errors import InputError, NoteNotFound

    async with open_app(settings, current_directory()) as app:
        try:
            return await app.notebook.remember(
                text, str(app.project_path), tags=tags, supersedes=supersedes
            )
        except NoteNotFound as error:
            raise InputError(f"{error} in this project. {LISTED}") from error


async def _find(
    settings: Settings, query: str | None, where: NoteFilter, limit: int, *, everywhere: bool
) -> list[Note]:
    from dataclasses import replace

    from ragforge.app import open_app

    async with open_app(settings, current_directory()) as app:
        if not everywhere:
            where = replace(where, project_path=str(app.project_path))
        if query is None:
            return await app.store.notes.find(where, limit)
        return [hit.note for hit in await app.notebook.search(query, where, limit)]


async def _forget(settings: Settings, note_id: str) -> Note:
    from ragforge.app import open_app
    from ragforge.errors import InputError, NoteNotFound

    async with open_app(settings, current_directory()) as app:
        try:
            return await app.notebook.forget(note_id)
        except NoteNotFound as error:
            raise InputError(f"{error}. {LISTED}") from error

"""`ragforge memory remember`, `notes` and `forget-note`: notes of a project."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ragforge.cli.commands.memory.summaries import AllOption
from ragforge.cli.commands.sessions.arguments import ForceOption
from ragforge.cli.state import JsonOption, use_app
from ragforge.errors import InputError, NotAuthor, NoteNotFound

if TYPE_CHECKING:
    from ragforge.app import App
    from ragforge.domain.notes import Note

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
        typer.Option(metavar="ID", help="The note that it replaces from now on."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Keep a note of this project: an insight, a decision, a rule."""
    from ragforge.show.console import print_json, print_note
    from ragforge.show.notes import note_to_json
    from ragforge.show.sessions import shorten_id

    try:
        note = use_app(
            context, lambda app: app.notes.remember(text, tags=tags or (), supersedes=supersedes)
        )
    except NoteNotFound as error:
        raise InputError(f"{error} in this project. {LISTED}") from error
    if as_json:
        print_json(note_to_json(note))
    else:
        print_note(f"Remembered as {shorten_id(note.uuid)}.")


def notes(
    context: typer.Context,
    query: Annotated[
        str | None, typer.Argument(metavar="QUERY", help="Only those relevant to it, best first.")
    ] = None,
    tags: TagOption = None,
    superseded: Annotated[
        bool, typer.Option("--superseded", help="Also those that others replace.")
    ] = False,
    limit: Annotated[
        int, typer.Option("-k", "--limit", min=1, max=10_000, help="How many to show.")
    ] = 50,
    everywhere: AllOption = False,
    as_json: JsonOption = False,
) -> None:
    """Show the notes of this project, the newest first."""
    from ragforge.show.console import print_json
    from ragforge.show.notes import note_to_json, show_notes

    async def find(app: App) -> tuple[list[Note], str | None]:
        found = await app.notes.find(
            query,
            tags=tags or (),
            limit=limit,
            everywhere=everywhere,
            with_superseded=superseded,
        )
        return found, app.identity.key

    found, viewer = use_app(context, find)
    if as_json:
        print_json({"notes": [note_to_json(note) for note in found]})
    else:
        show_notes(found, with_project=everywhere, viewer=viewer)


def forget_note(
    context: typer.Context,
    note_id: Annotated[
        str, typer.Argument(metavar="ID", help="The id of a note, or the start of it.")
    ],
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Delete a note."""
    from ragforge.show.console import fit_line, print_json, print_note
    from ragforge.show.notes import note_to_json
    from ragforge.show.sessions import shorten_id

    try:
        note = use_app(context, lambda app: app.notes.forget(note_id, force=force))
    except NoteNotFound as error:
        raise InputError(f"{error}. {LISTED}") from error
    except NotAuthor as error:
        raise InputError(f"{error} --force does it anyway.") from error
    if as_json:
        print_json(note_to_json(note))
    else:
        print_note(f"Forgot {shorten_id(note.uuid)}: {fit_line(note.text, WIDEST)}")

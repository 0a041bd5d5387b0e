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
    from ragforge.app.features.notes import Correction
    from ragforge.domain.notes import Note

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
    rule: Annotated[
        bool, typer.Option("--rule", help="It always reaches agents, whatever they are asked.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Keep a note of this project: an insight, a decision, a rule."""
    from ragforge.show.console import print_json, print_note
    from ragforge.show.notes import format_correction, note_to_json
    from ragforge.show.sessions import shorten_id

    async def keep(app: App) -> tuple[Note, list[Correction], int]:
        made = await app.notes.remember(text, tags=tags or (), supersedes=supersedes, rule=rule)
        if as_json:
            return made, [], 0
        every = await app.notes.find_corrections(newer=made, linked=True)
        doubtful = await app.notes.find_corrections(newer=made)
        return made, [one for one in every if not one.is_by_user], len(doubtful)

    try:
        note, replaced, doubtful = use_app(context, keep)
    except NoteNotFound as error:
        raise InputError(f"{error} in this project. {LISTED}") from error
    if as_json:
        print_json(note_to_json(note))
    else:
        what = " as a rule" if note.is_rule else ""
        print_note(f"Remembered{what} as {shorten_id(note.uuid)}.")
        for one in replaced:
            print_note(f"{format_correction(one)}\n  undo: ragforge memory review --no {one.id}")
        if doubtful:
            print_note("It may replace an older one: ragforge memory review asks.")


def notes(
    context: typer.Context,
    query: Annotated[
        str | None, typer.Argument(metavar="QUERY", help="Only those relevant to it, best first.")
    ] = None,
    tags: TagOption = None,
    superseded: Annotated[
        bool, typer.Option("--superseded", help="Also those that others replace.")
    ] = False,
    rules: Annotated[
        bool, typer.Option("--rules", help="Rules, and your instructions in sessions.")
    ] = False,
    limit: Annotated[
        int, typer.Option("-k", "--limit", min=1, max=10_000, help="How many to show.")
    ] = 50,
    everywhere: AllOption = False,
    as_json: JsonOption = False,
) -> None:
    """Show the notes of this project, the newest first."""
    from ragforge.show.console import print_json
    from ragforge.show.notes import note_to_json, rule_to_json, show_notes, show_rules

    if rules:
        if query or tags or everywhere:
            raise typer.BadParameter("--rules lists all rules of this project")
        every = use_app(context, lambda app: app.notes.find_rules())
        kept = [one for one in every if superseded or one.replaced_by is None][:limit]
        if as_json:
            print_json({"rules": [rule_to_json(one) for one in kept]})
        else:
            show_rules(kept)
        return

    async def find(app: App) -> tuple[list[Note], dict[str, Note], str | None]:
        found = await app.notes.find(
            query,
            tags=tags or (),
            limit=limit,
            everywhere=everywhere,
            with_superseded=superseded,
        )
        replaced = await app.notes.find_replaced(found) if superseded else {}
        return found, replaced, app.identity.key

    found, replaced, viewer = use_app(context, find)
    if as_json:
        by = {old: newer.uuid for old, newer in replaced.items()}
        listed = [note_to_json(note) | {"replaced_by": by.get(note.uuid)} for note in found]
        print_json({"notes": listed})
    else:
        show_notes(found, with_project=everywhere, viewer=viewer, replaced=replaced)


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

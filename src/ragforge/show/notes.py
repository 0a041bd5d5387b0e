"""Notes, as text and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragforge.domain.instants import format_instant
from ragforge.show.console import fit_line, print_note, print_table
from ragforge.show.sessions import shorten_id

if TYPE_CHECKING:
    from ragforge.domain.notes import Note

WIDEST = 120


def note_to_json(note: Note) -> dict[str, object]:
    return {
        "note_id": note.uuid,
        "text": note.text,
        "tags": list(note.tags),
        "supersedes": note.supersedes,
        "conversation_id": note.conversation_id,
        "project_path": note.project_path,
        "created_at": format_instant(note.created_at),
        "author": note.author,
        "visibility": note.visibility,
    }


def show_notes(found: Sequence[Note], *, with_project: bool) -> None:
    """Show notes as a table, with their project where they are of several."""
    if not found:
        print_note('There are no such notes. `ragforge memory remember "…"` keeps one.')
        return
    last = ["Project"] if with_project else []
    rows = [
        [
            shorten_id(note.uuid),
            f"{note.created_at:%Y-%m-%d %H:%M}",
            fit_line(note.text, WIDEST),
            " ".join(f"#{tag}" for tag in note.tags),
            *([note.project_path] if with_project else []),
        ]
        for note in found
    ]
    print_table(["Note", "Kept", "Text", "Tags", *last], rows, one_line_each=("Text",))

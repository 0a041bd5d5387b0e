"""Notes, as text and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragforge.domain.instants import format_instant
from ragforge.show.console import fit_line, print_note, print_table
from ragforge.show.sessions import name_other, shorten_id

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


def show_notes(found: Sequence[Note], *, with_project: bool, viewer: str | None) -> None:
    """Show notes as a table, with their projects if wanted and authors who are not the viewer."""
    if not found:
        print_note('There are no such notes. `ragforge memory remember "…"` keeps one.')
        return
    authors = [name_other(note.author, viewer) for note in found]
    with_author = any(authors)
    last = [*(["Author"] if with_author else []), *(["Project"] if with_project else [])]
    rows = [
        [
            shorten_id(note.uuid),
            f"{note.created_at:%Y-%m-%d %H:%M}",
            fit_line(note.text, WIDEST),
            " ".join(f"#{tag}" for tag in note.tags),
            *([author] if with_author else []),
            *([note.project_path] if with_project else []),
        ]
        for note, author in zip(found, authors, strict=True)
    ]
    print_table(["Note", "Kept", "Text", "Tags", *last], rows, one_line_each=("Text",))

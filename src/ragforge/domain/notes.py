"""Notes: what somebody wants remembered of a project, in their own words."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from ragforge.domain.instants import now
from ragforge.domain.text import new_id


@dataclass(frozen=True, slots=True)
class Note:
    """An insight, a decision, a rule: it belongs to a project and to no turn.

    A note that supersedes another takes its place in every search; the older one is kept.
    """

    text: str
    project_path: str
    tags: tuple[str, ...] = ()
    conversation_id: str | None = None  # where it was made; that conversation may be gone
    supersedes: str | None = None  # the note in whose place it stands; that one may be gone
    uuid: str = field(default_factory=new_id)
    created_at: datetime = field(default_factory=now)


@dataclass(frozen=True, slots=True)
class NoteFilter:
    """Which notes; everything that is None does not restrict."""

    project_path: str | None = None
    conversation_id: str | None = None
    tags: tuple[str, ...] = ()  # any of these
    text: str | None = None  # exactly this
    since: datetime | None = None
    until: datetime | None = None
    with_superseded: bool = False


def format_note_for_search(note: Note) -> str:
    """Return the text by which a note is found: its own, and its tags."""
    return "\n".join([note.text, *note.tags])

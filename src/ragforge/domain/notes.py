"""Notes: what is to be remembered about a project, in the author's own words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from datetime import datetime

from ragforge.domain.conversations import Authored, Visibility
from ragforge.domain.instants import now
from ragforge.domain.text import new_id
from ragforge.records import dataclass


@dataclass(frozen=True, slots=True)
class Note(Authored):
    """An insight, a decision or a rule. It belongs to a project, not to a turn.

    A rule always reaches an agent, whatever its question. A note that supersedes another, or
    corrects it, replaces it in every search; the older one is kept.
    """

    text: str
    project_path: str
    tags: tuple[str, ...] = ()
    conversation_id: str | None = None  # where it was made; it may be deleted
    supersedes: str | None = None  # the note that this one replaces; it may be deleted
    uuid: str = field(default_factory=new_id)
    created_at: datetime = field(default_factory=now)
    author: str | None = None
    visibility: Visibility = "shared"
    project_id: str = ""  # of the repository, wherever it lies
    is_rule: bool = False
    corrects: tuple[str, ...] = ()  # older notes and turns that it contradicts, found by words
    keeps: tuple[str, ...] = ()  # those that hold next to it: the user said so

    @property
    def replaces(self) -> tuple[str, ...]:
        """The notes and turns in whose place it stands."""
        return (*filter(None, (self.supersedes,)), *self.corrects)

    def __post_init__(self) -> None:
        if not self.project_id:  # not recognised: it is known by its path
            object.__setattr__(self, "project_id", self.project_path)


@dataclass(frozen=True, slots=True)
class NoteFilter:
    """Which notes to find; a field that is None does not restrict."""

    project_ids: Sequence[str] | None = None  # any of these
    conversation_id: str | None = None
    tags: tuple[str, ...] = ()  # any of these
    text: str | None = None  # exactly this
    since: datetime | None = None
    until: datetime | None = None
    with_superseded: bool = False
    prefix: str | None = None  # how their ids begin
    is_rule: bool | None = None


def format_note_for_search(note: Note) -> str:
    """Return the text that is indexed for a note: its own text and its tags."""
    return "\n".join([note.text, *note.tags])

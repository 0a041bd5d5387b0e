"""Notes: what somebody wants remembered of a project."""

from __future__ import annotations

from collections.abc import Sequence

from ragforge.app.sessions import HasId, Sessions
from ragforge.domain.notes import Note, NoteFilter
from ragforge.domain.schema import NOTE
from ragforge.memory.notes import Notebook
from ragforge.records import dataclass

LISTED = 50


@dataclass(frozen=True, slots=True)
class Notes:
    """The notes of one project, and of all others in the same store."""

    sessions: Sessions
    notebook: Notebook

    async def remember(
        self,
        text: str,
        *,
        tags: Sequence[str] = (),
        supersedes: str | None = None,
        conversation: str | HasId | None = None,
    ) -> Note:
        """Keep a note of this project: an insight, a decision, a rule. Secrets are redacted.

        `supersedes` is the id of a note that this one replaces in searches; the old one is
        kept. `conversation` is the one in which the note was made; the note belongs to its project.
        Raises InputError if the text is empty or too long, NoteNotFound, AmbiguousId.
        """
        project, uuid = self.sessions.project, await self.sessions.resolve_id(conversation)
        if uuid is not None:
            session = await self.sessions.load(uuid)
            project = project.look_from(session.project_id, session.project_path)
        return await self.notebook.remember(
            text, project, tags=tags, supersedes=supersedes, conversation_id=uuid
        )

    async def find(
        self,
        query: str | None = None,
        *,
        tags: Sequence[str] = (),
        limit: int = LISTED,
        everywhere: bool = False,
        with_superseded: bool = False,
    ) -> list[Note]:
        """Return notes of this project, or of all: the newest first, or with a query those that
        are relevant to it, the best first.
        """
        project = None if everywhere else self.sessions.project.ids
        where = NoteFilter(project, tags=tuple(tags), with_superseded=with_superseded)
        if query is None:
            return await self.sessions.store.records.find(NOTE, where, limit)
        return [hit.note for hit in await self.notebook.search(query, where, limit)]

    async def load(self, note_id: str) -> Note:
        """Return the note with this id, or the only one whose id starts so.

        Raises NoteNotFound, AmbiguousId.
        """
        return await self.notebook.resolve(note_id)

    async def forget(self, note_id: str, *, force: bool = False) -> Note:
        """Delete a note, given by its id or the start of it. A note that it superseded is found
        again. Raises NoteNotFound, AmbiguousId, and NotAuthor if it is somebody else's, unless
        forced.
        """
        return await self.notebook.forget(note_id, force)

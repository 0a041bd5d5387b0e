"""Notes: what is to be remembered of a project."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragforge.app.features.sessions import HasId, Sessions
from ragforge.domain.notes import Note, NoteFilter
from ragforge.domain.schema import NOTE
from ragforge.errors import InputError
from ragforge.memory.notes import Notebook
from ragforge.records import dataclass

if TYPE_CHECKING:
    from ragforge.memory.corrections import Correction
    from ragforge.memory.rules import Rule

LISTED = 50
MAX_LINKS = 1_000

# For the doors, from the rooms below.
__all__ = ["Correction", "Rule"]


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
        rule: bool = False,
    ) -> Note:
        """Keep a note of this project: an insight, a decision, a rule. Secrets are redacted.

        A `rule` always reaches agents. `supersedes` is the id of a note that this one replaces in
        searches; the old one is kept. So are your notes that it clearly contradicts: `corrects`
        has their ids. `conversation` is the one in which the note was made; the note belongs to
        its project.
        Raises InputError if the text is empty or too long, NoteNotFound, AmbiguousId.
        """
        project, uuid = self.sessions.project, await self.sessions.resolve_id(conversation)
        if uuid is not None:
            session = await self.sessions.load(uuid)
            project = project.look_from(session.project_id, session.project_path)
        return await self.notebook.remember(
            text, project, tags=tags, supersedes=supersedes, conversation_id=uuid, is_rule=rule
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

    async def find_rules(self) -> list[Rule]:
        """Return what always reaches agents in this project, the newest first: rules, and the
        instructions you gave in a session. One that a newer one contradicts says which.
        """
        from ragforge.memory.rules import find_rules

        sessions = self.sessions
        return await find_rules(sessions.store, sessions.project.ids, sessions.identity.key)

    async def find_replaced(self, found: Sequence[Note]) -> dict[str, Note]:
        """Return the notes that replace some of these, by the ids of the replaced ones."""
        every = await self.find(limit=MAX_LINKS, everywhere=True, with_superseded=True)
        ids = {note.uuid for note in found}
        return {old: one for one in reversed(every) for old in one.replaces if old in ids}

    async def find_corrections(
        self, *, linked: bool = False, newer: Note | None = None
    ) -> list[Correction]:
        """Return pairs of which the newer may replace the older, for a yes or no; or those that
        are `linked`. With `newer` only those in which this note is the newer one.
        """
        from ragforge.memory.corrections import find_corrections

        sessions = self.sessions
        place, reader = sessions.project, sessions.identity.key
        newer_id = None if newer is None else newer.uuid
        found = await find_corrections(sessions.store, place.ids, reader, newer_id)
        return [one for one in found if one.is_linked == linked]

    async def decide(self, correction_id: str, *, replaces: bool) -> Correction:
        """Say whether the newer of two statements replaces the older one; return the pair.

        A no undoes a link; the older one is found again. An instruction that replaces a note is
        kept as a rule. Raises InputError if there is no such pair, NotAuthor.
        """
        from ragforge.memory.corrections import decide

        for linked in (False, True):
            for one in await self.find_corrections(linked=linked):
                if one.id != correction_id:
                    continue
                if replaces and not one.newer.is_note:
                    await self.remember(one.newer.text, supersedes=one.older.id, rule=True)
                else:
                    await decide(self.sessions.store, one, replaces)
                return one
        raise InputError(
            f"No correction has the id {correction_id!r}. `ragforge memory review` lists them."
        )

    async def load(self, note_id: str) -> Note:
        """Return the note with this id, or the only one whose id starts so.

        Raises NoteNotFound, AmbiguousId.
        """
        return await self.notebook.resolve(note_id)

    async def forget(self, note_id: str, *, force: bool = False) -> Note:
        """Delete a note, given by its id or the start of it. A note that it superseded is found
        again. Raises NoteNotFound, AmbiguousId, and NotAuthor if it is another user's, unless
        forced.
        """
        return await self.notebook.forget(note_id, force)

"""Notes: add, find, supersede and delete the notes of a project."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from ragforge.domain.conversations import Identity, Visibility, make_author_key
from ragforge.domain.hits import MIN_RELEVANCE, NOTE_CONFIDENCE, NoteHit
from ragforge.domain.notes import Note, NoteFilter, format_note_for_search
from ragforge.domain.projects import ProjectPlace
from ragforge.domain.schema import CONVERSATION, NOTE
from ragforge.domain.text import check_text
from ragforge.domain.work import NewJob
from ragforge.errors import ConversationNotFound, InputError, NoteNotFound
from ragforge.memory.embed import EMBED_NOTES_JOB, embed_query
from ragforge.memory.sessions import resolve_id
from ragforge.ports.models import Embedder
from ragforge.ports.store import Store
from ragforge.records import dataclass
from ragforge.search.question.message_kinds import needs_nothing
from ragforge.search.question.wording import count_shared, expand_query
from ragforge.search.relevance import Evidence, estimate
from ragforge.search.turn_rank import list_signals
from ragforge.search.words.tokenise import WORDS

MAX_CHARS = 4_000
MAX_RULE_CHARS = 500
"""A rule is part of every request."""
MAX_TAGS = 20
CANDIDATES_A_HIT = 5
NEARER = 0.35
"""How far below a model's threshold its similarities still tell one note from another."""
MAX_SHARED = 3
"""How many words of a message a note holds at most: it is a sentence or two."""


@dataclass(frozen=True, slots=True)
class Notebook:
    """The notes of a store, searched with one embedding model, or only by words."""

    store: Store
    embedder: Embedder | None
    identity: Identity | None = None  # of whoever makes notes

    async def remember(
        self,
        text: str,
        project: ProjectPlace,
        *,
        tags: Sequence[str] = (),
        supersedes: str | None = None,
        conversation_id: str | None = None,
        is_rule: bool = False,
    ) -> Note:
        """Store a note without its secrets; it is durable when this returns.

        If the project has the same note already, that one is returned; it becomes a rule if it is
        to be one. `supersedes` is (the start of) the id of a note that this one replaces in
        searches. Notes of the same author that it clearly contradicts are replaced, too. What
        replaces a rule is a rule.
        Raises InputError if the text is empty or too long, NoteNotFound, AmbiguousId.
        """
        from ragforge.memory.secrets.redact import redact  # slow to import

        words = redact(text.strip())
        check_text("text", words)
        if not words:
            raise InputError("The note is empty. Say what to remember.")
        if len(words) > MAX_CHARS:
            raise InputError(
                f"The note has {len(words):,} characters; the maximum is {MAX_CHARS:,}."
            )
        if is_rule and len(words) > MAX_RULE_CHARS:
            raise InputError(
                f"The rule has {len(words):,} characters; the maximum is {MAX_RULE_CHARS}, because "
                "it is part of every request. Keep the details in a note."
            )
        older = None if supersedes is None else await self.resolve(supersedes)
        if older is not None and older.project_id not in project.ids:
            raise NoteNotFound(older.uuid)  # the note belongs to another project
        same = NoteFilter(project.ids, text=words)
        known = await self.store.records.find(NOTE, same, limit=1)
        if known and older is None:
            return await self._make_rule(known[0]) if is_rule else known[0]
        author = None if self.identity is None else self.identity.author
        replaced = await self._find_contradicted(words, project, author, older)
        follows_rule = any(one.is_rule for one in (*replaced, *filter(None, (older,))))
        note = Note(
            words,
            project.path,
            tuple(dict.fromkeys(filter(None, (redact(tag.strip()) for tag in tags))))[:MAX_TAGS],
            conversation_id,
            None if older is None else older.uuid,
            author=author,
            visibility=await self._choose_visibility(conversation_id),
            project_id=project.id,
            is_rule=is_rule or (follows_rule and len(words) <= MAX_RULE_CHARS),
            corrects=tuple(one.uuid for one in replaced),
        )
        await self.store.records.put(NOTE, note)
        if self.embedder is not None:
            key = f"embed-note:{note.uuid}:{self.embedder.name}"
            await self.store.jobs.enqueue([NewJob(key, EMBED_NOTES_JOB, [note.uuid])])
        return note

    async def _make_rule(self, note: Note) -> Note:
        if note.is_rule:
            return note
        return await self.store.records.update(
            NOTE, note.uuid, lambda one: replace(one, is_rule=True)
        )

    async def _find_contradicted(
        self, text: str, project: ProjectPlace, author: str | None, older: Note | None
    ) -> list[Note]:
        """Return the notes that a new one replaces, without the one it names."""
        from ragforge.memory.corrections import MAX_COMPARED, find_contradicted  # slow to import

        notes = await self.store.records.find(NOTE, NoteFilter(project.ids), MAX_COMPARED)
        others = [note for note in notes if older is None or note.uuid != older.uuid]
        return find_contradicted(text, others, make_author_key(author))

    async def _choose_visibility(self, conversation_id: str | None) -> Visibility:
        """Return who sees a note: whoever sees the conversation it is made in, else the default."""
        if self.identity is None:
            return "shared"
        if conversation_id is not None:
            with suppress(ConversationNotFound):
                return (await self.store.records.get(CONVERSATION, conversation_id)).visibility
        return self.identity.visibility

    async def search(self, query: str, where: NoteFilter, limit: int) -> list[NoteHit]:
        """Return the notes that are relevant to the query, best first."""
        if limit <= 0:
            return []
        asked = expand_query(query, WORDS)
        vector = await embed_query(self.embedder, query)
        threshold = 0.0 if self.embedder is None else self.embedder.history_threshold
        min_score = threshold - NEARER * (1 - threshold)
        matched, nearest, read = await self.store.index.search(
            NOTE, asked.text, vector, where, limit * CANDIDATES_A_HIT, max(min_score, 0.0)
        )
        near = {match.id: (match.score - threshold) / (1 - threshold) for match in nearest}
        by_words = {match.id for match in matched}
        new = await self._find_unembedded(where) if vector and by_words - near.keys() else ()
        groups = asked.groups or [frozenset((word,)) for word in WORDS.query(query)]

        def make_hit(note: Note) -> NoteHit:
            shared = count_shared(WORDS.prose(format_note_for_search(note)).split(), groups)
            unknown = vector is None or note.uuid in new
            enough = max(len(groups), 1) if unknown else MAX_SHARED
            evidence = Evidence(near.get(note.uuid, -NEARER), min(shared / enough, 1.0))
            likely = estimate("notes", evidence, by_meaning=not unknown)
            signals = list_signals(words=note.uuid in by_words, meaning=note.uuid in near)
            return NoteHit(note, likely, NOTE_CONFIDENCE, signals)

        hits = map(make_hit, read.values())
        return sorted(hits, key=lambda hit: -hit.score)[:limit]

    async def _find_unembedded(self, where: NoteFilter) -> set[str]:
        """Return the notes that have no vector yet: only words tell whether they are relevant."""
        if self.embedder is None:
            return set()
        return set(await self.store.index.pending(NOTE, self.embedder.name, where=where))

    async def resolve(self, start: str) -> Note:
        """Return the note whose id is this or starts with it. Raises NoteNotFound, AmbiguousId."""
        return await resolve_id(
            self.store.records,
            NOTE,
            "note",
            start,
            lambda prefix: NoteFilter(prefix=prefix, with_superseded=True),
            lambda note: note.text,
        )

    async def forget(self, start: str, force: bool = False) -> Note:
        """Delete the note whose id is this or starts with it, and return it.

        A note that it superseded is found again. Raises NoteNotFound, AmbiguousId, and NotAuthor
        if it is another user's, unless forced.
        """
        note = await self.resolve(start)
        await self.store.records.delete(NOTE, note.uuid, force)
        return note


async def find_relevant_notes(
    store: Store,
    embedder: Embedder | None,
    message: str,
    project_ids: Sequence[str] | None,
    limit: int,
) -> list[NoteHit]:
    """Return the notes of a project, or of all, that a message is likely about, best first.

    Rules, which are always included, and superseded notes are left out.
    """
    if needs_nothing(message):
        return []
    where = NoteFilter(project_ids, is_rule=False)
    found = await Notebook(store, embedder).search(message, where, limit)
    return [hit for hit in found if hit.score >= MIN_RELEVANCE]

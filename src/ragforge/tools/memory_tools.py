"""Memory tools: search_memory, sessions_about, read_memory and remember."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from pydantic import Field

from ragforge.domain.conversations import MemoryFilter, ToolCall
from ragforge.domain.hits import HistoryHit, NoteHit, TurnHit
from ragforge.domain.instants import now
from ragforge.domain.notes import Note
from ragforge.domain.projects import ProjectPlace
from ragforge.domain.schema import CONVERSATION, NOTE, SUMMARY
from ragforge.domain.summaries import Summary
from ragforge.domain.text import Json, to_text
from ragforge.domain.turns import Turn, group_into_turns
from ragforge.errors import InputError
from ragforge.llm.calls import Tool
from ragforge.memory.code.about import ConversationAbout, TouchedCode, find_conversations_about
from ragforge.memory.code.changes import StaleCode, find_all_stale
from ragforge.memory.notes import MAX_CHARS, Notebook
from ragforge.memory.search.combined import search_memory
from ragforge.memory.search.turns import MemorySearch
from ragforge.ports.store import Store
from ragforge.records import dataclass
from ragforge.search.question.message_kinds import asks_for_order
from ragforge.tools.command.run import CommandRunner
from ragforge.tools.git import GitHistory
from ragforge.tools.tool import Arguments, as_tool

CHARS = 600
MAX_AGED = 10

COMMITS = 5

RESULT_CHARS = 2_000


class MemoryArguments(Arguments):
    """What search_memory is called with."""

    query: str = Field(min_length=1, max_length=10_000, description="What it was about")
    days: int | None = Field(None, ge=1, le=36_500, description="Only the last N days")
    limit: int = Field(8, ge=1, le=50, description="How many turns, summaries and notes")


@dataclass(frozen=True, slots=True)
class FoundMemories:
    """Turns, summaries and notes, the best first, or in order of time if that is asked for."""

    hits: tuple[HistoryHit, ...]
    ages: tuple[Sequence[StaleCode], ...]  # of each hit: what happened to the code that it is about

    def to_json(self) -> Json:
        return [_format(hit, aged) for hit, aged in zip(self.hits, self.ages, strict=True)]


def make_memory_tool(recall: MemorySearch, notebook: Notebook, project: ProjectPlace) -> Tool:
    """Return search_memory for a model; it sees only this project."""

    async def call(given: MemoryArguments) -> FoundMemories:
        since = None if given.days is None else now() - timedelta(days=given.days)
        where = MemoryFilter(project_ids=project.ids, since=since)
        hits = await search_memory(recall, notebook, given.query, where, max_results=given.limit)
        if asks_for_order(given.query):
            hits.sort(key=lambda hit: hit.timestamp)
        said = [hit for hit in hits if not isinstance(hit, NoteHit)]
        ages = iter(await find_all_stale(notebook.store, project, said))
        aged = [[] if isinstance(hit, NoteHit) else next(ages) for hit in hits]
        return FoundMemories(tuple(hits), tuple(aged))

    return as_tool("search_memory", MemoryArguments, call)


def _format(hit: HistoryHit, aged: Sequence[StaleCode]) -> Json:
    facts: dict[str, Json] = {
        "type": hit.type,
        "when": hit.timestamp.isoformat(timespec="minutes"),
        "session": hit.conversation_id[:8],
        "score": round(hit.relevance, 3),
    }
    if aged:
        facts["code_since"] = [str(one) for one in aged[:MAX_AGED]]
        if len(aged) > MAX_AGED:
            facts["code_since"].append(f"… and {len(aged) - MAX_AGED} more")
    if isinstance(hit, TurnHit):
        turn = hit.turn
        said = {"question": turn.user.content[:CHARS], "answer": turn.answer[:CHARS]}
        return {"id": turn.uuid, **facts, **said}
    if isinstance(hit, NoteHit):
        note = hit.note
        return {"id": note.uuid, **facts, "text": note.text[:CHARS], "tags": list(note.tags)}
    summary = hit.summary
    return {
        "id": summary.uuid,
        **facts,
        "turns": list(hit.turn_range),
        "summary": summary.conversation_summary[:CHARS],
        "findings": list(summary.key_findings),
        "files": list(summary.files_mentioned),
    }


class AboutArguments(Arguments):
    """What sessions_about is called with."""

    name: str = Field(
        min_length=1,
        max_length=1_000,
        description="Name of a function, class, …, or path of a file or directory",
    )
    limit: int = Field(10, ge=1, le=50, description="How many turns, the newest of each session")


@dataclass(frozen=True, slots=True)
class SessionsAbout:
    """Sessions with the turns in which they touched something."""

    found: tuple[ConversationAbout, ...]
    turn_ids: dict[tuple[str, int], str]
    limit: int

    def to_json(self) -> Json:
        left, sessions = self.limit, []
        for one in self.found:
            touched = [self._format_touched(code) for code in one.touched[:left]]
            left -= len(touched)
            if touched:
                about = one.conversation
                session: dict[str, Json] = {"session": about.uuid[:8], "title": about.title}
                sessions.append({**session, "touched": touched})
        every = sum(len(one.touched) for one in self.found)
        note = {} if every <= self.limit else {"note": f"{every - self.limit} more are not listed."}
        return {"sessions": sessions, **note}

    def _format_touched(self, code: TouchedCode) -> Json:
        touch, since = code.touch, code.since
        place: dict[str, Json] = {"turn": touch.first_turn}
        if touch.by_summary:
            place = {"turns": [touch.first_turn, touch.last_turn]}
        if (turn_id := self.turn_ids.get((touch.conversation_id, touch.first_turn))) is not None:
            place["id"] = turn_id
        commits = [
            f"{commit.id} {commit.when:%Y-%m-%d} {commit.author}: {commit.subject}"
            for commit in (since.commits or ())[:COMMITS]
        ]
        return {
            **place,
            "when": touch.when.isoformat(timespec="minutes"),
            "how": touch.how,
            "file": touch.file,
            "name": touch.name,
            "since": since.describe(touch),
            **({"commits": commits} if commits else {}),
        }


def make_sessions_about_tool(store: Store, project: ProjectPlace, runner: CommandRunner) -> Tool:
    """Return sessions_about for a model; it sees only this project."""
    root = Path(project.path)

    async def call(given: AboutArguments) -> SessionsAbout:
        found = await find_conversations_about(
            store, given.name, root, project, log=GitHistory(runner)
        )
        turns = [
            (code.touch.conversation_id, code.touch.first_turn)
            for one in found
            for code in one.touched[: given.limit]
            if not code.touch.by_summary
        ]
        ids = {}
        for talk, turn in dict.fromkeys(turns[: given.limit]):
            for message in await store.timeline.messages(
                talk, turn, turn, limit=1, with_receipts=False
            ):
                ids[talk, turn] = message.uuid
        return SessionsAbout(tuple(found), ids, given.limit)

    return as_tool("sessions_about", AboutArguments, call)


class ReadMemoryArguments(Arguments):
    """What read_memory is called with."""

    id: str = Field(min_length=1, max_length=512, description="As search_memory gives it")


@dataclass(frozen=True, slots=True)
class MemoryRecord:
    """A turn, a summary or a note."""

    found: Turn | Summary | Note

    def to_json(self) -> Json:
        if isinstance(self.found, Turn):
            return _format_turn(self.found)
        if isinstance(self.found, Note):
            return _format_note(self.found)
        summary = self.found
        return {
            "type": f"level {summary.level} summary",
            "turns": [summary.start_turn_index, summary.end_turn_index],
            "summary": summary.conversation_summary,
            "actions": summary.actions_summary,
            "findings": list(summary.key_findings),
            "files": list(summary.files_mentioned),
            "tools": list(summary.tools_used),
            "made_of": list(summary.parent_summaries),
        }


def make_read_memory_tool(store: Store, project: ProjectPlace) -> Tool:
    """Return read_memory for a model; it sees only this project."""

    async def call(given: ReadMemoryArguments) -> MemoryRecord:
        return MemoryRecord(await read_memory(store, project, given.id))

    return as_tool("read_memory", ReadMemoryArguments, call)


async def read_memory(store: Store, project: ProjectPlace, wanted: str) -> Turn | Summary | Note:
    """Return a turn, a summary or a note of the project. Raises InputError if there is none."""
    records = store.records
    for note in (await records.get_many(NOTE, [wanted])).values():
        if note.project_id in project.ids:
            return note
    turn = (await store.timeline.turns([wanted])).get(wanted)
    found = turn or (await records.get_many(SUMMARY, [wanted])).get(wanted)
    if found is not None:
        conversation = await records.get(CONVERSATION, found.conversation_id)
        if conversation.project_id in project.ids:
            return found if isinstance(found, Summary) else group_into_turns(found.messages)[0]
    raise InputError(f"No turn, summary or note has the id {wanted!r}. search_memory returns ids.")


def _format_note(note: Note) -> Json:
    return {
        "type": "note",
        "when": note.created_at.isoformat(timespec="minutes"),
        "text": note.text,
        "tags": list(note.tags),
        "supersedes": note.supersedes,
        "is_rule": note.is_rule,
        "corrects": list(note.corrects),
    }


def _format_turn(turn: Turn) -> Json:
    return {
        "type": "turn",
        "when": turn.user.timestamp.isoformat(timespec="minutes"),
        "question": turn.user.content,
        "replies": [
            {
                "role": message.role,
                "text": message.content,
                "tool_calls": [_format_call(call) for call in message.tool_calls],
            }
            for message in turn.replies
        ],
    }


def _format_call(call: ToolCall) -> Json:
    result = "(no result)"
    if call.result is not None:
        result = call.result.error or to_text(call.result.result)
    return {"tool": call.tool_name, "arguments": call.arguments, "result": result[:RESULT_CHARS]}


class RememberArguments(Arguments):
    """What remember is called with."""

    text: str = Field(
        min_length=1,
        max_length=MAX_CHARS,
        description="One fact, in a sentence that can be understood by itself",
    )
    tags: list[str] = Field(default=[], max_length=10, description="A few words to find it by")
    supersedes: str | None = Field(
        None, description="The id of a note that this one corrects, as search_memory gives it"
    )


@dataclass(frozen=True, slots=True)
class SavedNote:
    """A note that was stored."""

    note: Note

    def to_json(self) -> Json:
        note = self.note
        return {
            "id": note.uuid,
            "text": note.text,
            "supersedes": note.supersedes,
            "corrects": list(note.corrects),
        }


def make_remember_tool(notebook: Notebook, project: ProjectPlace, conversation_id: str) -> Tool:
    """Return remember for a model; it writes only notes of this project."""

    async def call(given: RememberArguments) -> SavedNote:
        note = await notebook.remember(
            given.text,
            project,
            tags=given.tags,
            supersedes=given.supersedes,
            conversation_id=conversation_id,
        )
        return SavedNote(note)

    return as_tool("remember", RememberArguments, call)

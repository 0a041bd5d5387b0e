"""read_memory: a turn, a summary or a note in full."""

from __future__ import annotations

from pydantic import Field

from ragforge.domain.conversations import ToolCall
from ragforge.domain.notes import Note
from ragforge.domain.projects import ProjectPlace
from ragforge.domain.schema import CONVERSATION, NOTE, SUMMARY
from ragforge.domain.summaries import Summary
from ragforge.domain.text import Json, to_text
from ragforge.domain.turns import Turn, group_into_turns
from ragforge.errors import InputError
from ragforge.llm.calls import Tool
from ragforge.ports.store import Store
from ragforge.records import dataclass
from ragforge.tools.tool import Arguments, as_tool

RESULT_CHARS = 2_000


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
    """Return read_memory for a model; it sees this project alone."""

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
    raise InputError(f"Nothing is remembered under {wanted!r}. search_memory gives ids.")


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

"""Undo: take back the last edit of a session, and record that for the model."""

from __future__ import annotations

import asyncio
from pathlib import Path

from ragforge.domain.conversations import ToolCall, ToolResult
from ragforge.memory.record import Recorder
from ragforge.records import dataclass
from ragforge.tools.confine import Root
from ragforge.tools.edits.journal import Journal


@dataclass(frozen=True, slots=True)
class Undone:
    """An edit that was taken back."""

    file: str
    diff: str


async def undo_last(state: Path, project: Path, recorder: Recorder, conversation_id: str) -> Undone:
    """Take back the last edit that was made in a session.

    Raises InputError if there is none, or if the file has changed since.
    """
    journal = Journal.of(state, conversation_id)
    change = await asyncio.to_thread(journal.undo, Root.at(project))
    done = ToolCall("undo", {"path": change.path}, ToolResult(True, change.to_json()))
    note = f"The user took back the last edit of {change.path}."
    await recorder.record_answer(conversation_id, None, note, tool_calls=[done], by_model=False)
    return Undone(change.path, change.diff)

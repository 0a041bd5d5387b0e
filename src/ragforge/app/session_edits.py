"""Session edits: what a session changed in the files, and going back to one of its turns."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from ragforge.app.sessions import Sessions
from ragforge.domain.conversations import Conversation, ToolCall, ToolResult
from ragforge.domain.turns import Turn, group_into_turns
from ragforge.errors import InputError
from ragforge.memory.record import Recorder
from ragforge.records import dataclass
from ragforge.tools.confine import Root
from ragforge.tools.edits.change import FileEdit, hash_content, read_bytes
from ragforge.tools.edits.journal import Journal, JournalEntry

__all__ = ["ListedTurn", "Rewound", "SessionChange", "SessionEdits"]


@dataclass(frozen=True, slots=True)
class ListedTurn:
    """A turn to which a session can go back, and the files that were changed since it began."""

    turn: Turn
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rewound:
    """What became of a rewind."""

    question: str  # the one before which the session is now
    session: Conversation | None  # the one to go on in; None: a new one, which has no turns yet
    files: tuple[FileEdit, ...]


@dataclass(frozen=True, slots=True)
class SessionEdits:
    """The edits of one session."""

    sessions: Sessions
    recorder: Recorder
    root: Root
    journal: Journal  # of the session
    conversation: Conversation

    async def list_changes(self) -> list[SessionChange]:
        """Return the files that the session changed, with what they were and are."""
        return await asyncio.to_thread(list_session_changes, self.journal, self.root)

    async def list_turns(self) -> list[ListedTurn]:
        """Return the turns of the session, oldest first, each with what was changed from it on."""
        changed = await asyncio.to_thread(lambda: list(self.journal.read_entries(self.root.path)))
        found = []
        for turn in await self._load_turns():
            since = _to_nanoseconds(turn.user.timestamp)
            files = {entry.path for entry in changed if entry.made_at >= since}
            found.append(ListedTurn(turn, tuple(sorted(files))))
        return found

    async def rewind(self, turn_index: int, *, talk: bool = True, files: bool = True) -> Rewound:
        """Go back to before a turn: the conversation, the files that it edited, or both.

        The conversation goes on in a branch; the session keeps its turns. Files get back the
        bytes that they had, as edits that can be undone in the session.
        Raises InputError if there is no such turn, or if somebody else has changed one of the
        files: then nothing is done.
        """
        turns = await self._load_turns()
        turn = next((one for one in turns if one.user.turn_index == turn_index), None)
        if turn is None:
            raise InputError(f"This session has no turn {turn_index}. /rewind lists them.")
        since = _to_nanoseconds(turn.user.timestamp)
        back: list[FileEdit] = []
        if files:
            back = await asyncio.to_thread(rewind_files, self.journal, self.root, since)
        if not talk:
            await self._note(self.conversation.uuid, "took back", back)
            return Rewound(turn.user.content, self.conversation, tuple(back))
        session = await self._branch_before(turns, turn, since)
        if session is not None and not files:
            left = [one.change for one in await self._list_since(since)]
            await self._note(session.uuid, "went back in the conversation and kept", left)
        return Rewound(turn.user.content, session, tuple(back))

    async def _load_turns(self) -> list[Turn]:
        timeline, uuid = self.sessions.store.timeline, self.conversation.uuid
        return group_into_turns(await timeline.messages(uuid, with_receipts=False))

    async def _list_since(self, since: int) -> list[SessionChange]:
        return await asyncio.to_thread(list_session_changes, self.journal, self.root, since)

    async def _branch_before(
        self, turns: list[Turn], turn: Turn, since: int
    ) -> Conversation | None:
        """Return a branch with all turns before one, and its journal; None if there are none."""
        at = turns.index(turn)
        if at == 0:
            return None
        point = str(turns[at - 1].user.turn_index)
        made = await self.sessions.branch(self.conversation, point)
        into = Journal(self.journal.folder.parent / made.uuid)
        await asyncio.to_thread(self.journal.copy_until, since, into)
        return made

    async def _note(self, conversation_id: str, what: str, changes: list[FileEdit]) -> None:
        """Record what the user did with files: the model must not rely on what they were."""
        if not changes:
            return
        paths = [change.path for change in changes]
        done = ToolCall("rewind", {"paths": paths}, ToolResult(True, {"paths": paths}))
        note = f"The user {what} the edits of {', '.join(paths)}."
        await self.recorder.record_answer(
            conversation_id, None, note, tool_calls=[done], by_model=False
        )


def _to_nanoseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1_000_000) * 1_000


@dataclass(frozen=True, slots=True)
class SessionChange:
    """A file before the first of some edits, and as it is now."""

    change: FileEdit
    is_mixed: bool  # somebody else has changed the file too, between the edits or after them


def list_session_changes(journal: Journal, root: Root, since: int = 0) -> list[SessionChange]:
    """Return the files that the edits of a journal changed, sorted by path.

    `since` is a time in nanoseconds: earlier edits are left aside. A file that is again as it
    was before is left out.
    """
    by_path: dict[str, list[JournalEntry]] = {}
    for entry in journal.read_entries(root.path):  # the last first
        if entry.made_at >= since:
            by_path.setdefault(entry.path, []).insert(0, entry)
    found = (_sum_up(root, path, entries) for path, entries in sorted(by_path.items()))
    return [one for one in found if one.change.before != one.change.after]


def rewind_files(journal: Journal, root: Root, since: int) -> list[FileEdit]:
    """Give files back the content they had before the edits since a moment; return the changes.

    They are edits of the journal themselves, so that they can be undone. Raises InputError if
    somebody else has changed one of the files: then none is changed.
    """
    found = list_session_changes(journal, root, since)
    mixed = [repr(one.change.path) for one in found if one.is_mixed]
    if mixed:
        raise InputError(
            f"Somebody else has changed {', '.join(mixed)} since RagForge edited it; "
            "no file is rewound."
        )
    back = [FileEdit(c.path, c.after, c.before) for c in (one.change for one in found)]
    for change in back:
        journal.make(root, change)
    return back


def _sum_up(root: Root, path: str, entries: Sequence[JournalEntry]) -> SessionChange:
    """Return what edits did to a file, the oldest edit first."""
    try:
        now = read_bytes(root, path)
    except InputError:  # it is no file any more, or a huge one: not what an edit left
        return SessionChange(FileEdit(path, entries[0].before, None), is_mixed=True)
    contents = [*(entry.before for entry in entries[1:]), now]
    # An edit whose process was killed may not have been made: the file is what it was before.
    is_mixed = any(
        hash_content(following) != entry.after_hash and following != entry.before
        for entry, following in zip(entries, contents, strict=True)
    )
    return SessionChange(FileEdit(path, entries[0].before, now), is_mixed)


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

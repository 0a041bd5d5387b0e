"""Session edits: the changes of a session: listed, undone, rewound or committed."""

from __future__ import annotations

import asyncio
import logging
import os
from asyncio.subprocess import DEVNULL, PIPE, STDOUT
from collections.abc import Sequence
from datetime import datetime

from ragforge.app.features.sessions import Sessions
from ragforge.domain.chat import ChatRequest, UserMessage
from ragforge.domain.conversations import Conversation, ToolCall, ToolResult
from ragforge.domain.text import Json, shorten
from ragforge.domain.turns import Turn, group_into_turns
from ragforge.errors import InputError, ModelError
from ragforge.llm.ask import ChatClient
from ragforge.llm.prompts import load_prompt
from ragforge.memory.record import Recorder
from ragforge.memory.secrets.redact import redact
from ragforge.processes import open_process
from ragforge.records import dataclass
from ragforge.tools.confine import Root
from ragforge.tools.edits.change import FileEdit, Journal, JournalEntry, hash_content, read_bytes

log = logging.getLogger(__name__)

UNTRACKED = "??"
EARLIER = 5
"""How many messages of earlier commits show the style."""


DIFF_CHARS = 30_000
NAMED = 3


@dataclass(frozen=True, slots=True)
class ListedTurn:
    """A turn to which a session can go back, and the files that were changed since it began."""

    turn: Turn
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rewound:
    """The result of a rewind."""

    question: str  # the one before which the session is now
    session: Conversation | None  # the one to continue in; None: a new one, which has no turns yet
    files: tuple[FileEdit, ...]


@dataclass(frozen=True, slots=True)
class SessionEdits:
    """The edits of one session."""

    sessions: Sessions
    recorder: Recorder
    root: Root
    journal: Journal  # of the session
    conversation: Conversation

    async def list_changes(self, since: int = 0) -> list[SessionChange]:
        """Return the files that were changed since a time, with what they were and are."""
        return await asyncio.to_thread(list_session_changes, self.journal, self.root, since)

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

        The conversation continues in a branch; the session keeps its turns. Files get the
        content that they had, as edits that can be undone in the session.
        Raises InputError if there is no such turn, or if another program has changed one of the
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
            left = [one.change for one in await self.list_changes(since)]
            await self._note(session.uuid, "went back in the conversation and kept", left)
        return Rewound(turn.user.content, session, tuple(back))

    async def _load_turns(self) -> list[Turn]:
        timeline, uuid = self.sessions.store.timeline, self.conversation.uuid
        return group_into_turns(await timeline.messages(uuid, with_receipts=False))

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

    async def undo(self) -> Undone:
        """Take back the last edit of the session.

        Raises InputError if there is none, or if the file has changed since.
        """
        change = await asyncio.to_thread(self.journal.undo, self.root)
        note = f"The user took back the last edit of {change.path}."
        await self._record("undo", {"path": change.path}, change.to_json(), note)
        return Undone(change.path, change.diff)

    async def draft_commit(self, chat: ChatClient | None, message: str = "") -> CommitDraft:
        """Return those files that have something to commit, and a message: a given one, one by the
        model, or a plain one.

        Raises InputError if there is nothing to commit, or git fails.
        """
        root, changes = self.root.path, [one.change for one in await self.list_changes()]
        states = await _find_states(root, [one.path for one in changes]) if changes else {}
        changed = tuple(states)
        if not changed:
            raise InputError(
                "There is nothing to commit: no file that this session changed has uncommitted "
                "changes."
            )
        if message:
            return CommitDraft(changed, message)
        plain = make_plain_message(changed)
        if chat is None:
            return CommitDraft(changed, plain)
        # Files that git does not track yet are not in its diff.
        diff = "".join(one.whole_diff for one in changes if states.get(one.path) == UNTRACKED)
        try:
            diff = await _run_git(root, "diff", "HEAD", "--", *changed) + diff
            earlier = await _run_git(root, "log", f"--max-count={EARLIER}", "--format=%s")
        except InputError:  # there is no commit yet
            earlier = ""
        try:
            drafted = await draft_message(chat, redact(diff), earlier)
        except ModelError as error:
            log.warning("No message was drafted: %s", error)
            drafted = ""
        return CommitDraft(changed, drafted or plain)

    async def commit(self, draft: CommitDraft) -> str:
        """Commit exactly the files of a draft and record that for the model; return what git says.

        What else is staged stays staged. Hooks run and the user's own git configuration holds, as
        if they had typed it. Raises InputError with the words of git if it fails.
        """
        root, files = self.root.path, list(draft.files)
        await _run_git(root, "add", "--", *files)
        said = await _run_git(root, "commit", "--only", "-m", draft.message, "--", *files)
        note = f"The user committed {', '.join(files)}: {draft.message.splitlines()[0]}"
        await self._record("commit", {"files": files}, {"output": said}, note)
        return said

    async def _note(self, conversation_id: str, what: str, changes: list[FileEdit]) -> None:
        """Record what the user did with files: the model must not rely on what they were."""
        if paths := [change.path for change in changes]:
            given = {"paths": paths}
            note = f"The user {what} the edits of {', '.join(paths)}."
            await self._record("rewind", given, given, note, conversation_id)

    async def _record(
        self, tool: str, given: Json, result: Json, note: str, conversation_id: str = ""
    ) -> None:
        """Record what the user did, as a call with its result and a note that the model reads."""
        uuid = conversation_id or self.conversation.uuid
        done = ToolCall(tool, given, ToolResult(True, result))
        await self.recorder.record_answer(uuid, None, note, tool_calls=[done], by_model=False)


def _to_nanoseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1_000_000) * 1_000


@dataclass(frozen=True, slots=True)
class SessionChange:
    """A file before the first of some edits, and as it is now."""

    change: FileEdit
    is_mixed: bool  # another program has changed the file too, between the edits or after them


def list_session_changes(journal: Journal, root: Root, since: int = 0) -> list[SessionChange]:
    """Return the files that the edits of a journal changed since a time in nanoseconds, by path.

    Files that are unchanged in the end are left out.
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
    another program has changed one of the files: then none is changed.
    """
    found = list_session_changes(journal, root, since)
    mixed = [repr(one.change.path) for one in found if one.is_mixed]
    if mixed:
        raise InputError(
            f"Another program has changed {', '.join(mixed)} since RagForge edited it; "
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
    except InputError:  # it is no longer a file, or a huge one: not what an edit left
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


@dataclass(frozen=True, slots=True)
class CommitDraft:
    """Files with changes that are not committed, and a message for them."""

    files: tuple[str, ...]
    message: str


async def _find_states(root: str, files: Sequence[str]) -> dict[str, str]:
    """Return what git says of those files that have something to commit, sorted by path."""
    listed = await _run_git(
        root, "status", "--porcelain", "-z", "--no-renames", "-uall", "--", *files
    )
    records = (record for record in listed.split("\0") if len(record) > 3)
    return {record[3:]: record[:2] for record in sorted(records, key=lambda one: one[3:])}


async def _run_git(root: str, *words: str) -> str:
    """Run git as the user would and return its output. Raises InputError."""
    command = ["git", "-C", root, "--literal-pathspecs", *words]
    try:
        opened = open_process(command, env=os.environ, stdin=DEVNULL, stdout=PIPE, stderr=STDOUT)
        async with opened as process:
            out, _ = await process.communicate()
    except OSError as error:
        raise InputError(f"git cannot be run: {error.strerror}.") from error
    said = out.decode(errors="replace")
    if process.returncode:
        raise InputError(f"git {words[0]} failed: {said.strip()}")
    return said


async def draft_message(asker: ChatClient, diff: str, earlier: str) -> str:
    """Return a message for a diff in the style of earlier ones. Raises ModelError.

    It is empty if the model says nothing.
    """
    asked = f"# Earlier messages\n\n{earlier}\n\n# Diff\n\n{shorten(diff, DIFF_CHARS)}"
    system = load_prompt("ragforge.agent.prompts", "commit_message")
    reply = await asker.ask(ChatRequest((UserMessage(asked),), system=system))
    return reply.message.text.strip().strip("`").strip()


def make_plain_message(files: Sequence[str]) -> str:
    """Return a message that names the files."""
    named = ", ".join(file.rpartition("/")[2] for file in files[:NAMED])
    more = len(files) - NAMED
    return f"Change {named}" + (f" and {more} more" if more > 0 else "")

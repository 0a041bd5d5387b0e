"""Commit: the files that a session changed, with a message drafted from the diff."""

from __future__ import annotations

import logging
import os
from asyncio.subprocess import DEVNULL, PIPE, STDOUT
from collections.abc import Sequence
from pathlib import Path

from ragforge.domain.chat import ChatRequest, UserMessage
from ragforge.domain.conversations import ToolCall, ToolResult
from ragforge.domain.text import shorten
from ragforge.errors import InputError, ModelError
from ragforge.llm.ask import ChatClient
from ragforge.llm.prompts import load_prompt
from ragforge.memory.record import Recorder
from ragforge.memory.secrets.redact import redact
from ragforge.processes import open_process
from ragforge.records import dataclass
from ragforge.tools.edits.change import FileEdit

log = logging.getLogger(__name__)

UNTRACKED = "??"
EARLIER = 5
"""How many messages of earlier commits show the style."""


DIFF_CHARS = 30_000
NAMED = 3


@dataclass(frozen=True, slots=True)
class CommitDraft:
    """Files with changes that are not committed, and a message for them."""

    files: tuple[str, ...]
    message: str


async def draft_commit(
    root: Path, changes: Sequence[FileEdit], chat: ChatClient | None, message: str = ""
) -> CommitDraft:
    """Return those files that have something to commit, and a message: a given one, one by the
    model, or a plain one.

    Raises InputError if there is nothing to commit, or git fails.
    """
    states = await _find_states(root, [one.path for one in changes]) if changes else {}
    changed = tuple(states)
    if not changed:
        raise InputError("There is nothing to commit: no file that this session changed differs.")
    if message:
        return CommitDraft(changed, message)
    plain = make_plain_message(changed)
    if chat is None:
        return CommitDraft(changed, plain)
    # What git does not know yet is in no diff of its own.
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


async def commit_files(
    root: Path, draft: CommitDraft, recorder: Recorder, conversation_id: str
) -> str:
    """Commit exactly the files of a draft and record that for the model; return what git says.

    What else is staged stays staged. Hooks run and the user's own git configuration holds, as if
    they had typed it. Raises InputError with the words of git if it fails.
    """
    await _run_git(root, "add", "--", *draft.files)
    said = await _run_git(root, "commit", "--only", "-m", draft.message, "--", *draft.files)
    done = ToolCall("commit", {"files": list(draft.files)}, ToolResult(True, {"output": said}))
    note = f"The user committed {', '.join(draft.files)}: {draft.message.splitlines()[0]}"
    await recorder.record_answer(conversation_id, None, note, tool_calls=[done], by_model=False)
    return said


async def _find_states(root: Path, files: Sequence[str]) -> dict[str, str]:
    """Return what git says of those files that have something to commit, sorted by path."""
    listed = await _run_git(
        root, "status", "--porcelain", "-z", "--no-renames", "-uall", "--", *files
    )
    records = (record for record in listed.split("\0") if len(record) > 3)
    return {record[3:]: record[:2] for record in sorted(records, key=lambda one: one[3:])}


async def _run_git(root: Path, *words: str) -> str:
    """Run git as the user would and return its output. Raises InputError."""
    command = ["git", "-C", str(root), "--literal-pathspecs", *words]
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

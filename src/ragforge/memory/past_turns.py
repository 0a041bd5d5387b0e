"""Past turns: what may be recalled of a turn, and what a session said and touched last.

Everything is stored. What RagForge said in place of an answer and small talk are not recalled: a
later question would be answered with an earlier failure, or with a greeting.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from ragforge.domain.conversations import Conversation
from ragforge.domain.passages import list_changes
from ragforge.domain.projects import guess_paths
from ragforge.domain.turns import Turn, find_instructions, group_into_turns
from ragforge.memory.code.traces import TOOLS
from ragforge.ports.store import Store
from ragforge.search.question.message_kinds import is_small_talk
from ragforge.search.turn_rank import FILE_TURNS, LastTurn, SessionSoFar

MESSAGES = 100
"""How many of the newest messages are read for the last turns."""
_FILE_ARGUMENTS = ("file_path", "path", "notebook_path", "absolute_path")


async def read_last_turns(
    store: Store, conversation: Conversation, without: Collection[str] = ()
) -> SessionSoFar:
    """Return the end of a stored session; nothing of one that is not stored yet."""
    if not conversation.message_count:
        return SessionSoFar()
    newest = await store.timeline.messages(
        conversation.uuid, limit=MESSAGES, newest=True, with_receipts=False
    )
    turns = [turn for turn in group_into_turns(newest) if turn.uuid not in without]
    root, cwd = conversation.project_path, conversation.cwd
    return SessionSoFar.of([_tell(turn, root, cwd) for turn in turns[-FILE_TURNS:]])


def name_files(paths: Sequence[str], root: str, cwd: str) -> list[str]:
    """Return the files of a project among paths, each once, the last first."""
    named = (next(iter(guess_paths(path, root, cwd)), "") for path in reversed(paths))
    return list(dict.fromkeys(filter(None, named)))


def find_file(tool: str, arguments: object, how: str) -> str:
    """Return the file that a call edits or reads, as `how` says; empty if it does not."""
    if TOOLS.get(tool) != how or not isinstance(arguments, dict):
        return ""
    found = (arguments.get(name) for name in _FILE_ARGUMENTS)
    return next((path for path in found if isinstance(path, str)), "")


def _tell(turn: Turn, root: str, cwd: str) -> LastTurn:
    edited = [change.file for call in turn.tool_calls for change in list_changes(call)]
    calls = [(call.tool_name, call.arguments) for call in turn.tool_calls]
    edited += filter(None, (find_file(*call, "edited") for call in calls))
    read = list(filter(None, (find_file(*call, "read") for call in calls)))
    said = "\n".join(filter(None, (turn.user.content, *(m.content for m in turn.replies))))
    return LastTurn(said, name_files(edited, root, cwd), name_files(read, root, cwd))


def recall_turn(turn: Turn) -> Turn | None:
    """Return a turn without RagForge's own words; None if nothing in it is worth recalling."""
    said = tuple(one for one in turn.replies if one.role != "system" or one.tool_calls)
    kept = turn if len(said) == len(turn.replies) else replace(turn, replies=said)
    if kept.tool_calls:
        return kept
    if is_small_talk(turn.user.content):
        return None if is_small_talk(kept.answer) else kept
    return None if turn.failed and not find_instructions(turn.user.content) else kept

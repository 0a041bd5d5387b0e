"""File memory: what was decided about a file, and when, in a few lines.

An agent gets it once in a session, when it opens or changes the file.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from ragforge.app.hook.call import HookCall, name_file_id
from ragforge.app.hook.session import ContextEntry, HookAnswer
from ragforge.connect.excluded import is_excluded, list_excluded
from ragforge.domain.conversations import Conversation
from ragforge.domain.notes import Note, NoteFilter
from ragforge.domain.passages import PassageFilter, make_file_key
from ragforge.domain.schema import CONVERSATION, MESSAGE, NOTE, PASSAGE
from ragforge.domain.text import shorten_end, to_one_line
from ragforge.errors import ConversationNotFound
from ragforge.folders import find_project
from ragforge.ports.store import Store
from ragforge.records import dataclass

if TYPE_CHECKING:
    from ragforge.app.hook.hook_settings import HookConfig

MAX_CHARS = 400
"""The limit for all files of a call together."""
MIN_ROOM = 150
"""With less room, a file is left for the next call that names it."""
MAX_NOTE_CHARS = 160
MAX_ASKED_CHARS = 110
MAX_NOTES = 2
MAX_EDITS = 3
NOTES_READ = 500
EDITS_READ = 300
_COMMON_STEMS = frozenset(
    ("__init__", "index", "main", "mod", "lib", "types", "setup", "config", "readme", "package")
)
"""Names that many files have: a note means one of them only if it says in which folder."""


@dataclass(frozen=True, slots=True)
class PastEdit:
    """A turn of another session that edited a file."""

    conversation: Conversation
    turn_index: int
    when: datetime


async def find_for_files(
    call: HookCall,
    settings: HookConfig,
    store: Store,
    project_ids: Sequence[str],
    answer: HookAnswer,
) -> AsyncIterator[ContextEntry]:
    """Yield what is known of the files of a call about which the session has received nothing.

    An entry without text notes that there is nothing, so that the file is not searched for again.
    """
    folder = Path(call.cwd).resolve()
    root = find_project(folder)
    excluded = list_excluded(settings.exclude, Path(settings.state_dir))
    room = MAX_CHARS
    for file in call.files:
        name = name_file_id(file)
        if answer.was_given(name) or room < MIN_ROOM:
            continue
        place = (folder / file).resolve()
        known = ContextEntry("")
        if place.is_relative_to(root) and not is_excluded(place, excluded):
            path = place.relative_to(root).as_posix()
            known = await find_file_memory(
                store, path, project_ids, call.session, answer.was_given, room
            )
        room -= len(known.text)
        yield ContextEntry(known.text, (name, *known.ids))


async def find_file_memory(
    store: Store,
    file: str,
    project_ids: Sequence[str],
    session: str = "",
    was_given: Callable[[str], bool] = lambda _: False,
    room: int = MAX_CHARS,
) -> ContextEntry:
    """Return notes that name a file of a project and past turns that edited it, the newest first.

    `file` is relative to the project. What the session said or received is left out.
    """
    notes = await _find_notes(store, file, project_ids)
    lines = [_format_note(note) for note in notes if not was_given(note.uuid)]
    if edits := await _find_edits(store, file, project_ids, session):
        lines.append(ContextEntry(_count_edits(edits)))
        lines += [await _format_edit(store, edit) for edit in edits[:MAX_EDITS]]
    if not any(line.text for line in lines):
        return ContextEntry("")
    return _fill(ContextEntry(shorten_end(file, room // 2)), lines, room)


def names_file(text: str, file: str) -> bool:
    """Tell whether a text names a file: by its path, the end of its path, or a distinctive name."""
    path = PurePosixPath(file)
    if path.name not in text:
        return False
    found = re.findall(rf"[\w./-]*{re.escape(path.name)}(?![\w-]|\.\w)", text)
    return any(_is_end(one.removeprefix("./"), path) for one in found)


def _is_end(named: str, path: PurePosixPath) -> bool:
    parts = PurePosixPath(named).parts
    if not parts or parts[-1] != path.name:
        return False  # `my_login.py` for `login.py`
    if named.startswith("/"):
        return named.endswith(f"/{path}")
    is_telling = path.stem.lower() not in _COMMON_STEMS or len(path.parts) == 1
    return path.parts[-len(parts) :] == parts and (len(parts) > 1 or is_telling)


async def _find_notes(store: Store, file: str, project_ids: Sequence[str]) -> list[Note]:
    every = await store.records.find(NOTE, NoteFilter(project_ids), NOTES_READ)
    return [note for note in every if names_file(note.text, file)][:MAX_NOTES]


async def _find_edits(
    store: Store, file: str, project_ids: Sequence[str], session: str
) -> list[PastEdit]:
    """Return the turns of other sessions that edited a file, the newest first.

    They are linked to code by a job, later; until then their tool calls tell.
    """
    turns = await _find_linked(store, file, project_ids)
    turns |= await _find_done(store, file, project_ids)
    known: dict[str, Conversation | None] = {}
    found = []
    for (conversation_id, turn_index), when in turns.items():
        if conversation_id not in known:
            known[conversation_id] = await _find_other(store, conversation_id, session)
        if (conversation := known[conversation_id]) is not None:
            found.append(PastEdit(conversation, turn_index, when))
    return sorted(found, key=lambda one: one.when, reverse=True)


async def _find_linked(
    store: Store, file: str, project_ids: Sequence[str]
) -> dict[tuple[str, int], datetime]:
    """Return the turns that are linked to a file that they edited, and when they were."""
    touches = await store.timeline.touches(files=[file], project_ids=project_ids)
    edited = [one for one in touches if one.how == "edited" and not one.by_summary]
    return {(one.conversation_id, one.first_turn): one.when for one in edited}


async def _find_done(
    store: Store, file: str, project_ids: Sequence[str]
) -> dict[tuple[str, int], datetime]:
    """Return the turns whose tool calls edited a file, and when they were."""
    where = PassageFilter(project_ids=project_ids, kind="done")
    found = await store.index.search(PASSAGE, make_file_key(file), None, where, EDITS_READ)
    owners = {one.turn_id: one.conversation_id for one in found.items.values() if file in one.files}
    heads = await store.records.get_many(MESSAGE, list(owners)) if owners else {}
    return {(owners[id_], head.turn_index or 0): head.timestamp for id_, head in heads.items()}


async def _find_other(store: Store, conversation_id: str, session: str) -> Conversation | None:
    """Return a conversation, unless the agent is in it right now or it was deleted meanwhile."""
    try:
        found = await store.records.get(CONVERSATION, conversation_id)
    except ConversationNotFound:
        return None
    return None if session and found.agent_session == session else found


async def _format_edit(store: Store, edit: PastEdit) -> ContextEntry:
    """Return when a turn was asked, of whom, and what, on one line."""
    owner, turn = edit.conversation, edit.turn_index
    first = await store.timeline.messages(owner.uuid, turn, turn, 1, with_receipts=False)
    asked = next((to_one_line(one.content) for one in first if one.role == "user"), "")
    if not asked:
        return ContextEntry("")
    head = f"{first[0].timestamp:%Y-%m-%d}, {owner.agent}, session {owner.uuid[:8]}"
    return ContextEntry(f"{head}: {shorten_end(asked, MAX_ASKED_CHARS)}")


def _format_note(note: Note) -> ContextEntry:
    whole = to_one_line(note.text)
    said = shorten_end(whole, MAX_NOTE_CHARS)
    ids = (note.uuid,) if said == whole else ()  # all of a longer one may still be given
    return ContextEntry(f"note, {note.created_at:%Y-%m-%d}: {said}", ids)


def _count_edits(edits: Sequence[PastEdit]) -> str:
    turns = len(edits)
    sessions = len({one.conversation.uuid for one in edits})
    counted = f"{turns} turn{'s' * (turns > 1)} of {sessions} session{'s' * (sessions > 1)}"
    return f"edited in {counted}:" if turns <= MAX_EDITS else f"edited in {counted}, last:"


def _fill(head: ContextEntry, lines: Sequence[ContextEntry], room: int) -> ContextEntry:
    """Return the lines that fit, as one entry."""
    kept = head
    for line in lines:
        text = f"{kept.text}\n{line.text}"
        if line.text and len(text) <= room:
            kept = ContextEntry(text, (*kept.ids, *line.ids))
    return kept

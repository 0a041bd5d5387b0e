"""Hook: the context that another agent gets at the start of a session, or of a turn.

The store is only read, by words alone: meaning would have to read the vectors of all turns, which
takes longer than an agent should wait.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ragforge.connect.excluded import is_excluded, list_excluded
from ragforge.folders import find_project, is_project

if TYPE_CHECKING:
    from ragforge.app.hook_call import HookCall
    from ragforge.app.hook_settings import HookSettings
    from ragforge.domain.hits import MemoryHit
    from ragforge.ports.store import Store

HITS = 8
LEAST_SHARE = 0.5
"""Memories with less than this share of the best score are not worth their characters."""
NEWEST = 5
ENTRY_CHARS = 1_200
FENCE_CHARS = 300
"""What the fence and the tag around a context take."""
OPENING = "From RagForge's memory of this project, found for this message; ask its tools for more."


def is_left_out(cwd: Path, settings: HookSettings) -> bool:
    """Tell whether the user excluded a folder."""
    return is_excluded(cwd, list_excluded(settings.exclude, Path(settings.state_dir)))


def is_served(cwd: Path, settings: HookSettings) -> bool:
    """Tell whether agents get something in a folder: it is a project, and not excluded."""
    return is_project(find_project(cwd.resolve())) and not is_left_out(cwd, settings)


async def find_context(call: HookCall, settings: HookSettings) -> str:
    """Return what is relevant to a call, within the budget; empty if nothing is.

    What the session itself said is left out: its agent has it.
    """
    room = settings.budget - FENCE_CHARS
    if room <= 0:
        return ""
    store = await _open_store(settings)
    if store is None:
        return ""
    try:
        find = _find_for_prompt if call.kind == "prompt" else _find_for_start
        entries = await find(call, settings, store)
    finally:
        await store.close()
    text = _join(entries, room)
    return _wrap(text, call.session) if text else ""


async def _open_store(settings: HookSettings) -> Store | None:
    """Open the store to read it. There may be none yet."""
    from ragforge.app.identity import find_author
    from ragforge.config.store_url import is_server

    if is_server(settings.store):
        from ragforge.app.stores import open_store
        from ragforge.config.layers import load_settings

        return await open_store(load_settings(Path.cwd()).settings)
    path = Path(settings.store)
    if not path.is_file():
        return None
    import os

    from ragforge.adapters.stores.sqlite.store import open_sqlite_to_read
    from ragforge.domain.authors import make_author_key
    from ragforge.search.tokenise import WORDS

    viewer = make_author_key(find_author(settings.author, os.environ)) or ""
    return await open_sqlite_to_read(path, WORDS, viewer)


async def _find_projects(call: HookCall, settings: HookSettings, store: Store) -> Sequence[str]:
    from ragforge.adapters.stores.holders import this_process
    from ragforge.app.projects import recognise
    from ragforge.config.store_url import is_server

    root = find_project(Path(call.cwd).resolve())
    host = this_process().machine if is_server(settings.store) else None
    return (await recognise(store, root, host)).ids


async def _find_for_prompt(call: HookCall, settings: HookSettings, store: Store) -> list[str]:
    """Return past turns and summaries that are relevant to a prompt, the best first."""
    from ragforge.domain.conversations import MemoryFilter
    from ragforge.memory.search.combined import find_relevant_history
    from ragforge.memory.search.turns import MemorySearch

    where = MemoryFilter(project_ids=await _find_projects(call, settings, store))
    recall = MemorySearch(store, None)
    found = await find_relevant_history(recall, call.prompt, where, 2 * HITS, settings.budget * 4)
    least = LEAST_SHARE * max((hit.score for hit in found.hits), default=0.0)
    entries: list[str] = []
    names: dict[str, str] = {}
    for hit in found.hits:
        if hit.score < least or "words" not in hit.found_by:  # beside what was found
            continue
        name = hit.conversation_id
        if name not in names:
            names[name] = await _describe(store, name, call)
        if names[name] and len(entries) < HITS:
            entries.append(_format_hit(hit, names[name]))
    return entries


async def _find_for_start(call: HookCall, settings: HookSettings, store: Store) -> list[str]:
    """Return the project's notes and its newest sessions."""
    from ragforge.domain.conversations import ConversationFilter
    from ragforge.domain.notes import NoteFilter
    from ragforge.domain.schema import CONVERSATION, NOTE
    from ragforge.domain.text import shorten, to_one_line

    projects = await _find_projects(call, settings, store)
    notes = await store.records.find(NOTE, NoteFilter(projects), NEWEST)
    entries = [f"note, {one.created_at:%Y-%m-%d}: {shorten(one.text, 400)}" for one in notes]
    where = ConversationFilter(project_ids=projects)
    for one in await store.records.find(CONVERSATION, where, 2 * NEWEST):
        if (head := await _describe(store, one.uuid, call)) and len(entries) < 2 * NEWEST:
            title = shorten(to_one_line(one.title or one.summary or ""), 120)
            entries += [f"session of {one.updated_at:%Y-%m-%d}, {head}: {title}"] if title else []
    return entries


async def _describe(store: Store, conversation_id: str, call: HookCall) -> str:
    """Return a session in a few words; empty if it is the agent's own, that runs right now."""
    from ragforge.domain.schema import CONVERSATION
    from ragforge.errors import ConversationNotFound

    try:
        found = await store.records.get(CONVERSATION, conversation_id)
    except ConversationNotFound:
        return ""
    if call.session and found.agent_session == call.session:
        return ""
    return f"{found.agent}, session {conversation_id[:8]}"


def _format_hit(hit: MemoryHit, head: str) -> str:
    from ragforge.domain.text import shorten

    when = f"{hit.timestamp:%Y-%m-%d}"
    if hit.type == "summary":
        return (
            f"[{when}, {head}, summary]\n{shorten(hit.summary.conversation_summary, ENTRY_CHARS)}"
        )
    turn = hit.turn
    said = shorten(turn.user.content.strip(), ENTRY_CHARS // 3)
    answer = shorten(turn.answer.strip(), ENTRY_CHARS - len(said))
    return f"[{when}, {head}]\nuser: {said}" + (f"\nanswer: {answer}" if answer else "")


def _join(entries: Sequence[str], room: int) -> str:
    """Return the first entries that fit; one alone is cut."""
    kept = ""
    for entry in entries:
        longer = f"{kept}\n\n{entry}" if kept else entry
        if len(longer) > room:
            return kept or entry[:room]
        kept = longer
    return kept


def _wrap(text: str, session: str) -> str:
    """Return a context that an import recognises as ours, and whose end nothing in it forges."""
    import secrets

    from ragforge.memory.fences import fence, make_mark
    from ragforge.transcripts.users_words import OWN_TAG

    safe = text.replace(f"</{OWN_TAG}", f"<\\/{OWN_TAG}")
    fenced = fence("past-turns", safe, make_mark(session or secrets.token_hex(8)))
    return f"<{OWN_TAG}>\n{OPENING}\n{fenced}\n</{OWN_TAG}>"

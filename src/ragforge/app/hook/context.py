"""Hook: the context that another agent gets at the start of a session, or of a turn.

The store is only read. Meaning compares only the best turns that words and deeds found: to read the
vectors of all takes longer than an agent should wait.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ragforge.app.hook.session import ContextEntry, HookAnswer
from ragforge.connect.excluded import is_excluded, list_excluded
from ragforge.folders import find_project, is_project

if TYPE_CHECKING:
    from ragforge.app.hook.call import HookCall
    from ragforge.app.hook.hook_settings import HookConfig
    from ragforge.domain.conversations import Conversation
    from ragforge.ports.store import Store

NEWEST = 5
FENCE_CHARS = 300
"""What the fence and the tag around a context take."""
OPENING = "From RagForge's memory of this project, found for this message; ask its tools for more."


def is_left_out(cwd: Path, settings: HookConfig) -> bool:
    """Tell whether the user excluded a folder."""
    return is_excluded(cwd, list_excluded(settings.exclude, Path(settings.state_dir)))


def explain_silence(cwd: Path, settings: HookConfig) -> str:
    """Return why agents get nothing in a folder; empty if they may get something."""
    if not is_project(find_project(cwd.resolve())):
        return "not a project"
    return "excluded folder" if is_left_out(cwd, settings) else ""


async def find_context(
    call: HookCall, settings: HookConfig, answer: HookAnswer | None = None
) -> str:
    """Return what is relevant to a call, within the budget; empty if nothing is.

    What the session said or received is left out. The answer is updated with each result.
    """
    answer = answer or HookAnswer()
    room = settings.budget - FENCE_CHARS
    if room <= 0:
        answer.why = "the budget is 0"
        return ""
    answer.doing = "opening the store"
    store = await _open_store(settings)
    if store is None:
        answer.why = "there is no store yet"
        return ""
    found: list[ContextEntry] = []
    try:
        answer.doing = "searching"
        async for entry in _find(call, settings, store, answer):
            found.append(entry)
            if entry.has_own_room:
                room += len(entry.text) + 2
            _offer(answer, found, room, call.session)
    finally:
        await store.close()
    text = answer.offered.text
    answer.why = "" if text else "nothing relevant"
    return text


def _find(
    call: HookCall, settings: HookConfig, store: Store, answer: HookAnswer
) -> AsyncIterator[ContextEntry]:
    """Yield the entries for a call, the best first."""
    if call.kind == "file":
        return _find_for_file(call, settings, store, answer)
    find = _find_for_prompt if call.kind == "prompt" else _find_for_start
    return find(call, settings, store, answer)


def _offer(answer: HookAnswer, entries: Sequence[ContextEntry], room: int, session: str) -> None:
    text, ids, _ = _join(entries, room)
    answer.offer(_wrap(text, session) if text else "", ids)


async def _open_store(settings: HookConfig) -> Store | None:
    """Open the store to read it. There may be none yet."""
    import os

    from ragforge.app.wiring.identity import find_author
    from ragforge.config.store_url import is_server
    from ragforge.domain.conversations import make_author_key

    path = Path(settings.store)
    if not is_server(settings.store) and not path.is_file():
        return None
    from ragforge.search.words.tokenise import WORDS

    viewer = make_author_key(find_author(settings.author, os.environ)) or ""
    if not is_server(settings.store):
        from ragforge.adapters.stores.sqlite.asking import open_sqlite_to_ask

        return await open_sqlite_to_ask(path, WORDS, viewer)
    from ragforge.app.hook.hook_settings import forget_kept
    from ragforge.config.services import find_neo4j_credentials
    from ragforge.errors import StoreUnavailable

    # Where there was none, to ask the keyring again takes 85 ms, as long as all queries.
    login = find_neo4j_credentials(settings.store) if settings.has_password else None
    try:
        return await _open_server(settings, viewer, login)
    except StoreUnavailable:
        login = None if login else find_neo4j_credentials(settings.store)
        if login is None:
            raise
        forget_kept()  # there is one now
        return await _open_server(settings, viewer, login)


async def _open_server(settings: HookConfig, viewer: str, login: tuple[str, str] | None) -> Store:
    from ragforge.adapters.stores.neo4j.store import open_neo4j
    from ragforge.memory.secrets.redactor import REDACTOR
    from ragforge.search.words.tokenise import WORDS

    user, password = login or (None, None)
    return await open_neo4j(
        settings.store,
        WORDS,
        REDACTOR,
        user=user,
        password=password,
        database=settings.database,
        viewer=viewer,
        state=Path(settings.state_dir),
    )


async def _find_projects(call: HookCall, settings: HookConfig, store: Store) -> Sequence[str]:
    from ragforge.adapters.stores.holders import this_process
    from ragforge.app.wiring.projects import recognise
    from ragforge.config.store_url import is_server

    root = find_project(Path(call.cwd).resolve())
    host = this_process().machine if is_server(settings.store) else None
    return (await recognise(store, root, host)).ids


async def _find_for_prompt(
    call: HookCall, settings: HookConfig, store: Store, answer: HookAnswer
) -> AsyncIterator[ContextEntry]:
    """Yield what is relevant to a prompt, the best first, without what the session has received."""
    from ragforge.adapters.embedders.bundled import BundledEmbedder
    from ragforge.app.hook.prompt_memory import find_for_prompt, read_session

    root = str(find_project(Path(call.cwd).resolve()))
    session = read_session(call.agent, call.transcript, call.prompt, root, call.cwd)
    projects = await _find_projects(call, settings, store)
    if (rules := await _find_rules(call, settings, store, projects, answer)).text:
        yield rules
    found = find_for_prompt(store, BundledEmbedder(), call.prompt, projects, session, call.session)
    async for entry in found:
        if not any(map(answer.was_given, entry.ids)):
            yield entry


async def _find_for_start(
    call: HookCall, settings: HookConfig, store: Store, answer: HookAnswer
) -> AsyncIterator[ContextEntry]:
    """Yield the project's rules, its newest notes and its newest sessions."""
    from ragforge.domain.conversations import ConversationFilter
    from ragforge.domain.notes import NoteFilter
    from ragforge.domain.schema import CONVERSATION, NOTE
    from ragforge.domain.text import shorten, to_one_line

    projects = await _find_projects(call, settings, store)
    if (rules := await _find_rules(call, settings, store, projects, answer)).text:
        yield rules
    notes = await store.records.find(NOTE, NoteFilter(projects, is_rule=False), NEWEST)
    for note in notes:
        text = f"note, {note.created_at:%Y-%m-%d}: {shorten(note.text, 400)}"
        yield ContextEntry(text, (note.uuid,))
    count = len(notes)
    where = ConversationFilter(project_ids=projects)
    for one in await store.records.find(CONVERSATION, where, 2 * NEWEST):
        title = shorten(to_one_line(one.title or one.summary or ""), 120)
        if title and count < 2 * NEWEST and not _is_own(one, call):
            count += 1
            head = f"{one.agent}, session {one.uuid[:8]}"
            yield ContextEntry(f"session of {one.updated_at:%Y-%m-%d}, {head}: {title}")


async def _find_rules(
    call: HookCall, settings: HookConfig, store: Store, projects: Sequence[str], answer: HookAnswer
) -> ContextEntry:
    """Return the rules that the session has not received."""
    import os

    from ragforge.app.hook.rule_lines import find_rule_lines
    from ragforge.app.wiring.identity import find_author
    from ragforge.domain.conversations import make_author_key

    reader = make_author_key(find_author(settings.author, os.environ))
    # Instructions belong to the start of a session: a prompt that needs nothing gets no reminder.
    only_notes = call.kind == "prompt"
    return await find_rule_lines(
        store, projects, answer.was_given, reader, call.session, only_notes
    )


async def _find_for_file(
    call: HookCall, settings: HookConfig, store: Store, answer: HookAnswer
) -> AsyncIterator[ContextEntry]:
    """Yield what is known of the files of a call about which the session has received nothing."""
    from ragforge.app.hook.file_memory import find_for_files

    projects = await _find_projects(call, settings, store)
    async for entry in find_for_files(call, settings, store, projects, answer):
        yield entry


def _is_own(conversation: Conversation, call: HookCall) -> bool:
    """Tell whether a session is that of the agent, which runs right now."""
    return bool(call.session) and conversation.agent_session == call.session


def _join(entries: Sequence[ContextEntry], room: int) -> ContextEntry:
    """Return the entries that fit, as one; a single one is cut between words."""
    kept, ids = "", tuple[str, ...]()
    for entry in entries:
        longer = f"{kept}\n\n{entry.text}" if kept and entry.text else kept + entry.text
        if len(longer) <= room:
            kept, ids = longer, (*ids, *entry.ids)
    if kept or not entries:
        return ContextEntry(kept, ids)
    from ragforge.search.extracts import keep_start

    return ContextEntry(keep_start(entries[0].text, room), entries[0].ids)


def _wrap(text: str, session: str) -> str:
    """Return a context that an import recognises as ours, and whose end nothing in it forges."""
    import os

    from ragforge.memory.context_tags import fence, make_mark
    from ragforge.transcripts.user_text import OWN_TAG

    safe = text.replace(f"</{OWN_TAG}", f"<\\/{OWN_TAG}")
    fenced = fence("past-turns", safe, make_mark(session or os.urandom(8).hex()))
    return f"<{OWN_TAG}>\n{OPENING}\n{fenced}\n</{OWN_TAG}>"

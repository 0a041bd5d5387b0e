"""Tools: what each call of another agent does, with the application of its project."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime, time
from typing import TYPE_CHECKING, Any, TypeAlias

from ragforge.app.features.memory_entries import ENTRY_CHARS, format_hits
from ragforge.domain.notes import Note
from ragforge.domain.summaries import Summary
from ragforge.domain.turns import Turn
from ragforge.errors import InputError, NotFound
from ragforge.mcp.definitions import BUDGET
from ragforge.mcp.protocol import Client
from ragforge.show.hits import code_to_json, document_to_json
from ragforge.show.notes import note_to_json, summary_to_json
from ragforge.show.sessions import (
    about_to_json,
    detail_to_json,
    load_sessions,
    session_to_json,
    turn_to_json,
)

if TYPE_CHECKING:
    from ragforge.app import App
    from ragforge.app.features.code import IngestionStep
    from ragforge.app.features.sessions import SessionDetail
    from ragforge.domain.conversations import Conversation

Given: TypeAlias = Mapping[str, Any]
CANDIDATES = 400
"""How many hits are searched when only those of a file or an agent are wanted."""
RECALLED = 5
WRAPPER_CHARS = 40
"""The text around the entries of `recall`, without the project's path."""
MAX_SESSIONS = 50
PLACE_CHARS = 50
"""A place of `related` takes about as many characters, or fewer."""
RECEIPT_ITEMS = 20
RULE_CHARS = 1_200
"""Maximum for the rules that come with the hits of `recall`."""


async def recall(app: App, given: Given, client: Client) -> Any:
    """Find turns, summaries and notes, perhaps only of sessions that touched a file.

    Rules come first, whatever is asked.
    """
    limit = given.get("limit", RECALLED)
    hits = await app.memory.search(
        given["query"],
        max_results=CANDIDATES if "file" in given or "agent" in given else limit,
        since=_parse_day(given.get("since"), time.min),
        until=_parse_day(given.get("until"), time.max),
    )
    if "file" in given:
        touched = {one.conversation.uuid for one in await app.sessions.find_about(given["file"])}
        hits = [hit for hit in hits if hit.conversation_id in touched]
    sessions = await load_sessions(app, hits)
    if "agent" in given:
        of_agent = {uuid for uuid, one in sessions.items() if one.agent == given["agent"]}
        hits = [hit for hit in hits if hit.conversation_id in of_agent]
    hits = hits[:limit]
    rules = await _list_rules(app)
    aged = await app.memory.find_changed_code(hits)
    room = given.get("budget", ENTRY_CHARS * limit + WRAPPER_CHARS) - WRAPPER_CHARS
    room -= len(str(app.project_path))
    found = format_hits(hits, aged, sessions, given["query"], room, app.identity.key)
    return [*rules, *found]


async def search_code(app: App, given: Given, client: Client) -> Any:
    """Find code, and documents and configuration.

    The first call in a project begins to read it; `reading` says how far that is.
    """
    if not app.code.is_read:
        raise InputError(app.code.trust.describe_unread())

    def report(step: IngestionStep) -> None:
        how_far = f" {step.done} of {step.total}" if step.total else ""
        client.channel.report(f"{step.phase}{how_far}")

    client.channel.report("searching")
    under = given.get("path")
    if under is not None:
        under = app.code.locate(app.project_path / under) or None
    query = given["query"]
    found = await app.code.search(query, given.get("limit", 8), under, report)
    documents = await app.code.search_docs_and_config(query, found, under=under)
    reading, unknown = await app.code.find_reading(), await app.code.find_unknown_words(query)
    return {
        **({} if reading is None else {"reading": reading.notice}),
        **({"unknown": unknown} if unknown else {}),
        "code": [code_to_json(hit) for hit in found],
        "documents": [document_to_json(hit) for hit in documents],
    }


async def build_context(app: App, given: Given, client: Client) -> Any:
    """Build the context of a task within the budget, and say why each part is in it."""
    from ragforge.app.wiring.context_builder import ContextOptions

    client.channel.report("searching memory and code")
    options = ContextOptions(max_chars=given.get("budget", BUDGET) * 2 // 3)
    # The caller knows its own session: what others said is wanted.
    session = app.sessions.make_new()
    built = await app.build_context(given["task"], options, session)
    items = built.receipt.items[:RECEIPT_ITEMS]
    return {
        "context": built.text,
        "receipt": [f"{item.source}: {item.why}" for item in items],
        "problem": built.receipt.notices,
    }


async def open_item(app: App, given: Given, client: Client) -> Any:
    """Return one item in full, one page at a time."""
    found = record_to_json(await app.memory.load(given["id"]))
    text = json.dumps(found, ensure_ascii=False, indent=1)
    pages = _split_pages(text, given.get("budget", BUDGET) - len(str(app.project_path)) - 200)
    page = given.get("page", 1)
    if page > len(pages):
        raise InputError(f"There is no page {page}: the text has {len(pages)} pages.")
    return {"id": given["id"], "page": page, "pages": len(pages), "text": pages[page - 1]}


async def find_related(app: App, given: Given, client: Client) -> Any:
    """Find what uses some code and what it uses, and the sessions that touched it.

    With a relation, only what that names.
    """
    client.channel.report("looking at code and sessions")
    code, problem = None, None
    try:
        code = await app.code.explore(
            given["name"],
            given.get("relation"),
            given.get("depth"),
            limit=given.get("budget", BUDGET) // PLACE_CHARS,
            source=given.get("source", False),
        )
    except InputError as error:
        problem = str(error)
    if not await app.code.is_ingested():
        problem = "The code is not indexed yet: call search_code."
    if "relation" in given:
        return {"code": code, "problem": problem}
    about = await app.sessions.find_about(given["name"])
    sessions = [about_to_json(one) for one in about[:MAX_SESSIONS]]
    return {"code": code, "sessions": sessions, "problem": problem}


async def list_sessions(app: App, given: Given, client: Client) -> Any:
    """List the sessions of the project, the last active or the most similar first."""
    limit = given.get("limit", 10)
    if "query" in given:
        similar = await app.sessions.find_similar(given["query"], limit)
        return [session_to_json(one.conversation) for one in similar]
    return [session_to_json(one) for one in await app.sessions.find(limit=limit)]


async def remember(app: App, given: Given, client: Client) -> Any:
    """Keep a note, or a rule; say what it replaces."""
    note = await app.notes.remember(
        given["text"], supersedes=given.get("supersedes"), rule=given.get("rule", False)
    )
    return {
        "id": note.uuid,
        "text": note.text,
        "is_rule": note.is_rule,
        "corrects": list(note.corrects),
    }


async def _list_rules(app: App) -> list[Any]:
    """Return the rules that hold, within their budget, the newest first."""
    found: list[Any] = []
    room = RULE_CHARS
    for rule in await app.notes.find_rules():
        if rule.replaced_by is None and len(rule.text) <= room:
            room -= len(rule.text)
            when, source = f"{rule.when:%Y-%m-%d}", rule.source
            one = {"type": "rule", "id": rule.id, "text": rule.text, "when": when}
            found.append(one | ({"source": source} if source else {}))
    return found


def _split_pages(text: str, size: int) -> list[str]:
    """Return a text in pages, each within a size as JSON: what is escaped there is longer."""
    pages, start = [], 0
    while start < len(text):
        end = start + size
        while len(json.dumps(text[start:end], ensure_ascii=False)) > size:
            end = start + (end - start) * 9 // 10
        pages.append(text[start:end])
        start = end
    return pages


def _parse_day(text: str | None, of_day: time) -> datetime | None:
    if text is None:
        return None
    try:
        return datetime.combine(datetime.fromisoformat(text).date(), of_day, UTC)
    except ValueError as error:
        raise InputError(f"{text!r} is not a day. Write it as 2026-10-01.") from error


async def forget(app: App, given: Given, client: Client) -> Any:
    """Delete a note or a session once the user said yes; return what it was.

    Raises InputError if the user cannot be asked, or said no.
    """
    found = await _find(app, given["id"])
    named = _describe(found)
    if not client.can_ask_its_user:
        group = "memory forget-note" if isinstance(found, Note) else "sessions delete"
        raise InputError(
            f"Your agent cannot ask the user. To delete {named}, the user can run: "
            f"ragforge {group} {found.uuid}"
        )
    # The question names what it is about: an answer to another one does not count.
    answer = await client.ask(f"forget {found.uuid}", "elicitation/create", _make_question(named))
    content = answer.get("content")
    if answer.get("action") != "accept" or not isinstance(content, dict):
        raise InputError("The user did not agree. Nothing was forgotten.")
    if content.get("forget") is not True:
        raise InputError("The user said no. Nothing was forgotten.")
    if isinstance(found, Note):
        await app.notes.forget(found.uuid)
    else:
        await app.sessions.delete(found)
    return {"forgotten": named, "id": found.uuid}


async def _find(app: App, id: str) -> Note | Conversation:
    """Return a note or a session of this project. Raises InputError if it is none."""
    found: Note | Conversation
    try:
        found = await app.notes.load(id)
    except NotFound:
        found = await app.sessions.resolve(id)
    if found.project_id not in app.project.ids:
        raise InputError(f"{found.uuid} belongs to another project: {found.project_path}")
    return found


def _describe(found: Note | Conversation) -> str:
    if isinstance(found, Note):
        return f"the note {found.text[:200]!r}"
    title = found.title or found.uuid
    return f"the session {title!r} of {found.updated_at:%Y-%m-%d} ({found.turn_count} turns)"


def _make_question(named: str) -> Mapping[str, Any]:
    field = {"type": "boolean", "title": "Delete it permanently"}
    schema = {"type": "object", "properties": {"forget": field}, "required": ["forget"]}
    return {"message": f"RagForge: forget {named}?", "requestedSchema": schema}


def record_to_json(found: Turn | Summary | Note | SessionDetail) -> dict[str, object]:
    """Return a turn, a summary, a note or a session."""
    if isinstance(found, Turn):
        return turn_to_json(found)
    if isinstance(found, Summary):
        return summary_to_json(found)
    return note_to_json(found) if isinstance(found, Note) else detail_to_json(found)


Run: TypeAlias = Callable[["App", Given, Client], Awaitable[Any]]
RUN: Mapping[str, Run] = {
    "recall": recall,
    "search_code": search_code,
    "context": build_context,
    "open": open_item,
    "related": find_related,
    "sessions": list_sessions,
    "remember": remember,
    "forget": forget,
}

"""Tools: what each call of another agent does, with the application of its project."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime, time
from typing import TYPE_CHECKING, Any, TypeAlias

from ragforge.app.memory_entries import ENTRY_CHARS, format_hits
from ragforge.errors import ConversationNotFound, InputError
from ragforge.mcp.confirm import ask_to_forget
from ragforge.mcp.definitions import BUDGET
from ragforge.mcp.protocol import Client
from ragforge.show.hits import code_to_json, document_to_json
from ragforge.show.records import record_to_json
from ragforge.show.sessions import session_to_json
from ragforge.show.touched_sessions import about_to_json

if TYPE_CHECKING:
    from ragforge.app import App
    from ragforge.app.code import IngestionStep
    from ragforge.domain.conversations import Conversation

Given: TypeAlias = Mapping[str, Any]
CANDIDATES = 400
"""How many are looked at where only some of a file or an agent are wanted."""
RECALLED = 5
WRAPPER_CHARS = 40
"""What is around the entries of `recall`, without the project's path."""
MOST_SESSIONS = 50
RECEIPT_ITEMS = 20
RULE_CHARS = 1_200
"""Of the rules that come with what is recalled."""


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
    sessions = await _load_sessions(app, [hit.conversation_id for hit in hits])
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
    """Build the context of a task within the budget, and say what each part is there for."""
    from ragforge.app.context_builder import ContextOptions

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
    """Show one thing in full, a page of it at a time."""
    found = record_to_json(await app.memory.load(given["id"]))
    text = json.dumps(found, ensure_ascii=False, indent=1)
    pages = _split_pages(text, given.get("budget", BUDGET) - len(str(app.project_path)) - 200)
    page = given.get("page", 1)
    if page > len(pages):
        raise InputError(f"There is no page {page}: it has {len(pages)}.")
    return {"id": given["id"], "page": page, "pages": len(pages), "text": pages[page - 1]}


async def find_related(app: App, given: Given, client: Client) -> Any:
    """Find what uses some code and what it uses, and the sessions that touched it."""
    client.channel.report("looking at code and sessions")
    code = await app.code.explore(given["name"])
    about = await app.sessions.find_about(given["name"])
    sessions = [about_to_json(one) for one in about[:MOST_SESSIONS]]
    problem = None if await app.code.is_ingested() else "The code is not read: call search_code."
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


async def forget(app: App, given: Given, client: Client) -> Any:
    """Delete a note or a session after the user said yes."""
    return await ask_to_forget(app, given["id"], client)


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


async def _load_sessions(app: App, ids: list[str]) -> dict[str, Conversation]:
    """Return sessions by their ids; a note need not be of any, and one may be gone."""
    found = {}
    for uuid in dict.fromkeys(filter(None, ids)):
        try:
            found[uuid] = await app.sessions.load(uuid)
        except ConversationNotFound:
            continue
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
        raise InputError(f"{text!r} is no day. Write it as 2026-10-01.") from error


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

"""Tools: what each call of another agent does, with the application of its project."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime, time
from typing import TYPE_CHECKING, Any, TypeAlias

from ragforge.errors import InputError
from ragforge.mcp.confirm import ask_to_forget
from ragforge.mcp.protocol import Client, Report
from ragforge.show.hits import code_to_json, memory_to_json
from ragforge.show.sessions import session_to_json
from ragforge.show.touched_sessions import about_to_json

if TYPE_CHECKING:
    from ragforge.app import App

Given: TypeAlias = Mapping[str, Any]
Found: TypeAlias = Mapping[str, Any]


async def recall(app: App, given: Given, client: Client, report: Report) -> Found:
    """Find turns, summaries and notes; with a file, only of sessions that touched it."""
    limit = given.get("limit", 8)
    hits = await app.memory.search(
        given["query"],
        max_results=limit if "file" not in given and "agent" not in given else 50,
        since=_parse_day(given.get("since"), time.min),
        until=_parse_day(given.get("until"), time.max),
    )
    if "file" in given:
        touched = {one.conversation.uuid for one in await app.sessions.find_about(given["file"])}
        hits = [hit for hit in hits if hit.conversation_id in touched]
    hits = hits[:limit]
    ages = await app.memory.find_changed_code(hits)
    return {"result": [memory_to_json(hit, aged) for hit, aged in zip(hits, ages, strict=True)]}


async def search_code(app: App, given: Given, client: Client, report: Report) -> Found:
    """Find code; a project that was never read is read first."""
    await report(0, None, "searching")
    found = await app.code.search(given["query"], given.get("limit", 8), given.get("path"))
    return {"result": [code_to_json(hit) for hit in found]}


async def build_context(app: App, given: Given, client: Client, report: Report) -> Found:
    """Build the context of a task within the budget, and say what each part is there for."""
    from ragforge.context.build import ContextOptions
    from ragforge.mcp.definitions import BUDGET

    options = ContextOptions(max_chars=max(given.get("budget", BUDGET) * 3 // 4, 400))
    built = await app.build_context(given["task"], options)
    receipt = [{"source": item.source, "why": item.why} for item in built.receipt.items]
    found: dict[str, Any] = {"result": {"context": built.text, "receipt": receipt}}
    if failed := [search.name for search in built.receipt.searches if search.problem]:
        found["problem"] = f"could not look: {', '.join(failed)}"
    return found


async def open_item(app: App, given: Given, client: Client, report: Report) -> Found:
    """Show one thing in full, a page of it at a time."""
    import json

    from ragforge.mcp.definitions import BUDGET

    text = json.dumps(await app.memory.read(given["id"]), ensure_ascii=False, indent=1)
    size = max(given.get("budget", BUDGET) // 2, 250)  # its escaped form is longer
    page, pages = given.get("page", 1), -(-len(text) // size)
    if page > pages:
        raise InputError(f"There are {pages} pages.")
    part = text[(page - 1) * size : page * size]
    return {"result": {"id": given["id"], "page": page, "pages": pages, "text": part}}


async def find_related(app: App, given: Given, client: Client, report: Report) -> Found:
    """Find what uses some code and what it uses, and the sessions that touched it."""
    around = await app.code.find_neighbours(given["name"])
    about = await app.sessions.find_about(given["name"])
    return {"result": {"code": around, "sessions": [about_to_json(one) for one in about[:10]]}}


async def list_sessions(app: App, given: Given, client: Client, report: Report) -> Found:
    limit = given.get("limit", 10)
    if "query" in given:
        similar = await app.sessions.find_similar(given["query"], limit)
        return {"result": [session_to_json(one.conversation) for one in similar]}
    return {"result": [session_to_json(one) for one in await app.sessions.find(limit=limit)]}


async def remember(app: App, given: Given, client: Client, report: Report) -> Found:
    note = await app.notes.remember(given["text"], supersedes=given.get("supersedes"))
    return {"result": {"id": note.uuid, "text": note.text}}


async def forget(app: App, given: Given, client: Client, report: Report) -> Found:
    return await ask_to_forget(app, given, client)


def _parse_day(text: str | None, of_day: time) -> datetime | None:
    if text is None:
        return None
    try:
        return datetime.combine(datetime.fromisoformat(text).date(), of_day, UTC)
    except ValueError as error:
        raise InputError(f"{text!r} is no day. Write it as 2026-10-01.") from error


Run: TypeAlias = Callable[["App", Given, Client, Report], Awaitable[Found]]
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

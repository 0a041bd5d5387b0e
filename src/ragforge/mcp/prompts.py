"""Prompts: questions that a user picks in their agent, with what is remembered put in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ragforge.domain.text import keep_beginning

if TYPE_CHECKING:
    from ragforge.app import App

TURNS = 5
SESSIONS = 10
TEXT_CHARS = 1_500


async def make_prompt(app: App, name: str, given: Mapping[str, Any]) -> str:
    """Return the text of a prompt."""
    said = await (_resume(app) if name == "resume" else _why(app, given["name"]))
    return f"Project: {app.project_path}\n{said}"


async def _resume(app: App) -> str:
    found = await app.sessions.find(limit=1)
    if not found:
        return "There is no earlier session of this project. Say so."
    last = found[0]
    turns = await app.sessions.latest_turns(last, TURNS)
    said = [
        f"User: {keep_beginning(turn.user.content, TEXT_CHARS)}\n"
        f"Assistant: {keep_beginning(turn.answer, TEXT_CHARS)}"
        for turn in turns
    ]
    head = "Say in a few lines where this work was left, what is done and what is open."
    title = f"Last session, {last.updated_at:%Y-%m-%d}, by {last.agent}: {last.title or ''}"
    return "\n\n".join((head, title.rstrip(": "), *said))


async def _why(app: App, name: str) -> str:
    about = await app.sessions.find_about(name)
    lines = [
        f"- {one.conversation.updated_at:%Y-%m-%d} {one.conversation.title or 'a session'} "
        f"(id {one.conversation.uuid}): {touched.touch.how} "
        f"{touched.touch.name or touched.touch.file}, {touched.since.describe(touched.touch)}"
        for one in about[:SESSIONS]
        for touched in one.touched[:3]
    ]
    hits = await app.memory.search(f"{name}: decided, because, why", max_results=5)
    said = [
        f"- {hit.timestamp:%Y-%m-%d} {keep_beginning(hit.note.text, TEXT_CHARS)}"
        for hit in hits
        if hit.type == "note"
    ]
    head = f"Say why {name} is as it is, from what follows. `open` reads a session, `recall` finds."
    sessions = "\n".join(("Sessions that touched it:", *(lines or ["none"])))
    notes = "\n".join(("Notes:", *said)) if said else ""
    return "\n\n".join(filter(None, (head, sessions, notes)))

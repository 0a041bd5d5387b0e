"""Confirm: nothing is forgotten before the user said yes in their own agent.

A client that cannot ask its user gets the command for the terminal: a model must not answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ragforge.domain.notes import Note
from ragforge.errors import InputError, NotFound
from ragforge.mcp.protocol import Client

if TYPE_CHECKING:
    from ragforge.app import App
    from ragforge.domain.conversations import Conversation


async def ask_to_forget(app: App, id: str, client: Client) -> Mapping[str, Any]:
    """Delete a note or a session once the user said yes; return what it was.

    Raises InputError if nobody can be asked, or the user said no.
    """
    found = await _find(app, id)
    named = _describe(found)
    if not client.can_ask_its_user:
        group = "memory forget-note" if isinstance(found, Note) else "sessions delete"
        raise InputError(
            f"Your agent cannot ask the user. They can delete {named} themselves: "
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
        raise InputError(f"{found.uuid} is of another project: {found.project_path}")
    return found


def _describe(found: Note | Conversation) -> str:
    if isinstance(found, Note):
        return f"the note {found.text[:200]!r}"
    title = found.title or found.uuid
    return f"the session {title!r} of {found.updated_at:%Y-%m-%d} ({found.turn_count} turns)"


def _make_question(named: str) -> Mapping[str, Any]:
    field = {"type": "boolean", "title": "Forget it for good"}
    schema = {"type": "object", "properties": {"forget": field}, "required": ["forget"]}
    return {"message": f"RagForge: forget {named}?", "requestedSchema": schema}

"""Confirm: nothing is forgotten before the user said yes in their own agent.

A client of today's revision gets the question as its result and calls again with the answer.
One that cannot ask its user is sent to the terminal: a model must not answer for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ragforge.errors import InputError, NotFound
from ragforge.mcp.protocol import Client

if TYPE_CHECKING:
    from ragforge.app import App

_QUESTION = "confirm"


async def ask_to_forget(app: App, given: Mapping[str, Any], client: Client) -> Mapping[str, Any]:
    """Return the question, or what was forgotten. Raises InputError if nobody can be asked."""
    named = await _describe(app, given["id"])
    answer = client.answers.get(_QUESTION)
    if answer is None:
        if "elicitation" not in client.capabilities or not client.is_modern:
            raise InputError(
                f"Your agent cannot ask the user. They can do it: ragforge forget {given['id']}"
            )
        return {"resultType": "input_required", "inputRequests": {_QUESTION: _ask(named)}}
    if answer.get("action") != "accept" or not answer.get("content", {}).get("forget"):
        raise InputError("The user said no. Nothing was forgotten.")
    await _forget(app, given["id"])
    return {"result": {"forgotten": named}}


def _ask(named: str) -> Mapping[str, Any]:
    schema = {
        "type": "object",
        "properties": {"forget": {"type": "boolean", "title": "Forget it for good"}},
        "required": ["forget"],
    }
    params = {"mode": "form", "message": f"Forget {named}?", "requestedSchema": schema}
    return {"method": "elicitation/create", "params": params}


async def _describe(app: App, id: str) -> str:
    """Return a note or session in a few words. Raises NotFound, AmbiguousId."""
    try:
        return f"the note {(await app.notes.load(id)).text[:200]!r}"
    except NotFound:
        session = await app.sessions.resolve(id)
        return f"the session {session.title or session.uuid!r} ({session.turn_count} turns)"


async def _forget(app: App, id: str) -> None:
    try:
        await app.notes.forget(id)
    except NotFound:
        await app.sessions.delete(await app.sessions.resolve(id))

"""Prompts: questions that a user picks in their agent, with what is remembered put in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ragforge.mcp.wire import INVALID_PARAMS, WireError

if TYPE_CHECKING:
    from ragforge.app import App

_TURNS = 5


async def make_prompt(app: App, name: str, given: Mapping[str, Any]) -> str:
    """Return the text of a prompt. Raises WireError if there is no such prompt."""
    if name == "resume":
        return await _resume(app)
    if name == "why" and isinstance(given.get("name"), str):
        return await _why(app, given["name"])
    wanted = "why needs a name" if name == "why" else f"there is no prompt {name[:80]!r}"
    raise WireError(INVALID_PARAMS, f"The prompt cannot be made: {wanted}.")


async def _resume(app: App) -> str:
    found = await app.sessions.find(limit=1)
    if not found:
        return "There is no earlier session of this project. Say so."
    turns = await app.sessions.latest_turns(found[0], _TURNS)
    said = [f"User: {turn.user.content}\nAssistant: {turn.answer}" for turn in turns]
    head = "Say in a few lines where this work was left, what is done and what is open."
    return "\n\n".join((head, f"Last session: {found[0].title or 'without a title'}", *said))


async def _why(app: App, name: str) -> str:
    about = await app.sessions.find_about(name)
    lines = [
        f"- {one.conversation.updated_at:%Y-%m-%d} {one.conversation.title or ''}: "
        f"{touched.touch.how} {touched.touch.name or touched.touch.file}, "
        f"{touched.since.describe(touched.touch)}"
        for one in about[:10]
        for touched in one.touched[:5]
    ]
    head = f"Say why {name} is as it is, from these sessions. Open those that matter by recall."
    return "\n".join((head, *(lines or ["No session touched it."])))

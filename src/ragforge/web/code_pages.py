"""Code pages: a place in the code with what stands beside it, and the sessions that touched it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragforge.domain.text import Json
from ragforge.errors import InputError
from ragforge.web.forms import read_text
from ragforge.web.render import render

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from ragforge.app import App
    from ragforge.app.sessions import ConversationAbout

ROLES = ("used_by", "uses", "inside", "holds", "inherits_from", "inherited_by")
MOST_SESSIONS = 30
MOST_SCOPES = 500
_PLACE = re.compile(r"(?P<file>.+?):(?P<start>\d+)(?:-(?P<end>\d+))?(?: (?P<name>.*))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands in the code."""

    text: str
    file: str = ""
    line: int = 0
    name: str = ""

    @property
    def target(self) -> str:
        """What finds it again: its file and first line, or its name."""
        return f"{self.file}:{self.line}" if self.line else self.text


def read_place(text: str) -> Place:
    """Read a place as it is written: `file:start-end name`, or any part of that."""
    found = _PLACE.fullmatch(text)
    if found is None:
        return Place(text, name=text)
    return Place(text, found["file"], int(found["start"]), found["name"] or "")


async def explore(app: App, name: str) -> dict[str, Json] | None:
    """Return the code with a name or at a place, and its neighbours; None if there is none."""
    if not app.code.is_read or not await app.code.is_ingested():
        return None
    found = await app.code.explore(read_place(name).target)
    return found if isinstance(found, dict) else None


async def find_touching(app: App, name: str) -> tuple[list[ConversationAbout], str]:
    """Return the sessions that touched some code, or a sentence that says why not."""
    place = read_place(name)
    try:
        found = await app.sessions.find_about(place.name or place.file, everywhere=True)
    except InputError as error:
        return [], str(error)
    return found[:MOST_SESSIONS], ""


async def _list_outline(app: App, file: str) -> list[Place]:
    """Return what is in a file, as places."""
    found = (await app.code.outline(file))[:MOST_SCOPES]
    return [
        Place(one.qualified_name, one.file, one.start_line, one.qualified_name) for one in found
    ]


async def show_code(request: Request) -> Response:
    """Show a place in the code; without a name, ask for one."""
    app: App = request.app.state.app
    name = read_text(request, "name")
    found = await explore(app, name) if name else None
    place = read_place(str(found["place"])) if found and "place" in found else None
    subject = name if place is None else f"{place.file}:{place.line} {place.name}"
    sessions, problem = await find_touching(app, subject) if name else ([], "")
    sides = [
        (role, [read_place(one) for one in found[role]])
        for role in ROLES
        if found and isinstance(found.get(role), list)
    ]
    return render(
        request,
        "code.html",
        name=name,
        place=place,
        source="" if place is None or found is None else str(found.get("source", "")),
        kind="" if found is None else str(found.get("type", "")),
        several=[read_place(one) for one in found.get("several", [])] if found else [],
        outline=await _list_outline(app, name) if name and found is None else [],
        sides=sides,
        sessions=sessions,
        problem=problem,
        is_known=app.code.is_read and await app.code.is_ingested(),
    )

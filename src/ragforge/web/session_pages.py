"""Session pages: all sessions by repository, and one session turn by turn."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

from starlette.responses import RedirectResponse, Response

from ragforge.domain.authors import name_other
from ragforge.web.forms import check_form, read_id, read_number, read_text
from ragforge.web.render import render
from ragforge.web.turns import view_turn

if TYPE_CHECKING:
    from starlette.requests import Request

    from ragforge.app import App
    from ragforge.app.sessions import SessionLine

LISTED = 50
TURNS = 20
MOST_OFFSET = 1_000_000
LOOKED_AT = 500
"""Of the newest sessions so many are looked at for the names of projects and agents."""


class Project(NamedTuple):
    """A repository that sessions belong to."""

    id: str
    path: str

    @property
    def name(self) -> str:
        return PurePath(self.path).name or self.path


class Choices(NamedTuple):
    """What sessions and hits can be filtered by."""

    projects: Sequence[Project]
    agents: Sequence[str]


async def find_choices(app: App) -> Choices:
    """Return the projects and agents of the newest sessions, the last active first."""
    newest = await app.sessions.find(None, limit=LOOKED_AT, everywhere=True)
    projects: dict[str, Project] = {}
    for one in newest:
        projects.setdefault(one.project_id, Project(one.project_id, one.project_path))
    return Choices(tuple(projects.values()), tuple(sorted({one.agent for one in newest})))


async def find_lines(
    app: App, project: str, agent: str, offset: int
) -> tuple[list[SessionLine], bool]:
    """Return a page of sessions, and whether others follow."""
    found = await app.sessions.find(
        None,
        limit=LISTED + 1,
        everywhere=True,
        project_ids=(project,) if project else (),
        agent=agent or None,
        offset=offset,
    )
    return await app.sessions.add_last_messages(found[:LISTED]), len(found) > LISTED


async def show_sessions(request: Request) -> Response:
    """Show the sessions of all agents, grouped by repository, the last active first."""
    app: App = request.app.state.app
    project, agent = read_text(request, "project"), read_text(request, "agent")
    offset = read_number(request, "offset", 0, MOST_OFFSET)
    lines, has_more = await find_lines(app, project, agent, offset)
    groups: dict[str, list[SessionLine]] = {}
    for line in lines:
        groups.setdefault(line.conversation.project_id, []).append(line)
    values = {
        "groups": [
            (Project(name, some[0].conversation.project_path), some)
            for name, some in groups.items()
        ],
        "project": project,
        "agent": agent,
        "newer": max(offset - LISTED, 0) if offset else None,
        "older": offset + LISTED if has_more else None,
        "viewer": app.identity.key,
        "name_other": name_other,
    }
    if "x-part" in request.headers:
        return render(request, "session_list.html", **values)
    return render(request, "sessions.html", choices=await find_choices(app), **values)


async def show_session(request: Request) -> Response:
    """Show some turns of a session; a script asks for those that follow, one page at a time."""
    app: App = request.app.state.app
    session = await app.sessions.resolve(read_id(request))
    first = read_number(request, "from", 0, MOST_OFFSET)
    turns = await app.sessions.load_turns(session, first, TURNS)
    count = await app.sessions.count_turns(session)
    after = first + TURNS if first + TURNS < count else None
    changed = await app.memory.find_changed_in_turns(session, turns)
    values = {
        "session": session,
        "turns": [view_turn(*pair) for pair in zip(turns, changed, strict=True)],
        "after": after,
        "is_here": session.project_id in app.project.ids,
    }
    if "x-part" in request.headers:
        return render(request, "turns.html", **values)
    return render(
        request,
        "session.html",
        before=max(first - TURNS, 0) if first else None,
        latest=max(count - TURNS, 0),
        project=Project(session.project_id, session.project_path),
        family=await app.sessions.find_relatives(session),
        other=name_other(session.author, app.identity.key),
        **values,
    )


async def export_session(request: Request) -> Response:
    """Send a session as the file that `ragforge sessions export` writes."""
    app: App = request.app.state.app
    session = await app.sessions.resolve(read_id(request))
    name = f'attachment; filename="session-{session.uuid[:8]}.json"'
    return Response(
        await app.sessions.export_bytes(session.uuid),
        media_type="application/json",
        headers={"Content-Disposition": name},
    )


async def delete_session(request: Request) -> Response:
    """Delete a session for good, once its form was sent."""
    await check_form(request)
    app: App = request.app.state.app
    await app.sessions.delete(await app.sessions.load(read_id(request)))
    return RedirectResponse(f"{request.app.state.access.base}/sessions", 303)

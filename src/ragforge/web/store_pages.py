"""Store pages: how much is stored, of whom and since when, and its health; notes; forgetting."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from starlette.exceptions import HTTPException

from ragforge.domain.instants import now
from ragforge.errors import InputError
from ragforge.web.forms import check_form, go_to, read_id, read_text
from ragforge.web.render import name_project, render
from ragforge.web.session_pages import find_choices

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from ragforge.app import App
    from ragforge.app.features.memory import EmbeddedMemory
    from ragforge.app.features.overview import Contents, Share

JOBS = 100
NOTES = 200
ROWS = 10
"""Of a table; those that follow are counted."""
MONTHS = 12


class Checked(NamedTuple):
    """The last check of the store: when it was, and what was wrong."""

    when: datetime
    problems: tuple[str, ...]


class Row(NamedTuple):
    """A row of a table with bars: the sessions of one project, agent or author."""

    name: str
    detail: str  # such as the path of a project
    filters: dict[str, str]  # of the list of sessions; empty if it cannot be filtered
    share: Share


async def show_store(request: Request) -> Response:
    """Show how much is stored, of whom and since when, and whether all is well."""
    app: App = request.app.state.app
    contents = await app.overview.count_contents()
    return render(
        request,
        "store.html",
        health=await app.overview.describe_store(),
        checked=getattr(request.app.state, "checked", None),
        contents=contents,
        tables=[table for table in _list_tables(contents) if table[1]],
        months=contents.months[:MONTHS],
        rows=ROWS,
        status=await app.code.status(),
        jobs=await app.jobs.find(JOBS),
        job_counts=(await app.jobs.count()).by_status,
        embedded=await _count_embedded(app),
        choices=await find_choices(app),
    )


def _list_tables(contents: Contents) -> list[tuple[str, list[Row]]]:
    """Return whose sessions there are: by project, agent and, if there are several, author."""
    projects = [
        Row(name_project(one.name), one.name, {"project": one.key}, one)
        for one in contents.projects
    ]
    agents = [Row(one.name, "", {"agent": one.key}, one) for one in contents.agents]
    authors = [Row(one.name, "", {}, one) for one in contents.authors]
    several = authors if len(authors) > 1 else []
    return [("By project", projects), ("By agent", agents), ("By author", several)]


async def check_store(request: Request) -> Response:
    """Look for problems in all of the store; the page shows what was found."""
    await check_form(request)
    health = await request.app.state.app.overview.describe_store(check=True)
    request.app.state.checked = Checked(now(), health.problems)
    return go_to(request, "/store")


async def show_notes(request: Request) -> Response:
    """Show what was noted in all projects, the newest first, or what a query finds."""
    app: App = request.app.state.app
    query = read_text(request, "q")
    found = await app.notes.find(
        query or None, limit=NOTES, everywhere=True, with_superseded=not query
    )
    replaced = {old: note for note in reversed(found) for old in note.replaces}
    listed = {note.uuid for note in found}
    return render(
        request,
        "notes.html",
        query=query,
        notes=found,
        replaced=replaced,
        listed=listed,
        rules=() if query else await app.notes.find_rules(),
        corrections=() if query else await app.notes.find_corrections(),
    )


async def decide_correction(request: Request) -> Response:
    """Say whether the newer of two notes replaces the older one, once its form was sent."""
    form = await check_form(request)
    answer = form.get("answer", "")
    if answer not in ("yes", "no"):
        raise HTTPException(400)
    await request.app.state.app.notes.decide(form.get("id", ""), replaces=answer == "yes")
    return go_to(request, "/notes#review")


async def forget_note(request: Request) -> Response:
    """Delete a note, once its form was sent."""
    await check_form(request)
    await request.app.state.app.notes.forget(read_id(request))
    return go_to(request, "/notes")


async def ask_forget(request: Request) -> Response:
    """Show how much would be deleted of a project, and ask."""
    app: App = request.app.state.app
    project = read_text(request, "project")
    counted = await app.memory.count_project(_list_ids(app, project))
    if not project or not (counted.sessions or counted.notes):
        raise HTTPException(404)
    names = {one.id: one.path for one in (await find_choices(app)).projects}
    name = names.get(project, project)
    return render(request, "forget.html", project=project, name=name, counted=counted)


async def forget_project(request: Request) -> Response:
    """Delete the user's memory of a project, once its form was sent."""
    form = await check_form(request)
    app: App = request.app.state.app
    if project := form.get("project", ""):
        await app.memory.forget_project(_list_ids(app, project))
    return go_to(request, "/store")


async def forget_code(request: Request) -> Response:
    """Forget what is known of this project's code, once its form was sent."""
    await check_form(request)
    app: App = request.app.state.app
    if app.code.is_read and await app.code.is_ingested():
        await app.code.forget(app.project_path)
    return go_to(request, "/store")


def _list_ids(app: App, project: str) -> Sequence[str]:
    """Return the ids under which a project is known: this one may have had others before."""
    return app.project.ids if project in app.project.ids else (project,)


async def _count_embedded(app: App) -> EmbeddedMemory | None:
    try:
        return await app.maintenance.count_embedded()
    except InputError:  # only words are searched
        return None


async def retry_jobs(request: Request) -> Response:
    """Queue every job again that failed for good."""
    await check_form(request)
    await request.app.state.app.jobs.retry_failed()
    return go_to(request, "/store")

"""Store pages: what is stored, how far the code is known, and the jobs in the background."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from ragforge.app import inspect_store
from ragforge.errors import InputError
from ragforge.web.forms import check_form, read_id, read_text
from ragforge.web.render import render
from ragforge.web.session_pages import find_choices

if TYPE_CHECKING:
    from starlette.requests import Request

    from ragforge.app import App
    from ragforge.app.features.maintenance import EmbeddedMemory

JOBS = 100
NOTES = 200


async def show_store(request: Request) -> Response:
    """Show the store, the project's code and the jobs."""
    app: App = request.app.state.app
    health, counts = await inspect_store(app.settings)
    return render(
        request,
        "store.html",
        health=health,
        counts=counts,
        status=await app.code.status(),
        jobs=await app.jobs.find(JOBS),
        job_counts=(await app.jobs.count()).by_status,
        embedded=await _count_embedded(app),
        choices=await find_choices(app),
    )


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
    return RedirectResponse(f"{request.app.state.access.base}/notes#review", 303)


async def forget_note(request: Request) -> Response:
    """Delete a note, once its form was sent."""
    await check_form(request)
    await request.app.state.app.notes.forget(read_id(request))
    return RedirectResponse(f"{request.app.state.access.base}/notes", 303)


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
    return RedirectResponse(f"{request.app.state.access.base}/store", 303)


async def forget_code(request: Request) -> Response:
    """Forget what is known of this project's code, once its form was sent."""
    await check_form(request)
    app: App = request.app.state.app
    if app.code.is_read and await app.code.is_ingested():
        await app.code.forget(app.project_path)
    return RedirectResponse(f"{request.app.state.access.base}/store", 303)


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
    return RedirectResponse(f"{request.app.state.access.base}/store", 303)

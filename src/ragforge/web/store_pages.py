"""Store pages: what is stored, how far the code is known, and the jobs in the background."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import RedirectResponse, Response

from ragforge.app import inspect_store
from ragforge.web.forms import check_form
from ragforge.web.render import render

if TYPE_CHECKING:
    from starlette.requests import Request

    from ragforge.app import App

JOBS = 100


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
        job_counts=await app.jobs.count(),
    )


async def retry_jobs(request: Request) -> Response:
    """Queue every job again that failed for good."""
    await check_form(request)
    await request.app.state.app.jobs.retry_failed()
    return RedirectResponse(f"{request.app.state.access.base}/store", 303)

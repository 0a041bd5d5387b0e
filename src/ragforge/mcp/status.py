"""Status: what the memory of a project holds, as a resource."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragforge.show.project import status_to_json

if TYPE_CHECKING:
    from ragforge.app import App


async def describe_status(app: App) -> dict[str, Any]:
    """Return the state of the project's code and of the queue."""
    status = await app.code.status()
    return dict(status_to_json(status, await app.jobs.count()))

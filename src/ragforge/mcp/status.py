"""Status: what the memory of a project holds, as a resource."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragforge.show.project import status_to_json

if TYPE_CHECKING:
    from ragforge.app import App


async def describe_status(app: App) -> dict[str, Any]:
    """Return the state of the project's code and of the queue, and the last session."""
    status = status_to_json(await app.code.status(), (await app.jobs.count()).by_status)
    last = await app.sessions.find(limit=1)
    active = last[0].updated_at.isoformat(timespec="seconds") if last else None
    return {"project": str(app.project_path), "last_active": active, **status}

"""Editor: show a change, ask for permission, journal it and apply it, in this order."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from ragforge.tools.edits.change import Change
from ragforge.tools.edits.journal import Journal
from ragforge.tools.permission import PermissionRequest, Permit
from ragforge.tools.workspace import Workspace

EVERYTHING = "**"


@dataclass(frozen=True, slots=True)
class Editor:
    """Changes files of one project for one conversation."""

    workspace: Workspace
    journal: Journal
    require_permission: Permit

    async def make(self, change: Change) -> Change:
        """Make a change if it is allowed. Raises Declined, or InputError."""
        preview = await asyncio.to_thread(lambda: change.whole_diff)
        await self.require_permission(
            PermissionRequest("edit_file", change.path, preview, (change.path, EVERYTHING))
        )
        await asyncio.to_thread(self.journal.make, self.workspace.root, change)
        return change

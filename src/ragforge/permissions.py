"""Permissions: how a program allows or denies before something is changed.

async def approve(request: PermissionRequest) -> Verdict:
    print(request.preview)
    return Verdict("once") if request.action == "edit_file" else Verdict("deny")

await conversation.send_message("Fix the login.", approve=approve)
"""

from ragforge.agent.permissions import Approve, Verdict, allow_edits, deny_all
from ragforge.domain.modes import Mode
from ragforge.tools.permission import PermissionRequest

__all__ = ["Approve", "Mode", "PermissionRequest", "Verdict", "allow_edits", "deny_all"]

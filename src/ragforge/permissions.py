"""Permissions: how a program says yes or no before something is changed.

async def approve(request: PermissionRequest) -> Verdict:
    print(request.preview)
    return Verdict("once") if request.action == "edit_file" else Verdict("deny")

await conversation.send_message("Fix the login.", approve=approve)
"""

from ragforge.agent.permissions import Approve, Verdict, deny_all, edits_only
from ragforge.tools.permission import PermissionRequest

__all__ = ["Approve", "PermissionRequest", "Verdict", "deny_all", "edits_only"]

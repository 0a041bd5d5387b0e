"""Permissions: how a program says yes or no before something is changed.

async def approve(wish: Wish) -> Verdict:
    print(wish.preview)
    return Verdict("once") if wish.action == "edit_file" else Verdict("deny")

await conversation.send_message("Fix the login.", approve=approve)
"""

from ragforge.agent.permissions import Approve, Verdict, edits_only, nobody
from ragforge.tools.permission import Wish

__all__ = ["Approve", "Verdict", "Wish", "edits_only", "nobody"]

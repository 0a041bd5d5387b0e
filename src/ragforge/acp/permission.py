"""Permission: the editor asks its user before anything is changed."""

from __future__ import annotations

from pathlib import Path

from acp import text_block, tool_content
from acp.helpers import ToolCallContentVariant
from acp.interfaces import Client
from acp.schema import (
    AllowedOutcome,
    PermissionOption,
    ToolCallLocation,
    ToolCallUpdate,
    ToolKind,
)

from ragforge.acp.diffs import list_changes
from ragforge.acp.texts import clean
from ragforge.acp.updates import TurnUpdates, UpdateQueue
from ragforge.domain.text import new_id
from ragforge.permissions import PermissionRequest, Verdict
from ragforge.records import dataclass
from ragforge.show.visible import make_visible

ONCE = "once"
REJECT = "reject"
_ALWAYS = "always-"
_TOOLS = {"edit_file": ("edit_file", "write_file")}
"""The tools that ask for an action, where they are not named as it."""
_VERBS: dict[str, tuple[str, ToolKind]] = {
    "edit_file": ("Edit", "edit"),
    "run_command": ("Run", "execute"),
    "mcp": ("Call", "other"),
    "fetch_url": ("Read a page of", "fetch"),
}


@dataclass(frozen=True, slots=True)
class Permission:
    """Puts the requests of one turn to the user of an editor."""

    client: Client
    session_id: str
    root: Path
    updates: TurnUpdates
    queue: UpdateQueue

    async def approve(self, request: PermissionRequest) -> Verdict:
        """Return the user's answer; one who closes the question has denied it."""
        await self.queue.flush()  # the editor knows the call before it is asked about it
        answer = await self.client.request_permission(
            self.session_id, self._describe(request), list_options(request)
        )
        outcome = answer.outcome
        chosen = outcome.option_id if isinstance(outcome, AllowedOutcome) else REJECT
        return read_choice(chosen, request)

    def _describe(self, request: PermissionRequest) -> ToolCallUpdate:
        is_edit = request.action == "edit_file"
        verb, kind = _VERBS[request.action]
        tools = (request.subject,) if request.action == "mcp" else (request.action,)
        call = self.updates.find_running(_TOOLS.get(request.action, tools), request.subject)
        place = self.root / request.subject
        content: list[ToolCallContentVariant] = (
            [*list_changes(place, request.preview)]
            if is_edit
            else [tool_content(text_block(clean(request.preview)))]
        )
        return ToolCallUpdate(
            tool_call_id=new_id() if call is None else call.id,
            title=clean(make_visible(f"{verb} {request.subject}")),
            kind=kind,
            status="pending",
            content=content,
            locations=[ToolCallLocation(path=clean(str(place)))] if is_edit else [],
        )


def list_options(request: PermissionRequest) -> list[PermissionOption]:
    """Return the answers that a user can choose: once, always where that is offered, and no."""
    always = [
        PermissionOption(
            option_id=f"{_ALWAYS}{number}",
            name=clean(f"Always allow {request.action}({make_visible(pattern)})"),
            kind="allow_always",
        )
        for number, pattern in enumerate(request.always)
    ]
    return [
        PermissionOption(option_id=ONCE, name="Allow once", kind="allow_once"),
        *always,
        PermissionOption(option_id=REJECT, name="Reject", kind="reject_once"),
    ]


def read_choice(chosen: str, request: PermissionRequest) -> Verdict:
    """Return what the chosen answer means; one that was not offered is a no."""
    if chosen == ONCE:
        return Verdict("once")
    number = chosen.removeprefix(_ALWAYS)
    if chosen.startswith(_ALWAYS) and number.isdecimal() and int(number) < len(request.always):
        return Verdict("always", request.always[int(number)])
    return Verdict("deny")

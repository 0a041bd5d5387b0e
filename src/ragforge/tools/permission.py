"""Permission: what a tool may only do with the user's consent."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Literal, TypeAlias

from ragforge.records import dataclass

Action: TypeAlias = Literal["edit_file", "run_command", "mcp", "fetch_url", "web_search"]


@dataclass(frozen=True, slots=True)
class PermissionRequest:
    """An action that needs the user's permission."""

    action: Action
    subject: str  # a path of the project, a command line, `server__tool`, or a host
    preview: str  # a diff, a line and where it runs, a call, an address, or a query
    always: tuple[
        str, ...
    ]  # what a lasting permission could be for: the subject first, then patterns
    network: bool = False  # a command wants the network: a rule does not allow that


Permit: TypeAlias = Callable[[PermissionRequest], Awaitable[None]]
"""Returns if the request is allowed. Raises Declined, with a text for the model."""

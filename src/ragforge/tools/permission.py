"""Permission: what a tool may only do with the user's consent."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Literal, TypeAlias

from ragforge.records import dataclass

RuleAction: TypeAlias = Literal["edit_file", "run_command", "mcp", "fetch_url", "web_search"]
"""What rules are about."""
Action: TypeAlias = RuleAction | Literal["tool"]
"""tool: a call that needs no permission by itself, but a hook wants the user to be asked."""


@dataclass(frozen=True, slots=True)
class PermissionRequest:
    """An action that needs the user's permission."""

    action: Action
    subject: str  # a path of the project, a command line, `server__tool`, a host, or a tool
    preview: str  # a diff, a line and where it runs, a call, an address, or a query
    always: tuple[
        str, ...
    ]  # what a lasting permission could be for: the subject first, then patterns
    network: bool = False  # a command wants the network: a rule does not allow that
    confined: bool = False  # a command that auto mode may run, in a stricter sandbox


Grant: TypeAlias = Literal["user", "mode"]
"""user: the user or a rule of theirs allowed it. mode: auto mode did, if it runs confined."""
Permit: TypeAlias = Callable[[PermissionRequest], Awaitable[Grant]]
"""Returns who allowed the request. Raises Declined, with a text for the model."""

"""Ask: one question, answered in one call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragforge.app.conversation_agent import ConversationAgent
from ragforge.config.settings import Settings

if TYPE_CHECKING:
    from ragforge.agent.events import OnEvent
    from ragforge.agent.permissions import Approve
    from ragforge.domain.answers import Answer
    from ragforge.domain.modes import Mode


async def ask(
    question: str,
    cwd: str | Path = ".",
    config: Settings | Mapping[str, object] | None = None,
    *,
    on_event: OnEvent | None = None,
    approve: Approve | None = None,
    mode: Mode = "ask",
    tools: Sequence[Callable[..., Any]] = (),
    trust_project: bool = False,
) -> Answer:
    """Open RagForge in a directory, answer in its current session, and close.

    To ask more than once, open a `ConversationAgent` and keep it.
    In the mode `plan` nothing is changed and the answer is a plan; in `accept-edits` files of
    the project are changed without `approve`.
    Raises InputError if the question is empty, SettingsError, StoreUnavailable.
    """
    opening = ConversationAgent.open(config, cwd, tools=tools, trust_project=trust_project)
    async with await opening as agent:
        return await agent.app.ask(question, on_event=on_event, approve=approve, mode=mode)

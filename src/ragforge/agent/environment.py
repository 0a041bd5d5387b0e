"""The environment of a turn: its conversation, mode, and who follows and approves what it does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from ragforge.agent.events import OnEvent, ignore_event
from ragforge.agent.permissions import Approve, deny_all
from ragforge.domain.chat import Image, JsonSchema
from ragforge.domain.modes import Mode
from ragforge.ports.open_files import OpenFiles
from ragforge.records import dataclass

Steer: TypeAlias = Callable[[], str]
"""Returns what the user has added since the last call, mostly nothing."""


def add_nothing() -> str:
    """Return nothing: the user adds nothing to a running turn."""
    return ""


@dataclass(frozen=True, slots=True)
class TurnEnvironment:
    """The conversation of a turn, who follows and approves what it does, and its mode."""

    conversation_id: str
    on_event: OnEvent = ignore_event
    approve: Approve = deny_all
    mode: Mode = "ask"
    files: OpenFiles | None = None  # of the user's editor
    images: Sequence[Image] = ()  # that came with the question; they are not stored
    instructions: str = ""  # follow the system prompt
    schema: JsonSchema | None = None  # the answer must be JSON that fits it
    steer: Steer = add_nothing

"""Open project: a store, a project and the models, opened for a directory."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ragforge.app.wiring.models import choose_model, open_chat
from ragforge.app.wiring.trust import FolderTrust
from ragforge.brain.project import Brain
from ragforge.config.settings import Settings
from ragforge.domain.conversations import Identity
from ragforge.errors import InputError
from ragforge.llm.ask import Meter
from ragforge.mcp_client.pool import ServerPool
from ragforge.memory.record import Recorder
from ragforge.memory.search.turns import MemorySearch
from ragforge.ports.store import Store
from ragforge.tools.command.background import BackgroundCommands

if TYPE_CHECKING:
    from ragforge.llm.ask import ChatClient
    from ragforge.llm.calls import Tool


@dataclass(frozen=True)
class OpenProject:
    """What is open for a directory; the application's features are made of it."""

    cwd: Path
    project_path: Path
    store: Store
    recall: MemorySearch
    brain: Brain
    chat: ChatClient | None
    settings: Settings
    recorder: Recorder
    meter: Meter
    models: AsyncExitStack  # closes all models that were opened, when the application closes
    trust: FolderTrust
    identity: Identity
    background: BackgroundCommands
    servers: ServerPool  # of other programs, whose tools the agent uses
    tools: Sequence[Tool] = ()  # of the program's own
    detaches: bool = False  # work may be left to a separate process
    started: dict[str, str] = field(default_factory=dict)
    """The sessions that began in this process, with what hooks added to their context."""
    opened: dict[str, ChatClient] = field(default_factory=dict)  # further models, of sub-agents

    @property
    def state_dir(self) -> Path:
        """The folder with the user's own state: permissions, copies for undo, the log."""
        return Path(self.settings.agent.state_dir)

    def open_model(self, name: str) -> ChatClient:
        """Return another chat model, opened once. Raises InputError if there is no such model."""
        if name not in self.opened:
            chat = self.open_chat(choose_model(self.settings, name))
            if chat is None:
                raise InputError("An agent needs a model: none cannot answer.")
            self.opened[name] = chat
        return self.opened[name]

    def open_chat(self, settings: Settings) -> ChatClient | None:
        """Return the chat model of settings, which is closed with the application."""
        chat = open_chat(settings, self.meter)
        if chat is not None:
            self.models.push_async_callback(chat.model.close)
        return chat

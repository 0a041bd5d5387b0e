"""The toolbox: every tool of a project, as the settings want them."""

from __future__ import annotations

from pathlib import Path

from ragforge.adapters.web.reader import HttpReader
from ragforge.brain.project import Brain
from ragforge.config.settings import ToolSettings
from ragforge.memory.notes import Notebook
from ragforge.memory.search.turns import MemorySearch
from ragforge.ports.store import Store
from ragforge.tools.command.approved import ApprovedCommands
from ragforge.tools.command.background import BackgroundCommands
from ragforge.tools.command.run import CommandRunner
from ragforge.tools.fetch_url import KeepPage, PageFetcher
from ragforge.tools.toolbox import Toolbox
from ragforge.tools.workspace import Workspace


def open_toolbox(
    settings: ToolSettings,
    root: Path,
    background: BackgroundCommands,
    brain: Brain,
    recall: MemorySearch,
    notebook: Notebook,
    store: Store,
    keep_page: KeepPage,
) -> Toolbox:
    """Return the tools of the project that lies at a root."""
    fetch, names = settings.fetch, tuple(settings.environment.split())
    reader = HttpReader(fetch.max_bytes, fetch.seconds, fetch.private_hosts.split())
    return Toolbox(
        Workspace.at(root),
        CommandRunner(root, sandbox=settings.sandbox),
        ApprovedCommands(str(root.resolve()), settings.sandbox, names),
        background,
        brain,
        recall,
        notebook,
        store,
        brain.place,
        PageFetcher(reader, keep_page),
    )

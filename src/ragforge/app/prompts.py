"""Prompts: commands and skills that the user or a trusted project wrote."""

from __future__ import annotations

from pathlib import Path

from ragforge.app.trust import FolderTrust
from ragforge.config.settings import Settings
from ragforge.tools.prompt_files import PromptFile, PromptFolders, expand_arguments

__all__ = ["PromptFile", "PromptFolders", "expand_arguments", "open_prompts"]


def open_prompts(settings: Settings, trust: FolderTrust) -> PromptFolders:
    """Return where the commands and skills of a project are."""
    return PromptFolders(Path(settings.agent.prompts_dir), trust.root, lambda: trust.obeys)

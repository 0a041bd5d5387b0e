"""Trust: folders as their users see them who have trusted them."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from ragforge.app.trust import examine_folder
from ragforge.config import Settings, load_settings

load_trusted_settings = partial(load_settings, trust_project=True)
"""Load settings as a user does who trusts the folder, whatever stands in its file."""


def trust_folder(folder: Path, state_dir: Path | None = None) -> None:
    """Say yes to what a folder brings now, as `ragforge trust --yes` does."""
    agent = {} if state_dir is None else {"state_dir": str(state_dir)}
    settings = Settings.model_validate({"agent": agent})
    examine_folder(settings, folder).answer(settings, True)

"""Trust: folders as their users see them who have trusted them."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import pytest

from ragforge.app.wiring.trust import examine_folder
from ragforge.config import Settings, load_settings

load_trusted_settings = partial(load_settings, trust_project=True)
"""Load settings as a user does who trusts the folder, whatever is in its file."""


def trust_folder(folder: Path, state_dir: Path | None = None) -> None:
    """Say yes to what a folder brings now, as `ragforge trust --yes` does."""
    agent = {} if state_dir is None else {"state_dir": str(state_dir)}
    settings = Settings.model_validate({"agent": agent})
    examine_folder(settings, folder).answer(settings, True)


def move_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the test a separate home, with a store in it and only a few variables."""
    for name in [name for name in os.environ if name.startswith("RAGFORGE_")]:
        monkeypatch.delenv(name)
    home.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_DATA_HOME", str(home / ".local"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
    monkeypatch.setenv("RAGFORGE_JOBS__DETACH", "false")
    return home

"""A machine of its own for every test: no user file, no project file, no variables."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragforge import user_folders


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty home directory that settings see as the user's."""
    home = tmp_path / "home"
    (home / "config").mkdir(parents=True)
    monkeypatch.setattr(Path, "home", lambda: home)
    monkeypatch.setattr(user_folders, "find_config_folder", lambda: home / "config")
    monkeypatch.setattr(user_folders, "find_data_folder", lambda: home / "data")
    return home


@pytest.fixture
def project(home: Path) -> Path:
    """Return the root of an empty git work tree."""
    project = home / "project"
    (project / ".git").mkdir(parents=True)
    return project

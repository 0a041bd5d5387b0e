"""A separate machine for every test: no user file, no project file, no variables."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragforge import folders


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty home directory that settings see as the user's."""
    home = tmp_path / "home"
    (home / "config").mkdir(parents=True)
    monkeypatch.setattr(Path, "home", lambda: home)
    monkeypatch.setattr(folders, "APP_FOLDER", "")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "data"))
    return home


@pytest.fixture
def project(home: Path) -> Path:
    """Return the root of an empty git work tree."""
    project = home / "project"
    (project / ".git").mkdir(parents=True)
    return project

"""Fixtures: a small project on a real disk."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from ragforge.tools.workspace import Workspace

FILES = {
    "src/auth.py": (
        "import jwt\n\n\n"
        "def authenticate(user, password):\n"
        "    return user.password == password\n\n\n"
        "class AuthenticationError(Exception):\n"
        "    pass\n"
    ),
    "src/users.ts": "export function getUserName(id: string) {\n  return names[id];\n}\n",
    "src/deep/models.py": "class User:\n    user_name = None\n",
    "README.md": "# Shop\n\nHow to authenticate: ask.\n",
}


def write(root: Path, files: Mapping[str, str | bytes]) -> None:
    """Write files, with the directories they are in."""
    for path, content in files.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content if isinstance(content, bytes) else content.encode())


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project."""
    place = tmp_path / "project"
    write(place, FILES)
    return place


@pytest.fixture
def workspace(root: Path) -> Workspace:
    return Workspace.at(root)

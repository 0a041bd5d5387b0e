"""A small project for commands."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a few files, next to a secret that is not part of it."""
    root = tmp_path / "project"
    (root / "src").mkdir(parents=True)
    (root / "src" / "app.py").write_text("def main():\n    return 1\n")
    (root / "README.md").write_text("# Readme\n")
    (root / "a.txt").write_text("b\na\nb\n")
    (root / "b.txt").write_text("b\n")
    (tmp_path / "secret").write_text("secret\n")
    return root

"""Fixtures of whole turns: a user with an empty store, and a project to work in."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.fakes.engines import Engines


@pytest.fixture
async def environ(engine: str, engines: Engines, tmp_path: Path) -> dict[str, str]:
    """The variables that point RagForge at an empty store of the engine."""
    await engines.empty(engine)
    await engines.close()
    user_file = tmp_path / "user.yaml"
    user_file.touch()
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith("RAGFORGE_")},
        "RAGFORGE_STORE": engines.location(engine),
        "RAGFORGE_CONFIG": str(user_file),
        "RAGFORGE_JOBS__DETACH": "false",  # no process outlives a test
        "RAGFORGE_AGENT__CONTEXT__PLAN_BY": "rules",  # a scripted model has its lines in order
        "RAGFORGE_AGENT__MEMORY__WRITE_BY": "model",  # though its server is on this machine
        "RAGFORGE_AGENT__CONTEXT__SEARCH_SECONDS": "60",  # a server that just started plans long
        "RAGFORGE_AGENT__STATE_DIR": str(tmp_path / "state"),
        "RAGFORGE_AGENT__PROMPTS_DIR": str(tmp_path / "prompts"),
        "RAGFORGE_BRAIN__FIRST_READING_SECONDS": "100",  # a busy machine takes longer
        "NO_COLOR": "1",
    }


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project without any files."""
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    return folder

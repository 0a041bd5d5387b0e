"""Fixtures of the terminal: a user at home with a project, and RagForge on a pseudo-terminal."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.fakes.chat_server import ChatServer, Step
from tests.fakes.terminal import Terminal
from tests.fakes.wires import OpenAiWire, Says

Open = Callable[..., Terminal]
LOGIN = "def login(user):\n    return check(user)\n"
OWN = ("RAGFORGE_", "LC_", "LANG", "NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "PYTHONIO")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / "user.yaml").touch()
    return folder


@pytest.fixture
def project(home: Path) -> Path:
    """A small project."""
    folder = home / "shop"
    (folder / ".git").mkdir(parents=True)
    (folder / "src").mkdir()
    (folder / "src" / "login.py").write_text(LOGIN)
    (folder / "src" / "cart.py").write_text("def add(item):\n    return [item]\n")
    (folder / "README.md").write_text("# Shop\n")
    return folder


@pytest.fixture
def environ(home: Path) -> dict[str, str]:
    """The variables of a user with an empty store and a good terminal."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(OWN)}
    return {
        **kept,
        "HOME": str(home),
        "TERM": "xterm-256color",
        "LANG": "C.UTF-8",
        "OPENAI_API_KEY": "sk-none",
        "RAGFORGE_STORE": str(home / "store.db"),
        "RAGFORGE_CONFIG": str(home / "user.yaml"),
        "RAGFORGE_AGENT__STATE_DIR": str(home / "state"),
        "RAGFORGE_AGENT__PROMPTS_DIR": str(home / "prompts"),
        "RAGFORGE_AGENT__CONTEXT__PLAN_BY": "rules",  # a scripted model has its lines in order
        "RAGFORGE_BRAIN__FIRST_READING_SECONDS": "100",  # a busy machine takes longer
        "RAGFORGE_JOBS__DETACH": "false",  # no process outlives a test
        "RAGFORGE_JOBS__CLOSING_SECONDS": "0",
    }


@pytest.fixture
def ragforge(environ: dict[str, str], project: Path) -> Open:
    """Open RagForge in the project; a server gives it a model."""

    def start(
        *arguments: str,
        server: ChatServer | None = None,
        size: tuple[int, int] = (30, 100),
        forked: bool = True,
        **variables: str,
    ) -> Terminal:
        own = dict(environ)
        if server is not None:
            own["RAGFORGE_LLM__MODEL"] = f"openai:{server.wire.model}"
            own["RAGFORGE_LLM__BASE_URL"] = server.base_url
        rows, columns = size
        command = ["-m", "ragforge", *arguments]
        return Terminal(command, own | variables, project, rows, columns, forked)

    return start


def model(*script: Step) -> ChatServer:
    """Return a model with lines to say, and a title for every conversation."""
    return ChatServer(OpenAiWire(), script, aside=Says('{"title": "About the login"}'))

"""A program to run, on a separate machine, with a fake application."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import pytest

from ragforge import folders
from ragforge.cli.main import run
from ragforge.config import Settings
from ragforge.domain.conversations import Identity
from ragforge.domain.projects import ProjectPlace


@dataclass(frozen=True)
class Output:
    """What a command did."""

    code: int
    out: str
    err: str


async def _is_whole() -> bool:
    return True


@dataclass
class FakeApp:
    """An application that returns what a test gave it and remembers what it was asked."""

    identity = Identity("Ann <ann@example.org>", "laptop")
    project = ProjectPlace.at("/work/shop")
    answer: object = None
    mode: str = ""  # of the last turn
    hits: list[object] = field(default_factory=list)
    store: object = field(default_factory=lambda: SimpleNamespace(read_only=False))
    maintenance: object = None
    code: object = field(default_factory=lambda: SimpleNamespace(is_whole=_is_whole))
    servers: object = field(
        default_factory=lambda: SimpleNamespace(asking=lambda answer: nullcontext())
    )
    fails: BaseException | None = None
    calls: list[tuple[object, ...]] = field(default_factory=list)

    async def ask(
        self,
        question: str,
        session: str | None,
        *,
        on_event: object,
        approve: object,
        mode: str,
        instructions: str,
        schema: object,
    ) -> object:
        self.mode = mode
        return self._return(self.answer, "ask", question, *([session] if session else []))

    @property
    def memory(self) -> FakeMemory:
        return FakeMemory(self)

    def _return(self, value: object, *call: object) -> object:
        self.calls.append(call)
        if self.fails is not None:
            raise self.fails
        return value


@dataclass
class FakeMemory:
    """The memory of a fake application."""

    app: FakeApp

    async def find_changed_code(self, hits: list[object]) -> list[list[str]]:
        return [["src/lease.py: changed since"] for _ in hits]

    async def find_agents(self, hits: list[object]) -> dict[str, str]:
        return {}

    async def search(self, query: str, **wanted: object) -> object:
        return self.app._return(self.app.hits, "search", query, wanted)


Ragforge = Callable[..., Output]


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Go to an empty directory, without files or variables of the user."""
    for name in [name for name in os.environ if name.startswith("RAGFORGE_")]:
        monkeypatch.delenv(name)
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setattr(folders, "APP_FOLDER", "")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "c"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "d"))
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    monkeypatch.chdir(project)
    return project


@pytest.fixture
def ragforge(capsys: pytest.CaptureFixture[str]) -> Ragforge:
    """Run `ragforge` with arguments."""

    def call(*arguments: str) -> Output:
        code = run(arguments)
        captured = capsys.readouterr()
        return Output(code, captured.out, captured.err)

    return call


@pytest.fixture
def app(monkeypatch: pytest.MonkeyPatch) -> FakeApp:
    """Replace the real application with a fake one."""
    fake = FakeApp()

    @asynccontextmanager
    async def open_app(
        settings: Settings, cwd: Path, *, detach: bool = False
    ) -> AsyncIterator[FakeApp]:
        yield fake

    async def copy_store(
        source: str, target: str, settings: Settings, on_progress: Callable[[object], None]
    ) -> object:
        fake.calls.append(("copy", source, target))
        for done in (1, 2):
            on_progress(SimpleNamespace(kind="message", done=done, total=2))
        if fake.fails is not None:
            raise fake.fails
        return SimpleNamespace(counts={"message": 2}, resumed=False)

    async def open_store(settings: Settings) -> object:
        if fake.fails is not None:
            raise fake.fails
        return fake.store

    monkeypatch.setattr("ragforge.cli.commands.store.copy_store", copy_store)
    monkeypatch.setattr("ragforge.app.open_app", open_app)
    monkeypatch.setattr("ragforge.app.wiring.stores.open_store", open_store)
    return fake

"""Copying a store to another one that already knows the same folders."""

from __future__ import annotations

import os
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from ragforge import App, load_settings, open_app
from ragforge.app.wiring.stores import copy_store
from ragforge.domain.schema import CONVERSATION
from ragforge.ports.store import RecordKind
from tests.fakes.builders import conversation
from tests.fakes.code import list_scopes
from tests.fakes.copying import everything
from tests.fakes.engines import Engines
from tests.fakes.projects import SHOP, write
from tests.fakes.repositories import git, make_repository

CASES = [
    pytest.param("sqlite", "sqlite", "remote"),
    pytest.param("sqlite", "neo4j", "remote", marks=pytest.mark.neo4j),
    pytest.param("neo4j", "sqlite", "folder", marks=pytest.mark.neo4j),
    pytest.param("neo4j", "sqlite", "remote", marks=[pytest.mark.neo4j, pytest.mark.long]),
    pytest.param("sqlite", "neo4j", "folder", marks=[pytest.mark.neo4j, pytest.mark.long]),
]
QUESTION = "What does price_of in shop/prices.py say about zebras?"


class User:
    """A user who works in one folder with two stores."""

    def __init__(self, engines: Engines, folder: Path) -> None:
        self._engines = engines
        self._folder = folder
        (folder / "user.yaml").touch()

    async def empty(self, engine: str) -> str:
        """Return the URL of an empty store."""
        await self._engines.empty(engine)
        await self._engines.close()
        return self._engines.location(engine)

    def open(self, url: str, cwd: Path) -> AbstractAsyncContextManager[App]:
        return open_app(load_settings(cwd, environ=self._environ(url)).settings, cwd)

    async def work(self, url: str, cwd: Path, question: str) -> None:
        """Ingest and ask a question, and do what is left to the background."""
        async with self.open(url, cwd) as app:
            await app.code.ingest()
            await app.ask(question, (await app.sessions.create()).uuid)
            await app.worker.drain()

    async def copy(self, source: str, target: str) -> None:
        settings = load_settings(self._folder, environ=self._environ(source)).settings
        await copy_store(source, target, settings, lambda _: None)

    async def find(self, url: str, cwd: Path, query: str) -> set[str]:
        async with self.open(url, cwd) as app:
            found = await app.memory.search(query, levels=[0])
            return {hit.turn.user.content for hit in found if hit.type == "turn"}

    async def read(self, url: str) -> dict[RecordKind, list[dict[str, object]]]:
        store = await self._engines.open_at(url)
        try:
            return await everything(store)
        finally:
            await self._engines.close()

    def _environ(self, url: str) -> dict[str, str]:
        kept = {name: text for name, text in os.environ.items() if not name.startswith("RAGFORGE_")}
        return {
            **kept,
            "RAGFORGE_STORE": url,
            "RAGFORGE_CONFIG": str(self._folder / "user.yaml"),
            "RAGFORGE_JOBS__DETACH": "false",
            "RAGFORGE_AGENT__CONTEXT__PLAN_BY": "rules",
            "RAGFORGE_AGENT__CONTEXT__SEARCH_SECONDS": "60",
            "RAGFORGE_AGENT__STATE_DIR": str(self._folder / "state"),
            "RAGFORGE_BRAIN__FIRST_READING_SECONDS": "100",
        }


@pytest.fixture
def user(engines: Engines, tmp_path: Path) -> User:
    return User(engines, tmp_path)


def make_project(folder: Path, kind: str) -> Path:
    if kind == "folder":
        write(folder, SHOP)
    else:
        make_repository(folder, SHOP)
    if kind == "remote":
        git(folder, "remote", "add", "origin", "https://example.org/shop")
    return folder


@pytest.mark.parametrize(("source", "target", "kind"), CASES)
async def test_a_store_that_knows_the_folder_imports_the_memory_of_another(
    user: User, tmp_path: Path, source: str, target: str, kind: str
) -> None:
    shop = make_project(tmp_path / "shop", kind)
    start = await user.empty(source)
    await user.work(start, shop, QUESTION)
    async with user.open(start, shop) as app:
        [known] = await app.sessions.find()
        last = (await app.store.timeline.messages(known.uuid))[-1]
        await app.sessions.branch(known, last.uuid, "Another way")
        await app.store.records.put(CONVERSATION, conversation(uuid="forgotten", agent="codex"))
        await app.store.records.delete(CONVERSATION, "forgotten")
    original = await user.read(start)
    end = await user.empty(target)
    await user.work(end, shop, "Giraffes are tall.")

    await user.copy(start, end)

    copied = await user.read(end)
    assert len(copied["branch"]) == 1
    assert copied["forgotten"] == original["forgotten"] != []
    scopes = {scope["uuid"] for scope in copied["scope"]}
    assert {one["scope_id"] for one in copied["reference"]} <= scopes
    assert len(copied["reference"]) == len(original["reference"]) > 0
    assert len(copied["vector"]) == len(original["vector"]) + 1  # that of the giraffes
    assert len(copied["file"]) == len(original["file"])
    await user.copy(start, end)
    assert await user.read(end) == copied
    assert await user.find(end, shop, "zebras") == {QUESTION}
    assert await user.find(end, shop, "giraffes") == {"Giraffes are tall."}
    async with user.open(end, shop) as app:
        touched = [
            code for one in await app.sessions.find_about("price_of") for code in one.touched
        ]
        assert {code.since.describe(code.touch) for code in touched} == {"unchanged since"}
        report, _ = await app.code.ingest()
        assert (report.read, report.removed) == (0, 0)


async def test_a_conversation_that_continued_in_the_copy_is_not_reset_by_another_copy(
    user: User, tmp_path: Path
) -> None:
    shop = make_project(tmp_path / "shop", "folder")
    start = await user.empty("sqlite")
    await user.work(start, shop, QUESTION)
    end = str(tmp_path / "copy.db")
    await user.copy(start, end)
    async with user.open(end, shop) as app:
        [known] = await app.sessions.find()
        await app.ask("And giraffes?", known.uuid)

    await user.copy(start, end)

    async with user.open(end, shop) as app:
        await app.ask("And gnus?", known.uuid)
        turns = await app.sessions.latest_turns(known, 9)
        assert [turn.user.content for turn in turns] == [QUESTION, "And giraffes?", "And gnus?"]


async def test_code_that_changed_between_two_stores_is_as_on_the_disk_after_the_next_ingestion(
    user: User, tmp_path: Path
) -> None:
    shop = make_project(tmp_path / "shop", "folder")
    start = await user.empty("sqlite")
    await user.work(start, shop, QUESTION)
    prices = shop / "shop" / "prices.py"
    prices.write_text(prices.read_text().replace("price_of", "cost_of"))
    end = await user.empty("sqlite")
    await user.work(end, shop, QUESTION)

    await user.copy(start, end)

    async with user.open(end, shop) as app:
        await app.code.ingest()
        scopes = await list_scopes(app.store, app.code.brain.project_id, "shop/prices.py")
        assert {scope.name for scope in scopes} >= {"cost_of"}
        assert "price_of" not in {scope.name for scope in scopes}

"""Failed searches are not empty ones: the answer, the receipt and the exit code show them."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest

from ragforge import load_settings, open_app
from ragforge.cli.main import run
from ragforge.domain.chat import AssistantMessage, UserMessage
from ragforge.errors import StoreCorrupt
from ragforge.llm.ask import ChatClient
from tests.fakes.scripted_model import ScriptedModel

DAMAGED = "a page of the store is damaged"


@pytest.fixture
def engine() -> str:
    return "sqlite"


@pytest.fixture
def damaged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every search by words fail, as it does on a damaged page."""

    async def fail(*_: object, **__: object) -> None:
        raise StoreCorrupt(DAMAGED)

    name = "ragforge.adapters.stores.sqlite.search_index.SqliteIndex.match_turns"
    monkeypatch.setattr(name, fail)


@pytest.fixture
def here(environ: dict[str, str], project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("RAGFORGE_JOBS__CLOSING_SECONDS", "0")
    monkeypatch.chdir(project)


@pytest.mark.usefixtures("damaged", "here")
@pytest.mark.parametrize("command", ["ask", "context"])
async def test_a_command_says_what_it_could_not_search_and_ends_with_3(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = await asyncio.to_thread(run, [command, "Why does the lease end?"])
    shown = capsys.readouterr()
    assert code == 3
    assert f"Could not search: memory by words and meaning (StoreCorrupt: {DAMAGED})" in shown.err
    assert "is relevant yet" not in shown.out


@pytest.mark.usefixtures("damaged", "here")
async def test_a_search_that_cannot_look_fails(capsys: pytest.CaptureFixture[str]) -> None:
    code = await asyncio.to_thread(run, ["search", "--in", "memory", "lease"])
    assert code == 1
    assert DAMAGED in capsys.readouterr().err


@pytest.mark.usefixtures("damaged")
async def test_the_library_and_the_model_see_what_failed(
    environ: dict[str, str], project: Path
) -> None:
    model = ScriptedModel(lambda request: AssistantMessage("I cannot know."))
    async with open_app(load_settings(project, environ=environ).settings, project) as app:
        alone = await app.ask("Why does the lease end?")
        answered = await replace(app, chat=ChatClient(model)).ask("Why does the lease end?")
        stored = await app.sessions.last_receipt()

    assert alone.content.startswith("Could not search: memory by words and meaning")
    assert not alone.is_complete
    assert answered.is_complete
    assert stored is not None
    assert DAMAGED in json.dumps(stored.to_json())
    [asked] = [one for one in model.asked if one.tools]
    question = asked.messages[-1]
    assert isinstance(question, UserMessage)
    assert DAMAGED in question.text


async def test_every_search_that_is_late_is_named(
    environ: dict[str, str], project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def hang(*_: object, **__: object) -> None:
        await asyncio.Event().wait()

    names = ["search_memory", "search_notes", "search_code", "search_documents"]
    for name in (*names, "read_instructions"):
        monkeypatch.setattr(f"ragforge.context.searches.Searches.{name}", hang)
    brief = environ | {"RAGFORGE_AGENT__CONTEXT__SEARCH_SECONDS": "0.1"}

    settings = load_settings(project, environ=brief).settings
    async with open_app(settings, project, trust_project=True) as app:
        answer = await app.ask("Why does the lease end?")

    late = "memory by words and meaning, notes, code by meaning, documents, instructions"
    for name in late.split(", "):
        assert f"{name} (took longer than 0.1 s)" in answer.content

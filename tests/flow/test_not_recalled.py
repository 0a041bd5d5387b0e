"""RagForge's own failures and small talk are kept, and never recalled."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from ragforge import App, load_settings, open_app
from ragforge.domain.chat import AssistantMessage
from ragforge.errors import StoreError
from ragforge.llm.ask import ChatClient
from tests.fakes.scripted_model import ScriptedModel

FAILED = "Where is the discount of the zebra cart computed?"


@pytest.fixture
def engine() -> str:
    return "sqlite"


@pytest.fixture
async def app(environ: dict[str, str], project: Path) -> AsyncIterator[App]:
    async with open_app(load_settings(project, environ=environ).settings, project) as opened:
        yield opened


@pytest.fixture
async def failed(app: App, monkeypatch: pytest.MonkeyPatch) -> str:
    """A question whose searches failed; returns its session."""
    name = "ragforge.adapters.stores.sqlite.search_index.SqliteIndex.match_turns"

    async def fail(*_: object, **__: object) -> None:
        raise StoreError("took longer than 5 s")

    session = (await app.sessions.create()).uuid
    with monkeypatch.context() as patch:
        patch.setattr(name, fail)
        answer = await app.ask(FAILED, session)
    assert answer.content.startswith("Could not search: ")
    await app.worker.drain()
    return session


@pytest.mark.parametrize("semantic", [True, False])
@pytest.mark.usefixtures("failed")
async def test_a_question_that_failed_is_not_found_again(app: App, semantic: bool) -> None:
    assert await app.memory.search("discount of the zebra cart", semantic=semantic) == []
    assert await app.sessions.find_similar("discount of the zebra cart") == []
    again = await app.ask(FAILED, (await app.sessions.create()).uuid)
    assert again.passages == ()


async def test_a_question_that_failed_is_kept_as_such(app: App, failed: str) -> None:
    [turn] = await app.sessions.latest_turns(await app.sessions.resolve(failed), 9)
    assert turn.user.content == FAILED
    assert "Could not search: " in turn.replies[-1].content


async def test_a_question_that_failed_is_found_once_it_is_answered(app: App, failed: str) -> None:
    model = ScriptedModel(lambda request: AssistantMessage("In cart.py."))
    await replace(app, chat=ChatClient(model)).retry(failed)
    [hit] = await app.memory.search("discount of the zebra cart", levels=[0])
    assert hit.type == "turn"
    assert (hit.turn.user.content, hit.turn.answer) == (FAILED, "In cart.py.")
    assert "Could not search" not in json.dumps([one.content for one in hit.turn.replies])


async def test_what_was_said_to_hold_is_recalled_although_its_search_failed(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "ragforge.adapters.stores.sqlite.search_index.SqliteIndex.match_turns"

    async def fail(*_: object, **__: object) -> None:
        raise StoreError("took longer than 5 s")

    with monkeypatch.context() as patch:
        patch.setattr(name, fail)
        await app.ask("From now on, always write zebra in lower case.")
    [hit] = await app.memory.search("zebra", levels=[0])
    assert hit.type == "turn"
    assert hit.turn.replies == ()


@pytest.mark.parametrize("greeting", ["hello there", "Merci beaucoup !", "ok, thanks"])
async def test_small_talk_is_not_recalled(app: App, greeting: str) -> None:
    session = (await app.sessions.create()).uuid
    await app.ask(greeting, session)
    await app.ask("The zebra cart has no discount.", session)
    await app.worker.drain()

    found = await app.memory.search(greeting, levels=[0])
    assert greeting not in [hit.turn.user.content for hit in found if hit.type == "turn"]
    other = (await app.sessions.create()).uuid
    answer = await app.ask("discount of the zebra cart", other)
    assert [passage.text for passage in answer.passages] == ["The zebra cart has no discount."]
    context = await app.build_context("discount of the zebra cart")
    assert greeting not in context.text
    assert "is remembered from now on" not in context.text


async def test_summaries_leave_out_failures_and_small_talk(app: App, failed: str) -> None:
    await app.ask("hello there", failed)
    await app.ask("The zebra cart has no discount.", failed)

    summary = await app.memory.summarise(failed)

    assert summary == "The zebra cart has no discount."

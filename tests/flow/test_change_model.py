"""`/model`: another model answers, and none is closed while it is still in use."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragforge import load_settings, open_app
from ragforge.config.settings import LlmSettings
from ragforge.domain.chat import ChatRequest, Reply, UserMessage
from ragforge.show.screen import Screen
from ragforge.tui.commands.settings import model as change_model
from ragforge.tui.terminal import Terminal
from tests.fakes.scripted_model import ScriptedModel


class ClosableModel(ScriptedModel):
    """Refuses requests once it is closed, like a real one."""

    def __init__(self, name: str) -> None:
        super().__init__(lambda request: "Here.")
        self.name = name
        self.is_closed = False

    async def reply(self, request: ChatRequest) -> Reply:
        assert not self.is_closed, "Cannot send a request, as the client has been closed"
        return await super().reply(request)

    async def close(self) -> None:
        self.is_closed = True


async def test_a_model_that_jobs_may_use_is_closed_at_the_end_and_so_is_the_newest(
    environ: dict[str, str], project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: dict[str, ClosableModel] = {}

    def open_model(llm: LlmSettings) -> ClosableModel:
        return opened.setdefault(llm.model, ClosableModel(llm.model))

    monkeypatch.setattr("ragforge.app.wiring.models.open_chat_model", open_model)
    environ = environ | {"RAGFORGE_LLM__MODEL": "openai:first"}
    request = ChatRequest((UserMessage("Summarise."),))
    async with open_app(load_settings(project, environ=environ).settings, project) as app:
        terminal = Terminal(app, Screen())
        for_jobs = app.chat
        assert for_jobs is not None
        await for_jobs.ask(request)
        await change_model(terminal, "openai:second")
        assert terminal.app.chat is not None
        await terminal.app.chat.ask(request)
        await change_model(terminal, "openai:third")
        await terminal.app.chat.ask(request)

        assert (await for_jobs.ask(request)).message.text == "Here."

    assert [name for name, model in opened.items() if model.is_closed] == [
        "openai:first",
        "openai:second",
        "openai:third",
    ]

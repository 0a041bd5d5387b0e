"""Pictures of a question reach models that see, over every provider's wire."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from ragforge import load_settings, open_app
from ragforge.events import Event, Noticed
from tests.fakes.chat_server import ChatServer, Fails, Step
from tests.fakes.wires import WIRES, OpenAiWire, Says, Wire

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(60))
KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY")


async def ask(
    wire: Wire, script: list[Step], environ: dict[str, str], project: Path
) -> tuple[list[str], list[Event]]:
    """Ask about a picture; return what the model was sent, and the events."""
    (project / "shot.png").write_bytes(PNG)
    events: list[Event] = []
    async with ChatServer(wire, script) as server:
        own = {
            **environ,
            "RAGFORGE_LLM__MODEL": f"{wire.provider}:{wire.model}",
            "RAGFORGE_LLM__BASE_URL": server.base_url,
            "RAGFORGE_AGENT__CONTEXT__PLAN_BY": "rules",
        }
        async with open_app(load_settings(project, environ=own).settings, project) as app:
            answer = await app.ask("What is wrong in @shot.png?", on_event=events.append)
        assert answer.content == "The button is red."
        return [asked.text for asked in server.asked_in_turns], events


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in KEYS:
        monkeypatch.setenv(name, "sk-none")


@pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.provider)
async def test_a_picture_that_a_question_names_is_sent_with_it(
    wire: Wire, environ: dict[str, str], project: Path
) -> None:
    [asked], _ = await ask(wire, [Says("The button is red.")], environ, project)

    # Google's library writes base64 for URLs.
    coded = base64.b64encode(PNG).decode()
    assert coded in asked or base64.urlsafe_b64encode(PNG).decode() in asked
    assert "image/png" in asked
    assert "What is wrong in @shot.png?" in asked


async def test_a_model_that_sees_nothing_answers_without_the_picture(
    environ: dict[str, str], project: Path
) -> None:
    refuses = Fails(400, "This model does not support image input.")
    sent, events = await ask(OpenAiWire(), [refuses, Says("The button is red.")], environ, project)

    assert ["image_url" in asked for asked in sent] == [True, False]
    [notice] = [event for event in events if isinstance(event, Noticed)]
    assert "sees no images" in notice.text

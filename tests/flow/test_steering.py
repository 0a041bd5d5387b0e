"""Steering: what the user adds while a turn runs, over real HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from ragforge import App, load_settings, open_app
from ragforge.agent.events import Event, QuestionStored
from ragforge.domain.turns import Turn, group_into_turns
from tests.fakes.chat_server import Breaks, ChatServer, Step
from tests.fakes.wires import Call, OpenAiWire, Says

LOOK = Says("I look.", calls=(Call("list_files", {"path": "."}),))
ADDED = "Only Python, and token sk-proj-1234567890abcdefghijABCDEFGHIJ1234567890abcd is mine."
TITLE = Says('{"title": "Leases"}')


def add_once(text: str) -> Callable[[], str]:
    texts = [text]
    return lambda: texts.pop() if texts else ""


async def read_turns(app: App, session: str) -> list[Turn]:
    return group_into_turns(await app.store.timeline.messages(session))


@asynccontextmanager
async def opened(
    environ: dict[str, str], project: Path, *script: Step
) -> AsyncIterator[tuple[App, ChatServer]]:
    async with ChatServer(OpenAiWire(), script, aside=TITLE) as server:
        variables = {
            **environ,
            "RAGFORGE_LLM__MODEL": f"openai:{server.wire.model}",
            "RAGFORGE_LLM__BASE_URL": server.base_url,
        }
        settings = load_settings(project, environ=variables).settings
        async with open_app(settings, project) as app:
            yield app, server


async def test_what_is_added_is_a_turn_that_the_model_answers(
    environ: dict[str, str], project: Path
) -> None:
    events: list[Event] = []
    async with opened(environ, project, LOOK, Says("Only leases.py.")) as (app, server):
        answer = await app.ask("Look around.", on_event=events.append, steer=add_once(ADDED))
        first, second = await read_turns(app, answer.conversation_id)
        told = server.asked_in_turns[-1].body["messages"][-1]

    assert told == {"role": "user", "content": ADDED}
    assert (first.user.content, first.tool_calls[0].tool_name) == ("Look around.", "list_files")
    assert first.replies[-1].role == "system"
    assert second.user.content.startswith("Only Python, and token ")
    assert "sk-proj-1234567890" not in second.user.content
    assert second.answer == answer.content == "Only leases.py."
    assert (answer.turn_index, second.user.turn_index) == (1, 1)
    stored = [one.turn_index for one in events if isinstance(one, QuestionStored)]
    assert stored == [0, 1]


async def test_a_turn_that_breaks_off_after_an_addition_is_resumed_with_it(
    environ: dict[str, str], project: Path
) -> None:
    script = (LOOK, Breaks(Says("Half an answer"), after=2), Says("The whole answer."))
    async with opened(environ, project, *script) as (app, server):
        broken = await app.ask("Look around.", steer=add_once("Only Python."))
        answer = await app.retry(broken.conversation_id)
        turns = await read_turns(app, broken.conversation_id)
        sent = server.asked_in_turns[-1].text

    assert broken.stopped == "failed"
    assert [turn.user.content for turn in turns] == ["Look around.", "Only Python."]
    assert turns[-1].answer == answer.content == "The whole answer."
    assert sent.index("Look around.") < sent.index("Only Python.")

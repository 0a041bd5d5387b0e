"""Fit: old results are dropped before a model's window is full."""

from __future__ import annotations

from ragforge.domain.chat import (
    AssistantMessage,
    ChatMessage,
    ChatRequest,
    ToolMessage,
    UserMessage,
)
from ragforge.llm.ask import ChatClient
from ragforge.llm.calls import Tool, ToolSpec
from ragforge.llm.fit import RESULTS, fit_messages
from ragforge.llm.loop import ToolLoop
from tests.fakes.scripted_model import ScriptedModel, calls


def talk(*sizes: int) -> list[ChatMessage]:
    said: list[ChatMessage] = [UserMessage("question " * 200)]
    for number, size in enumerate(sizes):
        said += [AssistantMessage(f"step {number}"), ToolMessage(str(number), "read", "x" * size)]
    return said


def results(messages: tuple[ChatMessage, ...]) -> list[int]:
    return [len(m.text) for m in messages if isinstance(m, ToolMessage)]


def test_what_fits_stays_as_it_is() -> None:
    messages = talk(1_000, 1_000)
    assert fit_messages(messages, 2_000) == tuple(messages)


def test_the_oldest_results_are_shortened_until_half_is_free() -> None:
    messages = talk(1_000, 400, 1_000, 1_000, 1_000)
    kept = fit_messages(messages, 4_000)
    sizes = results(kept)
    assert [size < 200 for size in sizes] == [True, False, True, True, False]
    assert kept[0] == messages[0], "what the user said is not a result"
    assert "1,000 characters" in kept[2].text


def test_the_last_results_stay_whole_however_long() -> None:
    assert results(fit_messages(talk(900, 9_000), 1_000))[1] == 9_000


def test_results_sent_as_text_are_shortened_too() -> None:
    messages = [
        AssistantMessage("a"),
        UserMessage(RESULTS + "x" * 5_000),
        AssistantMessage("b"),
        UserMessage(RESULTS),
    ]
    kept = fit_messages(messages, 1_000)
    assert kept[1].text.startswith(RESULTS)
    assert len(kept[1].text) < 200


async def test_a_loop_keeps_its_conversation_within_the_limit() -> None:
    async def read(arguments: object) -> str:
        return "x" * 1_000

    steps = [calls(("read", {"page": number})) for number in range(10)]
    model = ScriptedModel([*steps, AssistantMessage("done")])
    tool = Tool(ToolSpec("read", "Reads.", {"type": "object"}), read)
    loop = ToolLoop(ChatClient(model).ask, [tool], 20, result_chars=4_000)

    _, text = await loop.run(ChatRequest((UserMessage("Read ten times."),)))

    assert text == "done"
    assert len(loop.calls) == 10
    assert all(sum(results(asked.messages)) <= 5_000 for asked in model.asked)

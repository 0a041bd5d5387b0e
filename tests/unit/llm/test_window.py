"""A request that is too long for a model is shortened; a model that repeats itself is stopped."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ragforge.domain.chat import AssistantMessage, ChatRequest, ToolMessage, UserMessage
from ragforge.errors import AnswerInterrupted, BadAnswer, ContextOverflow
from ragforge.llm.ask import ChatClient
from ragforge.llm.calls import Tool, ToolSpec
from ragforge.llm.fit import shorten_request
from ragforge.llm.loop import ToolLoop
from tests.fakes.scripted_model import ScriptedModel, calls

FOUND = "found " * 100
QUESTION = UserMessage(FOUND + "What is a lease?", context_chars=len(FOUND))


def build_request(turns: int) -> ChatRequest:
    past = [
        message
        for number in range(turns)
        for message in (UserMessage(f"question {number}"), AssistantMessage(f"answer {number}"))
    ]
    return ChatRequest((*past, QUESTION), stable=len(past))


def texts(request: ChatRequest) -> str:
    return "\n".join(message.text for message in request.messages)


def test_context_gives_way_first_then_older_turns_then_results() -> None:
    request = build_request(8)
    request = replace(request, messages=(*request.messages, ToolMessage("1", "read", "x" * 4_000)))
    sizes = []
    seen = []
    shorter: ChatRequest | None = request
    while shorter is not None:
        seen.append(shorter)
        sizes.append(sum(len(message.text) for message in shorter.messages))
        shorter = shorten_request(shorter)

    assert sizes == sorted(sizes, reverse=True)
    assert FOUND not in texts(seen[1])
    assert "question 0" in texts(seen[1])
    assert "question 0" not in texts(seen[2])
    assert "x" * 4_000 in texts(seen[4])
    last = texts(seen[-1])
    assert "What is a lease?" in last
    assert "answer 7" in last
    assert len(last) < 1_500


async def test_a_request_over_the_window_is_sent_again_shorter_and_stays_short() -> None:
    def answer(request: ChatRequest) -> AssistantMessage | Exception:
        if sum(len(message.text) for message in request.messages) > 300:
            return ContextOverflow("too long")
        done = any(isinstance(message, ToolMessage) for message in request.messages)
        return AssistantMessage("A promise.") if done else calls(("read", {}))

    model = ScriptedModel(answer)
    _, text = await ToolLoop(ChatClient(model).ask, [tool("a line")], 5).run(build_request(8))

    assert text == "A promise."
    assert "What is a lease?" in texts(model.asked[-1])
    assert len(model.asked) < 7, "the next round does not begin with the long one again"


async def test_a_request_that_cannot_be_shortened_is_refused() -> None:
    model = ScriptedModel(lambda request: ContextOverflow("too long"))
    with pytest.raises(ContextOverflow):
        await ToolLoop(ChatClient(model).ask, [], 5).run(build_request(3))
    assert "What is a lease?" in texts(model.asked[-1])


async def test_a_call_repeated_with_the_same_result_is_pointed_out_and_then_stopped() -> None:
    model = ScriptedModel(lambda request: calls(("read", {"path": "a"})))
    loop = ToolLoop(ChatClient(model).ask, [tool("the same")], 50)
    _, text = await loop.run(ChatRequest((UserMessage("Read."),)))

    assert text == ""
    assert len(loop.calls) == 4
    assert "3 times with this same result" in texts_of_results(model.asked[3])[-1]
    assert "3 times" not in "".join(texts_of_results(model.asked[2]))
    assert model.asked[-1].tool_choice == "none"


async def test_in_a_small_window_a_repeated_call_is_stopped_earlier() -> None:
    model = ScriptedModel([*[calls(("read", {}))] * 2, AssistantMessage("So be it.")])
    loop = ToolLoop(ChatClient(model).ask, [tool("the same")], 50, request_chars=10_000)
    request, text = await loop.run(ChatRequest((UserMessage("Look."),)))

    assert text == "So be it."
    assert ["times" in one for one in texts_of_results(request)] == [False, True]
    assert model.asked[-1].tool_choice == "none"


async def test_a_call_with_another_duration_is_the_same() -> None:
    times = iter(range(9))

    async def run(arguments: object) -> dict[str, int]:
        return {"exit_code": 1, "duration_ms": next(times)}

    model = ScriptedModel(lambda request: calls(("run", {})))
    timed = Tool(ToolSpec("run", "", {"type": "object"}), run)
    loop = ToolLoop(ChatClient(model).ask, [timed], 50)
    await loop.run(ChatRequest((UserMessage("Run."),)))
    assert len(loop.calls) == 4


async def test_a_request_is_shortened_to_its_share_before_it_is_sent() -> None:
    model = ScriptedModel([calls(("read", {})), AssistantMessage("So be it.")])
    big = tool("x" * 9_000)
    loop = ToolLoop(ChatClient(model).ask, [big], 50, result_chars=1_000, request_chars=2_000)
    request = replace(build_request(4), system="s" * 600)
    request, _ = await loop.run(request)

    assert [one.chars <= 2_000 for one in model.asked] == [True, True]
    assert "What is a lease?" in texts(request)
    assert len(texts_of_results(request)[0]) <= 1_000


async def test_a_call_after_a_change_is_not_a_repetition() -> None:
    steps = [
        calls((name, arguments))
        for number in range(6)
        for name, arguments in (("write", {"content": str(number)}), ("read", {}))
    ]
    model = ScriptedModel([*steps, AssistantMessage("Done.")])
    tools = [tool("1 failed"), tool("ok", name="write", changes=True)]
    loop = ToolLoop(ChatClient(model).ask, tools, 50)
    _, text = await loop.run(ChatRequest((UserMessage("Mend it."),)))

    assert text == "Done."
    assert len(loop.calls) == 12


async def test_no_failure_is_asked_again_once_words_were_shown() -> None:
    class Stumbling(ScriptedModel):
        async def stream(self, request):  # type: ignore[no-untyped-def]
            async for event in super().stream(request):
                yield event
                raise BadAnswer("odd chunk")

    shown: list[object] = []
    with pytest.raises(AnswerInterrupted, match="odd chunk"):
        await ChatClient(Stumbling(["A promise"])).stream(ChatRequest(()), shown.append)
    assert len(shown) == 1


def tool(result: str, name: str = "read", changes: bool = False) -> Tool:
    async def run(arguments: object) -> str:
        return result

    return Tool(ToolSpec(name, "", {"type": "object"}), run, changes)


def texts_of_results(request: ChatRequest) -> list[str]:
    return [message.text for message in request.messages if isinstance(message, ToolMessage)]

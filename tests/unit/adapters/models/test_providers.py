"""Every provider's wire format, over real HTTP, against a local server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest

from ragforge.adapters.models import providers
from ragforge.adapters.models.provided import Limits, ProvidedModel
from ragforge.adapters.models.providers import open_model
from ragforge.domain.chat import (
    ChatMessage,
    ChatRequest,
    ReasoningDelta,
    Reply,
    TextDelta,
    ToolMessage,
    ToolRequest,
    ToolSpec,
    UserMessage,
)
from ragforge.errors import (
    AnswerInterrupted,
    BadAnswer,
    ContextOverflow,
    KeyRejected,
    ModelBusy,
    ModelError,
    ModelUnavailable,
    RequestRefused,
    ToolsUnsupported,
)
from tests.fakes.chat_server import (
    Breaks,
    ChatServer,
    Dawdles,
    EndsEarly,
    Fails,
    Garbles,
    Step,
    Trickles,
)
from tests.fakes.wires import WIRES, AnthropicWire, Call, Says, Wire

KEY = "sk-live-0123456789abcdef"
QUESTION = ChatRequest((UserMessage("What is a lease?"),), system="Be brief.")
TOOLS = (
    ToolSpec(
        "look_up",
        "Look a word up.",
        {
            "type": "object",
            "properties": {"word": {"type": "string"}},
            "required": ["word"],
            "additionalProperties": False,
        },
    ),
)
SHAPE = {
    "type": "object",
    "properties": {"answer": {"type": "string"}},
    "required": ["answer"],
    "additionalProperties": False,
}


@pytest.fixture(params=WIRES, ids=lambda wire: wire.provider)
def wire(request: pytest.FixtureRequest) -> Wire:
    """The wire format that the test runs on."""
    found: Wire = request.param
    return found


Opened = tuple[ProvidedModel, ChatServer]


@pytest.fixture
async def serve(wire: Wire) -> AsyncIterator[Callable[..., object]]:
    """Start a provider that follows a script, and open its model."""
    opened: list[Opened] = []

    async def start(*script: Step, seconds: float = 20.0, request_seconds: float = 60.0) -> Opened:
        server = await ChatServer(wire, script).__aenter__()
        limits = Limits(seconds, request_seconds)
        model = open_model(wire.provider, wire.model, KEY, server.base_url, limits)
        opened.append((model, server))
        return model, server

    yield start
    for model, server in opened:
        await model.close()
        await server.__aexit__(None, None, None)


async def test_an_answer_comes_with_its_usage(serve: Callable[..., object]) -> None:
    model, server = await serve(Says("A promise with an end."))

    reply = await model.reply(QUESTION)

    assert reply.message.text == "A promise with an end."
    assert reply.finish == "stop"
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (11, 7)
    assert reply.usage.requests == 1
    assert reply.usage.usd is not None
    assert 0 < reply.usage.usd < 0.01
    [asked] = server.asked
    assert "What is a lease?" in asked.text
    assert "Be brief." in asked.text


async def test_reasoning_is_kept_apart_from_the_answer(serve: Callable[..., object]) -> None:
    model, _ = await serve(Says("Four.", reasoning="Two and two."))

    reply = await model.reply(QUESTION)

    assert (reply.message.text, reply.message.reasoning) == ("Four.", "Two and two.")


async def test_tool_calls_come_together_and_their_results_go_back(
    serve: Callable[..., object],
) -> None:
    calls = (Call("look_up", {"word": "lease"}, "call-1"), Call("look_up", {"word": "é"}, "call-2"))
    model, server = await serve(Says("Let me see.", calls=calls), Says("Done."))

    first = await model.reply(ChatRequest(QUESTION.messages, tools=TOOLS))
    assert [(r.name, r.arguments) for r in first.message.tool_requests] == [
        ("look_up", {"word": "lease"}),
        ("look_up", {"word": "é"}),
    ]
    assert first.finish in ("tool_calls", "stop")

    results = [
        ToolMessage(r.id, r.name, f"result {n}") for n, r in enumerate(first.message.tool_requests)
    ]
    messages: list[ChatMessage] = [*QUESTION.messages, first.message, *results]
    second = await model.reply(ChatRequest(tuple(messages), tools=TOOLS))

    assert second.message.text == "Done."
    assert "look_up" in server.asked[0].text
    for part in ("result 0", "result 1", "Let me see."):
        assert part in server.asked[1].text


@pytest.mark.parametrize("wire", [AnthropicWire()], indirect=True, ids=["anthropic"])
async def test_reasoning_goes_back_with_the_results_as_it_came(
    serve: Callable[..., object],
) -> None:
    """Only this provider signs it."""
    model, server = await serve(
        Says("", reasoning="Hm.", calls=(Call("look_up", {"word": "a"}),)), Says("Done.")
    )

    first = await model.reply(ChatRequest(QUESTION.messages, tools=TOOLS))
    [wish] = first.message.tool_requests
    result = ToolMessage(wish.id, wish.name, "found", success=False)
    await model.reply(ChatRequest((*QUESTION.messages, first.message, result), tools=TOOLS))

    said = server.asked[1].body["messages"][1]["content"]
    assert said[0] == {"type": "thinking", "thinking": "Hm.", "signature": "signed"}


async def test_an_answer_of_a_given_shape_is_json(serve: Callable[..., object]) -> None:
    model, server = await serve(Says('{"answer": "yes"}'))

    reply = await model.reply(ChatRequest(QUESTION.messages, schema=SHAPE))

    assert reply.message.text == '{"answer": "yes"}'
    assert '"answer"' in server.asked[0].text


async def test_a_shape_together_with_tools_is_requested_through_a_last_tool(
    serve: Callable[..., object],
) -> None:
    final = Call("final_answer", {"answer": "yes"})
    model, server = await serve(Says(calls=(final,)))

    reply = await model.reply(ChatRequest(QUESTION.messages, tools=TOOLS, schema=SHAPE))

    assert reply.message.text == '{"answer": "yes"}'
    assert reply.message.tool_requests == ()
    assert "final_answer" in server.asked[0].text


async def test_a_stream_gives_pieces_and_then_the_whole(serve: Callable[..., object]) -> None:
    says = Says("A promise with an end.", "Let me think.", (Call("look_up", {"word": "x"}),))
    model, _ = await serve(says)

    events = [event async for event in model.stream(ChatRequest(QUESTION.messages, tools=TOOLS))]

    *pieces, last = events
    assert "".join(p.text for p in pieces if isinstance(p, TextDelta)) == says.text
    assert "".join(p.text for p in pieces if isinstance(p, ReasoningDelta)) == says.reasoning
    assert len(pieces) > 4
    assert isinstance(last, Reply)
    assert last.message.text == says.text
    assert last.message.reasoning == says.reasoning
    [wish] = last.message.tool_requests
    assert (wish.name, wish.arguments) == ("look_up", {"word": "x"})
    assert (last.usage.input_tokens, last.usage.output_tokens) == (11, 7)


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, RequestRefused),
        (401, KeyRejected),
        (403, KeyRejected),
        (404, RequestRefused),
        (429, ModelBusy),
        (500, ModelUnavailable),
        (503, ModelUnavailable),
    ],
)
@pytest.mark.parametrize("streaming", [False, True], ids=["whole", "stream"])
async def test_a_refusal_says_what_is_wrong_and_never_the_key(
    serve: Callable[..., object], status: int, error: type[ModelError], streaming: bool
) -> None:
    model, server = await serve(Fails(status, f"the key {KEY} or something is wrong"))

    with pytest.raises(error) as raised:
        await _ask(model, streaming)

    said = f"{raised.value} {raised.value!r} {raised.value.__cause__}"
    assert "something is wrong" in said
    assert KEY not in said
    assert len(server.asked) == 1, "patience is the caller's"


async def test_a_busy_provider_may_say_how_long_to_wait(serve: Callable[..., object]) -> None:
    model, _ = await serve(Fails(429, headers={"Retry-After": "7"}))

    with pytest.raises(ModelBusy) as raised:
        await model.reply(QUESTION)

    assert raised.value.retry_after == 7


@pytest.mark.parametrize("streaming", [False, True], ids=["whole", "stream"])
async def test_a_broken_connection_is_a_temporary_failure(
    serve: Callable[..., object], streaming: bool
) -> None:
    model, _ = await serve(Breaks(Says("A promise with an end."), after=3))

    with pytest.raises(ModelUnavailable):
        await _ask(model, streaming)


async def test_what_came_before_the_break_was_given(serve: Callable[..., object]) -> None:
    model, _ = await serve(Breaks(Says("A promise with an end."), after=4))
    seen: list[str] = []

    async def listen() -> None:
        async for event in model.stream(QUESTION):
            assert isinstance(event, TextDelta)
            seen.append(event.text)

    with pytest.raises(ModelUnavailable):
        await listen()

    assert seen
    assert "A promise with an end.".startswith("".join(seen))


@pytest.mark.parametrize("body", [b'{"choices": [{', b"<html>busy</html>", b"[]", b"{}", b""])
async def test_an_answer_that_cannot_be_read_is_named(
    serve: Callable[..., object], body: bytes
) -> None:
    model, _ = await serve(Garbles(body))

    with pytest.raises((BadAnswer, ModelUnavailable)):
        await model.reply(QUESTION)


@pytest.mark.parametrize("streaming", [False, True], ids=["whole", "stream"])
async def test_an_answer_that_does_not_come_is_given_up(
    serve: Callable[..., object], streaming: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(providers, "is_on_this_machine", lambda url: False)
    model, _ = await serve(Dawdles(Says("late"), 30.0), seconds=0.2)

    async with asyncio.timeout(10):
        with pytest.raises(ModelUnavailable):
            await _ask(model, streaming)


@pytest.mark.parametrize("streaming", [False, True], ids=["whole", "stream"])
async def test_a_server_on_this_machine_may_be_silent_as_long_as_an_answer_may_take(
    serve: Callable[..., object], streaming: bool
) -> None:
    patient, server = await serve(Dawdles(Says("A late promise."), 1.0), seconds=0.2)
    slow, _ = await serve(Dawdles(Says("too late"), 30.0), seconds=0.2, request_seconds=0.5)

    await _ask(patient, streaming)
    assert len(server.asked) == 1
    async with asyncio.timeout(10):  # and then it is not asked again
        with pytest.raises(AnswerInterrupted, match=r"within 0\.5 seconds"):
            await _ask(slow, streaming)


async def test_a_server_that_is_not_there_is_unavailable(wire: Wire) -> None:
    model = open_model(wire.provider, wire.model, KEY, "http://127.0.0.1:9", Limits(seconds=8))

    with pytest.raises(ModelUnavailable, match=r"at http://127\.0\.0\.1:9 cannot be reached"):
        await model.reply(QUESTION)
    await model.close()


async def test_a_model_that_cannot_call_tools_says_so(serve: Callable[..., object]) -> None:
    model, _ = await serve(Fails(400, "this model does not support tools"))

    with pytest.raises(ToolsUnsupported):
        await model.reply(ChatRequest(QUESTION.messages, tools=TOOLS))


async def test_a_complaint_about_one_tool_is_not_about_all(serve: Callable[..., object]) -> None:
    model, _ = await serve(Fails(400, "Invalid schema for function in tools[0].parameters"))

    with pytest.raises(RequestRefused) as raised:
        await model.reply(ChatRequest(QUESTION.messages, tools=TOOLS))
    assert not isinstance(raised.value, ToolsUnsupported)


@pytest.mark.parametrize(
    "failure",
    [
        Fails(400, "This model's maximum context length is 128000 tokens. However, you asked"),
        Fails(400, "prompt is too long: 213000 tokens > 200000 maximum"),
        Fails(400, "The input token count (1048999) exceeds the maximum number of tokens allowed"),
        Fails(400, "the request exceeds the available context size, try increasing it"),
        Fails(413, "Payload Too Large"),
    ],
    ids=["openai", "anthropic", "google", "llama.cpp", "413"],
)
async def test_a_request_that_is_too_long_is_recognised(
    serve: Callable[..., object], failure: Fails
) -> None:
    model, _ = await serve(failure)

    with pytest.raises(ContextOverflow, match="too long"):
        await _ask(model, streaming=True)


async def test_a_stream_without_a_reason_for_its_end_is_not_an_answer(
    serve: Callable[..., object],
) -> None:
    model, _ = await serve(EndsEarly(Says("A promise with an end."), after=5))
    seen: list[str] = []

    async def listen() -> None:
        async for event in model.stream(QUESTION):
            assert isinstance(event, TextDelta)
            seen.append(event.text)

    with pytest.raises(ModelUnavailable, match="broke off"):
        await listen()
    assert seen


@pytest.mark.parametrize(
    "odd",
    [
        b'data: {"choices": 7, "candidates": 7, "type": "content_block_delta", "index": {}}\n\n',
        b'data: {"choices": [{"delta": {"tool_calls": [7]}}], "candidates": [{"content": 7}]}\n\n',
        b"data: [7]\n\n",
        b"data: {]\n\n",
        b"event: content_block_start\ndata: null\n\n",
    ],
)
async def test_an_odd_chunk_is_reported_in_one_sentence(
    serve: Callable[..., object], odd: bytes
) -> None:
    model, _ = await serve(EndsEarly(Says("A promise with an end."), after=4, odd=odd))

    with pytest.raises(ModelError):
        await _ask(model, streaming=True)


async def test_an_answer_that_trickles_for_ever_ends_at_its_deadline(
    serve: Callable[..., object],
) -> None:
    model, _ = await serve(Trickles(Says("A promise."), after=3), request_seconds=0.5)

    async with asyncio.timeout(30):
        with pytest.raises(AnswerInterrupted, match=r"within 0\.5 seconds"):
            await _ask(model, streaming=True)


async def test_a_conversation_from_elsewhere_can_be_continued(
    serve: Callable[..., object],
) -> None:
    from ragforge.domain.chat import AssistantMessage

    model, server = await serve(Says("Go on."))
    earlier = AssistantMessage(
        "I looked.", tool_requests=(ToolRequest("t1", "look_up", {"word": "a"}),)
    )

    reply = await model.reply(
        ChatRequest(
            (
                UserMessage("Hello"),
                earlier,
                ToolMessage("t1", "look_up", "found"),
                UserMessage("And?"),
            ),
            tools=TOOLS,
        )
    )

    assert reply.message.text == "Go on."
    assert "I looked." in server.asked[0].text


async def _ask(model: ProvidedModel, streaming: bool) -> None:
    if not streaming:
        await model.reply(QUESTION)
        return
    async for _ in model.stream(QUESTION):
        pass

"""The tool loop: ask, run the calls of the answer, send back the results, ask again."""

from __future__ import annotations

import json
import logging
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from dataclasses import field, replace
from typing import Any, TypeAlias

from ragforge.domain.chat import (
    CHARS_A_TOKEN,
    AssistantMessage,
    ChatRequest,
    Reply,
    ToolMessage,
    ToolRequest,
    UserMessage,
)
from ragforge.domain.text import shorten, to_text
from ragforge.errors import ContextOverflow, ToolsUnsupported
from ragforge.llm.by_schema import (
    build_call_schema,
    describe_tools,
    read_calls,
    render_calls,
    render_request,
)
from ragforge.llm.calls import ExecutedCall, OnCall, OnStart, Tool, run_calls
from ragforge.llm.fit import RESULTS, fit_messages, shorten_request
from ragforge.records import dataclass

log = logging.getLogger(__name__)

GO_ON = "Call the tools for what is still to be done, or answer if all is done."
"""A small model would rather make the same calls again."""

Ask: TypeAlias = Callable[[ChatRequest], Awaitable[Reply]]
OnRound: TypeAlias = Callable[["Round"], Awaitable[None]]
BeforeChange: TypeAlias = Callable[[AssistantMessage], Awaitable[None]]
TakeMore: TypeAlias = Callable[[], Awaitable[Sequence[UserMessage]]]


POINTED_OUT = 3
"""At this many repeats the model is told that it repeats itself; then it is stopped."""


_TAGGED = re.compile(r"<(tool_call|function_call|tools?)>\s*(.*?)\s*(?:</\1>|\Z)", re.DOTALL)
_NAMED = re.compile(r"<function=([\w-]+)>\s*(.*?)\s*(?:</function>|\Z)", re.DOTALL)
_MARKED = re.compile(r"\[TOOL_CALLS\]\s*(\[.*\])\s*\Z", re.DOTALL)
_FENCED = re.compile(  # after a word or two: a longer text explains an example
    r"\A.{0,200}?```(?:json|tool_call|tool_code)?\s*\n(\{.*?\}|\[.*?\])\s*```\s*\Z", re.DOTALL
)
_BARE = re.compile(r"\A\s*(\{.*\}|\[\s*\{.*\}\s*\])\s*\Z", re.DOTALL)
_TRIPLE = re.compile(r'"""\n?(.*?)"""', re.DOTALL)
_ARGUMENTS = ("arguments", "parameters", "args", "input")


@dataclass(frozen=True, slots=True)
class Round:
    """One answer of the model, and the calls it asked for with their results."""

    text: str
    reasoning: str
    calls: tuple[ExecutedCall, ...]


@dataclass(slots=True)
class ToolLoop:
    """The rounds of one conversation; `calls` has those made so far, even if a round fails."""

    ask: Ask
    tools: Sequence[Tool]
    rounds: int
    on_call: OnCall | None = None
    on_start: OnStart | None = None
    on_round: OnRound | None = None
    before_change: BeforeChange | None = None  # awaited before calls that change something run
    take_more: TakeMore | None = None  # what the user has said meanwhile, before the next request
    native: bool = True
    result_chars: int = 400_000  # of results, before the oldest are shortened
    request_chars: int | None = None  # of a whole request; a longer one is shortened first
    calls: list[ExecutedCall] = field(default_factory=list)

    async def run(self, request: ChatRequest, *, answer: bool = True) -> tuple[ChatRequest, str]:
        """Return the conversation as it went and the last answer.

        When the rounds are used up, or the model repeats itself, it must answer with what it
        has. With `answer` false the calls are all that is wanted: nothing more is asked after
        them. A request that is too long for the model is shortened, and stays so.
        """
        text = ""
        is_small = self.request_chars is not None  # then each repeated result fills the window
        changing = {tool.spec.name for tool in self.tools if tool.modifies_files}
        repeats = Repeats(changing, 2 if is_small else POINTED_OUT)
        for iteration in range(1, self.rounds + 1):
            request, (said, wanted, text) = await self._ask_in_window(request, iteration)
            await self._announce(text, said, wanted)
            made = await run_calls(self.tools, wanted, iteration, self.on_call, self.on_start)
            self.calls += made
            await self._report(text, said, made)
            notes = repeats.take(made)
            request = self._with(request, said, *self._format_results(made, notes))
            if not wanted:
                return self._without_tools(request), text
            if repeats.is_stuck or (is_small and any(notes)):
                log.warning("The model repeats the same call: it must answer now.")
                break
            if self.take_more is not None:
                request = self._with(request, *await self.take_more())
        if answer:
            over = self.rounds + 1
            request, (said, _, text) = await self._ask_in_window(request, over)
            await self._report(text, said, ())
            request = self._with(request, said)
        return self._without_tools(request), text

    async def _announce(
        self, text: str, said: AssistantMessage, wanted: Sequence[ToolRequest]
    ) -> None:
        known = {tool.spec.name: tool for tool in self.tools}
        if self.before_change is not None and any(
            one.name in known and known[one.name].modifies(one.arguments) for one in wanted
        ):
            await self.before_change(replace(said, text=text, tool_requests=tuple(wanted)))

    async def _report(
        self, text: str, said: AssistantMessage, made: Sequence[ExecutedCall]
    ) -> None:
        if self.on_round is not None:
            await self.on_round(Round(text, said.reasoning, tuple(made)))

    def _without_tools(self, request: ChatRequest) -> ChatRequest:
        """Return the request for the final answer: no more calls.

        The tools stay listed: providers refuse a history of calls to unknown tools.
        """
        specs = tuple(tool.spec for tool in self.tools) if self.native else ()
        return replace(request, tools=specs, tool_choice="none" if specs else "auto")

    async def _ask_in_window(
        self, request: ChatRequest, iteration: int
    ) -> tuple[ChatRequest, tuple[AssistantMessage, tuple[ToolRequest, ...], str]]:
        """Send a request, shortening it until it fits the model's window.

        Returns the request that was accepted, too. Raises ContextOverflow if nothing is left
        to leave out.
        """
        if self.request_chars is not None:  # some servers cut what is too long and do not say so
            tools = sum(tool.spec.chars for tool in self.tools)
            request = _shorten_to(request, self.request_chars - tools)
        while True:
            try:
                return request, await self._ask_next(request, iteration)
            except ContextOverflow as error:
                shorter = shorten_request(request)
                if shorter is None:
                    raise
                log.warning("%s It is shortened and sent again.", error)
                window = error.window
                request = _shorten_to(shorter, window and window * CHARS_A_TOKEN)

    async def _ask_next(
        self, request: ChatRequest, iteration: int
    ) -> tuple[AssistantMessage, tuple[ToolRequest, ...], str]:
        is_over = iteration > self.rounds
        if self.native:
            try:
                choice = "none" if is_over else request.tool_choice
                if iteration > 1 and choice == "required":
                    choice = "auto"  # a model that must always call could never answer
                specs = tuple(tool.spec for tool in self.tools)
                reply = await self.ask(replace(request, tools=specs, tool_choice=choice))
                said = reply.message
                if not is_over and not said.tool_requests:
                    said = _take_text_calls(said, self.tools, iteration)
                return said, () if is_over else said.tool_requests, said.text
            except ToolsUnsupported:
                if self.calls:
                    raise
                self.native = False
        return await self._ask_next_by_schema(request, iteration, is_over)

    async def _ask_next_by_schema(
        self, request: ChatRequest, iteration: int, is_over: bool
    ) -> tuple[AssistantMessage, tuple[ToolRequest, ...], str]:
        specs = [tool.spec for tool in self.tools]
        request = replace(request, messages=render_calls(request.messages))
        if is_over:
            reply = await self.ask(request)
            return reply.message, (), reply.message.text
        asked = replace(
            request,
            system=describe_tools(request.system, specs),
            schema=build_call_schema(request.schema, specs),
        )
        reply = await self.ask(asked)
        said = reply.message
        wanted, final = read_calls(said.text, iteration, request.schema is None)
        return replace(said, text=render_request(wanted)) if wanted else said, wanted, final

    def _format_results(
        self, made: Sequence[ExecutedCall], notes: Sequence[str]
    ) -> list[ToolMessage | UserMessage]:
        """Return the results for the model, each with the note about it.

        Those of one answer share the room for results: a single one could fill a small window.
        """
        limit = self.result_chars // max(len(made), 1)
        results = [
            replace(message, text="\n\n".join(filter(None, (shorten(message.text, limit), note))))
            for message, note in zip((call.to_message() for call in made), notes, strict=True)
        ]
        if self.native or not made:
            return [*results]
        text = "\n\n".join(f"## {result.name}\n\n{result.text}" for result in results)
        return [UserMessage(f"{RESULTS}{text}\n\n{GO_ON}")]

    def _with(
        self, request: ChatRequest, *said: AssistantMessage | ToolMessage | UserMessage
    ) -> ChatRequest:
        return replace(
            request, messages=fit_messages((*request.messages, *said), self.result_chars)
        )


def _take_text_calls(
    said: AssistantMessage, tools: Sequence[Tool], iteration: int
) -> AssistantMessage:
    """Return an answer with the calls that its text contains."""
    names = {tool.spec.name for tool in tools}
    calls, rest = find_text_calls(said.text, names, iteration)
    return replace(said, text=rest, tool_requests=tuple(calls)) if calls else said


def _shorten_to(request: ChatRequest, chars: int | None) -> ChatRequest:
    """Shorten a request until it may fit, so that it is not refused again and again."""
    while chars is not None and request.chars > chars:
        shorter = shorten_request(request)
        if shorter is None:
            break
        request = shorter
    return request


class Repeats:
    """Counts equal calls with equal results without a change between them."""

    def __init__(self, changing: Collection[str], limit: int = POINTED_OUT) -> None:
        self._limit = limit
        self._changing = changing  # names of the tools that change something
        self._times: Counter[tuple[str, str, str]] = Counter()
        self._pointed_out: set[tuple[str, str, str]] = set()
        self.is_stuck = False  # the model was told, and repeated the call

    def take(self, made: Sequence[ExecutedCall]) -> list[str]:
        """Count the calls of a round; return a note for the model about each, mostly empty."""
        shapes = [self._count(call) for call in made]
        self.is_stuck = not self._pointed_out.isdisjoint(shapes)
        often = {shape for shape in shapes if self._times[shape] >= self._limit}
        self._pointed_out |= often
        return [_describe(self._times[shape]) if shape in often else "" for shape in shapes]

    def _count(self, call: ExecutedCall) -> tuple[str, str, str]:
        result = call.error or call.result
        if isinstance(result, dict):  # the duration is not part of the result
            result = {key: value for key, value in result.items() if key != "duration_ms"}
        shape = (call.name, to_text(call.arguments), to_text(result))
        if call.success and call.name in self._changing and shape not in self._times:
            self._times.clear()  # the same call may have another result now
            self._pointed_out.clear()
        self._times[shape] += 1
        return shape


def _describe(times: int) -> str:
    return (
        f"(This call was made {times} times with this same result. It will not change: "
        "do something else, or answer with what you have.)"
    )


def find_text_calls(text: str, tools: Collection[str], round: int) -> tuple[list[ToolRequest], str]:
    """Return the calls that a text makes, and what else it says."""
    for found, (start, end) in _find_candidates(text):
        calls = [call for value in found for call in _read_calls(value, tools)]
        if calls and len(calls) == len(found):
            rest = text[:start] + text[end:]
            made = [
                ToolRequest(f"text-{round}-{number}", name, arguments)
                for number, (name, arguments) in enumerate(calls)
            ]
            return made, rest.strip()
    return [], text


def _find_candidates(text: str) -> Iterator[tuple[list[Any], tuple[int, int]]]:
    """Yield what may be calls, with the part of the text that holds them."""
    if tagged := list(_TAGGED.finditer(text)):
        yield [_parse(one.group(2)) for one in tagged], (tagged[0].start(), tagged[-1].end())
    if named := list(_NAMED.finditer(text)):
        values = [{"name": one.group(1), "arguments": _parse(one.group(2))} for one in named]
        yield values, (named[0].start(), named[-1].end())
    for form in (_MARKED, _FENCED, _BARE):
        if one := form.search(text):
            value = _parse(one.group(1))
            yield value if isinstance(value, list) else [value], (_find_start(one), one.end())


def _find_start(found: re.Match[str]) -> int:
    """Return where the calls begin, with the fence around them."""
    fence = found.group(0).find("```")
    return found.start() + max(fence, 0)


def _read_calls(value: Any, tools: Collection[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    if not isinstance(value, dict):
        return
    inner = value.get("function")
    call = inner if isinstance(inner, dict) else value
    name = call.get("name") or call.get("tool")
    given = next((call[key] for key in _ARGUMENTS if key in call), None)
    if isinstance(given, str):
        given = _parse(given)
    if isinstance(name, str) and name in tools and isinstance(given, dict):
        yield name, given


def _parse(text: str) -> Any:
    """Return the value of a JSON text, in which a small model may write strings as in Python."""
    for candidate in (text, _TRIPLE.sub(lambda one: json.dumps(one.group(1)), text)):
        try:
            return json.loads(candidate, strict=False)
        except ValueError:
            continue
    return None

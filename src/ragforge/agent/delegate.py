"""delegate: a sub-agent with its own task, read-only tools and its own budget of steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pydantic import Field

from ragforge.agent.events import OnEvent, ToolStarted
from ragforge.agent.progress import build_finished_event
from ragforge.domain.chat import ChatRequest, ToolRequest, UserMessage
from ragforge.domain.text import Json
from ragforge.errors import ModelError
from ragforge.llm.ask import ChatClient
from ragforge.llm.calls import ExecutedCall, Tool
from ragforge.llm.loop import ToolLoop
from ragforge.llm.prompts import load_prompt
from ragforge.records import dataclass
from ragforge.tools.tool import Arguments, as_tool

PROMPTS = "ragforge.agent.prompts"
DEEPEST = 2
STEPS = 15


class DelegateArguments(Arguments):
    """What delegate is called with."""

    task: str = Field(
        min_length=1,
        max_length=20_000,
        description="Everything it needs to know: it sees nothing else",
    )
    max_steps: int = Field(STEPS, ge=1, le=50, description="How many steps it may take")


@dataclass(frozen=True, slots=True)
class Delegated:
    """What a sub-agent found."""

    answer: str
    calls: Sequence[ExecutedCall]

    def to_json(self) -> Json:
        return {
            "answer": self.answer,
            "tool_calls": [
                f"{call.name} {'ok' if call.success else 'failed'}" for call in self.calls
            ],
        }


@dataclass(frozen=True, slots=True)
class Delegation:
    """The model and tools of a sub-agent, its listener, and how deeply it is nested."""

    asker: ChatClient
    tools: Sequence[Tool]
    on_event: OnEvent
    depth: int = 1


def make_delegate_tool(given: Delegation) -> Tool:
    """Return delegate for a model. Sub-agents may be nested two deep."""

    async def call(arguments: DelegateArguments) -> Delegated:
        return await _run_sub_agent(given, arguments)

    return as_tool("delegate", DelegateArguments, call, prompts=PROMPTS)


async def _run_sub_agent(given: Delegation, arguments: DelegateArguments) -> Delegated:
    """Run a sub-agent. Raises ModelError if it fails before its first tool call."""
    asker, tools = given.asker, [*given.tools]
    if given.depth < DEEPEST:
        tools.append(make_delegate_tool(replace(given, depth=given.depth + 1)))

    def report_start(request: ToolRequest) -> None:
        given.on_event(ToolStarted(request.id, request.name, request.arguments, given.depth))

    def report_end(call: ExecutedCall) -> None:
        given.on_event(build_finished_event(call, given.depth))

    loop = ToolLoop(
        asker.ask,
        tools,
        arguments.max_steps,
        on_call=report_end,
        on_start=report_start,
        native=asker.model.calls_tools,
    )
    request = ChatRequest((UserMessage(arguments.task),), system=load_prompt(PROMPTS, "sub_agent"))
    try:
        _, answer = await loop.run(request)
    except ModelError as error:
        if not loop.calls:
            raise
        answer = f"It broke off: {error}"
    return Delegated(answer, loop.calls)

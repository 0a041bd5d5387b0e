"""delegate: a sub-agent with its own task, tools and steps; what kind of one, files say."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import field, replace
from fnmatch import fnmatchcase

from pydantic import Field

from ragforge.agent.events import OnEvent, ToolStarted
from ragforge.agent.progress import build_finished_event
from ragforge.domain.chat import ChatRequest, Reply, ToolRequest, UserMessage
from ragforge.domain.modes import Mode, choose_stricter, parse_mode
from ragforge.domain.text import Json
from ragforge.errors import InputError, ModelError, SubAgentLimit
from ragforge.llm.ask import ChatClient
from ragforge.llm.calls import ExecutedCall, Tool
from ragforge.llm.loop import ToolLoop
from ragforge.llm.prompts import load_prompt
from ragforge.records import dataclass
from ragforge.tools.edits.change import EDITS
from ragforge.tools.prompt_files import PromptFile
from ragforge.tools.tool import Arguments, as_tool


@dataclass(frozen=True, slots=True)
class AgentFile:
    """A kind of sub-agent: what it is for, its prompt, and what it may do."""

    name: str
    description: str
    prompt: str
    tools: tuple[str, ...] = ("*",)  # patterns of names
    mode: Mode = "plan"
    model: str | None = None  # None: that of the session
    by_project: bool = False
    problem: str = ""  # why it cannot be used

    def select(self, tools: Sequence[Tool]) -> list[Tool]:
        """Return the tools that it may use of those that there are."""
        return [
            tool
            for tool in tools
            if any(fnmatchcase(tool.spec.name, pattern) for pattern in self.tools)
        ]

    def limit_mode(self, mode: Mode) -> Mode:
        """Return its mode in a session with a mode: it never has more rights than the session."""
        return choose_stricter(self.mode, mode)


def read_agent_files(files: Sequence[PromptFile]) -> list[AgentFile]:
    """Return the agents that files describe; one with a wrong header says so."""
    return [_read(file) for file in files]


def _read(file: PromptFile) -> AgentFile:
    by_project, header = file.root is not None, file.header
    try:
        mode, model = header.get("mode", "plan"), header.get("model")
        if model is not None and by_project:
            raise InputError("a project's agent cannot choose a model: remove model")
        if not isinstance(model, str | None):
            raise InputError("model must be a name such as openai:gpt-5-mini")
        tools = tuple(_list_words(header.get("tools", "*")))
        if not tools:
            raise InputError("tools must name at least one tool")
        if not file.body:
            raise InputError("it has no text")
        return AgentFile(
            file.name,
            file.description,
            file.body,
            tools,
            parse_mode(str(mode).replace(" ", "-")),
            model,
            by_project,
        )
    except InputError as error:
        why = str(error)
        return AgentFile(file.name, file.description, "", by_project=by_project, problem=why)


def _list_words(value: Json) -> Iterator[str]:
    """Yield the words of a text or a list. Raises InputError for anything else."""
    if isinstance(value, str):
        yield from value.replace(",", " ").split()
    elif isinstance(value, list) and all(isinstance(one, str) for one in value):
        yield from map(str, value)
    else:
        raise InputError("tools must be a list of names")


MAX_TOGETHER = 4
"""How many sub-agents work at the same time; further ones wait."""


@dataclass(frozen=True, slots=True)
class SubAgentLimits:
    """Limits of a turn: tool calls and tokens of all sub-agents, waiting time of each."""

    calls: int = 300
    tokens: int = 3_000_000
    seconds: float = 600.0


class SubAgentBudget:
    """Counts what the sub-agents of a turn use."""

    def __init__(self, limits: SubAgentLimits | None = None) -> None:
        self._limits = limits or SubAgentLimits()
        self._calls = 0
        self._tokens = 0
        self.room = asyncio.Semaphore(MAX_TOGETHER)

    def count_call(self) -> None:
        self._calls += 1

    def limit(
        self, ask: Callable[[ChatRequest], Awaitable[Reply]]
    ) -> Callable[[ChatRequest], Awaitable[Reply]]:
        """Return what asks the model of one sub-agent until a limit is reached.

        It raises SubAgentLimit then. Time in which tools run or the user is asked does not count.
        """
        left = self._limits.seconds

        async def ask_within(request: ChatRequest) -> Reply:
            nonlocal left
            self._check()
            began = time.monotonic()
            try:
                async with asyncio.timeout(max(left, 0)) as clock:
                    reply = await ask(request)
            except TimeoutError:
                if not clock.expired():
                    raise
                raise SubAgentLimit(
                    f"The sub-agent waited {self._limits.seconds:g} seconds for its model "
                    "(agent.sub_agents.max_seconds)."
                ) from None
            left -= time.monotonic() - began
            self._tokens += reply.usage.input_tokens + reply.usage.output_tokens
            return reply

        return ask_within

    def _check(self) -> None:
        for used, limit, name in (
            (self._calls, self._limits.calls, "calls"),
            (self._tokens, self._limits.tokens, "tokens"),
        ):
            if used >= limit:
                raise SubAgentLimit(
                    f"The sub-agents of this turn have used their {limit:,} {name} "
                    f"(agent.sub_agents.max_{name}). Finish the work without them."
                )


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
    agent: str | None = Field(None, min_length=1, description="The name of an agent, if one fits")


@dataclass(frozen=True, slots=True)
class Delegated:
    """What a sub-agent found."""

    answer: str
    calls: Sequence[ExecutedCall]

    def to_json(self) -> Json:
        facts: dict[str, Json] = {
            "answer": self.answer,
            "tool_calls": [
                f"{call.name} {'ok' if call.success else 'failed'}" for call in self.calls
            ],
        }
        changes = [call.result for call in self.calls if call.success and call.name in EDITS]
        return {**facts, "changes": changes} if changes else facts


@dataclass(frozen=True, slots=True)
class SubAgentKind:
    """A kind of sub-agent, with the tools that it may use in this turn."""

    file: AgentFile
    tools: Sequence[Tool]
    changes: bool  # it may change something
    open_chat: Callable[[], ChatClient]

    @property
    def name(self) -> str:
        return self.file.name


@dataclass(frozen=True, slots=True)
class Delegation:
    """The model and tools of a sub-agent, its listener, and how deeply it is nested."""

    asker: ChatClient
    tools: Sequence[Tool]
    on_event: OnEvent
    kinds: Sequence[SubAgentKind] = ()
    budget: SubAgentBudget = field(default_factory=SubAgentBudget)
    depth: int = 1


def make_delegate_tool(given: Delegation) -> Tool:
    """Return delegate for a model. Sub-agents may be nested two deep."""

    async def call(arguments: DelegateArguments) -> Delegated:
        kind = _find_kind(given.kinds, arguments.agent)
        if given.depth > 1:  # the outer one has a place already
            return await _run_sub_agent(given, kind, arguments)
        async with given.budget.room:
            return await _run_sub_agent(given, kind, arguments)

    if not given.kinds:
        return as_tool("delegate", DelegateArguments, call, fixed={"agent": None}, prompts=PROMPTS)
    tool = as_tool("delegate", DelegateArguments, call, prompts=PROMPTS)
    changing = {kind.name for kind in given.kinds if kind.changes}
    spec = replace(tool.spec, description=_describe(tool.spec.description, given.kinds))
    return replace(
        tool,
        spec=spec,
        modifies_files=bool(changing),
        changing=lambda given: isinstance(given, dict) and given.get("agent") in changing,
    )


def _describe(text: str, kinds: Sequence[SubAgentKind]) -> str:
    lines = [
        f"- {kind.name}: {kind.file.description}{' (can change files)' if kind.changes else ''}"
        for kind in kinds
    ]
    return f"{text.strip()}\n\nAgents for special tasks, by name:\n" + "\n".join(lines)


def _find_kind(kinds: Sequence[SubAgentKind], name: str | None) -> SubAgentKind | None:
    """Return the kind with a name. Raises InputError if there is none, or it cannot be used."""
    if name is None:
        return None
    kind = next((kind for kind in kinds if kind.name == name), None)
    if kind is None:
        names = ", ".join(kind.name for kind in kinds)
        raise InputError(f"There is no agent {name!r}. There are: {names}.")
    if kind.file.problem:
        raise InputError(f"The agent {name} cannot be used: {kind.file.problem}.")
    return kind


async def _run_sub_agent(
    given: Delegation, kind: SubAgentKind | None, arguments: DelegateArguments
) -> Delegated:
    """Run a sub-agent. Raises ModelError if it fails before its first tool call."""
    asker = given.asker if kind is None else kind.open_chat()
    tools = [*(given.tools if kind is None else kind.tools)]
    system = load_prompt(PROMPTS, "sub_agent_working" if kind and kind.changes else "sub_agent")
    if kind is not None:
        system = f"{system}\n\n{kind.file.prompt}"
    elif given.depth < DEEPEST:
        tools.append(make_delegate_tool(replace(given, kinds=(), depth=given.depth + 1)))
    await asker.model.prepare()

    def report_start(request: ToolRequest) -> None:
        given.on_event(ToolStarted(request.id, request.name, request.arguments, given.depth))

    def report_end(call: ExecutedCall) -> None:
        given.budget.count_call()
        given.on_event(build_finished_event(call, given.depth))

    loop = ToolLoop(
        given.budget.limit(asker.ask),
        tools,
        arguments.max_steps,
        on_call=report_end,
        on_start=report_start,
        native=asker.model.calls_tools,
    )
    request = ChatRequest((UserMessage(arguments.task),), system=system)
    try:
        _, answer = await loop.run(request)
    except ModelError as error:
        if not loop.calls:
            raise
        answer = f"It broke off: {error}"
    return Delegated(answer, loop.calls)

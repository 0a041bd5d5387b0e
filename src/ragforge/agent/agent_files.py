"""Agent files: kinds of sub-agents that the user or a trusted project wrote as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from ragforge.domain.modes import Mode, choose_stricter, parse_mode
from ragforge.domain.text import Json
from ragforge.errors import InputError
from ragforge.llm.calls import Tool
from ragforge.records import dataclass
from ragforge.tools.prompt_files import PromptFile


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

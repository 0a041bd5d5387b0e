"""Servers: other programs whose tools, resources and prompts the agent can use.

They speak the Model Context Protocol: programs on this machine, or addresses on the web.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Literal, TypeAlias

from ragforge.records import dataclass

if TYPE_CHECKING:
    from ragforge.domain.chat import JsonSchema
    from ragforge.domain.text import Json

SERVER_NAME = re.compile(r"(?=.{1,30}$)[A-Za-z0-9-]+(?:_[A-Za-z0-9-]+)*")
"""No two underscores together: they part a server's name from that of its tool."""

ServerState: TypeAlias = Literal["off", "connecting", "ready", "failed"]


@dataclass(frozen=True, slots=True)
class ServerSpec:
    """How a server is reached: by a command that starts it, or by its address."""

    name: str
    origin: str  # the file that configures it
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict, repr=False)  # may hold secrets
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: str = ""
    problem: str = ""  # why it cannot be used as it is written
    is_ignored: bool = False  # its file is not trusted: that is not a failure


@dataclass(frozen=True, slots=True)
class ServerTool:
    """A tool as a server describes it."""

    name: str
    description: str
    parameters: JsonSchema


@dataclass(frozen=True, slots=True)
class ServerResource:
    """A text that a server lets its users read."""

    uri: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class ServerPrompt:
    """A question that a server words for its users."""

    name: str
    description: str = ""
    arguments: tuple[str, ...] = ()
    required: tuple[str, ...] = ()  # of the arguments


@dataclass(frozen=True, slots=True)
class ServerOffer:
    """All that a server offers."""

    tools: tuple[ServerTool, ...] = ()
    resources: tuple[ServerResource, ...] = ()
    prompts: tuple[ServerPrompt, ...] = ()


@dataclass(frozen=True, slots=True)
class ServerReport:
    """The state of a server, and what it offers."""

    spec: ServerSpec
    state: ServerState
    offer: ServerOffer = ServerOffer()
    problem: str = ""  # why it does not answer


FieldKind: TypeAlias = Literal["text", "integer", "number", "boolean", "choice", "choices"]


@dataclass(frozen=True, slots=True)
class QuestionField:
    """A value that a server asks the user for."""

    name: str
    kind: FieldKind
    schema: JsonSchema  # that a value must fit
    label: str = ""
    description: str = ""
    choices: tuple[tuple[str, str], ...] = ()  # the value of each, and how it is shown
    is_required: bool = False


@dataclass(frozen=True, slots=True)
class ServerQuestion:
    """A question of a server to the user, while it runs a tool."""

    server: str
    message: str
    fields: tuple[QuestionField, ...] = ()
    url: str = ""  # a page on which the user is to do something, instead of fields


@dataclass(frozen=True, slots=True)
class ServerAnswer:
    """The user's answer, with the values of the fields."""

    action: Literal["accept", "decline", "cancel"]
    values: Mapping[str, Json] = field(default_factory=dict)


AnswerServer: TypeAlias = Callable[[ServerQuestion], Awaitable[ServerAnswer]]


async def decline_question(question: ServerQuestion) -> ServerAnswer:
    """Decline a question: there is no one to ask."""
    return ServerAnswer("decline")

"""The pool: all configured servers, connected at once and in the background."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from typing import TYPE_CHECKING

from ragforge.domain.mcp_client import decline_question
from ragforge.domain.text import keep_beginning
from ragforge.errors import InputError, RagForgeError
from ragforge.mcp_client.server import Server, ServerLimits

if TYPE_CHECKING:
    from ragforge.domain.mcp_client import (
        AnswerServer,
        ServerAnswer,
        ServerPrompt,
        ServerQuestion,
        ServerReport,
        ServerSpec,
    )
    from ragforge.domain.text import Json
    from ragforge.ports.mcp_client import Connect

MAX_CHARS = 20_000
"""Maximum length of a resource that a question mentions."""
READ_SECONDS = 10.0
_MENTION = re.compile(r"(?:^|(?<=\s))@([A-Za-z0-9_-]+):(\S+)")
_AFTER = ".,;!?)"
"""Punctuation that may follow a resource in a sentence."""


class ServerPool:
    """The servers of a project. Each is started when it is first needed."""

    def __init__(
        self,
        find_specs: Callable[[], Iterable[ServerSpec]],
        connect: Connect,
        limits: ServerLimits | None = None,
    ) -> None:
        """`find_specs` is called at the start: the user may have trusted the folder since."""
        self._find_specs = find_specs
        self._connect = connect
        self._limits = limits or ServerLimits()
        self._servers: dict[str, Server] = {}
        self._news: list[str] = []
        self._ends_waiting: float | None = None
        self._named_late = False
        self._answer: AnswerServer = decline_question

    @contextmanager
    def asking(self, answer: AnswerServer) -> Iterator[None]:
        """Put what servers ask to a user during the block; otherwise it is declined."""
        before, self._answer = self._answer, answer
        try:
            yield
        finally:
            self._answer = before

    def start(self) -> None:
        """Connect to all servers in the background. What is started already stays."""
        if self._ends_waiting is None:
            self._ends_waiting = self._limit_wait()
            for spec in self._find_specs():
                self._servers.setdefault(spec.name, self._make(spec))
        for server in self._servers.values():
            server.start()

    def add(self, specs: Iterable[ServerSpec]) -> None:
        """Connect to more servers, in the background; a name that is taken keeps its server."""
        self.start()
        for spec in specs:
            if not self.has(spec.name):
                self._servers[spec.name] = self._make(spec)
                self._servers[spec.name].start()
                self._ends_waiting = self._limit_wait()
                self._named_late = False

    def start_again(self, name: str) -> None:
        """Connect once more to a server that has failed. Raises InputError if there is none."""
        self.start()
        self._find(name).start_again()

    async def wait(self, seconds: float | None = None) -> None:
        """Wait until every server answers or has failed.

        Without a limit, as long as the first question may wait; that time runs once, from the
        start.
        """
        self.start()
        now = asyncio.get_running_loop().time()
        limit = (self._ends_waiting or now) - now if seconds is None else seconds
        waits = [asyncio.ensure_future(server.wait()) for server in self._servers.values()]
        if not waits:
            return
        try:
            await asyncio.wait(waits, timeout=max(0.0, limit))
        finally:
            for wait in waits:
                wait.cancel()
        if seconds is None and not self._named_late:
            self._named_late = True
            self._name_late()

    def _name_late(self) -> None:
        late = [one.spec.name for one in self.list_reports() if one.state == "connecting"]
        if late:
            self._news.append(
                f"Still starting: {', '.join(late)}. What they offer comes with a later question; "
                "mcp.wait_seconds waits longer."
            )

    def take_news(self) -> list[str]:
        """Return the lines about servers that failed or are late, each once."""
        news, self._news[:] = list(self._news), []
        return news

    def list_reports(self) -> list[ServerReport]:
        """Return the state of every server, in the order of their configuration."""
        return [server.report for server in self._servers.values()]

    def list_prompts(self) -> Mapping[str, ServerPrompt]:
        """Return the prompts of the servers that answer, by `server:prompt`."""
        return {
            f"{report.spec.name}:{prompt.name}": prompt
            for report in self.list_reports()
            for prompt in report.offer.prompts
        }

    def list_resources(self) -> list[str]:
        """Return the resources of the servers that answer, as `server:uri`."""
        return [
            f"{report.spec.name}:{resource.uri}"
            for report in self.list_reports()
            for resource in report.offer.resources
        ]

    async def call(self, server: str, tool: str, arguments: Mapping[str, Json]) -> str:
        """Call a tool and return what it says. Raises ServerError, InputError."""
        return await self._find(server).use(lambda connection: connection.call(tool, arguments))

    async def read(self, server: str, uri: str) -> str:
        """Return the text of a resource. Raises ServerError, InputError."""
        return await self._find(server).use(lambda connection: connection.read(uri))

    async def word_prompt(self, server: str, prompt: str, given: Sequence[str]) -> str:
        """Return the text of a prompt, for words that are given in the order of its arguments.

        Raises InputError if words are missing or too many, ServerError.
        """
        self.start()
        found = self._find(server)
        # A prompt may be asked for before its server has answered.
        await found.use(_do_nothing)
        offered = {one.name: one for one in found.report.offer.prompts}
        if prompt not in offered:
            names = ", ".join(offered) or "none"
            raise InputError(f"{server} has no prompt {prompt!r}. It has: {names}.")
        arguments = _match_arguments(f"/{server}:{prompt}", offered[prompt], given)
        return await found.use(lambda connection: connection.word_prompt(prompt, arguments))

    async def read_mentioned(self, question: str) -> list[str]:
        """Return the resources that a question names as `@server:uri`.

        Each comes with its name, or with why it is missing.
        """
        found = {
            (name, uri): None
            for name, uri in _MENTION.findall(question)
            if self.has(name) and not uri.startswith("//")
        }
        return list(await asyncio.gather(*(self._read_mentioned(*one) for one in found)))

    async def _read_mentioned(self, name: str, uri: str) -> str:
        if f"{name}:{uri}" not in self.list_resources():
            uri = uri.rstrip(_AFTER) or uri
        try:
            async with asyncio.timeout(READ_SECONDS):
                text = keep_beginning(await self.read(name, uri), MAX_CHARS)
        except TimeoutError:
            text = f"(It could not be read within {READ_SECONDS:g} seconds.)"
        except RagForgeError as error:
            text = f"(It could not be read: {error})"
        return f"@{name}:{uri}\n{text}"

    async def close(self) -> None:
        """End all connections at once."""
        await asyncio.gather(*(server.close() for server in self._servers.values()))

    def has(self, name: str) -> bool:
        """Tell whether there is a server of this name."""
        return name in self._servers

    def _make(self, spec: ServerSpec) -> Server:
        return Server(spec, self._connect, self._limits, self._news.append, self._ask_user)

    async def _ask_user(self, question: ServerQuestion) -> ServerAnswer:
        return await self._answer(question)

    def _limit_wait(self) -> float:
        """Return until when the next question waits for servers."""
        return asyncio.get_running_loop().time() + self._limits.wait_seconds

    def _find(self, name: str) -> Server:
        if name not in self._servers:
            raise InputError(f"There is no MCP server {name!r}. /mcp lists them.")
        return self._servers[name]


async def _do_nothing(connection: object) -> None:
    """Only wait for the connection."""


def _match_arguments(shown: str, prompt: ServerPrompt, given: Sequence[str]) -> dict[str, str]:
    """Return the arguments by name: words in their order, and `name=value`."""
    named: dict[str, str] = {}
    words: list[str] = []
    for word in given:
        name, equals, value = word.partition("=")
        if equals and name in prompt.arguments:
            named[name] = value
        else:
            words.append(word)
    free = [name for name in prompt.arguments if name not in named]
    usage = " ".join([shown, *(name.upper() for name in prompt.arguments)])
    if len(words) > len(free):
        raise InputError(f"Too many words. Write: {usage}")
    named |= dict(zip(free, words, strict=False))
    if missing := [name for name in prompt.required if name not in named]:
        raise InputError(f"{missing[0]} is missing. Write: {usage}")
    return named


BETWEEN = "__"
MAX_NAME_CHARS = 64
_REFUSED = re.compile(r"[^A-Za-z0-9_-]")
_MARK_CHARS = 8


def name_tool(server: str, tool: str) -> str:
    """Return the name of a server's tool that every provider takes: `server__tool`.

    A name that has to be changed gets a mark of the true one, so that no two are the same.
    """
    plain = f"{server}{BETWEEN}{_REFUSED.sub('_', tool)}"
    if plain == f"{server}{BETWEEN}{tool}" and len(plain) <= MAX_NAME_CHARS:
        return plain
    mark = sha256(tool.encode(errors="replace")).hexdigest()[:_MARK_CHARS]
    return f"{plain[: MAX_NAME_CHARS - _MARK_CHARS - 1]}_{mark}"

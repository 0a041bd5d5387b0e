"""MCP servers: one connection to one server."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ragforge.domain.mcp_client import AnswerServer, ServerOffer, ServerSpec
    from ragforge.domain.text import Json


class ServerConnection(Protocol):
    """A connected server. Its answers are text, in which images and data are named.

    Every method raises ServerError with what the server says against it, and ServerGone if the
    connection has ended. None has a deadline; each may be cancelled.
    """

    @property
    def offer(self) -> ServerOffer:
        """What the server offers."""
        ...

    async def call(self, tool: str, arguments: Mapping[str, Json]) -> str:
        """Call a tool and return its result."""
        ...

    async def read(self, uri: str) -> str:
        """Return the text of a resource."""
        ...

    async def word_prompt(self, prompt: str, arguments: Mapping[str, str]) -> str:
        """Return the text of a prompt."""
        ...

    async def wait_until_gone(self) -> None:
        """Wait until the connection ends."""
        ...


class Connect(Protocol):
    """Connects to servers."""

    def __call__(
        self, spec: ServerSpec, seconds: float, leaving: asyncio.Event, answer: AnswerServer
    ) -> AbstractAsyncContextManager[ServerConnection]:
        """Connect to a server within a number of seconds; end its processes at the end.

        It is entered and left by the same task, which must not be cancelled: `leaving` ends an
        attempt. `answer` receives what the server asks the user.
        Raises ServerError if the server does not answer.
        """
        ...


class LoginStore(Protocol):
    """Keeps what a login to a server returned: secrets of the user, by the server's address."""

    def read(self, url: str) -> str:
        """Return what is kept for an address; empty if there is nothing."""
        ...

    def write(self, url: str, secret: str) -> None:
        """Keep a secret for an address instead of an earlier one. Raises InputError."""
        ...

    def delete(self, url: str) -> bool:
        """Delete the secret of an address; tell whether there was one."""
        ...

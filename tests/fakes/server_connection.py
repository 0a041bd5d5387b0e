"""A fake connection to a server of tools: no process, no network."""

from __future__ import annotations

import asyncio

from ragforge.domain.mcp_client import ServerOffer


class Connection:
    """A server that offers what a test wants, and says one thing."""

    def __init__(self, offer: ServerOffer, says: str = "") -> None:
        self.offer = offer
        self._says = says

    async def call(self, tool: str, arguments: object) -> str:
        return self._says

    async def read(self, uri: str) -> str:
        return self._says

    async def word_prompt(self, prompt: str, arguments: object) -> str:
        return self._says

    async def wait_until_gone(self) -> None:
        await asyncio.Event().wait()

"""Client files: the editor's files, read and written through the protocol."""

from __future__ import annotations

import asyncio
import logging

from acp import RequestError
from acp.interfaces import Client
from acp.schema import FileSystemCapabilities

from ragforge.acp.texts import clean
from ragforge.records import dataclass

logger = logging.getLogger(__name__)

ANSWER_SECONDS = 10.0
"""How long an editor may take for a file; then the disk is used."""


@dataclass(frozen=True, slots=True)
class ClientFiles:
    """The files of one session, as far as the editor offers them."""

    client: Client
    session_id: str
    offered: FileSystemCapabilities

    async def read(self, path: str) -> str | None:
        """Return a text as the editor has it; None if it does not say."""
        if not self.offered.read_text_file:
            return None
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                found = await self.client.read_text_file(self.session_id, path)
        except (RequestError, ConnectionError, TimeoutError, ValueError) as error:
            logger.info("The editor does not give %s: %s", path, error)
            return None
        return found.content

    async def write(self, path: str, text: str) -> None:
        """Have the editor write a text, if it offers that."""
        if not self.offered.write_text_file:
            return
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                await self.client.write_text_file(self.session_id, path, clean(text))
        except (RequestError, ConnectionError, TimeoutError, ValueError) as error:
            logger.warning("The editor does not write %s: %s", path, error)

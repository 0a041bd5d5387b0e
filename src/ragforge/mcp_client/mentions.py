"""Mentions: resources of servers that a question names as `@server:uri`."""

from __future__ import annotations

import asyncio
import re

from ragforge.domain.text import keep_beginning
from ragforge.errors import RagForgeError
from ragforge.mcp_client.pool import ServerPool

MAX_CHARS = 20_000
"""Maximum length of a resource that a question mentions."""
READ_SECONDS = 10.0
_MENTION = re.compile(r"(?:^|(?<=\s))@([A-Za-z0-9_-]+):(\S+)")
_AFTER = ".,;!?)"
"""Punctuation that may follow a resource in a sentence."""


async def read_mentioned(servers: ServerPool, question: str) -> list[str]:
    """Return the resources that a question names, each with its name or why it is missing."""
    found = {
        (name, uri): None
        for name, uri in _MENTION.findall(question)
        if servers.has(name) and not uri.startswith("//")
    }
    return list(await asyncio.gather(*(_read(servers, name, uri) for name, uri in found)))


async def _read(servers: ServerPool, name: str, uri: str) -> str:
    known = servers.list_resources()
    if f"{name}:{uri}" not in known:
        uri = uri.rstrip(_AFTER) or uri
    try:
        async with asyncio.timeout(READ_SECONDS):
            text = keep_beginning(await servers.read(name, uri), MAX_CHARS)
    except TimeoutError:
        text = f"(It could not be read within {READ_SECONDS:g} seconds.)"
    except RagForgeError as error:
        text = f"(It could not be read: {error})"
    return f"@{name}:{uri}\n{text}"

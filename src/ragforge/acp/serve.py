"""Serve: one editor is answered until it leaves."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, cast

from acp import run_agent
from acp.interfaces import Agent

from ragforge.acp.agent import EditorAgent
from ragforge.acp.apps import Apps
from ragforge.config import Settings

logger = logging.getLogger(__name__)


async def serve(
    load: Callable[[Path], Settings],
    version: str,
    lines: AsyncIterator[bytes | None],
    send: Callable[[bytes], None],
) -> None:
    """Answer an editor until its lines end. A turn that still runs is kept as far as it got."""
    apps = Apps(load)
    # The SDK's protocol lists every request there can be; those left out are refused by it.
    agent = cast(Agent, EditorAgent(apps, version))
    try:
        await run_agent(agent, LineTransport(lines, send), use_unstable_protocol=True)
    finally:
        await apps.close()


class LineTransport:
    """Reads and writes one message a line, for a connection of the SDK.

    `send` hands a message over at once: messages leave in the order in which they are sent.
    """

    def __init__(self, lines: AsyncIterator[bytes | None], send: Callable[[bytes], None]) -> None:
        self._lines = lines
        self._send = send
        self._is_closed = False

    async def send(self, message: dict[str, Any]) -> None:
        if not self._is_closed:
            self._send(json.dumps(message).encode() + b"\n")

    async def receive(self) -> dict[str, Any] | None:
        """Return the next message; None once there are no more."""
        async for line in self._lines:
            if line is not None and not line.strip():
                continue
            try:
                message = json.loads(line or b"")
            except ValueError:
                logger.warning("A line of the editor is no message, or too long; it is skipped.")
                continue
            if isinstance(message, dict):
                return message
        return None

    async def close(self) -> None:
        self._is_closed = True

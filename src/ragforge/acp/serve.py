"""Serve: one editor is answered until it leaves."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import cast

from acp import run_agent
from acp.interfaces import Agent

from ragforge.acp.agent import EditorAgent
from ragforge.acp.apps import Apps
from ragforge.acp.transport import LineTransport
from ragforge.config import Settings


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

"""The state of the terminal: what the next question meets."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from ragforge.show import mcp_client
from ragforge.show.sessions import count_turns, name_session
from ragforge.show.trust import format_trust
from ragforge.tui.commands.turns import MEANINGS
from ragforge.tui.toolbar import format_usage

if TYPE_CHECKING:
    from ragforge.tui.terminal import Terminal


async def describe_state(terminal: Terminal) -> dict[str, str]:
    """Return session, mode, model, store, sandbox, servers and trust, each in a few words."""
    from ragforge.app.features.doctor import check_sandbox  # only this command needs these
    from ragforge.app.wiring.trust import examine_folder

    app, session = terminal.app, terminal.session
    about = "new, no question yet"
    if session is not None:
        session = await app.sessions.load(session.uuid)
        about = f"{name_session(session)}, {count_turns(session)}"
    sandbox = await asyncio.to_thread(check_sandbox, app.settings, app.project_path)
    reports = app.servers.list_reports()
    servers = [f"{one.spec.name} ({mcp_client.describe_state(one)})" for one in reports]
    return {
        "Session": about,
        "Mode": f"{terminal.mode}: {MEANINGS[terminal.mode]}",
        "Model": f"{app.model or 'none'}  {format_usage(terminal.usage)}".rstrip(),
        "Store": app.settings.store.url,
        "Sandbox": sandbox.detail,
        "Servers": ", ".join(servers) or "none",
        "Trust": format_trust(await asyncio.to_thread(examine_folder, app.settings, app.cwd)),
    }

"""Completion: values that only the store or the settings know."""

from __future__ import annotations

import asyncio
from pathlib import Path

import typer

from ragforge.cli.loading import GlobalOptions, get_current_directory, load
from ragforge.errors import RagForgeError

MAX_SESSIONS = 100
STORE_SECONDS = 2.0


def list_sessions(context: typer.Context, start: str) -> list[tuple[str, str]]:
    """Return the sessions of this project whose id starts so, each with its title.

    Nothing is said about an error: the user is still typing.
    """
    given = context.find_root().params
    try:
        return asyncio.run(_find_sessions(GlobalOptions(store=given.get("store_url")), start))
    except (RagForgeError, OSError, TimeoutError):
        return []


async def _find_sessions(options: GlobalOptions, start: str) -> list[tuple[str, str]]:
    from ragforge.app import open_app
    from ragforge.config.store_url import is_server
    from ragforge.show.sessions import NO_TITLE, shorten_id

    settings = load(options, quiet=True).settings
    if not is_server(settings.store.url) and not Path(settings.store.url).exists():
        return []
    async with (
        asyncio.timeout(STORE_SECONDS),
        open_app(settings, get_current_directory(), work=False) as app,
    ):
        found = await app.sessions.find(limit=MAX_SESSIONS)
    return [
        (shorten_id(one.uuid), one.title or NO_TITLE) for one in found if one.uuid.startswith(start)
    ]


def list_settings(start: str) -> list[str]:
    """Return the settings whose name starts so."""
    from ragforge.config.dotted_keys import list_keys

    return [key for key in list_keys() if key.startswith(start)]

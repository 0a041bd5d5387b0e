"""Hook settings: the few settings that a hook needs, without reading all of them each time.

Reading all settings takes longer than an agent should wait. What they said is kept in a file and
used while nothing that settings are made of has changed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from ragforge import __version__
from ragforge.config.files import find_project_file, find_user_file
from ragforge.folders import find_user_folder

FILE_NAME = "hook.json"
MEANT = ("RAGFORGE_", "XDG_", "HOME", "APPDATA", "LOCALAPPDATA")
"""How the names of variables begin that may change a setting."""
PASSWORD = "RAGFORGE_NEO4J_PASSWORD"


class HookConfig(NamedTuple):
    """The settings of a hook. A tuple: it is read before anything heavier is imported."""

    store: str
    author: str | None
    state_dir: str
    exclude: str
    budget: int
    deadline_ms: int
    database: str | None = None  # on a server; none: its default
    has_password: bool = True  # whether there was one for the server, wherever it is


def can_keep(cwd: Path) -> bool:
    """Tell whether settings are kept: whether a project's file counts is looked up each time."""
    return find_project_file(cwd) is None


def read_kept(cwd: Path, environ: Mapping[str, str]) -> HookConfig | None:
    """Return the settings as they were kept, or None if they may have changed since."""
    if not can_keep(cwd):
        return None
    with suppress(OSError, ValueError, KeyError, TypeError):
        kept = json.loads(_find_file().read_text("utf-8"))
        if kept["key"] == _make_key(cwd, environ):
            return HookConfig(**kept["settings"])
    return None


def load_hook_settings(cwd: Path, environ: Mapping[str, str]) -> HookConfig:
    """Return the settings of a folder, and keep them. Raises SettingsError."""
    from ragforge.config.layers import load_settings  # it takes a while
    from ragforge.config.services import find_neo4j_credentials
    from ragforge.config.store_url import is_server

    settings = load_settings(cwd, environ=environ).settings
    url = settings.store.url
    made = HookConfig(
        url,
        settings.author,
        settings.agent.state_dir,
        settings.connect.exclude,
        settings.hook.budget,
        settings.hook.deadline_ms,
        settings.store.neo4j_database,
        is_server(url) and find_neo4j_credentials(url, environ) is not None,
    )
    if can_keep(cwd):
        with suppress(OSError):
            _keep({"key": _make_key(cwd, environ), "settings": made._asdict()})
    return made


def forget_kept() -> None:
    """Have the next hook read all settings: something that they do not name has changed."""
    with suppress(OSError):
        _find_file().unlink()


def _keep(content: Mapping[str, Any]) -> None:
    from ragforge.private_files import make_private_folder, replace_file

    path = _find_file()
    make_private_folder(path.parent)
    replace_file(str(path), json.dumps(content).encode())


def _make_key(cwd: Path, environ: Mapping[str, str]) -> list[Any]:
    """Return what changes whenever a setting may have changed. Raises SettingsError."""
    file = find_user_file(cwd, environ)
    facts = None if file is None else file.stat()
    stamp = None if facts is None else [str(file), facts.st_size, facts.st_mtime_ns]
    given = {name: text for name, text in environ.items() if name.startswith(MEANT)}
    if PASSWORD in given:  # that there is one matters, and it is never written to a file
        given[PASSWORD] = "*" if given[PASSWORD] else ""
    named = sorted(map(list, given.items()))
    return [__version__, stamp, named]


def _find_file() -> Path:
    return find_user_folder("data") / FILE_NAME


def prepare() -> None:
    """Keep the settings of this process, so that the next hook finds them."""
    load_hook_settings(Path.cwd(), os.environ)

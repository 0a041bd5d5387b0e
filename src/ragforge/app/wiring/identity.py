"""Identity: who uses RagForge here, as the settings, git or the system say."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ragforge.config.store_url import is_server
from ragforge.domain.conversations import Identity, Visibility
from ragforge.domain.text import to_one_line
from ragforge.patterns import compile_on_use

if TYPE_CHECKING:
    from ragforge.config.settings import Settings

MAX_CHARS = 200
MAX_BYTES = 100_000
UNKNOWN = "unknown"

_SECTION = compile_on_use(r"^\s*\[\s*([^\]\s]+)\s*\]")
_VALUE = compile_on_use(r"^\s*(name|email)\s*=\s*(.*?)\s*$", re.IGNORECASE)


def find_identity(settings: Settings, url: str | None = None) -> Identity:
    """Return who uses a store: that of the settings, or the one at a URL.

    The default visibility is private on a server and shared in a file.
    """
    import socket  # a hook needs the author only

    place = url or settings.store.url
    default: Visibility = "private" if is_server(place) else "shared"
    return Identity(
        author=find_author(settings.author, os.environ),
        host=socket.gethostname(),
        visibility=settings.store.visibility or default,
    )


def find_author(chosen: str | None, environ: Mapping[str, str]) -> str:
    """Return the author of the settings, else git's, else the name of the login.

    A repository's own configuration is not read: another user may have written it.
    """
    name, mail = _read_git_user(environ)
    known = f"{name} <{mail}>".strip() if mail else name
    text = to_one_line(chosen or known or _find_login()).strip()
    return text[:MAX_CHARS] or UNKNOWN


def _find_login() -> str:
    import getpass

    try:
        return getpass.getuser()
    # A user without a name, as in containers; on Windows one without USERNAME.
    except (ImportError, KeyError, OSError):
        return UNKNOWN


def _read_git_user(environ: Mapping[str, str]) -> tuple[str, str]:
    """Return the name and the mail address that git knows the user by; empty if there is none."""
    found = {"name": "", "email": ""}
    for path in _list_git_files(environ):
        found |= _read_user_section(path)
    name = environ.get("GIT_AUTHOR_NAME") or found["name"]
    return name, environ.get("GIT_AUTHOR_EMAIL") or found["email"]


def _list_git_files(environ: Mapping[str, str]) -> list[Path]:
    """Return the user's own configuration files of git; the later win."""
    if chosen := environ.get("GIT_CONFIG_GLOBAL"):
        return [Path(chosen)]
    home = Path(environ.get("HOME") or Path.home())
    folder = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
    return [folder / "git" / "config", home / ".gitconfig"]


def _read_user_section(path: Path) -> dict[str, str]:
    """Return the name and address in a file of git's. Starting git would cost more than reading."""
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            lines = file.read(MAX_BYTES).splitlines()
    except (OSError, ValueError):
        return {}
    found: dict[str, str] = {}
    section = ""
    for line in lines:
        if started := _SECTION.match(line):
            section = started[1].lower()
        elif section == "user" and (given := _VALUE.match(line)):
            found[given[1].lower()] = given[2].strip('"')
    return found

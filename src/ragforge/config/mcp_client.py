"""Servers: which ones a user's file and a project's `.mcp.json` name, and what they are given.

Another person may have written a project's file: it starts nothing before its user saw what,
and the keys of models are never put into it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragforge.config.agent_settings import read_entry, read_section
from ragforge.config.dotted_keys import PREFIX
from ragforge.config.files import read_text
from ragforge.config.services import SEARCH_KEYS, SERVICES
from ragforge.config.settings import ServerSettings
from ragforge.config.trust import NOTHING_SENSITIVE
from ragforge.errors import SettingsError
from ragforge.folders import exists
from ragforge.records import dataclass

if TYPE_CHECKING:
    from ragforge.domain.mcp_client import ServerSpec  # most projects name no server

PROJECT_SERVERS = ".mcp.json"
MAX_SERVERS = 100
MAX_ENTRY_CHARS = 4_000
"""Of a project's server: all of it is shown before its user says yes."""
NAME_FORM = "letters, digits, - and single _, 30 characters at most"
OURSELVES = "not started: it is RagForge itself, whose tools the agent has"
"""A project's file often names it, for other agents."""
_VARIABLE = re.compile(r"\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}")
_HTTP = ("http", "streamable-http", "streamable_http")


@dataclass(frozen=True, slots=True)
class ProjectServers:
    """What a project's `.mcp.json` would start or reach."""

    file: Path | None = None
    entries: Mapping[str, Any] = field(default_factory=dict)
    digest: str = NOTHING_SENSITIVE
    problem: str = ""  # why the file cannot be read


def read_project_servers(root: Path) -> ProjectServers:
    """Return what the `.mcp.json` of a project names; nothing of it is started."""
    path = root / PROJECT_SERVERS
    if not exists(path):
        return ProjectServers()
    try:
        content = json.loads(read_text(path, PROJECT_SERVERS))
        entries = content.get("mcpServers", {}) if isinstance(content, dict) else None
        if not isinstance(entries, dict) or len(entries) > MAX_SERVERS:
            raise SettingsError(f"{PROJECT_SERVERS}: it must hold servers under 'mcpServers'.")
    except (SettingsError, ValueError, RecursionError) as error:
        text = str(error) if isinstance(error, SettingsError) else "it is not valid JSON"
        return ProjectServers(path, problem=text)
    if not entries:
        return ProjectServers(path)
    written = json.dumps(entries, sort_keys=True)
    return ProjectServers(path, entries, hashlib.sha256(written.encode()).hexdigest())


def list_proposed(servers: ProjectServers) -> Iterator[tuple[str, str]]:
    """Yield each server of a project's file and what it would start, as it is written there."""
    for name, entry in servers.entries.items():
        yield str(name), json.dumps(entry)  # what cannot be seen is a number in it


def list_user_specs(
    servers: Mapping[str, ServerSettings], origin: str, cwd: str
) -> Iterator[ServerSpec]:
    """Yield how the servers of the user's file are reached."""
    for name, entry in servers.items():
        yield _fill(_make_spec(name, entry, origin, cwd), os.environ)


def list_project_specs(servers: ProjectServers, cwd: str) -> Iterator[ServerSpec]:
    """Yield how the servers of a project's file are reached; keys of services are not for them."""
    from ragforge.domain.mcp_client import ServerSpec

    ours = {name for service in SERVICES.values() for name in service.variables}
    ours |= set(SEARCH_KEYS.values())
    variables = {
        name: value
        for name, value in os.environ.items()
        if name not in ours and not name.startswith(PREFIX)
    }
    for name, entry in servers.entries.items():
        origin = str(servers.file)
        try:
            parsed = check_servers({name: _select_known(entry)})[name]
        except ValueError as error:
            yield ServerSpec(str(name), origin, problem=f"the file {error}")
        else:
            yield _fill(_make_spec(name, parsed, origin, cwd), variables)


def _select_known(entry: object) -> object:
    """Return an entry without what other programs want to know of a server."""
    if len(json.dumps(entry)) > MAX_ENTRY_CHARS:
        raise ValueError(f"has an entry of more than {MAX_ENTRY_CHARS:,} characters")
    if not isinstance(entry, dict):
        return entry
    return {key: entry[key] for key in ServerSettings.model_fields if key in entry}


def check_servers(value: object) -> dict[str, ServerSettings]:
    """Return the servers that a section, or a JSON text, names.

    Raises ValueError with half a sentence.
    """
    from ragforge.domain.mcp_client import SERVER_NAME

    value = read_section(value)
    if not isinstance(value, dict):
        raise ValueError("must be a section of a file, with a name and a command or url for each")
    found: dict[str, ServerSettings] = {}
    for name, entry in value.items():
        if not isinstance(name, str) or not SERVER_NAME.fullmatch(name):
            raise ValueError(f"has the server {str(name)[:60]!r}: a name is {NAME_FORM}")
        server = read_entry(ServerSettings, entry, f"has the server {name!r}")
        if bool(server.command) == bool(server.url):
            raise ValueError(f"has the server {name!r}: it needs either a command or a url")
        if server.type not in ("", *(("stdio",) if server.command else _HTTP)):
            raise ValueError(
                f"has the server {name!r}: its type is {server.type!r}; stdio (with a command) and "
                "http (streamable, with a url) are understood"
            )
        found[name] = server
    return found


def _make_spec(name: str, entry: ServerSettings, origin: str, cwd: str) -> ServerSpec:
    from ragforge.domain.mcp_client import ServerSpec

    if Path(entry.command).stem == "ragforge" and "mcp" in entry.args:
        return ServerSpec(name, origin, problem=OURSELVES, is_ignored=True)
    return ServerSpec(
        name,
        origin,
        entry.command,
        tuple(entry.args),
        entry.env,
        entry.url,
        entry.headers,
        str(Path(cwd, Path(entry.cwd).expanduser())) if entry.cwd else cwd,
    )


def _fill(spec: ServerSpec, variables: Mapping[str, str]) -> ServerSpec:
    """Return how a server is reached, with the variables that its entry names as `${NAME}`."""
    if spec.problem:
        return spec
    missing: list[str] = []

    def fill(text: str) -> str:
        def find(found: re.Match[str]) -> str:
            value = variables.get(found[1]) or found[2]
            if value is None:
                missing.append(found[1])
            return value or ""

        return _VARIABLE.sub(find, text)

    filled = replace(
        spec,
        command=fill(spec.command),
        args=tuple(map(fill, spec.args)),
        env={key: fill(value) for key, value in spec.env.items()},
        url=fill(spec.url),
        headers={key: fill(value) for key, value in spec.headers.items()},
    )
    if missing:
        return replace(spec, problem=f"it needs the variable {missing[0]}, which it cannot have")
    if filled.url and not filled.url.startswith(("http://", "https://")):
        return replace(spec, problem="its url does not start with http")
    return filled

"""Servers: the MCP servers that an editor passes with a session are its user's own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from acp.schema import AcpMcpServer, HttpMcpServer, McpServerStdio, SseMcpServer

from ragforge.config.servers import check_servers, list_user_specs
from ragforge.domain.servers import ServerSpec

Offered: TypeAlias = HttpMcpServer | SseMcpServer | AcpMcpServer | McpServerStdio

ORIGIN = "your editor"
_REFUSED = re.compile(r"[^A-Za-z0-9-]+")
_NAME_CHARS = 30


def list_specs(offered: Sequence[Offered] | None, folder: Path) -> Iterator[ServerSpec]:
    """Yield how the servers of an editor are reached, or why one cannot be."""
    for one in offered or ():
        name = _REFUSED.sub("-", one.name).strip("-")[:_NAME_CHARS] or "server"
        entry: dict[str, Any]
        match one:
            case McpServerStdio():
                variables = {variable.name: variable.value for variable in one.env}
                entry = {"command": one.command, "args": one.args, "env": variables}
            case HttpMcpServer():
                headers = {header.name: header.value for header in one.headers}
                entry = {"url": one.url, "headers": headers}
            case _:
                problem = f"servers of the type {one.type} cannot be used"
                yield ServerSpec(name, ORIGIN, problem=problem)
                continue
        try:
            yield from list_user_specs(check_servers({name: entry}), ORIGIN, str(folder))
        except ValueError as error:
            yield ServerSpec(name, ORIGIN, problem=f"the editor {error}")

"""Tools of servers: offered as any other tool, and never run without the user's permission."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ragforge.domain.chat import ToolSpec
from ragforge.domain.mcp_client import ServerTool
from ragforge.domain.text import Json, shorten_end
from ragforge.llm.calls import Tool
from ragforge.mcp_client.pool import BETWEEN, ServerPool, name_tool
from ragforge.tools.permission import PermissionRequest, Permit

MAX_TOOLS = 100
"""Of all servers together: providers refuse requests with more than 128 tools."""
DESCRIPTION_CHARS = 1_500
SCHEMA_CHARS = 10_000


def make_server_tools(servers: ServerPool, permit: Permit) -> tuple[Tool, ...]:
    """Return the tools of the servers that answer now.

    What a server says of its tools, that one only reads for example, permits nothing.
    """
    found = [
        _make_tool(servers, report.spec.name, tool, permit)
        for report in servers.list_reports()
        for tool in report.offer.tools
    ]
    return tuple(found[:MAX_TOOLS])


def _make_tool(servers: ServerPool, server: str, tool: ServerTool, permit: Permit) -> Tool:
    name = name_tool(server, tool.name)

    async def run(given: Mapping[str, Json]) -> Json:
        await permit(_make_request(server, tool.name, given))
        # Under a separate key: what a server says cannot look like a part of a result of ours.
        return {"server": server, "content": await servers.call(server, tool.name, given)}

    described = f"Tool {tool.name} of the MCP server {server}. {tool.description}"
    spec = ToolSpec(name, shorten_end(described, DESCRIPTION_CHARS), _clean_schema(tool.parameters))
    return Tool(spec, run, modifies_files=True)  # it may: what it does is unknown here


def _make_request(server: str, tool: str, given: Mapping[str, Json]) -> PermissionRequest:
    arguments = json.dumps(given, indent=2, ensure_ascii=False)
    name = name_tool(server, tool)
    return PermissionRequest(
        "mcp",
        name,
        f"server: {server}\ntool: {tool}\n{arguments}",
        always=(name, f"{server}{BETWEEN}*"),
    )


def _clean_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of arguments as providers take it; a huge one says nothing."""
    if len(json.dumps(schema, default=str)) > SCHEMA_CHARS:
        return {"type": "object"}
    kept = {key: value for key, value in schema.items() if key != "$schema"}
    return {"properties": {}, **kept, "type": "object"}

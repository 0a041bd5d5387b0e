"""Catalog: answers the calls of other agents, from the project that each is about.

A project is opened at its first call and stays open. Nothing is done in the background, no model
is asked and no process is started.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragforge.mcp.check import check_arguments
from ragforge.mcp.definitions import BUDGET, INSTRUCTIONS, PROMPTS, RESOURCES, STATUS, TOOLS
from ragforge.mcp.protocol import Client, Report
from ragforge.mcp.wire import INVALID_PARAMS, Content, WireError

if TYPE_CHECKING:
    from ragforge.mcp.projects import Projects


class RagForgeCatalog:
    """Everything that `ragforge mcp` offers."""

    instructions = INSTRUCTIONS

    def __init__(self, projects: Projects) -> None:
        self._projects = projects

    def list_tools(self) -> Sequence[Content]:
        return TOOLS

    def list_prompts(self) -> Sequence[Content]:
        return PROMPTS

    def list_resources(self) -> Sequence[Content]:
        return RESOURCES

    async def call_tool(self, params: Content, client: Client, report: Report) -> Content:
        """Return what a tool found; an error that its caller can mend is a result too."""
        from ragforge.errors import RagForgeError
        from ragforge.mcp.tools import RUN

        tool = next((one for one in TOOLS if one["name"] == params.get("name")), None)
        if tool is None:
            raise WireError(INVALID_PARAMS, f"There is no tool {str(params.get('name'))[:80]!r}.")
        name: str = tool["name"]
        given = check_arguments(name, tool["inputSchema"], params.get("arguments"))
        try:
            folder = given.get("project")
            app = await self._projects.open(None if folder is None else Path(folder))
            found = await RUN[name](app, given, client, report)
        except RagForgeError as error:
            return {"content": [{"type": "text", "text": str(error)}], "isError": True}
        if "inputRequests" in found:
            return found
        return _format_result(str(app.project_path), found, given.get("budget", BUDGET))

    async def get_prompt(self, params: Content, client: Client) -> Content:
        from ragforge.mcp.prompts import make_prompt

        app = await self._projects.open(None)
        text = await make_prompt(app, str(params.get("name")), params.get("arguments") or {})
        return {"messages": [{"role": "user", "content": {"type": "text", "text": text}}]}

    async def read_resource(self, params: Content, client: Client) -> Content:
        from ragforge.mcp.status import describe_status

        if params.get("uri") != STATUS:
            raise WireError(
                INVALID_PARAMS, f"There is no resource {str(params.get('uri'))[:80]!r}."
            )
        status = await describe_status(await self._projects.open(None))
        text = json.dumps(status, ensure_ascii=False)
        return {"contents": [{"uri": STATUS, "mimeType": "application/json", "text": text}]}


def _format_result(project: str, found: Mapping[str, Any], budget: int) -> Content:
    """Return a result within its budget, as structured content and as the same in text."""
    content = {"project": project, "result": found["result"], "cut": False}
    if problem := found.get("problem"):
        content["problem"] = problem
    text = json.dumps(content, ensure_ascii=False)
    while len(text) > budget and _leave_out(content):
        content["cut"] = True
        text = json.dumps(content, ensure_ascii=False)
    return {"content": [{"type": "text", "text": text}], "structuredContent": content}


def _leave_out(content: dict[str, Any]) -> bool:
    """Leave out the last of several results, or half of the only one; False: nothing is left."""
    result = content["result"]
    if isinstance(result, list) and len(result) > 1:
        content["result"] = result[:-1]
    elif isinstance(result, list) and result:
        content["result"] = [_halve(result[0])]
        return bool(content["result"][0] != result[0])
    else:
        content["result"] = _halve(result)
        return bool(content["result"] != result)
    return True


def _halve(value: Any) -> Any:
    """Return a value whose longest text, or list, has half its length."""
    if isinstance(value, str):
        return value[: len(value) // 2]
    if isinstance(value, list):
        return value[: len(value) // 2]
    if isinstance(value, dict) and value:
        longest = max(value, key=lambda name: len(json.dumps(value[name], ensure_ascii=False)))
        return {**value, longest: _halve(value[longest])}
    return value

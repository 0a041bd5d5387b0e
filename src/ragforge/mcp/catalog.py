"""Catalog: answers the calls of other agents, from the project that each is about.

A project is opened at its first call and stays open. Nothing is done in the background and no chat
model is asked; a program that a search needs, such as git, ends before the call is answered.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragforge.mcp.check import check_arguments
from ragforge.mcp.definitions import BUDGET, INSTRUCTIONS, PROMPTS, RESOURCES, STATUS, TOOLS
from ragforge.mcp.protocol import Client
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

    def forget_roots(self) -> None:
        self._projects.forget_roots()

    async def call_tool(self, params: Content, client: Client) -> Content:
        """Return what a tool found; an error that its caller can mend is a result too."""
        from ragforge.errors import AmbiguousId, RagForgeError
        from ragforge.mcp.budget import fit_result
        from ragforge.mcp.tools import RUN

        tool = next((one for one in TOOLS if one["name"] == params.get("name")), None)
        if tool is None:
            raise WireError(INVALID_PARAMS, f"There is no tool {str(params.get('name'))[:80]!r}.")
        name: str = tool["name"]
        try:
            given = check_arguments(name, tool["inputSchema"], params.get("arguments"))
            app = await self._projects.open(client, given.get("project"))
            found = await RUN[name](app, given, client)
        except AmbiguousId as error:  # its candidates may be of other projects
            return _fail(f"Several ids start with {error.prefix!r}. Give more of the id.")
        except RagForgeError as error:
            return _fail(str(error))
        content, text = fit_result(str(app.project_path), found, given.get("budget", BUDGET))
        return {"content": [{"type": "text", "text": text}], "structuredContent": content}

    async def get_prompt(self, params: Content, client: Client) -> Content:
        from ragforge.mcp.prompts import make_prompt

        name, given = params.get("name"), params.get("arguments")
        prompt = next((one for one in PROMPTS if one["name"] == name), None)
        if prompt is None:
            raise WireError(INVALID_PARAMS, f"There is no prompt {str(name)[:80]!r}.")
        given = given if isinstance(given, dict) else {}
        for argument in prompt.get("arguments", ()):
            if not isinstance(given.get(argument["name"]), str):
                raise WireError(INVALID_PARAMS, f"{name} needs the text {argument['name']}.")
        text = await make_prompt(await self._projects.open(client), str(name), given)
        return {"messages": [{"role": "user", "content": {"type": "text", "text": text}}]}

    async def read_resource(self, params: Content, client: Client) -> Content:
        from ragforge.mcp.status import describe_status

        if params.get("uri") != STATUS:
            raise WireError(
                INVALID_PARAMS, f"There is no resource {str(params.get('uri'))[:80]!r}."
            )
        status = await describe_status(await self._projects.open(client))
        text = json.dumps(status, ensure_ascii=False)
        return {"contents": [{"uri": STATUS, "mimeType": "application/json", "text": text}]}


def _fail(problem: str) -> Content:
    """Return a result that tells the model what went wrong, so that it can correct itself."""
    return {"content": [{"type": "text", "text": problem}], "isError": True}

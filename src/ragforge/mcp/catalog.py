"""Catalog: answers the calls of other agents, from the project that each is about.

A project is opened at its first call and stays open. There is no background work and no chat
model; a program that a search needs, such as git, ends before the call is answered.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ragforge.app.features.memory_entries import keep_start
from ragforge.domain.text import keep_beginning
from ragforge.errors import InputError
from ragforge.mcp.definitions import BUDGET, INSTRUCTIONS, PROMPTS, RESOURCES, STATUS, TOOLS
from ragforge.mcp.protocol import INVALID_PARAMS, Client, Content, WireError
from ragforge.show.project import status_to_json

if TYPE_CHECKING:
    from ragforge.app import App
    from ragforge.mcp.projects import Projects

_TYPES: Mapping[str, type] = {"string": str, "integer": int, "boolean": bool}
LIMITS: Mapping[str, tuple[int, int]] = {
    "budget": (1_000, 100_000),
    "depth": (1, 5),
    "limit": (1, 50),
    "page": (1, 1_000_000),
}
"""The range of each number. The schemas leave them out to save tokens."""
TURNS = 5
SESSIONS = 10
TEXT_CHARS = 1_500
_TEXTS = (4_000, 2_000, 1_000, 500, 240, 120, 60)
"""Maximum length of a text, step by step: all of a list in short is better than its beginning."""
_SPARED = {
    *("by_summary", "confidence", "created_at", "cwd", "found_by", "last_turn_index", "level"),
    *("project_path", "same_content", "signals", "status", "visibility"),
}
"""Fields that scripts may need and agents do not: they would cost tokens in every result."""


class RagForgeCatalog:
    """The tools, prompts and resources of `ragforge mcp`."""

    instructions = INSTRUCTIONS
    lists: Mapping[str, Content] = {
        "tools/list": {"tools": TOOLS},
        "prompts/list": {"prompts": PROMPTS},
        "resources/list": {"resources": RESOURCES},
        "resources/templates/list": {"resourceTemplates": []},
    }

    def __init__(self, projects: Projects) -> None:
        self._projects = projects

    def forget_roots(self) -> None:
        self._projects.forget_roots()

    async def call_tool(self, params: Content, client: Client) -> Content:
        """Return the result of a tool; an error that the caller can correct is a result too."""
        from ragforge.errors import AmbiguousId, RagForgeError
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
        name, given = params.get("name"), params.get("arguments")
        prompt = next((one for one in PROMPTS if one["name"] == name), None)
        if prompt is None:
            raise WireError(INVALID_PARAMS, f"There is no prompt {str(name)[:80]!r}.")
        given = given if isinstance(given, dict) else {}
        for argument in prompt.get("arguments", ()):
            if not isinstance(given.get(argument["name"]), str):
                raise WireError(INVALID_PARAMS, f"{name} needs the text {argument['name']}.")
        app = await self._projects.open(client)
        said = await (_resume(app) if name == "resume" else _why(app, given["name"]))
        text = f"Project: {app.project_path}\n{said}"
        return {"messages": [{"role": "user", "content": {"type": "text", "text": text}}]}

    async def read_resource(self, params: Content, client: Client) -> Content:
        if params.get("uri") != STATUS:
            raise WireError(
                INVALID_PARAMS, f"There is no resource {str(params.get('uri'))[:80]!r}."
            )
        status = await describe_status(await self._projects.open(client))
        text = json.dumps(status, ensure_ascii=False)
        return {"contents": [{"uri": STATUS, "mimeType": "application/json", "text": text}]}


def _fail(problem: str) -> Content:
    """Return a result that tells the model the problem, so that it can correct its call."""
    return {"content": [{"type": "text", "text": problem}], "isError": True}


def check_arguments(tool: str, schema: Mapping[str, Any], given: object) -> Mapping[str, Any]:
    """Return the arguments without those that are null.

    Raises InputError that names the wrong one and what it should be.
    """
    if given is None:
        given = {}
    if not isinstance(given, dict):
        raise _refuse(tool, "they are not an object")
    fields: Mapping[str, Mapping[str, Any]] = schema["properties"]
    for name in given:
        if name not in fields:
            raise _refuse(tool, f"there is no argument {name[:80]!r}; there are {list(fields)}")
    present = {name: value for name, value in given.items() if value is not None}
    for name in schema.get("required", ()):
        if name not in present:
            raise _refuse(tool, f"{name} is missing")
    for name, value in present.items():
        if problem := _find_problem(name, fields[name]["type"], value):
            raise _refuse(tool, f"{name} {problem}")
        if value not in fields[name].get("enum", (value,)):
            raise _refuse(tool, f"{name} is none of {', '.join(fields[name]['enum'])}")
    return present


def _find_problem(name: str, kind: str, value: object) -> str:
    if not isinstance(value, _TYPES[kind]) or isinstance(value, bool) != (kind == "boolean"):
        return f"is not of the type {kind}"
    if isinstance(value, str) and not value.strip():
        return "is empty"
    if kind == "integer" and isinstance(value, int):
        lowest, highest = LIMITS[name]
        if not lowest <= value <= highest:
            return f"is not from {lowest} to {highest}"
    return ""


def _refuse(tool: str, problem: str) -> InputError:
    return InputError(f"Invalid arguments for {tool}: {problem}.")


async def _resume(app: App) -> str:
    found = await app.sessions.find(limit=1)
    if not found:
        return "This project has no earlier session. Tell the user."
    last = found[0]
    turns = await app.sessions.latest_turns(last, TURNS)
    said = [
        f"User: {keep_beginning(turn.user.content, TEXT_CHARS)}\n"
        f"Assistant: {keep_beginning(turn.answer, TEXT_CHARS)}"
        for turn in turns
    ]
    head = "Summarise in a few lines where this work stopped, what is done and what is open."
    title = f"Last session, {last.updated_at:%Y-%m-%d}, by {last.agent}: {last.title or ''}"
    return "\n\n".join((head, title.rstrip(": "), *said))


async def _why(app: App, name: str) -> str:
    about = await app.sessions.find_about(name)
    lines = [
        f"- {one.conversation.updated_at:%Y-%m-%d} {one.conversation.title or 'a session'} "
        f"(id {one.conversation.uuid}): {touched.touch.how} "
        f"{touched.touch.name or touched.touch.file}, {touched.since.describe(touched.touch)}"
        for one in about[:SESSIONS]
        for touched in one.touched[:3]
    ]
    hits = await app.memory.search(f"{name}: decided, because, why", max_results=5)
    said = [
        f"- {hit.timestamp:%Y-%m-%d} {keep_beginning(hit.note.text, TEXT_CHARS)}"
        for hit in hits
        if hit.type == "note"
    ]
    head = (
        f"Explain why {name} is the way it is, from the notes and sessions below. `open` reads a "
        "session, `recall` finds more."
    )
    sessions = "\n".join(("Sessions that touched it:", *(lines or ["none"])))
    notes = "\n".join(("Notes:", *said)) if said else ""
    return "\n\n".join(filter(None, (head, sessions, notes)))


async def describe_status(app: App) -> dict[str, Any]:
    """Return the state of the project's code and of the queue, and the last session."""
    status = status_to_json(await app.code.status(), (await app.jobs.count()).by_status)
    last = await app.sessions.find(limit=1)
    active = last[0].updated_at.isoformat(timespec="seconds") if last else None
    return {"project": str(app.project_path), "last_active": active, **status}


def fit_result(project: str, found: Any, budget: int) -> tuple[dict[str, Any], str]:
    """Return a result within its budget, and the same as text.

    Empty and unneeded fields are left out. Long texts are cut first, then the end of long lists.
    """
    found = _drop_needless(found)
    content = {"project": project, "result": found}
    text = _to_json(content)
    for longest in _TEXTS:
        if len(text) <= budget:
            return content, text
        content = {"project": project, "cut": True, "result": _cut_texts(found, longest)}
        text = _to_json(content)
    while len(text) > budget and (longest_list := _find_longest_list(content["result"])):
        del longest_list[-max(1, len(longest_list) // 4) :]
        text = _to_json(content)
    return content, text


def _to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _drop_needless(value: Any) -> Any:
    if isinstance(value, dict):
        kept = {name: _drop_needless(part) for name, part in value.items() if name not in _SPARED}
        return {name: part for name, part in kept.items() if part not in (None, "", [], {})}
    return [_drop_needless(part) for part in value] if isinstance(value, list | tuple) else value


def _cut_texts(value: Any, longest: int) -> Any:
    if isinstance(value, str) and len(value) > longest:
        return keep_start(value, longest)
    if isinstance(value, dict):
        return {name: _cut_texts(part, longest) for name, part in value.items()}
    return [_cut_texts(part, longest) for part in value] if isinstance(value, list) else value


def _find_longest_list(value: Any) -> list[Any] | None:
    """Return the list with the longest text; of lists with one element, the shortest."""
    lists: list[list[Any]] = []

    def collect(part: Any) -> None:
        if isinstance(part, list) and part:
            lists.append(part)
        inner = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
        for one in inner:
            collect(one)

    def rank(one: list[Any]) -> tuple[bool, int]:
        chars = len(_to_json(one))
        return (True, chars) if len(one) > 1 else (False, -chars)

    collect(value)
    return max(lists, key=rank, default=None)

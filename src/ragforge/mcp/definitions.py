"""Definitions: the tools, prompts and the resource that other agents see, as plain data.

They are listed before anything is opened or imported: an agent asks for them at every start, and
often calls none. Descriptions are short, because each request of the agent pays tokens for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

BUDGET = 8_000
STATUS = "ragforge://status"

INSTRUCTIONS = (
    "RagForge remembers every session of this project, of all agents, linked to the code it "
    "touched. Before you change code you did not write, or when the user refers to earlier work, "
    "call recall or related. What has changed since is marked."
)

_OUTPUT = {"type": "object", "required": ["project", "result"]}


def _input(*required: str, **fields: Mapping[str, Any]) -> dict[str, Any]:
    budget = {"type": "integer", "description": f"Characters; {BUDGET} if not given"}
    project = _text("Folder of another project")
    schema = {"type": "object", "properties": {**fields, "budget": budget, "project": project}}
    return {**schema, "required": list(required)} if required else schema


def _text(description: str) -> dict[str, Any]:
    return {"type": "string", "description": description}


def _tool(name: str, description: str, schema: Mapping[str, Any], **hints: bool) -> dict[str, Any]:
    return {
        "name": name,
        "description": description,
        "inputSchema": schema,
        "outputSchema": _OUTPUT,
        "annotations": {**(hints or {"readOnlyHint": True}), "openWorldHint": False},
    }


_LIMIT = {"type": "integer"}
RELATIONS = [
    *("callers", "callees", "members", "implementors"),
    *("overrides", "users", "unused", "imports"),
]

TOOLS: tuple[dict[str, Any], ...] = (
    _tool(
        "recall",
        "Find past turns, summaries and notes of this project, of all agents, by words and "
        "meaning. Rules come first. What changed since is marked.",
        _input(
            "query",
            query=_text("What it was about"),
            since=_text("Day, such as 2026-10-01"),
            until=_text("Day"),
            file=_text("Only sessions that touched this file"),
            agent=_text("Only sessions of this agent, such as claude-code"),
            limit=_LIMIT,
        ),
    ),
    _tool(
        "search_code",
        "Find code of this project by meaning and names, with files and lines; then matching "
        "documents and configuration.",
        _input(
            "query",
            query=_text("Question or names"),
            path=_text("Only below this path"),
            limit=_LIMIT,
        ),
    ),
    _tool(
        "context",
        "Collect what memory and code hold for a task, with a receipt that says why.",
        _input("task", task=_text("What you are about to do")),
    ),
    _tool(
        "open",
        "Read a turn, summary, note or session in full, by pages.",
        _input("id", id=_text("An id returned by other tools"), page={"type": "integer"}),
    ),
    _tool(
        "related",
        "Callers and callees of code, the sessions that touched it, and what changed after. With "
        "`relation` only what it names.",
        _input(
            "name",
            name=_text("login, Session.login, a path, or path:line"),
            relation={"type": "string", "enum": RELATIONS},
            depth={"type": "integer", "description": "1 to 5; 2: callers of callers"},
            source={"type": "boolean", "description": "With the source"},
        ),
    ),
    _tool(
        "sessions",
        "List past sessions, the last active first; with a query, the most similar.",
        _input(query=_text("What they were about"), limit=_LIMIT),
    ),
    _tool(
        "remember",
        "Keep a decision, rule or correction for all later sessions.",
        _input(
            "text",
            text=_text("Understandable without context"),
            supersedes=_text("Id of the note it replaces"),
            rule={
                "type": "boolean",
                "description": "Always given to agents, because the user asked for it",
            },
        ),
        destructiveHint=False,
    ),
    _tool(
        "forget",
        "Delete a note or session permanently; the user is asked first.",
        _input("id", id=_text("Of a note or session")),
        destructiveHint=True,
    ),
)

PROMPTS: tuple[dict[str, Any], ...] = (
    {
        "name": "resume",
        "title": "Where was I?",
        "description": "The last session of this project: what was done, and what is open.",
    },
    {
        "name": "why",
        "title": "Why is it this way?",
        "description": "What was decided about a file or function, and when.",
        "arguments": [
            {"name": "name", "description": "A file, function or class", "required": True}
        ],
    },
)

RESOURCES = (
    {
        "uri": STATUS,
        "name": "status",
        "title": "Status of the memory",
        "description": "Sessions, code and jobs of this project.",
        "mimeType": "application/json",
    },
)

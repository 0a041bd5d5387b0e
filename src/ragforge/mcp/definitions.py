"""Definitions: the tools, prompts and the resource that other agents see, as plain data.

They are listed before anything is opened or imported: an agent asks for them at every start, and
most starts call none. Descriptions cost each of its requests tokens, so they are short.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

BUDGET = 8_000
MOST_BUDGET = 100_000
STATUS = "ragforge://status"

INSTRUCTIONS = (
    "RagForge remembers every session of this project, of all agents, linked to the code it "
    "touched. Before you change code you did not write, or when the user refers to earlier work, "
    "call recall or related. What has changed since is marked."
)


def _object(required: str, **fields: Mapping[str, Any]) -> dict[str, Any]:
    shared = {
        "project": {"type": "string", "description": "Folder of the project, if not this one"},
        "budget": {
            "type": "integer",
            "minimum": 500,
            "maximum": MOST_BUDGET,
            "description": f"Characters of the result; {BUDGET} if not given",
        },
    }
    return {
        "type": "object",
        "properties": {**fields, **shared},
        "required": required.split(),
        "additionalProperties": False,
    }


def _text(description: str) -> dict[str, Any]:
    return {"type": "string", "minLength": 1, "description": description}


def _limit(default: int) -> dict[str, Any]:
    return {
        "type": "integer",
        "minimum": 1,
        "maximum": 50,
        "description": f"{default} if not given",
    }


_OUTPUT = {
    "type": "object",
    "properties": {
        "project": {"type": "string"},
        "result": {},
        "cut": {"type": "boolean", "description": "Whether the budget left something out"},
        "problem": {"type": "string", "description": "A search that could not be made"},
    },
    "required": ["project", "result", "cut"],
}


def _tool(
    name: str, title: str, description: str, schema: Mapping[str, Any], **hints: bool
) -> dict[str, Any]:
    known = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True}
    return {
        "name": name,
        "title": title,
        "description": description,
        "inputSchema": schema,
        "outputSchema": _OUTPUT,
        "annotations": {"title": title, **known, "openWorldHint": False, **hints},
    }


TOOLS = (
    _tool(
        "recall",
        "Recall",
        "Past turns, summaries and notes of this project, of all agents, by words and meaning.",
        _object(
            "query",
            query=_text("What it was about, in your words"),
            since=_text("A day: 2026-10-01"),
            until=_text("A day"),
            file=_text("Only what touched this file"),
            agent=_text("Only sessions of this agent, such as claude-code"),
            limit=_limit(8),
        ),
    ),
    _tool(
        "search_code",
        "Search code",
        "Code of this project by meaning and names, with files and lines.",
        _object(
            "query",
            query=_text("A question, or names"),
            path=_text("Only below this directory, or in this file"),
            limit=_limit(8),
        ),
    ),
    _tool(
        "context",
        "Context for a task",
        "What is known for a task: memory and code within a budget, with a receipt that says why.",
        _object("task", task=_text("What you are about to do")),
    ),
    _tool(
        "open",
        "Open",
        "A turn, summary, note or session in full, by an id of another result.",
        _object(
            "id",
            id=_text("As another tool gave it"),
            page={"type": "integer", "minimum": 1, "description": "Of a long one; 1 if not given"},
        ),
    ),
    _tool(
        "related",
        "Related",
        "Callers and callees of a function, class or file, the sessions that touched it, and what "
        "changed after each.",
        _object("name", name=_text("login, Session.login, or a path")),
    ),
    _tool(
        "sessions",
        "Sessions",
        "Past sessions of this project, the last active first; with a query the most similar.",
        _object("", query=_text("What they were about"), limit=_limit(10)),
    ),
    _tool(
        "remember",
        "Remember",
        "Keep a decision, rule or correction for all later sessions.",
        _object(
            "text",
            text=_text("One thing, understandable by itself"),
            supersedes=_text("Id of a note that this one replaces"),
        ),
        readOnlyHint=False,
        idempotentHint=False,
    ),
    _tool(
        "forget",
        "Forget",
        "Delete a note or a session for good, after the user was asked.",
        _object("id", id=_text("Of a note or a session")),
        readOnlyHint=False,
        destructiveHint=True,
    ),
)

PROMPTS = (
    {
        "name": "resume",
        "title": "Where was I?",
        "description": "The last session of this project: what was done, and what is open.",
        "arguments": [],
    },
    {
        "name": "why",
        "title": "Why is it so?",
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

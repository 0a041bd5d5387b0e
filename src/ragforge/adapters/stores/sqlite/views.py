"""Views: the tables under the names of the graph, for queries of the user's own.

They exist on the connection that asks alone, so that tables may change and no file holds them.
A label is a view of its nodes. A relationship is a view with the ids of both ends, `source` and
`target`, and what it says beside them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import apsw

from ragforge.adapters.stores.sqlite.scope_rows import pick_columns
from ragforge.domain.code import RELATION_KINDS, SECTION, WHOLE_FILES
from ragforge.domain.schema import (
    CHECKOUT,
    CONVERSATION,
    FILE,
    MESSAGE,
    NOTE,
    PASSAGE,
    PROJECT,
    REFERENCE,
    SCOPE,
    SUMMARY,
    TOOL_CALL,
    TOOL_RESULT,
)


def _pick(columns: Iterable[str], table: str, where: str = "") -> str:
    names = ", ".join(f"{table}.{name}" for name in columns)
    return f"SELECT {names} FROM main.{table}{where and f' WHERE {where}'}"


def _pick_scopes(condition: str) -> str:
    names = pick_columns((*SCOPE, "project_id"))
    return f"SELECT {names} FROM main.scope o JOIN main.scope_text t ON t.id = o.id {condition}"


def _link(table: str, source: str, target: str, others: str = "", rest: str = "") -> str:
    return f"SELECT {source} AS source, {target} AS target{others} FROM main.{table} {rest}"


_NODES: Mapping[str, str] = {
    "Conversation": _pick(CONVERSATION, "conversation"),
    "ConversationSession": _pick(CONVERSATION, "conversation"),
    "Message": _pick(MESSAGE, "message"),
    "Passage": _pick(PASSAGE, "passage"),
    "ToolCall": _pick(TOOL_CALL, "tool_call"),
    "ToolResult": _pick(TOOL_RESULT, "tool_result"),
    "Summary": _pick(SUMMARY, "summary"),
    "Note": _pick(NOTE, "note"),
    "Checkout": _pick(CHECKOUT, "checkout"),
    "Project": _pick(PROJECT, "project"),
    "Directory": _pick(("uuid", "project_id", "path", "name"), "directory"),
    "File": _pick(FILE, "file", "kind <> 'web_page'"),
    "DocumentFile": _pick(FILE, "file", "kind = 'document'"),
    "WebPage": _pick(FILE, "file", "kind = 'web_page'"),
    "Scope": _pick_scopes(f"WHERE o.type <> '{SECTION}'"),
    "WholeFile": _pick_scopes(f"WHERE o.type IN {WHOLE_FILES}"),
    "MarkdownSection": _pick_scopes(f"WHERE o.type = '{SECTION}'"),
    "ExternalLibrary": "SELECT DISTINCT target AS name FROM main.relation"
    " WHERE kind = 'USES_LIBRARY'",
    "CodeReference": _pick(REFERENCE, "reference"),
    "CodeMention": _pick(
        ("owner_id", "kind", "target_id", "path", "qualified_name", "hash", "how"), "mention"
    ),
    "EmbeddingModel": _pick(("name", "dimension"), "model"),
}

_FACT = ", r.hash AS hash, r.how AS how"
_PARENT = "substr(r.path, 1, length(r.path) - length(r.name) - 1)"
_IN_PARENT = f"JOIN main.directory d ON d.project_id = r.project_id AND d.path = {_PARENT}"

_RELATIONSHIPS: Mapping[str, str] = {
    "HAS_MESSAGE": _link("message", "conversation_id", "uuid"),
    "HAS_PASSAGE": _link("passage", "turn_id", "uuid"),
    "MADE_TOOL_CALL": _link("tool_call", "message_id", "uuid"),
    "PRODUCED_RESULT": _link("tool_result", "tool_call_id", "uuid"),
    "HAS_SUMMARY": _link("summary", "conversation_id", "uuid"),
    "SUMMARIZES": _link(
        *("turn r", "r.covered_by", "m.uuid"),
        rest="JOIN main.message m ON m.conversation_id = r.conversation_id"
        " AND m.turn_index = r.turn_index WHERE r.covered_by IS NOT NULL UNION ALL "
        + _link("summary", "covered_by", "uuid", rest="WHERE covered_by IS NOT NULL"),
    ),
    "HAS_BRANCH": _link("branch", "source", "target", ", message_id"),
    "SUPERSEDES": _link(
        *("note r", "r.uuid", "o.uuid"), rest="JOIN main.note o ON o.uuid = r.supersedes"
    )
    + " UNION "
    + _link(
        *("note r, json_each(r.corrects) c", "r.uuid", "o.uuid"),
        rest="JOIN main.note o ON o.uuid = c.value",
    ),
    "REFERENCES_CODE": _link(
        *("reference r", "r.owner_id", "r.scope_id", _FACT),
        rest="JOIN main.scope s ON s.uuid = r.scope_id",
    ),
    "MENTIONS_FILE": _link(
        *("mention r", "r.owner_id", "r.target_id", _FACT),
        rest="JOIN main.file f ON f.uuid = r.target_id WHERE r.kind = 'file'",
    ),
    "MENTIONS_SCOPE": _link(
        *("mention r", "r.owner_id", "r.target_id", _FACT),
        rest="JOIN main.scope s ON s.uuid = r.target_id WHERE r.kind = 'scope'",
    ),
    "BELONGS_TO": _link("file", "uuid", "project_id"),
    "DEFINED_IN": _link("scope", "uuid", "file_id"),
    "IN_DIRECTORY": _link("file r", "r.uuid", "d.uuid", rest=_IN_PARENT)
    + " UNION ALL "
    + _link("directory r", "r.uuid", "d.uuid", rest=_IN_PARENT),
    **{
        kind: _link("relation", "source", "target", ", project_id", f"WHERE kind = '{kind}'")
        for kind in RELATION_KINDS
    },
}

VIEWS: Mapping[str, str] = {**_NODES, **_RELATIONSHIPS}
"""The name of each view and its query."""


def create_views(connection: apsw.Connection) -> None:
    """Create the views on this connection; the file stays as it is."""
    for name, query in VIEWS.items():
        connection.execute(f"CREATE TEMP VIEW {name} AS {query}")

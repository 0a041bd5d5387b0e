"""Query: run a user's SQL, which can only read the views."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import Any

import apsw

from ragforge.adapters.stores.sqlite import relations
from ragforge.adapters.stores.sqlite.database import open_for_reading
from ragforge.adapters.stores.sqlite.failures import translate_errors
from ragforge.adapters.stores.sqlite.file_texts import FUNCTIONS
from ragforge.adapters.stores.sqlite.scope_rows import TABLES, pick_columns
from ragforge.adapters.stores.sqlite.sql import Connection
from ragforge.domain.code import RELATION_KINDS, SECTION, WHOLE_FILES
from ragforge.domain.queries import Query, QueryResult, ResultSize, Value
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
    USAGE,
)
from ragforge.errors import InputError


def _pick(columns: Iterable[str], table: str, where: str = "") -> str:
    names = ", ".join(f"{table}.{name}" for name in columns)
    return f"SELECT {names} FROM main.{table}{where and f' WHERE {where}'}"


def _pick_scopes(condition: str) -> str:
    names = pick_columns((*SCOPE, "project_id"))
    return f"SELECT {names} FROM {TABLES} {condition}"


_NODES: Mapping[str, str] = {
    "Conversation": _pick(CONVERSATION, "conversation"),
    "ConversationSession": _pick(CONVERSATION, "conversation"),
    "Message": _pick(MESSAGE, "message"),
    "Passage": _pick(PASSAGE, "passage"),
    "ToolCall": _pick(TOOL_CALL, "tool_call"),
    "ToolResult": _pick(TOOL_RESULT, "tool_result"),
    "Summary": _pick(SUMMARY, "summary"),
    "Note": _pick(NOTE, "note"),
    "Usage": _pick(USAGE, "usage"),
    "Checkout": _pick(CHECKOUT, "checkout"),
    "Project": _pick(PROJECT, "project"),
    "Directory": _pick(("uuid", "project_id", "path", "name"), "directory"),
    "File": _pick(FILE, "file", "kind <> 'web_page'"),
    "DocumentFile": _pick(FILE, "file", "kind = 'document'"),
    "WebPage": _pick(FILE, "file", "kind = 'web_page'"),
    "Scope": _pick_scopes(f"WHERE o.type <> '{SECTION}'"),
    "WholeFile": _pick_scopes(f"WHERE o.type IN {WHOLE_FILES}"),
    "MarkdownSection": _pick_scopes(f"WHERE o.type = '{SECTION}'"),
    "ExternalLibrary": relations.LIBRARIES,
    "CodeReference": _pick(REFERENCE, "reference"),
    "CodeMention": _pick(
        ("owner_id", "kind", "target_id", "path", "qualified_name", "hash", "how"), "mention"
    ),
    "EmbeddingModel": _pick(("name", "dimension"), "model"),
}

_RELATIONS: dict[str, str] = {kind: relations.format_edges(kind) for kind in RELATION_KINDS}
_CREATED = re.compile(r"CREATE TEMP VIEW (\w+) AS\n(.*?);\n", re.DOTALL)
_OTHERS = _CREATED.findall(Path(__file__).with_name("views.sql").read_text("utf-8"))

VIEWS: Mapping[str, str] = {**_NODES, **dict(_OTHERS), **_RELATIONS}
"""The name of each view and its query."""


def create_views(db: Connection) -> None:
    """Create the views on this connection, without changing the file."""
    for name, query in VIEWS.items():
        db.execute(f"CREATE TEMP VIEW {name} AS {query}")


_STEPS = 10_000
"""How many steps of SQLite's virtual machine pass between two checks of the time."""
MAX_MEMORY = 256_000_000
"""Bytes that SQLite may take for a query, in addition to what the process uses already."""
_limiting = Lock()
_ALLOWED = (apsw.SQLITE_SELECT, apsw.SQLITE_RECURSIVE)
_FUNCTIONS_OF_TABLES = ("json_each", "json_tree")
_FORBIDDEN_FUNCTIONS = ("load_extension", "fts3_tokenizer")
_READ_ONLY = (
    "Only reading is allowed here: one SELECT over the views of docs/graph.md, which are "
    f"{', '.join(VIEWS)}."
)
_WRONG = (apsw.SQLError, apsw.BindingsError, apsw.MismatchError, apsw.TooBigError)


def run_query(path: Path, query: Query) -> QueryResult:
    """Run a query over the views, on a separate connection that cannot write.

    Raises InputError for one that cannot be run, wants more than to read, takes too long or needs
    too much memory.
    """
    with translate_errors(str(path)), _limit_memory():
        db = open_for_reading(path)
        try:
            create_views(db)
            _confine(db, query.max_seconds)
            return _read(db, query)
        except apsw.AuthError as error:
            raise InputError(_READ_ONLY) from error
        except apsw.InterruptError as error:
            raise InputError(
                f"The query was stopped after {query.max_seconds:g} seconds. Narrow it, or give "
                "it more time with --timeout."
            ) from error
        except apsw.NoMemError as error:
            raise InputError(
                f"The query was stopped: it needs more than {MAX_MEMORY // 1_000_000} MB of "
                "memory. Narrow it."
            ) from error
        except _WRONG as error:
            raise InputError(_explain(str(error))) from error
        finally:
            db.close()


@contextmanager
def _limit_memory() -> Iterator[None]:
    """Limit what SQLite allocates. The limit is one for the process, so queries take turns."""
    with _limiting:
        apsw.hard_heap_limit(apsw.memory_used() + MAX_MEMORY)
        try:
            yield
        finally:
            apsw.hard_heap_limit(0)


def _confine(db: Connection, seconds: float) -> None:
    """Allow only reading, and only for a limited time."""
    db.pragma("query_only", True)
    db.pragma("trusted_schema", False)
    db.authorizer = _authorise
    deadline = time.monotonic() + seconds
    db.set_progress_handler(lambda: time.monotonic() > deadline, _STEPS)


def _authorise(
    action: int, first: str | None, second: str | None, _: str | None, view: str | None
) -> int:
    """Tell SQLite what a statement may do. Tables are read only through the views."""
    if action in _ALLOWED:
        return apsw.SQLITE_OK
    if action == apsw.SQLITE_FUNCTION and second not in _FORBIDDEN_FUNCTIONS:
        return apsw.SQLITE_OK if second not in FUNCTIONS or view in VIEWS else apsw.SQLITE_DENY
    if action == apsw.SQLITE_READ and (
        view in VIEWS
        or first in VIEWS
        or first in _FUNCTIONS_OF_TABLES
        or not second  # no column of it: SQLite forgets which view joins the table
    ):
        return apsw.SQLITE_OK
    return apsw.SQLITE_DENY


def _read(db: Connection, query: Query) -> QueryResult:
    cursor = db.cursor()
    columns: list[str] = []

    def note_columns(running: apsw.Cursor, _: str, __: object) -> bool:
        found = [column[0] for column in running.get_description()]
        if found and columns:
            raise InputError("Give one statement at a time.")
        columns.extend(found)  # a comment without a statement has none
        return True

    cursor.exec_trace = note_columns
    size = ResultSize()
    try:
        rows = cursor.execute(query.text, dict(query.parameters))
        found = [_convert(row, size) for row in islice(rows, query.max_rows + 1)]
    except KeyError as error:
        name = error.args[0]
        raise InputError(
            f"The query needs a value for ${name}. Give it: --param {name}=VALUE"
        ) from error
    if not columns:
        raise InputError("The query is empty. Write a SELECT.")
    return QueryResult(tuple(columns), tuple(found[: query.max_rows]), len(found) > query.max_rows)


def _convert(row: tuple[Any, ...], size: ResultSize) -> tuple[Value, ...]:
    for value in row:
        size.add(value)
    return tuple(value.hex() if isinstance(value, bytes) else value for value in row)


def _explain(message: str) -> str:
    if message.startswith("no such table"):
        name = message.partition(": ")[2]
        return f"There is no view {name}. The views are {', '.join(VIEWS)}: see docs/graph.md."
    if message.endswith("because it is a view"):
        return _READ_ONLY
    return f"The query cannot be run: {message}."

"""Cypher: the few pieces that every query needs. Values are parameters, labels constants."""

from __future__ import annotations

from datetime import datetime
from hashlib import sha256
from typing import Any

from ragforge.domain.instants import to_epoch_ms, to_millisecond

CONVERSATION = """uuid title summary tags status cwd project_path message_count turn_count
    total_chars created_at updated_at updated_ms"""
MESSAGE = """uuid conversation_id role content reasoning timestamp timestamp_ms char_count
    turn_index token_count receipt process position summary_trimmed link_pending"""
TOOL_CALL = "uuid message_id position tool_name arguments timestamp duration_ms success iteration"
TOOL_RESULT = "uuid tool_call_id success result error timestamp result_size_bytes"
SUMMARY = """uuid conversation_id level conversation_summary actions_summary files_mentioned
    key_findings tools_used topics start_turn_index end_turn_index char_range_start
    char_range_end summary_char_count parent_summaries made_by created_at created_ms
    read_at summary_trimmed"""
NOTE = "uuid project_path conversation_id text tags supersedes created_at created_ms"
PROJECT = "uuid path name state"
FILE = "uuid project_id path name hash kind language size mtime state imports"
SCOPE = """uuid file_id name qualified_name type file language startLine endLine signature
    docstring source hash embedding_hash"""
REFERENCE = "owner_id scope_id file qualified_name hash how"
JOB = "key kind payload status attempts run_after run_after_ms created_at error"

DATES = frozenset(("created_at", "updated_at", "timestamp", "mtime", "run_after", "read_at"))
"""Properties that are date-times in the graph, and texts in rows.

Beside most of them stands the same moment in milliseconds, by which we filter and order: for
Neo4j two date-times differ that are one moment written with two offsets.
"""

FLAGS = frozenset(("summary_trimmed", "link_pending"))
"""Properties that are true, or absent."""

FILE_LABELS = "File|WebPage"
SCOPE_LABELS = "Scope|MarkdownSection"

LOCK = "SET n._lock = true REMOVE n._lock"
"""Take a node's write lock: what is read after this statement stays true until the end."""

_KEY_CHARS = 200


def fields(variable: str, names: str) -> str:
    """Return a map of a node's properties as a row: absent ones are null, helpers left out."""
    found = [
        f"{name}: toString({variable}.{name})" if name in DATES else f".{name}"
        for name in names.split()
    ]
    return variable + " {" + ", ".join(found) + "}"


def assign(variable: str, names: str, row: str = "row") -> str:
    """Return what comes after SET to give a node the properties of a row, which has these names."""
    changes = [
        f"{variable}.{name} = datetime({row}.{name})" for name in names.split() if name in DATES
    ]
    return ", ".join([f"{variable} += {row}", *changes])


def index_key(text: str) -> str:
    """Return what stands for a text in an index, where very long ones have no room."""
    if len(text) <= _KEY_CHARS:
        return text
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def filter_ms(field: str, moment: datetime) -> int:
    """Return a bound in milliseconds. Raises InvalidTime if it has no time zone."""
    return to_epoch_ms(to_millisecond(field, moment))


class Where:
    """Conditions on a node `n` that must all hold, with their parameters."""

    def __init__(self) -> None:
        self._conditions: list[str] = []
        self.parameters: dict[str, Any] = {}

    def add(self, condition: str, **parameters: Any) -> Where:
        """Add a condition, unless one of its parameters is None."""
        if all(value is not None for value in parameters.values()):
            self._conditions.append(condition)
            self.parameters |= parameters
        return self

    def between(self, name: str, since: datetime | None, until: datetime | None) -> Where:
        """Add bounds, both inclusive, on a property that holds milliseconds."""
        if since is not None:
            self.add(f"n.{name} >= $since", since=filter_ms("since", since))
        if until is not None:
            self.add(f"n.{name} <= $until", until=filter_ms("until", until))
        return self

    def under(self, name: str, path: str | None) -> Where:
        """Add: the path is this file, or lies in this directory (`src/a` is not `src/ab`)."""
        if path is None or not (path := path.strip("/")):
            return self
        condition = f"(n.{name} = $under OR n.{name} STARTS WITH $below)"
        return self.add(condition, under=path, below=f"{path}/")

    def __str__(self) -> str:
        return " AND ".join(self._conditions) or "true"

"""goose: its database of sessions, read-only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ragforge.domain.text import Json
from ragforge.transcripts import fields
from ragforge.transcripts.database import AgentDatabase, open_database, stamp_database
from ragforge.transcripts.files import is_there
from ragforge.transcripts.reader import Use, sort_blocks
from ragforge.transcripts.record import (
    Call,
    Entry,
    Record,
    RecordedResult,
    SessionFacts,
    add_answer,
)
from ragforge.transcripts.source import FileSource, Piece
from ragforge.transcripts.user_text import find_user_text

PIECE_ROWS = 500
_USES: dict[str, Use] = {
    **{"text": "text", "thinking": "thought", "toolResponse": "result"},
    **dict.fromkeys(("toolRequest", "frontendToolRequest"), "call"),
    **dict.fromkeys(("image", "redactedThinking", "toolConfirmationRequest"), "none"),
    **dict.fromkeys(("actionRequired", "systemNotification"), "none"),
    **dict.fromkeys(("conversationCompacted", "summarizationRequested"), "none"),
}


def list_files(home: Path, environ: Mapping[str, str], projects: Sequence[Path] = ()) -> list[Path]:
    root = environ.get("GOOSE_PATH_ROOT")
    data = Path(environ.get("XDG_DATA_HOME") or home / ".local" / "share") / "goose"
    path = (Path(root) / "data" if root else data) / "sessions" / "sessions.db"
    return [path] if is_there(path) else []


def fits(path: Path) -> bool:
    return path.name == "sessions.db"


def read(path: Path, cursor: Json = None) -> Iterator[Piece]:
    """Yield the messages after the one that the cursor names."""
    row = fields.number(cursor, "row") if isinstance(cursor, dict) else None
    with open_database(path) as database:
        yield from _read_rows(database, row or 0)


def _read_rows(database: AgentDatabase, last: int) -> Iterator[Piece]:
    database.require("sessions", "messages")
    (newest,) = database.query("SELECT MAX(id) AS id FROM messages")
    if (fields.number(newest, "id") or 0) < last:
        last = 0  # it is another database
    sessions = {str(row["id"]): row for row in database.query("SELECT * FROM sessions")}
    while True:
        rows = database.query(
            "SELECT * FROM messages WHERE id > ? ORDER BY id LIMIT ?", last, PIECE_ROWS
        )
        if not rows:
            return
        unknown: Counter[str] = Counter()
        named = dict.fromkeys(str(row["session_id"]) for row in rows)
        entries: list[Entry] = [_read_facts(sessions[name]) for name in named if name in sessions]
        for row in rows:
            model = _read_model(sessions.get(str(row["session_id"]), {}))
            entries += _read_message(row, model, unknown)
        last = int(rows[-1]["id"])
        size = sum(len(str(row.get("content_json"))) for row in rows)
        yield Piece(tuple(entries), {"row": last}, size, len(rows), unknown)


def _read_facts(row: Mapping[str, Any]) -> SessionFacts:
    parent = fields.text(row, "parent_session_id")
    is_one = fields.text(row, "session_type") == "sub_agent"
    title = fields.text(row, "name") or fields.text(row, "description")
    return SessionFacts(
        str(row["id"]),
        fields.text(row, "working_dir"),
        title=title,
        parent=parent,
        is_subagent=is_one,
    )


def _read_model(row: Mapping[str, Any]) -> str | None:
    config = fields.parse_text(fields.text(row, "model_config_json") or "null")
    return fields.text(config, "model_name") if isinstance(config, dict) else None


def _read_message(
    row: Mapping[str, Any], model: str | None, unknown: Counter[str]
) -> Iterator[Entry]:
    session = str(row["session_id"])
    name = fields.text(row, "message_id") or str(row["id"])
    role = fields.text(row, "role")
    content = fields.parse_text(fields.text(row, "content_json") or "null")
    if content is fields.BAD or role not in ("user", "assistant"):
        unknown[f"role {role}" if content is not fields.BAD else "message that is not JSON"] += 1
        return
    said = sort_blocks(fields.blocks(content), _USES, unknown, "block")
    calls = tuple(_read_call(one, f"{name}/{number}") for number, one in enumerate(said.calls))
    results = tuple(result for one in said.results for result in _read_result(one))
    at = fields.time(row, "created_timestamp")
    link = Record(session, f"{session}/{name}", None, at, results=results)
    if role == "user":
        text = find_user_text(said.text) if _is_visible(row) else ""
        yield replace(link, speaker="user", text=text) if text else link
        return
    tokens = fields.number(row, "tokens")
    answer = add_answer(link, said.text, said.reasoning, calls, model=model, tokens=tokens)
    if answer.speaker:
        yield answer


def _read_call(block: Mapping[str, Any], name: str) -> Call:
    value = fields.mapping(fields.mapping(block, "toolCall"), "value")
    tool = fields.text(value, "name") or "tool"
    return Call(fields.text(block, "id") or name, tool, value.get("arguments"))


def _is_visible(row: Mapping[str, Any]) -> bool:
    """Tell whether the user sees a message; summaries and notices are only for the model."""
    metadata = fields.parse_text(fields.text(row, "metadata_json") or "null")
    return not (isinstance(metadata, dict) and metadata.get("userVisible") is False)


def _read_result(block: Mapping[str, Any]) -> Iterator[RecordedResult]:
    result = fields.mapping(block, "toolResult")
    status, value = fields.text(result, "status"), fields.mapping(result, "value")
    if status not in ("success", "error"):
        return
    failed = status == "error" or value.get("isError") is True
    output = fields.join_texts(value.get("content")) or fields.join_texts(result.get("value"))
    error = fields.text(result, "error") or output or "it failed"
    call_id = fields.text(block, "id") or ""
    yield RecordedResult(
        call_id, not failed, output or (error if failed else ""), error if failed else None
    )


GOOSE = FileSource("goose", "goose", list_files, fits, read, stamp_database)

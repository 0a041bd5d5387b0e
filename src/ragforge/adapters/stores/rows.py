"""Rows: domain data as the flat properties of SPEC §2, the same on every engine.

Making a row checks it: what cannot be stored exactly raises an InputError here, before
anything is written.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, TypeAlias

from ragforge.domain.code import (
    CodeReference,
    File,
    FileMention,
    Project,
    Scope,
    ScopeName,
    Touch,
    TouchKind,
    pick_strongest,
)
from ragforge.domain.conversations import Conversation, Message, ToolCall, ToolResult
from ragforge.domain.instants import format_instant, parse_instant, to_epoch_ms, to_millisecond
from ragforge.domain.notes import Note
from ragforge.domain.summaries import Summary
from ragforge.domain.text import check_id, check_text, to_json
from ragforge.domain.work import Job, NewJob

Row: TypeAlias = dict[str, Any]
Stored: TypeAlias = Mapping[str, Any]


def checked(kind: str, row: Row) -> Row:
    """Return the row if every text in it can be stored."""
    for name, value in row.items():
        if name == "uuid":
            check_id(f"{kind}.{name}", value)
        elif isinstance(value, str):
            if not value.isascii():
                check_text(f"{kind}.{name}", value)
        elif isinstance(value, list):
            for item in value:
                check_text(f"{kind}.{name}", item)
    return row


def instant(field: str, moment: datetime) -> str:
    return format_instant(to_millisecond(field, moment))


def conversation_row(conversation: Conversation) -> Row:
    row: Row = {
        "uuid": conversation.uuid,
        "title": conversation.title,
        "summary": conversation.summary,
        "tags": list(conversation.tags),
        "status": conversation.status,
        "cwd": conversation.cwd,
        "project_path": conversation.project_path,
        "message_count": conversation.message_count,
        "turn_count": conversation.turn_count,
        "total_chars": conversation.total_chars,
        "created_at": instant("created_at", conversation.created_at),
        "updated_at": instant("updated_at", conversation.updated_at),
        "updated_ms": to_epoch_ms(conversation.updated_at),
    }
    for field in ("cwd", "project_path"):
        check_id(f"conversation.{field}", row[field])
    return checked("conversation", row)


def conversation_of(row: Stored) -> Conversation:
    return Conversation(
        uuid=row["uuid"],
        title=row["title"],
        summary=row["summary"],
        tags=tuple(row["tags"]),
        status=row["status"],
        cwd=row["cwd"],
        project_path=row["project_path"],
        message_count=row["message_count"],
        turn_count=row["turn_count"],
        total_chars=row["total_chars"],
        created_at=parse_instant(row["created_at"]),
        updated_at=parse_instant(row["updated_at"]),
    )


def message_row(conversation_id: str, message: Message) -> Row:
    return checked(
        "message",
        {
            "uuid": message.uuid,
            "conversation_id": conversation_id,
            "role": message.role,
            "content": message.content,
            "reasoning": message.reasoning,
            "timestamp": instant("message.timestamp", message.timestamp),
            "timestamp_ms": to_epoch_ms(message.timestamp),
            "char_count": message.char_count,
            "turn_index": message.turn_index,
            "token_count": message.token_count,
            "receipt": None if message.receipt is None else to_json("receipt", message.receipt),
            "process": message.process,
            "position": message.position,
        },
    )


def message_of(row: Stored, tool_calls: tuple[ToolCall, ...] = ()) -> Message:
    return Message(
        uuid=row["uuid"],
        role=row["role"],
        content=row["content"],
        reasoning=row["reasoning"],
        timestamp=parse_instant(row["timestamp"]),
        turn_index=row["turn_index"],
        token_count=row["token_count"],
        receipt=None if row["receipt"] is None else json.loads(row["receipt"]),
        process=row["process"],
        position=row["position"],
        tool_calls=tool_calls,
    )


def tool_call_row(message_id: str, position: int, call: ToolCall) -> Row:
    return checked(
        "tool_call",
        {
            "uuid": call.uuid,
            "message_id": message_id,
            "position": position,
            "tool_name": call.tool_name,
            "arguments": to_json("tool_call.arguments", call.arguments),
            "timestamp": instant("tool_call.timestamp", call.timestamp),
            "duration_ms": call.duration_ms,
            "success": call.success,
            "iteration": call.iteration,
        },
    )


def tool_result_row(call_id: str, result: ToolResult) -> Row:
    text = to_json("tool_result.result", result.result)
    return checked(
        "tool_result",
        {
            "uuid": result.uuid,
            "tool_call_id": call_id,
            "success": result.success,
            "result": text,
            "error": result.error,
            "timestamp": instant("tool_result.timestamp", result.timestamp),
            "result_size_bytes": result.result_size_bytes or len(text.encode()),
        },
    )


def tool_call_of(row: Stored, result: Stored | None) -> ToolCall:
    return ToolCall(
        uuid=row["uuid"],
        tool_name=row["tool_name"],
        arguments=json.loads(row["arguments"]),
        timestamp=parse_instant(row["timestamp"]),
        duration_ms=row["duration_ms"],
        success=bool(row["success"]),
        iteration=row["iteration"],
        result=None if result is None else _tool_result_of(result),
    )


def _tool_result_of(row: Stored) -> ToolResult:
    return ToolResult(
        uuid=row["uuid"],
        success=bool(row["success"]),
        result=json.loads(row["result"]),
        error=row["error"],
        timestamp=parse_instant(row["timestamp"]),
        result_size_bytes=row["result_size_bytes"],
    )


def summary_row(summary: Summary) -> Row:
    return checked(
        "summary",
        {
            "uuid": summary.uuid,
            "conversation_id": summary.conversation_id,
            "level": summary.level,
            "conversation_summary": summary.conversation_summary,
            "actions_summary": summary.actions_summary,
            "files_mentioned": list(summary.files_mentioned),
            "key_findings": list(summary.key_findings),
            "tools_used": list(summary.tools_used),
            "topics": list(summary.topics),
            "start_turn_index": summary.start_turn_index,
            "end_turn_index": summary.end_turn_index,
            "char_range_start": summary.char_range_start,
            "char_range_end": summary.char_range_end,
            "summary_char_count": summary.summary_char_count,
            "parent_summaries": list(summary.parent_summaries),
            "made_by": summary.made_by,
            "created_at": instant("summary.created_at", summary.created_at),
            "created_ms": to_epoch_ms(summary.created_at),
            "read_at": None if summary.read_at is None else instant("read_at", summary.read_at),
        },
    )


def summary_of(row: Stored) -> Summary:
    return Summary(
        uuid=row["uuid"],
        conversation_id=row["conversation_id"],
        level=row["level"],
        conversation_summary=row["conversation_summary"],
        actions_summary=row["actions_summary"],
        files_mentioned=tuple(row["files_mentioned"]),
        key_findings=tuple(row["key_findings"]),
        tools_used=tuple(row["tools_used"]),
        topics=tuple(row["topics"]),
        start_turn_index=row["start_turn_index"],
        end_turn_index=row["end_turn_index"],
        char_range_start=row["char_range_start"],
        char_range_end=row["char_range_end"],
        parent_summaries=tuple(row["parent_summaries"]),
        made_by=row["made_by"],
        created_at=parse_instant(row["created_at"]),
        read_at=None if row["read_at"] is None else parse_instant(row["read_at"]),
    )


def note_row(note: Note) -> Row:
    row: Row = {
        "uuid": note.uuid,
        "project_path": note.project_path,
        "conversation_id": note.conversation_id,
        "text": note.text,
        "tags": list(note.tags),
        "supersedes": note.supersedes,
        "created_at": instant("note.created_at", note.created_at),
        "created_ms": to_epoch_ms(note.created_at),
    }
    check_id("note.project_path", note.project_path)
    return checked("note", row)


def note_of(row: Stored) -> Note:
    return Note(
        uuid=row["uuid"],
        project_path=row["project_path"],
        conversation_id=row["conversation_id"],
        text=row["text"],
        tags=tuple(row["tags"]),
        supersedes=row["supersedes"],
        created_at=parse_instant(row["created_at"]),
    )


def project_row(project: Project) -> Row:
    check_id("project.path", project.path)
    row = {"uuid": project.uuid, "path": project.path, "name": project.name, "state": project.state}
    return checked("project", row)


def project_of(row: Stored) -> Project:
    return Project(uuid=row["uuid"], path=row["path"], name=row["name"], state=row["state"])


def file_row(project_id: str, file: File) -> Row:
    check_id("file.path", file.path)
    return checked(
        "file",
        {
            "uuid": file.uuid,
            "project_id": project_id,
            "path": file.path,
            "name": file.name,
            "hash": file.hash,
            "kind": file.kind,
            "language": file.language,
            "size": file.size,
            "mtime": file_time(file.mtime),
            "state": file.state,
            "imports": list(file.imports),
        },
    )


def file_time(time: datetime | None) -> str | None:
    return None if time is None else instant("file.mtime", time)


def file_of(row: Stored) -> File:
    return File(
        uuid=row["uuid"],
        path=row["path"],
        hash=row["hash"],
        kind=row["kind"],
        language=row["language"],
        size=row["size"],
        mtime=None if row["mtime"] is None else parse_instant(row["mtime"]),
        state=row["state"],
        imports=tuple(row["imports"] or ()),
    )


def scope_row(file_id: str, scope: Scope) -> Row:
    return checked(
        "scope",
        {
            "uuid": scope.uuid,
            "file_id": file_id,
            "name": scope.name,
            "qualified_name": scope.qualified_name,
            "type": scope.type,
            "file": scope.file,
            "language": scope.language,
            "startLine": scope.start_line,
            "endLine": scope.end_line,
            "signature": scope.signature,
            "docstring": scope.docstring,
            "source": scope.source,
            "hash": scope.hash,
            "embedding_hash": scope.embedding_hash,
        },
    )


def scope_name_of(row: Stored) -> ScopeName:
    return ScopeName(
        uuid=row["uuid"],
        name=row["name"],
        qualified_name=row["qualified_name"],
        type=row["type"],
        file=row["file"],
        start_line=row["startLine"],
        end_line=row["endLine"],
        signature=row["signature"],
    )


def scope_of(row: Stored) -> Scope:
    return Scope(
        uuid=row["uuid"],
        name=row["name"],
        qualified_name=row["qualified_name"],
        type=row["type"],
        file=row["file"],
        language=row["language"],
        start_line=row["startLine"],
        end_line=row["endLine"],
        signature=row["signature"],
        docstring=row["docstring"],
        source=row["source"],
        hash=row["hash"],
        embedding_hash=row["embedding_hash"],
    )


def reference_row(owner_id: str, reference: CodeReference) -> Row:
    check_id("reference.scope_id", reference.scope_id)
    return checked(
        "reference",
        {
            "owner_id": owner_id,
            "scope_id": reference.scope_id,
            "file": reference.file,
            "qualified_name": reference.qualified_name,
            "hash": reference.hash,
            "how": reference.how,
        },
    )


def reference_of(row: Stored) -> CodeReference:
    return CodeReference(
        row["scope_id"], row["file"], row["qualified_name"], row["hash"], row["how"]
    )


def touch_of(row: Stored) -> Touch:
    return Touch(
        conversation_id=row["conversation_id"],
        first_turn=row["first_turn"],
        last_turn=row["last_turn"],
        when=parse_instant(row["when"]),
        how=row["how"],
        file=row["file"],
        name=row["name"],
        hash=row["hash"],
        target_id=row["target_id"],
        by_summary=bool(row["by_summary"]),
    )


def stronger(row: Row, known: Mapping[str, TouchKind]) -> Row:
    """Return a reference's row that says no less than what is known of its scope."""
    before = known.get(row["scope_id"])
    return row if before is None else row | {"how": pick_strongest((row["how"], before))}


def file_mention_row(owner_id: str, mention: FileMention) -> Row:
    check_id("mention.file_id", mention.file_id)
    return checked(
        "mention",
        {
            "owner_id": owner_id,
            "file_id": mention.file_id,
            "path": mention.path,
            "hash": mention.hash,
            "how": mention.how,
        },
    )


def file_mention_of(row: Stored) -> FileMention:
    return FileMention(row["file_id"], row["path"], row["hash"], row["how"])


def job_row(job: NewJob, created: datetime) -> Row:
    check_id("job.key", job.key)
    check_id("job.kind", job.kind)
    run_after = created if job.run_after is None else job.run_after
    return checked(
        "job",
        {
            "key": job.key,
            "kind": job.kind,
            "payload": to_json("job.payload", job.payload),
            "status": "pending",
            "attempts": 0,
            "run_after": instant("job.run_after", run_after),
            "run_after_ms": to_epoch_ms(run_after),
            "created_at": instant("job.created_at", created),
            "error": None,
        },
    )


def job_of(row: Stored) -> Job:
    return Job(
        key=row["key"],
        kind=row["kind"],
        payload=json.loads(row["payload"]),
        status=row["status"],
        attempts=row["attempts"],
        run_after=parse_instant(row["run_after"]),
        created_at=parse_instant(row["created_at"]),
        error=row["error"],
    )

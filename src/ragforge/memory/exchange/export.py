"""Export: a conversation as a JSON document that loses nothing."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Collection, Iterable, Iterator

from ragforge.domain.code import CodeReference
from ragforge.domain.conversation_bundle import BranchPoint, ConversationBundle, SummaryBundle
from ragforge.domain.conversations import Message, ToolCall
from ragforge.domain.instants import format_instant
from ragforge.domain.notes import Note
from ragforge.domain.text import Json
from ragforge.domain.vectors import Vector
from ragforge.errors import InvalidJson
from ragforge.ports.archive import Archive

FORMAT = "ragforge.conversation"
VERSION = 2

_SURROGATE = re.compile("[\ud800-\udfff]")


async def export_conversation(
    archive: Archive, conversation_id: str, *, with_embeddings: bool = False
) -> dict[str, Json]:
    """Return a conversation as a document: see docs/export-format.md.

    The same conversation gives the same document, on every engine.
    Raises ConversationNotFound.
    """
    return build_document(await archive.conversation(conversation_id), with_embeddings)


def build_document(whole: ConversationBundle, with_embeddings: bool = True) -> dict[str, Json]:
    """Return a whole conversation as a document."""
    conversation = whole.conversation
    document: dict[str, Json] = {
        "format": FORMAT,
        "version": VERSION,
        "conversation": {
            "uuid": conversation.uuid,
            "title": conversation.title,
            "summary": conversation.summary,
            "tags": list(conversation.tags),
            "status": conversation.status,
            "cwd": conversation.cwd,
            "project_path": conversation.project_path,
            "created_at": format_instant(conversation.created_at),
            "updated_at": format_instant(conversation.updated_at),
        },
        "messages": [_export_message(message, whole) for message in whole.messages],
        "summaries": [
            _export_summary(known, whole.trimmed)
            for known in sorted(whole.summaries, key=_sort_key)
        ],
        "branch_of": None if whole.branch_of is None else _export_branch(whole.branch_of),
        "branches": [
            _export_branch(point)
            for point in sorted(whole.branches, key=lambda b: b.conversation_id)
        ],
    }
    if whole.notes:
        document["notes"] = [_export_note(note) for note in whole.notes]
    if with_embeddings:
        document["embeddings"] = list(_export_embeddings(whole))
    return document


def to_bytes(document: dict[str, Json]) -> bytes:
    """Return a document as UTF-8, one message, summary or vector a line.

    Raises InvalidJson if it is nested too deeply.
    """
    try:
        fields = [f"{json.dumps(name)}: {_dump_lines(value)}" for name, value in document.items()]
    except RecursionError as error:
        raise InvalidJson("The conversation", "a value in it is nested too deeply") from error
    text = "{\n" + ",\n".join(fields) + "\n}\n"
    # Half a pair of surrogates has no place in UTF-8, but may be escaped.
    return _SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", text).encode()


def _dump_lines(value: Json) -> str:
    if isinstance(value, list) and value:
        return "[\n" + ",\n".join(_dump(item) for item in value) + "\n]"
    return _dump(value)


def _dump(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _export_message(message: Message, whole: ConversationBundle) -> Json:
    return {
        "uuid": message.uuid,
        "role": message.role,
        "content": message.content,
        "reasoning": message.reasoning,
        "timestamp": format_instant(message.timestamp),
        "token_count": message.token_count,
        "receipt": message.receipt,
        "turn_index": message.turn_index,
        "position": message.position,
        "summary_trimmed": message.uuid in whole.trimmed,
        "link_pending": message.uuid in whole.link_pending,
        "tool_calls": [_export_call(call) for call in message.tool_calls],
        "references": _export_references(whole.references.get(message.uuid, ())),
    }


def _export_call(call: ToolCall) -> Json:
    result = call.result
    return {
        "uuid": call.uuid,
        "tool_name": call.tool_name,
        "arguments": call.arguments,
        "timestamp": format_instant(call.timestamp),
        "duration_ms": call.duration_ms,
        "success": call.success,
        "iteration": call.iteration,
        "result": None
        if result is None
        else {
            "uuid": result.uuid,
            "success": result.success,
            "result": result.result,
            "error": result.error,
            "timestamp": format_instant(result.timestamp),
            "result_size_bytes": result.result_size_bytes,
        },
    }


def _export_references(references: Iterable[CodeReference]) -> list[Json]:
    in_order = sorted(references, key=lambda r: (r.file, r.qualified_name, r.scope_id))
    return [
        {
            "scope_id": one.scope_id,
            "file": one.file,
            "qualified_name": one.qualified_name,
            "hash": one.hash,
            "how": one.how,
        }
        for one in in_order
    ]


def _sort_key(known: SummaryBundle) -> tuple[int, int, str]:
    return known.summary.level, known.summary.start_turn_index, known.summary.uuid


def _export_summary(known: SummaryBundle, trimmed: Collection[str]) -> Json:
    summary = known.summary
    return {
        "uuid": summary.uuid,
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
        "parent_summaries": list(summary.parent_summaries),
        "covers": list(known.covers),
        "summary_trimmed": summary.uuid in trimmed,
        "made_by": summary.made_by,
        "created_at": format_instant(summary.created_at),
        "read_at": None if summary.read_at is None else format_instant(summary.read_at),
        "files": [
            {"file_id": one.file_id, "path": one.path, "hash": one.hash, "how": one.how}
            for one in sorted(known.files, key=lambda f: (f.path, f.file_id))
        ],
        "scopes": _export_references(known.scopes),
    }


def _export_branch(point: BranchPoint) -> Json:
    return {"conversation_id": point.conversation_id, "message_id": point.message_id}


def _export_note(note: Note) -> Json:
    return {
        "uuid": note.uuid,
        "text": note.text,
        "tags": list(note.tags),
        "supersedes": note.supersedes,
        "created_at": format_instant(note.created_at),
    }


def _export_embeddings(whole: ConversationBundle) -> Iterator[Json]:
    if whole.vector is not None:
        yield _export_embedding("conversation", whole.conversation.uuid, whole.vector)
    for message in whole.messages:
        if (vector := whole.turn_vectors.get(message.uuid)) is not None:
            yield _export_embedding("turn", message.uuid, vector)
    for known in sorted(whole.summaries, key=_sort_key):
        if (vector := whole.summary_vectors.get(known.summary.uuid)) is not None:
            yield _export_embedding("summary", known.summary.uuid, vector)
    for note in whole.notes:
        if (vector := whole.note_vectors.get(note.uuid)) is not None:
            yield _export_embedding("note", note.uuid, vector)


def _export_embedding(owner: str, owner_id: str, vector: Vector) -> Json:
    data = base64.b64encode(vector.data).decode("ascii")
    return {"owner": owner, "owner_id": owner_id, "model": vector.model, "data": data}

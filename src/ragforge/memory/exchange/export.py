"""Export: a conversation as a JSON document, without loss."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Collection, Iterable, Iterator
from datetime import datetime

from pydantic import BaseModel, TypeAdapter

from ragforge.domain.code import CodeReference
from ragforge.domain.conversation_bundle import ConversationBundle, SummaryBundle
from ragforge.domain.conversations import Message, ToolCall
from ragforge.domain.instants import format_instant
from ragforge.domain.projects import RepositoryIdentity
from ragforge.domain.schema import KINDS
from ragforge.domain.text import Json
from ragforge.domain.vectors import Vector
from ragforge.errors import InvalidJson
from ragforge.memory.exchange.format import (
    BranchPart,
    ConversationPart,
    FileMentionPart,
    MessagePart,
    NotePart,
    ReferencePart,
    RepositoryPart,
    SummaryPart,
    ToolCallPart,
    ToolResultPart,
)
from ragforge.ports.archive import Archive

FORMAT = "ragforge.conversation"
VERSION = 5

_SURROGATE = re.compile("[\ud800-\udfff]")


async def export_conversation(
    archive: Archive,
    conversation_id: str,
    *,
    with_embeddings: bool = False,
    repository: RepositoryIdentity | None = None,
) -> dict[str, Json]:
    """Return a conversation as a document: see docs/export-format.md.

    With `repository`, it says what its project is known by on any machine. The same
    conversation gives the same document, on every engine. Raises ConversationNotFound.
    """
    whole = await archive.conversation(conversation_id)
    return build_document(whole, with_embeddings, repository)


def build_document(
    whole: ConversationBundle,
    with_embeddings: bool = True,
    repository: RepositoryIdentity | None = None,
) -> dict[str, Json]:
    """Return a conversation as a document."""
    document: dict[str, Json] = {
        "format": FORMAT,
        "version": VERSION,
        "conversation": _write(ConversationPart, whole.conversation),
        **({"repository": _write(RepositoryPart, repository)} if repository else {}),
        "messages": [_export_message(message, whole) for message in whole.messages],
        "summaries": [
            _export_summary(known, whole.trimmed)
            for known in sorted(whole.summaries, key=_sort_key)
        ],
        "branch_of": whole.branch_of and _write(BranchPart, whole.branch_of),
        "branches": [
            _write(BranchPart, point)
            for point in sorted(whole.branches, key=lambda b: b.conversation_id)
        ],
    }
    if whole.notes:
        document["notes"] = [_write(NotePart, note) for note in whole.notes]
    if parts := {name: items for name, items in whole.parts.items() if items}:
        document["parts"] = {
            name: [TypeAdapter(KINDS[name].data).dump_python(one, mode="json") for one in items]
            for name, items in parts.items()
        }
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
    # A lone surrogate cannot be encoded as UTF-8, but it can be escaped.
    return _SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", text).encode()


def _dump_lines(value: Json) -> str:
    if isinstance(value, list) and value:
        return "[\n" + ",\n".join(_dump(item) for item in value) + "\n]"
    return _dump(value)


def _dump(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _write(part: type[BaseModel], item: object, **given: Json) -> dict[str, Json]:
    """Return a part of the document: its fields, as given or as the item has them."""
    return {
        name: given[name] if name in given else _write_value(getattr(item, name))
        for name in part.model_fields
    }


def _write_value(value: Json) -> Json:
    if isinstance(value, datetime):
        return format_instant(value)
    return list(value) if isinstance(value, tuple) else value


def _export_message(message: Message, whole: ConversationBundle) -> Json:
    return _write(
        MessagePart,
        message,
        summary_trimmed=message.uuid in whole.trimmed,
        link_pending=message.uuid in whole.link_pending,
        tool_calls=[_export_call(call) for call in message.tool_calls],
        references=_export_references(whole.references.get(message.uuid, ())),
    )


def _export_call(call: ToolCall) -> Json:
    result = call.result and _write(ToolResultPart, call.result)
    return _write(ToolCallPart, call, result=result)


def _export_references(references: Iterable[CodeReference]) -> list[Json]:
    in_order = sorted(references, key=lambda r: (r.file, r.qualified_name, r.scope_id))
    return [_write(ReferencePart, one) for one in in_order]


def _sort_key(known: SummaryBundle) -> tuple[int, int, str]:
    return known.summary.level, known.summary.start_turn_index, known.summary.uuid


def _export_summary(known: SummaryBundle, trimmed: Collection[str]) -> Json:
    files = sorted(known.files, key=lambda f: (f.path, f.file_id))
    return _write(
        SummaryPart,
        known.summary,
        covers=list(known.covers),
        summary_trimmed=known.summary.uuid in trimmed,
        files=[_write(FileMentionPart, one) for one in files],
        scopes=_export_references(known.scopes),
    )


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

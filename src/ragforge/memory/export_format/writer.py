"""Writer: a conversation as a JSON document, without loss."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable
from operator import itemgetter
from typing import Any

from pydantic import BaseModel, TypeAdapter

from ragforge.domain.conversation_bundle import Bundle, group_by
from ragforge.domain.kinds import Kind, Stored
from ragforge.domain.projects import RepositoryIdentity
from ragforge.domain.schema import (
    CONVERSATION,
    FILE_MENTION,
    KINDS,
    MESSAGE,
    NOTE,
    REFERENCE,
    SUMMARY,
    TOOL_CALL,
    TOOL_RESULT,
    list_parts,
)
from ragforge.domain.text import Json
from ragforge.errors import InvalidJson
from ragforge.memory.export_format.format import (
    ConversationPart,
    FileMentionPart,
    MessagePart,
    NotePart,
    ReferencePart,
    SummaryPart,
    ToolCallPart,
    ToolResultPart,
)
from ragforge.ports.store import Archive

FORMAT = "ragforge.conversation"
VERSION = 6

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
    bundle = await archive.conversation(conversation_id, with_embeddings)
    return build_document(bundle, with_embeddings, repository)


def build_document(
    bundle: Bundle,
    with_embeddings: bool = True,
    repository: RepositoryIdentity | None = None,
) -> dict[str, Json]:
    """Return a conversation as a document."""
    [about] = bundle["conversation"]
    messages = sorted(bundle["message"], key=itemgetter("position"))
    calls = group_by(sorted(bundle["tool_call"], key=itemgetter("position")), "message_id")
    results = {row["tool_call_id"]: row for row in bundle["tool_result"]}
    references = group_by(bundle["reference"], "owner_id")
    mentions = group_by(bundle["mention"], "owner_id")
    summaries = sorted(bundle["summary"], key=itemgetter("level", "start_turn_index", "uuid"))
    notes = sorted(bundle["note"], key=itemgetter("created_ms", "uuid"))
    origins = [one for one in bundle["branch"] if one["target"] == about["uuid"]]
    branches = [one for one in bundle["branch"] if one["target"] != about["uuid"]]

    def write_call(call: Stored) -> Json:
        result = results.get(call["uuid"])
        given = {"result": result and _write(ToolResultPart, TOOL_RESULT, result)}
        return _write(ToolCallPart, TOOL_CALL, call, **given)

    document: dict[str, Json] = {
        "format": FORMAT,
        "version": VERSION,
        "conversation": _write(ConversationPart, CONVERSATION, about),
        **(
            {"repository": {"remote": repository.remote, "roots": list(repository.roots)}}
            if repository
            else {}
        ),
        "messages": [
            _write(
                MessagePart,
                MESSAGE,
                one,
                tool_calls=[write_call(call) for call in calls[one["uuid"]]],
                references=_write_references(references[one["uuid"]]),
            )
            for one in messages
        ],
        "summaries": [_write_summary(one, mentions[one["uuid"]]) for one in summaries],
        "branch_of": next((_write_branch(one, "source") for one in origins), None),
        "branches": [
            _write_branch(one, "target") for one in sorted(branches, key=itemgetter("target"))
        ],
    }
    if notes:
        document["notes"] = [_write(NotePart, NOTE, note) for note in notes]
    if parts := {kind.name: bundle[kind.name] for kind in list_parts() if bundle[kind.name]}:
        document["parts"] = {name: _write_parts(KINDS[name], rows) for name, rows in parts.items()}
    if with_embeddings:
        vectors = {(one["owner_kind"], one["owner_id"]): one for one in bundle["vector"]}
        passages = sorted(uuid for owner, uuid in vectors if owner == "passage")
        owners = (
            ("conversation", [about["uuid"]]),
            ("turn", [one["uuid"] for one in messages]),
            ("passage", passages),
            ("summary", [one["uuid"] for one in summaries]),
            ("note", [one["uuid"] for one in notes]),
        )
        document["embeddings"] = [
            _write_vector(vectors[owner, uuid])
            for owner, ids in owners
            for uuid in ids
            if (owner, uuid) in vectors
        ]
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


def _write(
    part: type[BaseModel], kind: Kind[Any, Any], row: Stored, **given: Json
) -> dict[str, Json]:
    """Return a part of the document: its fields, as given or as the record has them."""
    found = {name: given[name] if name in given else row[name] for name in part.model_fields}
    for name in kind.json & found.keys():
        found[name] = found[name] and json.loads(found[name])
    for name in kind.lists & found.keys():
        found[name] = found[name] or []
    return found


def _write_references(rows: Iterable[Stored]) -> list[Json]:
    in_order = sorted(rows, key=itemgetter("file", "qualified_name", "scope_id"))
    return [_write(ReferencePart, REFERENCE, one) for one in in_order]


def _write_summary(row: Stored, mentions: Iterable[Stored]) -> Json:
    in_order = sorted(mentions, key=itemgetter("path", "target_id"))
    scopes = (
        {**one, "scope_id": one["target_id"], "file": one["path"]}
        for one in in_order
        if one["kind"] == "scope"
    )
    return _write(
        SummaryPart,
        SUMMARY,
        row,
        covers=[int(turn) for turn in row["covers"]],
        files=[
            _write(FileMentionPart, FILE_MENTION, one, file_id=one["target_id"])
            for one in in_order
            if one["kind"] == "file"
        ],
        scopes=_write_references(scopes),
    )


def _write_branch(row: Stored, other: str) -> Json:
    return {"conversation_id": row[other], "message_id": row["message_id"]}


def _write_parts(kind: Kind[Any, Any], rows: Iterable[Stored]) -> Json:
    write = TypeAdapter(kind.data).dump_python
    return [write(kind.decode(one), mode="json") for one in sorted(rows, key=itemgetter(kind.key))]


def _write_vector(row: Stored) -> Json:
    data = base64.b64encode(row["data"]).decode("ascii")
    owner, owner_id, model = row["owner_kind"], row["owner_id"], row["model"]
    return {"owner": owner, "owner_id": owner_id, "model": model, "data": data}

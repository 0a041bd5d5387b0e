"""Imports: store an exported conversation, completely or not at all.

A document may come from anywhere: everything is checked before anything is written, and secrets are
removed.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import MISSING, fields, replace
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from ragforge.domain.authors import Identity
from ragforge.domain.code import CodeReference, FileMention
from ragforge.domain.conversation_bundle import (
    MAX_EXPORT_BYTES,
    BranchPoint,
    ConversationBundle,
    SummaryBundle,
    set_counters,
)
from ragforge.domain.conversation_bundle import copy_with_new_ids as with_new_ids
from ragforge.domain.conversations import Conversation, Message, ToolCall, ToolResult
from ragforge.domain.notes import Note
from ragforge.domain.projects import ProjectPlace, RepositoryIdentity
from ragforge.domain.schema import list_parts
from ragforge.domain.summaries import Summary
from ragforge.domain.text import Json
from ragforge.domain.vectors import Vector
from ragforge.errors import ImportRefused, InvalidVector
from ragforge.memory.exchange.checks import find_problems
from ragforge.memory.exchange.export import FORMAT, VERSION
from ragforge.memory.exchange.format import (
    ConversationPart,
    EmbeddingPart,
    ExportedConversation,
    MessagePart,
    NotePart,
    ReferencePart,
    RepositoryPart,
    SummaryPart,
    ToolCallPart,
)
from ragforge.memory.exchange.upgrade import upgrade_document
from ragforge.memory.secrets.redact_bundle import redact_bundle
from ragforge.memory.sessions import sign
from ragforge.ports.archive import Archive
from ragforge.records import dataclass

Data = TypeVar("Data")
NameProject: TypeAlias = Callable[[Conversation, RepositoryIdentity], Awaitable[str]]
"""Returns the id of a conversation's project here, given what its repository is known by."""

SHOWN_PROBLEMS = 3
"""How many problems of a document are shown at once."""
_KEY_CHARS = 60


@dataclass(frozen=True, slots=True)
class ImportResult:
    """The imported conversation, and in how many places secrets were removed."""

    conversation: Conversation
    redacted: int


async def import_conversation(
    archive: Archive,
    document: bytes | Json,
    *,
    as_new: bool = False,
    place: tuple[Path, ProjectPlace] | None = None,
    identity: Identity | None = None,
    name_project: NameProject | None = None,
) -> ImportResult:
    """Store an exported conversation, given as text or as parsed JSON.

    With `as_new` it gets new ids; with `place`, a working directory and its project, it belongs
    there. Else `name_project` says which project has its repository or lies at its path. With
    `identity` it is theirs, with its notes; messages keep their authors. One transaction stores
    everything or nothing.
    Raises ImportRefused, DuplicateId if one of its ids is in use, DimensionMismatch.
    """
    import asyncio

    def prepare() -> tuple[ConversationBundle, int, RepositoryIdentity]:
        parsed = parse_document(document) if isinstance(document, bytes) else document
        checked = check_document(parsed)
        return *redact_bundle(build_bundle(checked)), _import_repository(checked.repository)

    whole, redacted, repository = await asyncio.to_thread(prepare)
    if as_new:
        whole = with_new_ids(whole)
    if place is not None:
        cwd, project = place
        whole = _move(whole, str(cwd), project.path, project.id)
    elif name_project is not None:
        about = whole.conversation
        project_id = await name_project(about, repository)
        whole = _move(whole, about.cwd, about.project_path, project_id)
    if identity is not None:
        notes = tuple(
            replace(note, author=identity.author, visibility=identity.visibility)
            for note in whole.notes
        )
        whole = replace(whole, conversation=sign(whole.conversation, identity), notes=notes)
    await archive.add_conversation(whole)
    return ImportResult(set_counters(whole.conversation, whole.messages), redacted)


def _move(whole: ConversationBundle, cwd: str, path: str, project_id: str) -> ConversationBundle:
    """Return a conversation with its notes as one of a directory and its project."""
    moved = replace(whole.conversation, cwd=cwd, project_path=path, project_id=project_id)
    notes = [replace(note, project_path=path, project_id=project_id) for note in whole.notes]
    return replace(whole, conversation=moved, notes=tuple(notes))


def _import_repository(part: RepositoryPart | None) -> RepositoryIdentity:
    if part is None:
        return RepositoryIdentity()
    return RepositoryIdentity(part.remote, tuple(sorted(part.roots)))


def parse_document(data: bytes) -> Json:
    """Return the JSON of a document. Raises ImportRefused."""
    if len(data) > MAX_EXPORT_BYTES:
        raise ImportRefused(f"it is larger than {MAX_EXPORT_BYTES:,} bytes")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ImportRefused(f"it is not UTF-8: see byte {error.start:,}") from error
    try:
        return json.loads(
            text,
            parse_constant=_refuse_constant,
            parse_float=_parse_finite,
            object_pairs_hook=_refuse_repeated,
        )
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise ImportRefused(f"it is not JSON: {error.msg} at {place}") from error
    except RecursionError as error:
        raise ImportRefused("a value in it is nested too deeply") from error
    except ValueError as error:  # a number with thousands of digits, or one of our own
        raise ImportRefused(str(error)) from error


def check_document(document: Json) -> ExportedConversation:
    """Return a document of any version, validated. Raises ImportRefused."""
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ImportRefused(f'it has no "format": "{FORMAT}"')
    version = document.get("version")
    if isinstance(version, int) and not isinstance(version, bool) and version > VERSION:
        raise ImportRefused(
            f"it has version {version} of the format, this RagForge reads {VERSION}. "
            "Upgrade RagForge"
        )
    try:
        found = ExportedConversation.model_validate(upgrade_document(document))
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_context=False, include_input=False)
        problems = [(_format_path(one["loc"]), _explain(one["type"], one["msg"])) for one in wrong]
        raise _refuse(problems) from error
    if problems := list(islice(find_problems(found), SHOWN_PROBLEMS + 1)):
        raise _refuse(problems)
    return found


def build_bundle(document: ExportedConversation) -> ConversationBundle:
    """Return the conversation of a checked document. Raises ImportRefused for a bad vector."""
    about = document.conversation
    owners = ("conversation", "turn", "summary", "note")
    vectors: dict[str, dict[str, Vector]] = {owner: {} for owner in owners}
    for number, embedding in enumerate(document.embeddings):
        vectors[embedding.owner][embedding.owner_id] = _import_vector(number, embedding)
    in_order = sorted(document.summaries, key=lambda summary: summary.level)
    return ConversationBundle(
        conversation=_read(Conversation, about),
        messages=tuple(_import_message(part) for part in document.messages),
        references={
            part.uuid: _import_references(part.references)
            for part in document.messages
            if part.references
        },
        summaries=tuple(_import_summary(about.uuid, part) for part in in_order),
        branch_of=None if (origin := document.branch_of) is None else _read(BranchPoint, origin),
        branches=tuple(_read(BranchPoint, part) for part in document.branches),
        vector=vectors["conversation"].get(about.uuid),
        turn_vectors=vectors["turn"],
        summary_vectors=vectors["summary"],
        notes=tuple(_import_note(about, part) for part in document.notes),
        note_vectors=vectors["note"],
        parts=_import_parts(document),
        trimmed=frozenset(
            [part.uuid for part in document.messages if part.summary_trimmed]
            + [part.uuid for part in document.summaries if part.summary_trimmed]
        ),
        link_pending=frozenset(part.uuid for part in document.messages if part.link_pending),
    )


def _read(data: type[Data], part: BaseModel, **given: Any) -> Data:
    """Return an object with the fields that it shares with a part of the document, and `given`."""
    values = {
        field.name: tuple(value) if str(field.type).startswith("tuple") else value
        for field in fields(data)  # type: ignore[arg-type]
        if field.name not in given and (value := getattr(part, field.name, MISSING)) is not MISSING
    }
    return data(**values, **given)


def _import_message(part: MessagePart) -> Message:
    return _read(Message, part, tool_calls=tuple(_import_call(call) for call in part.tool_calls))


def _import_call(part: ToolCallPart) -> ToolCall:
    return _read(ToolCall, part, result=part.result and _read(ToolResult, part.result))


def _import_references(parts: Iterable[ReferencePart]) -> tuple[CodeReference, ...]:
    return tuple(_read(CodeReference, part) for part in parts)


def _import_summary(conversation_id: str, part: SummaryPart) -> SummaryBundle:
    summary = _read(Summary, part, conversation_id=conversation_id)
    files = tuple(_read(FileMention, one) for one in part.files)
    return SummaryBundle(summary, tuple(part.covers), files, _import_references(part.scopes))


def _import_note(about: ConversationPart, part: NotePart) -> Note:
    return _read(Note, part, project_path=about.project_path, conversation_id=about.uuid)


def _import_parts(document: ExportedConversation) -> dict[str, tuple[Any, ...]]:
    known = {kind.name: kind for kind in list_parts()}
    found: dict[str, tuple[Any, ...]] = {}
    for name, items in document.parts.items():
        if name not in known:
            raise _refuse([(f"parts.{name[:_KEY_CHARS]}", "is not known to this RagForge")])
        try:
            read = TypeAdapter(known[name].data).validate_python
            found[name] = tuple(map(read, items))
        except ValidationError as error:
            raise _refuse([(f"parts.{name}", str(error.errors()[0]["msg"]))]) from error
        if any(one.conversation_id != document.conversation.uuid for one in found[name]):
            raise _refuse([(f"parts.{name}", "belongs to another conversation")])
    return found


def _import_vector(number: int, part: EmbeddingPart) -> Vector:
    place = f"embeddings[{number}].data"
    try:
        vector = Vector(part.model, base64.b64decode(part.data, validate=True))
        vector.check()
    except (binascii.Error, ValueError) as error:
        raise _refuse([(place, "is not base64")]) from error
    except InvalidVector as error:
        raise _refuse([(place, f"is no vector: {error}")]) from error
    return vector


def _refuse(problems: list[tuple[str, str]]) -> ImportRefused:
    sentences = [
        f"{place} {reason}" if place else reason for place, reason in problems[:SHOWN_PROBLEMS]
    ]
    more = ", and more" if len(problems) > SHOWN_PROBLEMS else ""
    return ImportRefused("; ".join(sentences) + more)


def _format_path(steps: Iterable[int | str]) -> str:
    """Return the path to a part of the document: messages[3].role."""
    place = ""
    for step in steps:
        if isinstance(step, int):
            place += f"[{step}]"
        else:
            place += f".{step[:_KEY_CHARS]}" if place else step[:_KEY_CHARS]
    return place


def _explain(kind: str, message: str) -> str:
    known = {"missing": "is missing", "extra_forbidden": "is not a field of this format"}
    plain = message.removeprefix("Input ").removeprefix("String ").removeprefix("Value error, ")
    return known.get(kind, plain)


def _refuse_repeated(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        [(twice, _)] = counts.most_common(1)
        raise ValueError(f"the field {twice[:_KEY_CHARS]!r} is given twice in one object")
    return found


def _refuse_constant(text: str) -> Json:
    raise ValueError(f"{text} is not a number in JSON")


def _parse_finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"the number {text[:_KEY_CHARS]} is too large")
    return number

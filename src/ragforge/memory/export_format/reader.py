"""Reader: store an exported conversation, completely or not at all.

A document may come from anywhere: everything is checked before anything is written, and secrets are
removed.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections import Counter as Multiset
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import MISSING, fields, replace
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from ragforge.domain.code import CodeReference, FileMention
from ragforge.domain.conversation_bundle import (
    MAX_EXPORT_BYTES,
    NewBundle,
    add_message,
    count_messages,
)
from ragforge.domain.conversation_bundle import copy_with_new_ids as with_new_ids
from ragforge.domain.conversations import Conversation, Identity, Message, ToolCall, ToolResult
from ragforge.domain.kinds import CleanRow, Kind, Stored
from ragforge.domain.notes import Note
from ragforge.domain.passages import get_turn_id
from ragforge.domain.projects import ProjectPlace, RepositoryIdentity
from ragforge.domain.rows import encode_mentions, encode_message
from ragforge.domain.schema import CONVERSATION, NOTE, REFERENCE, SUMMARY, list_parts
from ragforge.domain.summaries import Summary
from ragforge.domain.text import Json
from ragforge.domain.vectors import Vector
from ragforge.errors import ImportRefused, InvalidVector
from ragforge.memory.export_format.checks import find_problems
from ragforge.memory.export_format.format import (
    BranchPart,
    EmbeddingPart,
    ExportedConversation,
    ReferencePart,
    RepositoryPart,
    ToolCallPart,
    upgrade_document,
)
from ragforge.memory.export_format.writer import FORMAT, VERSION
from ragforge.memory.secrets.redactor import REDACTOR
from ragforge.memory.sessions import sign
from ragforge.ports.store import Archive
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


class Counter:
    """The redactor of stores, which counts the texts with secrets."""

    def __init__(self) -> None:
        self.changes = 0

    def is_clean(self, values: Iterable[Json]) -> bool:
        return REDACTOR.is_clean(values)

    def redact(self, value: Json) -> Json:
        clean = REDACTOR.redact(value)
        self.changes += clean is not value
        return clean


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

    counter = Counter()

    def prepare() -> tuple[ExportedConversation, NewBundle]:
        parsed = parse_document(document) if isinstance(document, bytes) else document
        checked = check_document(parsed)
        return checked, build_bundle(checked, counter, place, identity)

    checked, bundle = await asyncio.to_thread(prepare)
    if as_new:
        bundle = with_new_ids(bundle)
    [talk] = bundle["conversation"]
    if place is None and name_project is not None:
        told = _read(Conversation, checked.conversation)
        project_id = await name_project(told, _import_repository(checked.repository))
        talk = {**talk, "project_id": project_id}
        bundle["conversation"] = [talk]
        bundle["note"] = [{**note, "project_id": project_id} for note in bundle["note"]]
    await archive.write(bundle, new=True)
    stored = CONVERSATION.decode({**talk, **count_messages(bundle["message"])})
    return ImportResult(stored, counter.changes)


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
            f"it has version {version} of the format, but this RagForge reads up to {VERSION}. "
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


def build_bundle(
    document: ExportedConversation,
    counter: Counter,
    place: tuple[Path, ProjectPlace] | None = None,
    identity: Identity | None = None,
) -> NewBundle:
    """Return the records of a checked document without secrets.

    They have no vectors of texts with secrets either: these would still find them.
    Raises ImportRefused for a bad vector.
    """
    bundle: NewBundle = defaultdict(list)
    secret: set[tuple[str, str]] = set()  # whose texts had secrets

    def add(kind: Kind[Any, Any], item: Any, **owner: Any) -> CleanRow:
        before = counter.changes
        row = kind.encode(item, counter, **owner)
        bundle[kind.name].append(row)
        if counter.changes > before:
            secret.add((kind.name, row[kind.key]))
        return row

    about = sign(_read(Conversation, document.conversation), identity)
    if place is not None:
        cwd, project = place
        about = replace(about, cwd=str(cwd), project_path=project.path, project_id=project.id)
    talk = add(CONVERSATION, about)
    hidden = {"private_to": talk["private_to"]}
    cut: set[int] = set()
    for said in document.messages:
        before = counter.changes
        calls = tuple(_import_call(call) for call in said.tool_calls)
        message = encode_message(_read(Message, said, tool_calls=calls), counter)
        message.row.update(summary_trimmed=said.summary_trimmed, link_pending=said.link_pending)
        add_message(bundle, message.place(talk, said.turn_index, said.position))
        if counter.changes > before:
            cut.add(said.turn_index)
        references = _import_references(said.references)
        bundle["reference"] += REFERENCE.encode_all(references, counter, owner_id=said.uuid)
    secret.update(("turn", said.uuid) for said in document.messages if said.turn_index in cut)
    for part in sorted(document.summaries, key=lambda one: one.level):
        summary = _read(Summary, part, conversation_id=about.uuid)
        covers, trimmed = list(map(str, part.covers)), part.summary_trimmed
        add(SUMMARY, summary, **hidden, covers=covers, summary_trimmed=trimmed)
        files = [_read(FileMention, one) for one in part.files]
        scopes = _import_references(part.scopes)
        bundle["mention"] += encode_mentions(part.uuid, files, scopes, counter)
    of_talk = {"conversation_id": about.uuid, "project_path": about.project_path}
    for noted in document.notes:
        note = _read(Note, noted, **of_talk, project_id=about.project_id)
        if identity is not None:
            note = replace(note, author=identity.author, visibility=identity.visibility)
        add(NOTE, note)
    for kind, items in _import_parts(document):
        for item in items:
            add(kind, item, **(hidden if "private_to" in kind else {}))
    if (origin := document.branch_of) is not None:
        bundle["branch"].append(_make_branch(origin.conversation_id, about.uuid, origin))
    for point in document.branches:
        bundle["branch"].append(_make_branch(about.uuid, point.conversation_id, point))
    for number, embedding in enumerate(document.embeddings):
        vector = _import_vector(number, embedding)
        if _find_source(vector) not in secret:
            bundle["vector"].append(vector)
    return bundle


def _find_source(vector: Stored) -> tuple[str, str]:
    """Return the kind and the id of what a vector was made of: passages are made of turns."""
    kind, uuid = vector["owner_kind"], vector["owner_id"]
    return ("turn", get_turn_id(uuid)) if kind == "passage" else (kind, uuid)


def _read(data: type[Data], part: BaseModel, **given: Any) -> Data:
    """Return an object with the fields that it shares with a part of the document, and `given`."""
    values = {
        field.name: tuple(value) if str(field.type).startswith("tuple") else value
        for field in fields(data)  # type: ignore[arg-type]
        if field.name not in given and (value := getattr(part, field.name, MISSING)) is not MISSING
    }
    return data(**values, **given)


def _import_call(part: ToolCallPart) -> ToolCall:
    return _read(ToolCall, part, result=part.result and _read(ToolResult, part.result))


def _import_references(parts: Iterable[ReferencePart]) -> list[CodeReference]:
    return [_read(CodeReference, part) for part in parts]


def _make_branch(source: str, target: str, part: BranchPart) -> Stored:
    return {"source": source, "target": target, "message_id": part.message_id}


def _import_parts(document: ExportedConversation) -> Iterator[tuple[Kind[Any, Any], list[Any]]]:
    known = {kind.name: kind for kind in list_parts()}
    for name, items in document.parts.items():
        if name not in known:
            raise _refuse([(f"parts.{name[:_KEY_CHARS]}", "is not known to this RagForge")])
        try:
            read = TypeAdapter(known[name].data).validate_python
            found = list(map(read, items))
        except ValidationError as error:
            raise _refuse([(f"parts.{name}", str(error.errors()[0]["msg"]))]) from error
        if any(one.conversation_id != document.conversation.uuid for one in found):
            raise _refuse([(f"parts.{name}", "belongs to another conversation")])
        yield known[name], found


def _import_vector(number: int, part: EmbeddingPart) -> Stored:
    place = f"embeddings[{number}].data"
    try:
        data = base64.b64decode(part.data, validate=True)
        Vector(part.model, data).check()
    except (binascii.Error, ValueError) as error:
        raise _refuse([(place, "is not base64")]) from error
    except InvalidVector as error:
        raise _refuse([(place, f"is not a vector: {error}")]) from error
    owner = {"owner_kind": part.owner, "owner_id": part.owner_id}
    return {**owner, "model": part.model, "data": data, "embedding_hash": None}


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
        counts = Multiset(name for name, _ in pairs)
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

"""Rows: encode items of several kinds together, and redact what is more than columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple

from ragforge.domain.code import (
    CodeLinks,
    CodeReference,
    FileMention,
    ParsedFile,
    Relation,
    Scope,
    TouchKind,
    pick_strongest,
)
from ragforge.domain.conversations import (
    BEFORE_FIRST_TURN,
    Conversation,
    Message,
    ToolCall,
    ToolResult,
)
from ragforge.domain.instants import date_session, to_epoch_ms
from ragforge.domain.kinds import (
    STORED,
    CleanRow,
    Kind,
    Redactor,
    Stored,
    check_row,
    format_time,
    redact_in_groups,
)
from ragforge.domain.schema import (
    CONVERSATION,
    FILE,
    FILE_MENTION,
    JOB,
    KINDS,
    MESSAGE,
    REFERENCE,
    SCOPE,
    SCOPE_MENTION,
    SUMMARY,
    TOOL_CALL,
    TOOL_RESULT,
    USAGE,
    list_texts_outside_source,
)
from ragforge.domain.summaries import Summary
from ragforge.domain.text import Json, check_text
from ragforge.domain.transcripts import (
    CallResult,
    IntakeStep,
    NewConversation,
    NewMessage,
    ReportedUsage,
    SessionUpdate,
)
from ragforge.domain.work import Job, NewJob
from ragforge.errors import TurnNotFound

_UPDATED = ("title", "instead_of", "agent_version", "git_branch")
"""The texts of a `SessionUpdate`."""


class EncodedMessage(NamedTuple):
    """A message without secrets, and its rows. Its position in a conversation is set later."""

    message: Message
    row: CleanRow
    calls: list[CleanRow]
    results: list[CleanRow]

    def place(self, conversation: Stored, turn_index: int, position: int) -> EncodedMessage:
        """Return it as a message of a conversation."""
        self.row.update(
            conversation_id=conversation["uuid"],
            private_to=conversation["private_to"],
            turn_index=turn_index,
            position=position,
        )
        placed = replace(self.message, turn_index=turn_index, position=position)
        return self._replace(message=placed)


def encode_message(message: Message, redactor: Redactor) -> EncodedMessage:
    """Return a message with its rows. One pass over all of its texts is cheaper than many."""
    message = redact_message(message, redactor)
    calls, results = [], []
    for position, call in enumerate(message.tool_calls):
        calls.append(TOOL_CALL.encode(call, STORED, message_id=message.uuid, position=position))
        if call.result is not None:
            results.append(encode_tool_result(call.uuid, call.result, STORED))
    return EncodedMessage(message, MESSAGE.encode(message, STORED), calls, results)


def list_named_turns(messages: Sequence[EncodedMessage]) -> set[int]:
    """Return the turns that answers name; they must exist, or one of the messages opens them."""
    said = (one.message for one in messages)
    return {one.turn_index for one in said if one.role != "user" and one.turn_index is not None}


def place_messages(
    conversation: Stored,
    messages: Sequence[EncodedMessage],
    newest_turn: int,
    position: int,
    known_turns: Iterable[int],
) -> list[EncodedMessage]:
    """Give new messages their turns and positions, after the newest turn and from a position on.

    Raises TurnNotFound if a message names a turn that is neither known nor opened before it.
    """
    known = {BEFORE_FIRST_TURN, *known_turns}
    placed = []
    for place, one in enumerate(messages, position):
        turn = one.message.turn_index
        if one.message.role == "user":
            newest_turn = turn = newest_turn + 1
            known.add(turn)
        elif turn is None:
            turn = newest_turn
        elif turn not in known:
            raise TurnNotFound(f"{turn} of conversation {conversation['uuid']}")
        placed.append(one.place(conversation, turn, place))
    return placed


def count_messages(conversation: Conversation, added: Sequence[Message]) -> Conversation:
    """Return a conversation with counters and dates that include the added messages."""
    moments = [message.timestamp for message in added]
    created, updated = date_session(conversation.created_at, conversation.updated_at, moments)
    return replace(
        conversation,
        message_count=conversation.message_count + len(added),
        turn_count=conversation.turn_count + sum(message.role == "user" for message in added),
        total_chars=conversation.total_chars + sum(message.char_count for message in added),
        created_at=created,
        updated_at=updated,
    )


def redact_message(message: Message, redactor: Redactor) -> Message:
    """Return a message without secrets: the same object if it has none."""
    if redactor.is_clean(_list_all_texts(message)):
        return message
    calls = tuple(redact_call(call, redactor) for call in message.tool_calls)
    if any(new is not old for new, old in zip(calls, message.tool_calls, strict=True)):
        message = replace(message, tool_calls=calls)
    return MESSAGE.redact(message, redactor)


def redact_call(call: ToolCall, redactor: Redactor) -> ToolCall:
    """Return a tool call with its result without secrets: the same object if it has none."""
    result = call.result and TOOL_RESULT.redact(call.result, redactor)
    if result is not call.result:
        call = replace(call, result=result)
    return TOOL_CALL.redact(call, redactor)


def _list_all_texts(message: Message) -> Iterator[Json]:
    """Yield the texts of a message, of its calls and of their results."""
    yield from MESSAGE.list_texts(message)
    for call in message.tool_calls:
        yield from _list_call_texts(call)


def _list_call_texts(call: ToolCall) -> Iterator[Json]:
    yield from TOOL_CALL.list_texts(call)
    if call.result is not None:
        yield from TOOL_RESULT.list_texts(call.result)


def decode_tool_call(row: Stored, result: Stored | None) -> ToolCall:
    """Return a tool call with its result, if it has one."""
    return TOOL_CALL.decode(row, result=None if result is None else TOOL_RESULT.decode(result))


def find_unfinished(
    message: Message, calls: Iterable[ToolCall]
) -> list[tuple[ToolCall, ToolResult]]:
    """Return the calls of a message without a stored result, with their new results."""
    waiting = {call.uuid for call in message.tool_calls if call.result is None}
    return [(call, call.result) for call in calls if call.uuid in waiting and call.result]


def encode_tool_result(call_id: str, result: ToolResult, redactor: Redactor) -> CleanRow:
    """Return the row of a tool result. Its size is that of its text unless it is given."""
    row = TOOL_RESULT.encode(result, redactor, tool_call_id=call_id)
    row["result_size_bytes"] = result.result_size_bytes or len(row["result"].encode())
    return row


class EncodedFiles(NamedTuple):
    """The rows of files and of their scopes."""

    files: list[CleanRow]
    scopes: list[CleanRow]


def encode_files(project_id: str, files: Sequence[ParsedFile], redactor: Redactor) -> EncodedFiles:
    """Return the rows of files without secrets; hashes remain those of the content on disk."""
    encoded = EncodedFiles([], [])
    for parsed in files:
        is_clean = redactor.is_clean([*_list_scope_texts(parsed.scopes), *parsed.file.imports])
        chosen = STORED if is_clean else redactor  # one pass over a file is much cheaper than many
        encoded.files.append(FILE.encode(parsed.file, chosen, project_id=project_id))
        encoded.scopes.extend(
            SCOPE.encode(scope, chosen, file_id=parsed.file.uuid) for scope in parsed.scopes
        )
    return encoded


def _list_scope_texts(scopes: Iterable[Scope]) -> Iterator[str | None]:
    """Yield the texts of a file's scopes. Lines inside a scope are not checked again."""
    outer = ""
    for scope in scopes:  # an outer one before its inner ones
        if scope.source not in outer:
            outer = scope.source
            yield outer
        yield from list_texts_outside_source(scope)


def get_indexed_text(scope: Stored) -> str:
    """Return the searched text of a scope's row."""
    text: str = scope["source"] if scope["search_text"] is None else scope["search_text"]
    return text


def encode_mentions(
    summary_id: str,
    files: Sequence[FileMention],
    scopes: Sequence[CodeReference],
    redactor: Redactor,
) -> list[CleanRow]:
    """Return rows for the files and scopes that a summary mentions."""
    named = FILE_MENTION.encode_all(files, redactor, owner_id=summary_id, kind="file")
    return named + SCOPE_MENTION.encode_all(scopes, redactor, owner_id=summary_id, kind="scope")


def encode_links(
    kind: Kind[Message, Any] | Kind[Summary, Any],
    owner_id: str,
    scopes: Sequence[CodeReference],
    files: Sequence[FileMention],
    redactor: Redactor,
) -> list[CleanRow]:
    """Return rows for the code that a message refers to, or that a summary mentions."""
    if kind is SUMMARY:
        return encode_mentions(owner_id, files, scopes, redactor)
    return REFERENCE.encode_all(scopes, redactor, owner_id=owner_id)


def group_links(rows: Iterable[Stored]) -> dict[str, CodeLinks]:
    """Return the links of references and mentions by owner, in the order of the rows."""
    found: dict[str, CodeLinks] = {}
    for row in rows:
        if (links := found.get(row["owner_id"])) is None:
            links = found[row["owner_id"]] = CodeLinks([], [])
        if "target_id" not in row:
            links.references.append(REFERENCE.decode(row))
        elif row["kind"] == "file":
            links.files.append(FILE_MENTION.decode(row))
        else:
            links.references.append(SCOPE_MENTION.decode(row))
    return found


def redact_relations(relations: Sequence[Relation], redactor: Redactor) -> Sequence[Relation]:
    """Return relations without secrets: the name of a library may be one, an id never is."""
    if redactor.is_clean({one.target for one in relations if one.kind == "USES_LIBRARY"}):
        return relations
    return [
        replace(one, target=redactor.redact(one.target)) if one.kind == "USES_LIBRARY" else one
        for one in relations
    ]


def redact_records(kind: str, records: Sequence[Stored], redactor: Redactor) -> list[CleanRow]:
    """Return records of an archive without secrets."""
    if kind == "relation":
        edges = [Relation(row["kind"], row["source"], row["target"]) for row in records]
        redacted = redact_relations(edges, redactor)
        return [
            CleanRow({**row, "target": edge.target})
            for row, edge in zip(records, redacted, strict=True)
        ]
    if kind == "bookmark":
        clean = [{name: redactor.redact(value) for name, value in row.items()} for row in records]
        return [CleanRow(check_row(kind, row)) for row in clean]
    declared = SCOPE_MENTION if kind == "mention" else KINDS.get(kind)
    if declared is None:  # no texts
        return [CleanRow(dict(row)) for row in records]
    if redactor.is_clean(value for row in records for value in declared.list_stored_texts(row)):
        redactor = STORED
    return [declared.clean(row, redactor) for row in records]


def redact_steps(steps: Sequence[IntakeStep], redactor: Redactor) -> list[IntakeStep]:
    """Return the steps of a transcript without secrets."""
    return redact_in_groups(
        steps, _list_step_texts, lambda step: _redact_step(step, redactor), redactor
    )


def _list_step_texts(step: IntakeStep) -> Iterable[Json]:
    """Return the texts of a step; the kinds that are not named hold only ids and numbers."""
    if isinstance(step, NewMessage):
        return _list_all_texts(step.message)
    if isinstance(step, CallResult):
        return _list_call_texts(step.call)
    if isinstance(step, NewConversation):
        return CONVERSATION.list_texts(step.conversation)
    if isinstance(step, SessionUpdate):
        return [getattr(step, name) for name in _UPDATED]
    return USAGE.list_texts(step.record) if isinstance(step, ReportedUsage) else ()


def _redact_step(step: IntakeStep, redactor: Redactor) -> IntakeStep:
    if isinstance(step, NewMessage):
        message = redact_message(step.message, redactor)
        return step if message is step.message else replace(step, message=message)
    if isinstance(step, CallResult):
        call = redact_call(step.call, redactor)
        return step if call is step.call else replace(step, call=call)
    if isinstance(step, NewConversation):
        return replace(step, conversation=CONVERSATION.redact(step.conversation, redactor))
    if isinstance(step, SessionUpdate):
        return replace(step, **{name: redactor.redact(getattr(step, name)) for name in _UPDATED})
    if isinstance(step, ReportedUsage):
        return replace(step, record=USAGE.redact(step.record, redactor))
    return step  # the others hold only ids and numbers


def encode_file_values(
    field: str, values: Mapping[str, str | datetime | None]
) -> dict[str, str | None]:
    """Return states or times of files, by path, as they are stored."""
    name, encoded = f"file.{field}", {}
    for path, value in values.items():
        encoded[path] = format_time(name, value) if isinstance(value, datetime) else value
        check_text(name, encoded[path])
    return encoded


def strengthen(row: CleanRow, known: Mapping[str, TouchKind]) -> CleanRow:
    """Return a reference's row with the stronger of its link and the known one."""
    before = known.get(row["scope_id"])
    if before is None:
        return row
    return CleanRow(row | {"how": pick_strongest((row["how"], before))})


def encode_job(job: NewJob, created: datetime, owner: str | None, redactor: Redactor) -> CleanRow:
    """Return the row of an author's new job, which is due at once unless it has a date."""
    run_after = created if job.run_after is None else job.run_after
    new = Job(job.key, job.kind, job.payload, "pending", 0, run_after, created)
    return JOB.encode(replace(new, owner=owner, machine=job.machine), redactor)


def encode_outcome(job: Job, redactor: Redactor) -> CleanRow:
    """Return the columns of a job that change when the work on it ends."""
    row = {
        "status": job.status,
        "attempts": job.attempts,
        "error": None if job.error is None else redactor.redact(job.error),
        "run_after": format_time("job.run_after", job.run_after),
        "run_after_ms": to_epoch_ms(job.run_after),
    }
    return CleanRow(check_row("job", row))

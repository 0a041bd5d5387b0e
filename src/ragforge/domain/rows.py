"""Rows of several kinds that are made together, and what is redacted by more than its columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from ragforge.domain.code import (
    CodeReference,
    FileMention,
    ParsedFile,
    Relation,
    TouchKind,
    pick_strongest,
)
from ragforge.domain.conversations import Message, ToolCall, ToolResult
from ragforge.domain.kinds import STORED, CleanRow, Redactor, Stored, check_row, format_time
from ragforge.domain.schema import (
    CONVERSATION,
    FILE,
    FILE_MENTION,
    JOB,
    KINDS,
    MESSAGE,
    SCOPE,
    SCOPE_MENTION,
    TOOL_CALL,
    TOOL_RESULT,
)
from ragforge.domain.text import Json
from ragforge.domain.transcripts import (
    CallResult,
    IntakeStep,
    NewConversation,
    NewMessage,
    SessionUpdate,
)
from ragforge.domain.work import Job, NewJob


class EncodedMessage(NamedTuple):
    """A message without secrets, and its rows. Its place in a conversation is given later."""

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
    """Return a message with its rows. One look at all of its texts is much cheaper than many."""
    message = redact_message(message, redactor)
    calls, results = [], []
    for position, call in enumerate(message.tool_calls):
        calls.append(TOOL_CALL.encode(call, STORED, message_id=message.uuid, position=position))
        if call.result is not None:
            results.append(encode_tool_result(call.uuid, call.result, STORED))
    return EncodedMessage(message, MESSAGE.encode(message, STORED), calls, results)


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
        yield from TOOL_CALL.list_texts(call)
        if call.result is not None:
            yield from TOOL_RESULT.list_texts(call.result)


def decode_tool_call(row: Stored, result: Stored | None) -> ToolCall:
    """Return a tool call with its result, if it has one."""
    return TOOL_CALL.decode(row, result=None if result is None else TOOL_RESULT.decode(result))


def find_unfinished(
    message: Message, calls: Iterable[ToolCall]
) -> list[tuple[ToolCall, ToolResult]]:
    """Return the calls of a message that have a result now and none in the store, with it."""
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
    """Return the rows of files without secrets; hashes stay those of what is on the disk."""
    encoded = EncodedFiles([], [])
    for parsed in files:
        texts = [text for scope in parsed.scopes for text in SCOPE.list_texts(scope)]
        is_clean = redactor.is_clean([*texts, *parsed.file.imports])
        chosen = STORED if is_clean else redactor  # one look at a file is much cheaper than many
        encoded.files.append(FILE.encode(parsed.file, chosen, project_id=project_id))
        encoded.scopes.extend(
            SCOPE.encode(scope, chosen, file_id=parsed.file.uuid) for scope in parsed.scopes
        )
    return encoded


def encode_mentions(
    summary_id: str,
    files: Sequence[FileMention],
    scopes: Sequence[CodeReference],
    redactor: Redactor,
) -> list[CleanRow]:
    """Return what a summary mentions as rows."""
    named = FILE_MENTION.encode_all(files, redactor, owner_id=summary_id, kind="file")
    return named + SCOPE_MENTION.encode_all(scopes, redactor, owner_id=summary_id, kind="scope")


def redact_relations(relations: Sequence[Relation], redactor: Redactor) -> Sequence[Relation]:
    """Return relations without secrets: the name of a library may be one, an id is none."""
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


def redact_steps(steps: Iterable[IntakeStep], redactor: Redactor) -> list[IntakeStep]:
    """Return the steps of a transcript without secrets."""
    return [_redact_step(step, redactor) for step in steps]


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
        names = ("title", "instead_of", "agent_version", "git_branch")
        return replace(step, **{name: redactor.redact(getattr(step, name)) for name in names})
    return step  # the others hold ids and numbers alone


def encode_file_time(time: datetime | None) -> str | None:
    """Return the time of a file as it is stored."""
    return None if time is None else format_time("file.mtime", time)


def strengthen(row: CleanRow, known: Mapping[str, TouchKind]) -> CleanRow:
    """Return a reference's row that says no less than what is known of its scope."""
    before = known.get(row["scope_id"])
    if before is None:
        return row
    return CleanRow(row | {"how": pick_strongest((row["how"], before))})


def encode_job(job: NewJob, created: datetime, owner: str | None, redactor: Redactor) -> CleanRow:
    """Return the row of an author's new job, which is due at once unless it says when."""
    run_after = created if job.run_after is None else job.run_after
    new = Job(job.key, job.kind, job.payload, "pending", 0, run_after, created)
    return JOB.encode(replace(new, owner=owner, machine=job.machine), redactor)

"""Redact data: remove the secrets from domain data. Which of its fields hold text stands here.

Paths, ids, keys of jobs and names of locks identify something and stay as they are.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, TypeVar

from ragforge.domain.code import CodeReference, ParsedFile, Relation, Scope
from ragforge.domain.conversations import Conversation, ConversationChanges, Message, ToolCall
from ragforge.domain.notes import Note
from ragforge.domain.summaries import Summary
from ragforge.domain.text import Json, to_json
from ragforge.domain.transcripts import (
    CallResult,
    IntakeStep,
    NewConversation,
    NewMessage,
    SessionUpdate,
    TranscriptCursor,
)
from ragforge.domain.work import NewJob
from ragforge.memory.secrets.redact import is_plainly_clean, redact, redact_json
from ragforge.ports.archive import Fact, Record, RecordKind

T = TypeVar("T")

# texts, and lists of texts
_CONVERSATION = (("title", "summary", "agent_version", "git_branch"), ("tags",))
_MESSAGE_TEXTS = ("content", "reasoning", "model")
_SUMMARY = (
    ("conversation_summary", "actions_summary", "made_by"),
    ("files_mentioned", "key_findings", "tools_used", "topics"),
)
_NOTE = (("text",), ("tags",))
_SCOPE_TEXTS = ("source", "docstring", "signature", "name", "qualified_name")
_REFERENCE_TEXTS = ("qualified_name",)

RECORD_TEXTS: Mapping[RecordKind, tuple[str, ...]] = {
    "conversation": sum(_CONVERSATION, ()),
    "message": (*_MESSAGE_TEXTS, "receipt"),
    "tool_call": ("arguments", "tool_name"),
    "tool_result": ("result", "error"),
    "summary": sum(_SUMMARY, ()),
    "note": sum(_NOTE, ()),
    "file": ("imports",),
    "scope": _SCOPE_TEXTS,
    "relation": ("target",),  # the name of a library; an id stays as it is
    "reference": _REFERENCE_TEXTS,
    "mention": _REFERENCE_TEXTS,
    "job": ("payload", "error"),
}
"""The columns of an archive that hold text. Projects, branches and vectors have none."""
_JSON = frozenset(("receipt", "arguments", "result", "payload"))
_BETWEEN = "\n\n"


def redact_stored_json(text: str) -> str:
    """Return JSON that is stored as text with the secrets in it redacted."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return redact(text)  # of a damaged store
    clean = redact_json(value)
    return text if clean is value else to_json("value", clean)


def _list_texts(scopes: Iterable[Scope]) -> Iterator[str]:
    """Yield the texts of scopes, without those that stand in a source anyway."""
    for scope in scopes:
        source = scope.source
        yield source
        for text in (scope.signature, scope.docstring):
            if text not in source:
                yield text
        if not scope.name.isidentifier():
            yield scope.name
            yield scope.qualified_name


def _redact_receipt(receipt: Json) -> Json:
    """Return a receipt without secrets.

    It has hundreds of short strings under names that are no secrets. They are looked through as
    one text: to look through each took a quarter of a turn.
    """
    strings: list[str] = []
    _collect_strings(receipt, strings)
    text = _BETWEEN.join(strings)
    return receipt if redact(text) is text else redact_json(receipt)


def _collect_strings(value: Json, into: list[str]) -> None:
    """Add all strings of a value; only what holds others is entered."""
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, list | tuple):
        value = (value,)
    for inner in value:
        if isinstance(inner, str):
            into.append(inner)
        elif isinstance(inner, dict | list | tuple):
            _collect_strings(inner, into)


def _list_values(step: NewMessage | CallResult) -> Iterator[Json]:
    """Yield all that a message or a result says: a transcript has thousands of short strings."""
    calls = (step.call,) if isinstance(step, CallResult) else step.message.tool_calls
    if isinstance(step, NewMessage):
        yield from (getattr(step.message, name) for name in _MESSAGE_TEXTS)
        yield step.message.receipt
    for call in calls:
        yield call.tool_name
        yield call.arguments
        if call.result is not None:
            yield call.result.result
            yield call.result.error


@lru_cache(4096)
def _redact_name(name: str) -> str:
    return redact(name)


class DataRedactor:
    """Redacts texts and counts those with a secret. Without a secret an object stays the same."""

    def __init__(self) -> None:
        self.changes = 0

    def redact_conversation(self, conversation: Conversation) -> Conversation:
        return self._redact_fields(conversation, *_CONVERSATION)

    def redact_message(self, message: Message) -> Message:
        said = self._redact_fields(message, _MESSAGE_TEXTS)
        calls = tuple(self.redact_call(call) for call in message.tool_calls)
        receipt = self._clean(_redact_receipt, message.receipt)
        same = all(new is old for new, old in zip(calls, message.tool_calls, strict=True))
        if same and receipt is message.receipt:
            return said
        return replace(said, tool_calls=calls, receipt=receipt)

    def redact_summary(self, summary: Summary) -> Summary:
        return self._redact_fields(summary, *_SUMMARY)

    def redact_note(self, note: Note) -> Note:
        return self._redact_fields(note, *_NOTE)

    def redact_changes(self, changes: ConversationChanges) -> ConversationChanges:
        tags = None if changes.tags is None else tuple(map(self.redact_text, changes.tags))
        clean = self._redact_fields(changes, ("title", "summary"))
        return clean if tags == changes.tags else replace(clean, tags=tags)

    def redact_file(self, parsed: ParsedFile) -> ParsedFile:
        """Redact the sources of a file; hashes stay those of what is on the disk."""
        joined = _BETWEEN.join([*_list_texts(parsed.scopes), *parsed.file.imports])
        if redact(joined) is joined:  # one look at all of them is much cheaper
            return parsed
        file = self._redact_fields(parsed.file, (), ("imports",))
        scopes = tuple(self._redact_fields(scope, _SCOPE_TEXTS) for scope in parsed.scopes)
        return replace(parsed, file=file, scopes=scopes)

    def redact_relation(self, relation: Relation) -> Relation:
        if relation.kind != "USES_LIBRARY":
            return relation  # both ends are ids
        target = _redact_name(relation.target)
        return relation if target == relation.target else replace(relation, target=target)

    def redact_reference(self, reference: CodeReference) -> CodeReference:
        return self._redact_fields(reference, _REFERENCE_TEXTS)

    def redact_job(self, job: NewJob) -> NewJob:
        payload = self._clean(redact_json, job.payload)
        return job if payload is job.payload else replace(job, payload=payload)

    def redact_cursor(self, cursor: TranscriptCursor) -> TranscriptCursor:
        """Redact what is remembered between two readings: results may wait there for their call."""
        if is_plainly_clean([cursor.state]):
            return cursor
        state = self._clean(redact_json, cursor.state)
        return cursor if state is cursor.state else replace(cursor, state=state)

    def redact_step(self, step: IntakeStep) -> IntakeStep:
        if isinstance(step, NewMessage | CallResult) and is_plainly_clean(_list_values(step)):
            return step
        if isinstance(step, NewMessage):
            message = self.redact_message(step.message)
            return step if message is step.message else replace(step, message=message)
        if isinstance(step, CallResult):
            call = self.redact_call(step.call)
            return step if call is step.call else replace(step, call=call)
        if isinstance(step, NewConversation):
            clean = self.redact_conversation(step.conversation)
            return step if clean is step.conversation else replace(step, conversation=clean)
        if isinstance(step, SessionUpdate):
            return self._redact_fields(step, ("title", "instead_of", "agent_version", "git_branch"))
        return step  # the others hold ids and numbers alone

    def redact_text(self, text: str | None) -> Json:
        return text and self._clean(redact, text)

    def redact_record(self, kind: RecordKind, record: Record) -> Record:
        """Redact a record of an archive, by the same fields as the data it stands for."""
        new: dict[str, Fact] = {}
        for name in RECORD_TEXTS.get(kind, ()):
            value = record.get(name)
            clean: Fact = value
            if isinstance(value, str):
                clean = self._clean(redact_stored_json if name in _JSON else redact, value)
            elif isinstance(value, list):
                clean = [self.redact_text(item) for item in value]
            if clean != value:
                new[name] = clean
        return {**record, **new} if new else record

    def redact_call(self, call: ToolCall) -> ToolCall:
        call = self._redact_fields(call, ("tool_name",))
        arguments = self._clean(redact_json, call.arguments)
        result = call.result
        if result is not None:
            value = self._clean(redact_json, result.result)
            result = self._redact_fields(result, ("error",))
            if value is not result.result:
                result = replace(result, result=value)
        if arguments is call.arguments and result is call.result:
            return call
        return replace(call, arguments=arguments, result=result)

    def _redact_fields(self, part: T, texts: tuple[str, ...], lists: tuple[str, ...] = ()) -> T:
        """Return a frozen object with some of its texts, and lists of texts, redacted."""
        new: dict[str, Any] = {}
        for name in texts:
            text = getattr(part, name)
            if text is not None and (clean := self._clean(redact, text)) is not text:
                new[name] = clean
        for name in lists:
            items = getattr(part, name)
            cleaned = tuple(self._clean(redact, item) for item in items)
            if cleaned != items:
                new[name] = cleaned
        return replace(part, **new) if new else part  # type: ignore[type-var]

    def _clean(self, clean: Callable[[Json], Json], value: Json) -> Json:
        result = clean(value)
        self.changes += result is not value
        return result

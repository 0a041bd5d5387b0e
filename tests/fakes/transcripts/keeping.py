"""Keeping: a store of imported conversations in memory, and a minimal importer."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ragforge.domain.chat import UsageRecord
from ragforge.domain.conversations import Message, ToolCall
from ragforge.domain.transcripts import (
    CallResult,
    NewMessage,
    ReportedUsage,
    RetractedMessage,
    TokenCount,
)
from ragforge.transcripts.record import Entry, SessionFacts
from ragforge.transcripts.session_builder import Begin, SessionBuilder, Step, StoredPlace
from ragforge.transcripts.source import TranscriptSource
from tests.fakes.transcripts.files import START


@dataclass
class Kept:
    """A conversation as it is stored."""

    session: str
    after: str | None = None
    messages: list[Message] = field(default_factory=list)

    def show(self) -> list[str]:
        """Return what was said, a line for each message, call and result."""
        return [line for message in self.messages for line in _show(message)]


@dataclass
class Keeper:
    """Imports transcripts, and stores a cursor with each piece as an importer does."""

    conversations: dict[str, Kept] = field(default_factory=dict)
    facts: dict[str, dict[str, Any]] = field(default_factory=dict)
    unknown: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    cursors: dict[str, str] = field(default_factory=dict)
    usage: dict[str, UsageRecord] = field(default_factory=dict)
    models: set[str] = field(default_factory=set)
    double: list[str] = field(default_factory=list)  # messages that were added twice

    def take_in(self, source: TranscriptSource, *paths: Path) -> Keeper:
        """Import what is new in transcripts."""
        for path in paths:
            builder = SessionBuilder(source.name, START)
            cursor, state = json.loads(self.cursors.get(str(path), "[null, null]"))
            builder.load(state)
            for piece in source.read(path, cursor):
                self.unknown.update(piece.unknown)
                self.skipped.update(piece.skipped)
                self.keep(builder, piece.entries)
                self.cursors[str(path)] = json.dumps([piece.cursor, builder.save()])
        return self

    def keep(self, builder: SessionBuilder, entries: Iterable[Entry]) -> None:
        """Store the steps of entries."""
        entries = list(entries)
        self._look_up(builder, entries)
        for step in builder.build(entries):
            self._do(step)

    def show(self) -> list[list[str]]:
        """Return what was said in each conversation, in the order in which they began."""
        return [kept.show() for kept in self.conversations.values()]

    def list_messages(self) -> list[Message]:
        return [message for kept in self.conversations.values() for message in kept.messages]

    def list_calls(self) -> list[ToolCall]:
        return [call for message in self.list_messages() for call in message.tool_calls]

    def _look_up(self, builder: SessionBuilder, entries: list[Entry]) -> None:
        needs = builder.list_needs(entries)
        wanted = set(needs.conversations)
        for name, kept in self.conversations.items():
            for message in kept.messages:
                if message.uuid in needs.messages:
                    builder.places[message.uuid] = StoredPlace(name, message.turn_index or 0)
                    wanted.add(name)
        for name in wanted & self.conversations.keys():
            builder.turns[name] = self._count_turns(name)

    def _count_turns(self, name: str) -> int:
        kept = self.conversations[name]
        if kept.messages:
            return kept.messages[-1].turn_index or 0
        return self._find_turn(kept.after)

    def _find_turn(self, message_id: str | None) -> int:
        messages = (m for kept in self.conversations.values() for m in kept.messages)
        return next((m.turn_index or 0 for m in messages if m.uuid == message_id), -1)

    def _do(self, step: Step) -> None:
        match step:
            case Begin():
                assert step.conversation_id not in self.conversations
                self.conversations[step.conversation_id] = Kept(step.session, step.after)
            case NewMessage():
                self._add(step)
            case CallResult():
                self._change(step.message_id, lambda m: _finish(m, step.call))
            case RetractedMessage():
                self._change(step.message_id, lambda m: replace(m, content="", reasoning=None))
            case TokenCount():
                self._change(step.message_id, lambda m: replace(m, token_count=step.tokens))
            case ReportedUsage():
                known = self.usage.setdefault(step.record.uuid, step.record)
                if step.record.output_tokens > known.output_tokens:
                    self.usage[step.record.uuid] = step.record
            case SessionFacts():
                facts = self.facts.setdefault(step.session, {})
                facts |= {name: getattr(step, name) for name in _FACTS if getattr(step, name)}

    def _add(self, step: NewMessage) -> None:
        kept = self.conversations[step.conversation_id]
        if any(message.uuid == step.message.uuid for message in kept.messages):
            self.double.append(step.message.content)
            return
        turn = self._count_turns(step.conversation_id) + (step.message.role == "user")
        kept.messages.append(replace(step.message, turn_index=turn))
        self.models |= {step.message.model} if step.message.model else set()

    def _change(self, message_id: str, change: Any) -> None:
        for kept in self.conversations.values():
            kept.messages = [change(m) if m.uuid == message_id else m for m in kept.messages]


_FACTS = ("cwd", "branch", "version", "title", "parent", "is_subagent", "remote")


def _finish(message: Message, done: ToolCall) -> Message:
    """Return a message whose call has its result, unless it had one."""
    calls = tuple(
        replace(call, result=done.result, success=done.success, duration_ms=done.duration_ms)
        if call.uuid == done.uuid and call.result is None
        else call
        for call in message.tool_calls
    )
    return replace(message, tool_calls=calls)


def _show(message: Message) -> list[str]:
    shown = [f"{message.role}: {message.content}"] if message.content else []
    if message.reasoning:
        shown.append(f"thought: {message.reasoning}")
    for call in message.tool_calls:
        shown.append(f"call: {call.tool_name}")
        if call.result is not None:
            output = call.result.result
            output = output["output"] if isinstance(output, dict) else output
            shown.append(f"{'result' if call.success else 'failure'}: {output}")
    return shown

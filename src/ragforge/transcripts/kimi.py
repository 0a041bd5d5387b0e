"""Kimi CLI: `wire.jsonl` in a session's folder, one per agent in newer versions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ragforge.transcripts import fields
from ragforge.transcripts.files import read_object, walk_files
from ragforge.transcripts.reader import SessionReader
from ragforge.transcripts.record import (
    Call,
    Entry,
    Record,
    RecordedResult,
    RecordedUsage,
    SessionFacts,
)
from ragforge.transcripts.source import LineSource
from ragforge.transcripts.user_text import find_user_text

_SILENT = (
    *("metadata", "config.", "tools.", "llm.", "usage.", "permission.", "plan_mode."),
    *("full_compaction.", "context.a", "turn.", "profile.", "plugin.", "runtime."),
    *("token_counting.", "step.", "TurnEnd", "Step", "StatusUpdate", "Approval", "Compaction"),
    *("MCP", "Hook", "SubagentEvent"),
)
_MAIN = "main"
_COUNTS = {"usage.record": "usage", "StatusUpdate": "token_usage"}
"""The kinds of lines with counts of tokens, in newer and older versions, and where these are."""


def list_files(home: Path, environ: Mapping[str, str], projects: Sequence[Path] = ()) -> list[Path]:
    """Return the transcripts, those of sub-agents after their parents'."""
    named = environ.get("KIMI_SHARE_DIR")
    folders = [Path(named)] if named else [home / ".kimi", home / ".kimi-code"]
    found = [path for folder in folders for path in walk_files(folder / "sessions", fits)]
    return sorted(found, key=lambda path: (path.parent.name not in (_MAIN, ""), str(path)))


def fits(path: Path) -> bool:
    return path.name == "wire.jsonl"


def open_reader(path: Path) -> KimiReader:
    """Return a reader for the session that the path names."""
    folder = path.parent
    agent = _MAIN
    if folder.parent.name == "agents":
        agent, folder = folder.name, folder.parent.parent
    facts = read_object(folder / "state.json")
    session = folder.name if agent == _MAIN else f"{folder.name}/{agent}"
    return KimiReader(
        SessionFacts(
            session,
            cwd=fields.text(facts, "workDir"),
            title=fields.text(facts, "title") if agent == _MAIN else None,
            parent=None if agent == _MAIN else folder.name,
            is_subagent=agent != _MAIN,
        )
    )


class KimiReader(SessionReader):
    """Reads the lines of one agent. A record's id is a hash of all that was said before it."""

    def read(self, content: Mapping[str, Any]) -> Iterator[Entry]:
        at = fields.time(content, "time") or fields.time(content, "timestamp")
        kind, body = fields.text(content, "type") or "without a type", content
        if isinstance(message := content.get("message"), dict) and "type" in message:
            kind, body = fields.text(message, "type") or kind, fields.mapping(message, "payload")
        elif kind == "context.append_loop_event":
            body = fields.mapping(content, "event")
            kind = fields.text(body, "type") or kind
        cwd = fields.text(body, "cwd") or fields.text(
            fields.mapping(body, "environmentDisclosure"), "cwd"
        )
        yield from self._note(cwd=cwd)
        self._model = fields.text(body, "model") or fields.text(body, "modelAlias") or self._model
        record = self._read_event(kind, body)
        if record is not None:
            yield replace(record, at=at, model=self._model)
        elif usage := fields.mapping(body, _COUNTS.get(kind, "")):
            yield replace(self._read_usage(usage), at=at)
        elif not kind.startswith((*_SILENT, "content.part", "ContentPart")):
            self.unknown[kind] += 1

    def _read_usage(self, usage: Mapping[str, Any]) -> RecordedUsage:
        """Return what a step took. A request is known by all that was said before it."""
        cached = fields.tokens(usage, "inputCacheRead", "input_cache_read")
        written = fields.tokens(usage, "inputCacheCreation", "input_cache_creation")
        sent = fields.tokens(usage, "inputOther", "input_other") + cached + written
        answered = fields.tokens(usage, "output")
        name = fields.hash_texts((self._said, str(sent), str(answered)))
        return RecordedUsage(
            self._session, name, self._said, sent, answered, cached, written, model=self._model
        )

    def _read_event(self, kind: str, body: Mapping[str, Any]) -> Record | None:
        if kind in ("turn.prompt", "turn.steer", "TurnBegin"):
            if fields.text(fields.mapping(body, "origin"), "kind") not in (None, "user"):
                return None
            words = find_user_text(fields.join_texts(body.get("input", body.get("user_input"))))
            return self._say("user", "user", text=words) if words else None
        if kind in ("content.part", "ContentPart"):
            part = fields.mapping(body, "part") or body
            thought = fields.text(part, "think")
            if thought:
                return self._say("assistant", "think", reasoning=thought)
            text = fields.text(part, "text")
            return self._say("assistant", "text", text=text) if text else None
        if kind in ("tool.call", "ToolCall"):
            given = fields.mapping(body, "function") or body
            call_id = fields.text(body, "toolCallId") or fields.text(body, "id") or self._said
            arguments = fields.load_arguments(given.get("args", given.get("arguments")))
            call = Call(call_id, fields.text(given, "name") or "tool", arguments)
            return self._say("assistant", call_id, calls=(call,))
        if kind in ("tool.result", "ToolResult"):
            call_id = fields.text(body, "toolCallId") or fields.text(body, "tool_call_id") or ""
            return self._say(None, call_id, results=(_read_result(call_id, body),))
        return None


def _read_result(call_id: str, body: Mapping[str, Any]) -> RecordedResult:
    result = fields.mapping(body, "result") or fields.mapping(body, "return_value")
    failed = bool(result.get("isError") or result.get("is_error"))
    output = fields.join_texts(result.get("output")) or fields.text(result, "message") or ""
    return RecordedResult(
        call_id, not failed, output, error=output or "it failed" if failed else None
    )


KIMI = LineSource("kimi", "Kimi CLI", list_files, fits, open_reader)

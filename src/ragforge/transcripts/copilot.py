"""Copilot CLI: `session-state/<id>/events.jsonl` in its folder, or one file a session before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ragforge.transcripts import fields, record
from ragforge.transcripts.files import walk_files
from ragforge.transcripts.reader import Recent, SessionReader
from ragforge.transcripts.source import LineSource
from ragforge.transcripts.user_text import find_user_text

_UNDERSTOOD = (
    *("session.", "hook.", "system.", "subagent.", "assistant.turn_", "tool.", "skill."),
    *("user.message", "assistant.message"),
)
_SILENT_KINDS = frozenset(("abort", "assistant.reasoning", "assistant.usage", "assistant.intent"))
MAX_CALLS = 64


def list_files(home: Path, environ: Mapping[str, str], projects: Sequence[Path] = ()) -> list[Path]:
    folder = Path(environ.get("COPILOT_HOME") or home / ".copilot")
    names = ("session-state", "history-session-state")
    return sorted(path for name in names for path in walk_files(folder / name, fits))


def fits(path: Path) -> bool:
    is_flat = path.suffix == ".jsonl" and path.parent.name.endswith("session-state")
    return path.name == "events.jsonl" or is_flat


def open_reader(path: Path) -> CopilotReader:
    return CopilotReader(path.parent.name if path.name == "events.jsonl" else path.stem)


class CopilotReader(SessionReader):
    """Reads the events of one session; those of a sub-agent stand among them."""

    remembered = ("_facts", "_model", "_calls")

    def __init__(self, session: str) -> None:
        super().__init__(record.SessionFacts(session))
        self._is_noted = True  # a session of which nothing is said has no facts
        self._calls: Recent[str] = Recent(MAX_CALLS)  # calls that were read

    def read(self, content: Mapping[str, Any]) -> Iterator[record.Entry]:
        kind, data = (
            fields.text(content, "type") or "without a type",
            fields.mapping(content, "data"),
        )
        name = fields.text(content, "id")
        if kind in ("session.start", "session.resume", "session.title_changed"):
            context = fields.mapping(data, "context")
            yield from self._note(
                session=fields.text(data, "sessionId"),
                cwd=fields.text(context, "cwd"),
                branch=fields.text(context, "branch"),
                version=fields.text(data, "copilotVersion"),
                title=fields.text(data, "title"),
                remote=_read_remote(context),
            )
        self._model = fields.text(data, "newModel") or fields.text(data, "model") or self._model
        if not (kind.startswith(_UNDERSTOOD) or kind in _SILENT_KINDS):
            self.unknown[kind] += 1
        if name is None:
            self.unknown[f"{kind} without an id"] += 1
            return
        owner = fields.text(data, "parentToolCallId")
        session = f"{self._session}/{owner}" if owner else self._session
        if owner:
            yield replace(
                self._facts, session=session, title=None, parent=self._session, is_subagent=True
            )
        parent, at = fields.text(content, "parentId"), fields.time(content, "timestamp")
        link = record.Record(session, name, parent, at)
        yield self._read_event(kind, data, link)
        if kind == "session.shutdown":
            yield from _read_usage(fields.mapping(data, "modelMetrics"), link)

    def _read_event(self, kind: str, data: Mapping[str, Any], link: record.Record) -> record.Record:
        if kind == "user.message" and fields.text(data, "source") in (None, "user"):
            words = find_user_text(fields.text(data, "content") or "")
            return replace(link, speaker="user", text=words) if words else link
        if kind == "assistant.message":
            return self._read_answer(data, link)
        call_id = fields.text(data, "toolCallId")
        if call_id is None:
            return link
        if kind == "tool.execution_start" and self._calls.get(call_id) is None:
            call = self._make_call(call_id, data, "toolName")
            return replace(link, speaker="assistant", calls=(call,), model=self._model)
        if kind == "tool.execution_complete":
            return replace(link, results=(_read_result(call_id, data),))
        return link

    def _read_answer(self, data: Mapping[str, Any], link: record.Record) -> record.Record:
        text, reasoning = fields.text(data, "content") or "", fields.text(data, "reasoningText")
        calls = tuple(
            self._make_call(fields.text(one, "toolCallId") or f"{link.id}/{number}", one, "name")
            for number, one in enumerate(fields.blocks(data.get("toolRequests")))
        )
        tokens = fields.number(data, "outputTokens")
        return record.add_answer(link, text, reasoning, calls, model=self._model, tokens=tokens)

    def _make_call(self, call_id: str, data: Mapping[str, Any], name: str) -> record.Call:
        self._calls.put(call_id, "")
        return record.Call(
            call_id, fields.text(data, name) or "tool", fields.load_arguments(data.get("arguments"))
        )


def _read_usage(metrics: Mapping[str, Any], link: record.Record) -> Iterator[record.RecordedUsage]:
    """Yield what the requests to each model took since the session was started or resumed."""
    for model in metrics:
        of_model = fields.mapping(metrics, model)
        usage = fields.mapping(of_model, "usage")
        yield record.RecordedUsage(
            link.session,
            f"{link.id}/{model}",
            link.id,
            fields.tokens(usage, "inputTokens"),
            fields.tokens(usage, "outputTokens"),
            fields.tokens(usage, "cacheReadTokens"),
            fields.tokens(usage, "cacheWriteTokens"),
            fields.tokens(fields.mapping(of_model, "requests"), "count"),
            model=model,
            at=link.at,
        )


def _read_remote(context: Mapping[str, Any]) -> str | None:
    """Return the address of a repository, which is given by its host and its name."""
    host, name = fields.text(context, "repositoryHost"), fields.text(context, "repository")
    return f"https://{host}/{name}" if host and name else None


def _read_result(call_id: str, data: Mapping[str, Any]) -> record.RecordedResult:
    success = data.get("success") is not False
    output = fields.text(fields.mapping(data, "result"), "content") or ""
    error = fields.text(fields.mapping(data, "error"), "message") or output or "it failed"
    taken = fields.number(
        fields.mapping(fields.mapping(data, "toolTelemetry"), "metrics"), "durationMs"
    )
    if success:
        return record.RecordedResult(call_id, output=output, duration_ms=taken or 0)
    return record.RecordedResult(call_id, False, output or error, error, taken or 0)


COPILOT = LineSource("copilot", "Copilot CLI", list_files, fits, open_reader)

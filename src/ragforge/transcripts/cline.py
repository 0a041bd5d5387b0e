"""Cline and Roo: a task's messages in one file of JSON, rewritten each time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from ragforge.domain.text import Json
from ragforge.transcripts import fields
from ragforge.transcripts.files import read_object, read_written_at, walk_files
from ragforge.transcripts.reader import RoleReader, SessionReader
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

_EDITORS = ("Code", "Code - Insiders", "Cursor", "VSCodium", "Windsurf")
_SPOKEN = frozenset(("task", "user_feedback", "user_feedback_diff"))
_ANSWERS = frozenset(("text", "completion_result", "followup", "plan_mode_respond"))


def list_files(
    extension: str, home: Path, environ: Mapping[str, str], projects: Sequence[Path] = ()
) -> list[Path]:
    """Return the tasks that an extension keeps in the editors' folders."""
    config = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
    roots = [config, home / "Library" / "Application Support"]
    folders = [
        root / editor / "User" / "globalStorage" / extension / "tasks"
        for root in roots
        for editor in _EDITORS
    ]
    if "claude-dev" in extension:
        folders.append(home / ".cline" / "data")
    return [path for folder in folders for path in sorted(walk_files(folder, fits))]


def fits(path: Path) -> bool:
    return path.name == "ui_messages.json" or path.name.endswith(".messages.json")


def open_reader(path: Path) -> SessionReader:
    folder = path.parent
    item = read_object(folder / "history_item.json")
    parent = fields.text(item, "parentTaskId")
    cwd = fields.text(item, "workspace") or fields.text(item, "cwdOnTaskInitialization")
    facts = SessionFacts(folder.name, cwd, parent=parent, is_subagent=parent is not None)
    if path.name == "ui_messages.json":
        return TaskReader(facts)
    return RoleReader(facts, read_written_at(path))


def unpack(value: Json) -> Iterable[Mapping[str, Any]]:
    messages = value.get("messages") if isinstance(value, dict) else value
    return messages if isinstance(messages, list) else ()


class TaskReader(SessionReader):
    """Reads what a task showed; each message is known by its time and its kind."""

    def __init__(self, facts: SessionFacts) -> None:
        super().__init__(facts)
        self._command: str | None = None  # the call whose output comes next

    def read(self, content: Mapping[str, Any]) -> Iterator[Entry]:
        """Yield what one message says; the first is the task itself."""
        kind = fields.text(content, "say") or fields.text(content, "ask") or "without a kind"
        kind = kind if self._is_noted else "task"
        yield from self._note()
        text = fields.text(content, "text")
        if content.get("partial") is True or text is None:
            return
        name = f"{self._session}/{content.get('ts')}/{kind}"
        record = self._read_message(kind, text, name)
        if record is not None:
            yield self._chain.link(replace(record, at=fields.time(content, "ts")))
        if (
            kind == "api_req_started"
            and (usage := fields.parse_text(text))
            and isinstance(usage, dict)
        ):
            yield _read_usage(self._session, name, usage, fields.time(content, "ts"))

    def _read_message(self, kind: str, text: str, name: str) -> Record | None:
        session = self._session
        if kind in _SPOKEN:
            words = find_user_text(text)
            return Record(session, name, speaker="user", text=words) if words else None
        if kind in _ANSWERS:
            return Record(session, name, speaker="assistant", text=_get_question(text))
        if kind == "reasoning":
            return Record(session, name, speaker="assistant", reasoning=text)
        if kind == "command":
            self._command = name
            call = Call(name, "execute_command", {"command": text})
            return Record(session, name, speaker="assistant", calls=(call,))
        if kind == "command_output":
            call_id, self._command = self._command, None
            return Record(session, name, results=(RecordedResult(call_id or "", output=text),))
        if kind == "tool":
            return _read_tool(session, name, text)
        return None


def _read_usage(
    session: str, name: str, usage: Mapping[str, Any], at: datetime | None
) -> RecordedUsage:
    """Return what a request took. Its input is counted without the cache."""
    cached, written = fields.tokens(usage, "cacheReads"), fields.tokens(usage, "cacheWrites")
    sent = fields.tokens(usage, "tokensIn") + cached + written
    answered, usd = fields.tokens(usage, "tokensOut"), fields.price(usage, "cost")
    return RecordedUsage(session, name, name, sent, answered, cached, written, usd=usd, at=at)


def _get_question(text: str) -> str:
    """Return an answer's words; some are in JSON, next to choices."""
    value = fields.parse_text(text) if text.startswith("{") else None
    if isinstance(value, dict):
        return fields.text(value, "question") or fields.text(value, "response") or text
    return text


def _read_tool(session: str, name: str, text: str) -> Record | None:
    """Return a call with its result: a tool that ran is shown with its output."""
    value = fields.parse_text(text)
    if value is fields.BAD or not isinstance(value, dict):
        return None
    tool = fields.text(value, "tool") or "tool"
    content = fields.text(value, "content") or fields.text(value, "diff") or ""
    arguments = {key: one for key, one in value.items() if key not in ("tool", "content", "diff")}
    tool = _EDITS.get(tool, tool)
    call = Call(name, tool, arguments)
    done = RecordedResult(name, output=content)
    return Record(session, name, speaker="assistant", calls=(call,), results=(done,))


_EDITS = {"editedExistingFile": "edit_file", "newFileCreated": "create_file"}

_CLINE, _ROO = "saoudrizwan.claude-dev", "rooveterinaryinc.roo-cline"
CLINE = LineSource("cline", "Cline", partial(list_files, _CLINE), fits, open_reader, unpack)
ROO = LineSource("roo", "Roo Code", partial(list_files, _ROO), fits, open_reader, unpack)

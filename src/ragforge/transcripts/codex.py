"""Codex CLI: `rollout-*.jsonl`, below `sessions` and `archived_sessions` of its home."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from ragforge.domain.text import Json, split_words, to_text
from ragforge.transcripts import fields
from ragforge.transcripts.files import walk_files
from ragforge.transcripts.reader import Recent, SessionReader
from ragforge.transcripts.record import (
    Call,
    Entry,
    Record,
    RecordedChange,
    RecordedResult,
    RecordedUsage,
    Speaker,
)
from ragforge.transcripts.source import LineSource
from ragforge.transcripts.user_text import find_user_text

_SILENT = split_words(
    """
    compacted world_state item_completed inter_agent_communication_metadata ghost_snapshot
    session_state event_msg
    """
)
_OUTPUTS = split_words(
    """
    function_call_output custom_tool_call_output local_shell_call_output tool_search_output
    tool_result function_result mcp_tool_call_output
    """
)
_CALLS = split_words(
    """
    function_call custom_tool_call local_shell_call web_search_call tool_search_call tool_call
    image_generation_call
    """
)
_SILENT_ITEMS = frozenset(("agent_message", "compaction", "compaction_summary", "ghost_snapshot"))


MAX_ITEMS = 64
"""How many items of an answer are remembered until its tokens are counted."""


_EXIT = re.compile(r"^(?:Exit code:|Process exited with code) (-?\d{1,9})", re.MULTILINE)
_HEAD = 2_000  # the exit code is in the first lines
MAX_ENDS = 32


def list_files(home: Path, environ: Mapping[str, str], projects: Sequence[Path] = ()) -> list[Path]:
    """Return the transcripts by the time in their names, compressed ones too."""
    folder = Path(environ.get("CODEX_HOME") or home / ".codex")
    names = ("sessions", "archived_sessions")
    found = [path for name in names for path in walk_files(folder / name, fits)]
    return sorted(found, key=lambda path: path.name)


def fits(path: Path) -> bool:
    return path.name.startswith("rollout-") and path.name.endswith((".jsonl", ".jsonl.zst"))


def open_reader(path: Path) -> CodexReader:
    """Return a reader; the name of a file ends with the session's id."""
    return CodexReader(path.name.removesuffix(".zst").removesuffix(".jsonl")[-36:])


class CodexReader(SessionReader):
    """Reads the lines of one session.

    Few items have ids. An item is known by its turn and all that was said in the turn before it:
    a fork, which begins with a copy of its parent under new times, then has the same ids.
    """

    remembered = (*SessionReader.remembered, "_tokens", "_ends")

    def __init__(self, name: str = "") -> None:
        """`name` is used as the session's id in a file whose first line is lost."""
        super().__init__()
        self._name = name
        self._tokens = Tokens()
        self._ends = Ends()

    def read(self, content: Mapping[str, Any]) -> Iterator[Entry]:
        kind, payload = fields.text(content, "type") or "", fields.mapping(content, "payload")
        if "payload" not in content:  # the first versions wrote only items
            kind, payload = _read_bare(content), content
        if kind == "session_meta":
            yield from self._read_meta(payload)
        elif kind == "turn_context":
            self._model = fields.text(payload, "model") or self._model
            self._said = fields.text(payload, "turn_id") or self._said
            yield from self._note(cwd=fields.text(payload, "cwd"))
        elif kind == "response_item":
            self._facts = replace(self._facts, session=self._session or self._name)
            record = self._read_item(payload)
            if record is not None:
                yield replace(record, at=fields.time(content, "timestamp"), model=self._model)
        elif kind == "event_msg" and self._session:
            yield from self._read_event(payload, fields.time(content, "timestamp"))
        elif kind not in _SILENT:
            self.unknown[kind or "without a type"] += 1

    def _read_meta(self, payload: Mapping[str, Any]) -> Iterator[Entry]:
        """Yield what is said of the session.

        A second one is the beginning of the parent's copy in a fork. Its items are those of the
        parent, and get its ids. Some forks have no second one.
        """
        session = fields.text(payload, "id")
        if session is None:
            return
        forked, parent = (
            fields.text(payload, "forked_from_id"),
            fields.text(payload, "parent_thread_id"),
        )
        if self._session:
            self._said = session
            return
        self._said = forked or session
        is_subagent = parent is not None or "subagent" in fields.mapping(payload, "source")
        yield from self._note(
            session=session,
            cwd=fields.text(payload, "cwd"),
            branch=fields.text(fields.mapping(payload, "git"), "branch"),
            remote=fields.text(fields.mapping(payload, "git"), "repository_url"),
            version=fields.text(payload, "cli_version"),
            parent=parent or forked,
            is_subagent=is_subagent,
        )

    def _read_event(self, event: Mapping[str, Any], at: datetime | None) -> Iterator[Entry]:
        """Yield what only events say; most repeat what items say."""
        kind = fields.text(event, "type")
        if kind == "thread_name_updated":
            yield from self._note(title=fields.text(event, "thread_name"))
        elif kind == "token_count":
            info = fields.mapping(event, "info")
            for name, tokens in self._tokens.count(info):
                yield Record(self._session, name, tokens=tokens)
            if self._tokens.is_new:
                yield self._read_usage(info, at)
        elif kind == "thread_rolled_back":
            self._chain.rewind_turns(fields.number(event, "num_turns") or 1)
        else:
            self._ends.note(event)

    def _read_usage(self, info: Mapping[str, Any], at: datetime | None) -> RecordedUsage:
        """Return what an answer took. A fork repeats what its parent said, and these counts."""
        usage = fields.mapping(info, "last_token_usage")
        total = fields.mapping(info, "total_token_usage")
        return RecordedUsage(
            self._session,
            fields.hash_texts((self._said, to_text(total or usage))),
            self._said,
            fields.tokens(usage, "input_tokens"),
            fields.tokens(usage, "output_tokens"),
            fields.tokens(usage, "cached_input_tokens"),
            model=self._model,
            at=at,
        )

    def _read_item(self, item: Mapping[str, Any]) -> Record | None:
        kind = fields.text(item, "type") or ("message" if "role" in item else "")
        if kind == "message":
            return self._read_message(item)
        if kind == "reasoning":
            thought = fields.join_texts(item.get("summary")) or fields.join_texts(
                item.get("content")
            )
            return self._say("assistant", kind, reasoning=thought) if thought else None
        if kind in _CALLS:
            call = read_call(kind, item)
            return self._say("assistant", call.id, calls=(call,))
        if kind in _OUTPUTS:
            result = self._ends.add_to(read_output(item))
            return self._say(None, result.call_id, results=(result,))
        if kind not in _SILENT_ITEMS:
            self.unknown[f"item {kind or 'without a type'}"] += 1
        return None

    def _read_message(self, item: Mapping[str, Any]) -> Record | None:
        text = fields.join_texts(item.get("content"))
        role = fields.text(item, "role")
        if role == "assistant":
            return self._say("assistant", role, text=text) if text.strip() else None
        words = find_user_text(text) if role == "user" else ""
        return self._say("user", "user", text=words) if words else None

    def _say(self, speaker: Speaker | None, key: str, **said: Any) -> Record:
        record = super()._say(speaker, key, **said)
        if speaker == "assistant":
            return replace(record, tokens=self._tokens.note_said(record.id))
        if speaker == "user":
            self._tokens.begin_turn()
        return record


def _read_bare(content: Mapping[str, Any]) -> str:
    """Return the kind of a line of the first versions."""
    if "record_type" in content:
        return "session_state"
    if "type" in content:
        return "response_item"
    return "session_meta" if "id" in content and "timestamp" in content else ""


CODEX = LineSource("codex", "Codex CLI", list_files, fits, open_reader)


class Tokens:
    """Assigns the tokens of an event to the newest item of the answer.

    Codex counts after the items of an answer; older versions count before them. It repeats an
    event whenever it learns of other limits: then the total of the session is as it was.
    """

    def __init__(self) -> None:
        self._items: list[str] = []  # what the model said since it was counted
        self._counted: tuple[str, int] | None = None  # the newest item with tokens, and these
        self._total: Json = None  # of the session
        self._owed = 0  # tokens that were counted before the model said anything
        self.is_new = False  # whether the last event counted something

    def begin_turn(self) -> None:
        """Forget what was said: no answer continues after a user's words."""
        self._items = []

    def note_said(self, item: str) -> int | None:
        """Return the known tokens of a new item; None if they are not counted."""
        if self._owed:
            self._counted, self._owed = (item, self._owed), 0
            return self._counted[1]
        self._items = [*self._items[1 - MAX_ITEMS :], item]
        return None if self._total is None else 0

    def count(self, info: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
        """Yield items with their tokens, as an event counts them."""
        tokens = fields.number(fields.mapping(info, "last_token_usage"), "output_tokens")
        total = dict(fields.mapping(info, "total_token_usage"))
        is_repeated = total == self._total if total else not self._items
        self.is_new = not (tokens is None or is_repeated)
        if tokens is None or is_repeated:
            return
        self._total = total
        *others, newest = self._items or [""]
        yield from ((item, 0) for item in others)
        self._items = []
        if newest:
            self._counted = (newest, tokens)
        elif self._counted is not None:  # an answer without items, such as a recap
            self._counted = (self._counted[0], self._counted[1] + tokens)
        else:
            self._owed += tokens
            return
        yield self._counted

    def save(self) -> Json:
        return [self._items, self._counted, self._total, self._owed]

    def load(self, state: Json) -> None:
        self._items, counted, self._total, self._owed = state
        self._counted = None if counted is None else (counted[0], counted[1])


class Ends:
    """The ends of calls, which the program writes before their output."""

    def __init__(self) -> None:
        self._ends: Recent[RecordedResult] = Recent(MAX_ENDS)

    def note(self, event: Mapping[str, Any]) -> None:
        end = _read_ended_command(event) or _read_patch(event)
        if end is not None:
            self._ends.put(end.call_id, end)

    def add_to(self, result: RecordedResult) -> RecordedResult:
        """Return a result with what is known about the end of its call."""
        if (end := self._ends.pop(result.call_id)) is None:
            return result
        return replace(
            result,
            success=end.success,
            error=None if end.success else end.error or result.error,
            duration_ms=end.duration_ms,
            changes=end.changes,
        )

    def save(self) -> Json:
        return [asdict(end) for _, end in self._ends.items()]

    def load(self, state: Json) -> None:
        for kept in state:
            changes = tuple(RecordedChange(**change) for change in kept["changes"])
            self._ends.put(kept["call_id"], RecordedResult(**{**kept, "changes": changes}))


def read_call(kind: str, item: Mapping[str, Any]) -> Call:
    """Return a call, whose arguments may be a text of JSON, or the words of a patch."""
    name = fields.text(item, "name") or fields.text(fields.mapping(item, "function"), "name")
    name = name or kind.removesuffix("_call")
    given = fields.load_arguments(item.get("arguments", item.get("input", item.get("action"))))
    call_id = (
        fields.text(item, "call_id")
        or fields.text(item, "id")
        or fields.hash_texts((name, str(given)))
    )
    return Call(call_id, name, given)


def read_output(item: Mapping[str, Any]) -> RecordedResult:
    """Return the result in an item of the conversation."""
    call_id = fields.text(item, "call_id") or ""
    output = item.get("output", item.get("result", item.get("tools")))
    code: int | None = None
    if isinstance(output, str):
        text, code = _read_text(output)
    elif isinstance(output, dict) and "content" in output:
        content = output["content"]
        text = content if isinstance(content, str) else fields.join_texts(content)
        if output.get("success") is False:
            code = 1
    elif isinstance(output, dict) and ("stdout" in output or "exitCode" in output):
        text = f"{fields.text(output, 'stdout') or ''}{fields.text(output, 'stderr') or ''}"
        code = fields.number(output, "exitCode")
    else:
        text = fields.join_texts(output)
        code = _find_code(text)
    failed = code not in (None, 0)
    return RecordedResult(call_id, not failed, text, error=f"exit code {code}" if failed else None)


def _read_ended_command(event: Mapping[str, Any]) -> RecordedResult | None:
    """Return how a command or a call to a server ended."""
    call_id = fields.text(event, "call_id")
    if call_id is None:
        return None
    if event.get("type") == "exec_command_end":
        code = fields.number(event, "exit_code") or 0
        error = f"exit code {code}" if code else None
        return RecordedResult(call_id, code == 0, None, error, _read_duration(event))
    if event.get("type") == "mcp_tool_call_end":
        failure = fields.mapping(event, "result").get("Err")
        error = None if failure is None else str(failure)
        return RecordedResult(call_id, failure is None, None, error, _read_duration(event))
    return None


def _read_patch(event: Mapping[str, Any]) -> RecordedResult | None:
    """Return the files that a patch changed."""
    call_id = fields.text(event, "call_id")
    if event.get("type") != "patch_apply_end" or call_id is None:
        return None
    changes: list[RecordedChange] = []
    for path, change in fields.mapping(event, "changes").items():
        changes.append(RecordedChange(path, diff=_get_diff(change)))
        if isinstance(change, dict) and (moved := fields.text(change, "move_path")):
            changes.append(RecordedChange(moved))
    error = None if event.get("success", True) else fields.text(event, "stderr") or "it failed"
    done = () if error else tuple(changes)
    return RecordedResult(call_id, error is None, None, error, changes=done)


def _get_diff(change: Json) -> str | None:
    """Return the diff of a changed file; one with all its lines would repeat the patch."""
    if not isinstance(change, dict):
        return None
    return fields.text(change, "unified_diff") or fields.text(
        fields.mapping(change, "update"), "unified_diff"
    )


def _read_text(output: str) -> tuple[str, int | None]:
    """Return the text and the exit code; older versions wrap both in JSON."""
    if output.startswith("{"):
        wrapped = fields.parse_text(output)
        if isinstance(wrapped, dict) and isinstance(wrapped.get("output"), str):
            code = fields.number(fields.mapping(wrapped, "metadata"), "exit_code")
            return wrapped["output"], code
    return output, _find_code(output)


def _find_code(text: str) -> int | None:
    found = _EXIT.search(text[:_HEAD])
    return None if found is None else int(found.group(1))


def _read_duration(event: Mapping[str, Any]) -> int:
    taken = fields.mapping(event, "duration")
    return (fields.number(taken, "secs") or 0) * 1000 + (
        fields.number(taken, "nanos") or 0
    ) // 1_000_000

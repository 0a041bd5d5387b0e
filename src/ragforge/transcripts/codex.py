"""Codex CLI: `rollout-*.jsonl`, below `sessions` and `archived_sessions` of its home."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ragforge.domain.text import Json
from ragforge.transcripts.codex_results import read_ended_command, read_output, read_patch
from ragforge.transcripts.fields import (
    get_mapping,
    get_text,
    get_time,
    hash_texts,
    join_texts,
)
from ragforge.transcripts.files import walk_files
from ragforge.transcripts.line_source import LineSource
from ragforge.transcripts.record import Call, Entry, Record, Result, SessionFacts
from ragforge.transcripts.users_words import find_users_words

_SILENT = frozenset(
    (
        *("compacted", "world_state", "item_completed", "inter_agent_communication_metadata"),
        *("ghost_snapshot", "session_state"),
    )
)
_OUTPUTS = frozenset(
    (
        *("function_call_output", "custom_tool_call_output", "local_shell_call_output"),
        *("tool_search_output", "tool_result", "mcp_tool_call_output"),
    )
)
_CALLS = frozenset(
    (
        *("function_call", "custom_tool_call", "local_shell_call", "web_search_call"),
        *("tool_search_call", "tool_call", "image_generation_call"),
    )
)


def list_files(home: Path, environ: Mapping[str, str], projects: Sequence[Path] = ()) -> list[Path]:
    """Return the transcripts by the time in their names, compressed ones too."""
    folder = Path(environ.get("CODEX_HOME") or home / ".codex")
    found = [
        path
        for name in ("sessions", "archived_sessions")
        for path in walk_files(folder / name, fits)
    ]
    return sorted(found, key=lambda path: path.name)


def fits(path: Path) -> bool:
    return path.name.startswith("rollout-") and path.name.endswith((".jsonl", ".jsonl.zst"))


def open_reader(path: Path) -> CodexReader:
    return CodexReader()


class CodexReader:
    """Reads the lines of one session.

    Few items have ids. An item is known by its turn and all that was said in the turn before it:
    a fork, which begins with a copy of its parent under new times, then has the same ids.
    """

    def __init__(self) -> None:
        self.unknown: Counter[str] = Counter()
        self._session = ""
        self._chain = ""
        self._facts: SessionFacts | None = None
        self._model: str | None = None
        self._ends: dict[str, Result] = {}  # how calls ended; what they printed comes after it

    def read(self, content: Mapping[str, Any]) -> Iterator[Entry]:
        """Yield what one line says."""
        kind, payload = get_text(content, "type") or "", get_mapping(content, "payload")
        at = get_time(content, "timestamp")
        if kind == "session_meta":
            yield from self._read_meta(payload)
        elif kind == "turn_context":
            self._model = get_text(payload, "model") or self._model
            self._chain = get_text(payload, "turn_id") or self._chain
            yield from self._note(cwd=get_text(payload, "cwd"))
        elif kind == "response_item" and self._session:
            record = self._read_item(payload)
            if record is not None:
                yield replace(record, at=at, model=self._model)
        elif kind == "event_msg" and self._session:
            end = read_ended_command(payload) or read_patch(payload)
            if end is not None:
                self._ends[end.call_id] = end
        elif kind not in _SILENT and kind != "event_msg":
            self.unknown[kind or "without a type"] += 1

    def save(self) -> Json:
        facts = self._facts
        kept = None if facts is None else [facts.cwd, facts.branch, facts.version, facts.parent]
        return {
            "session": self._session,
            "chain": self._chain,
            "model": self._model,
            "facts": kept,
            "is_subagent": facts is not None and facts.is_subagent,
        }

    def load(self, state: Json) -> None:
        if not isinstance(state, dict) or not state.get("session"):
            return
        self._session, self._chain = str(state["session"]), str(state.get("chain", ""))
        model = state.get("model")
        self._model = model if isinstance(model, str) else None
        kept = state.get("facts")
        if isinstance(kept, list):
            cwd, branch, version, parent = (None if v is None else str(v) for v in kept)
            is_one = bool(state.get("is_subagent"))
            self._facts = SessionFacts(self._session, cwd, branch, version, None, parent, is_one)

    def _read_meta(self, payload: Mapping[str, Any]) -> Iterator[Entry]:
        """Yield what is said of the session; the copy of a parent's in a fork says nothing."""
        session = get_text(payload, "id")
        if session is None or self._session:
            return
        self._session = self._chain = session
        forked, parent = get_text(payload, "forked_from_id"), get_text(payload, "parent_thread_id")
        yield from self._note(
            cwd=get_text(payload, "cwd"),
            branch=get_text(get_mapping(payload, "git"), "branch"),
            version=get_text(payload, "cli_version"),
            parent=parent or forked,
            is_subagent=parent is not None,
        )

    def _note(self, **new: Any) -> Iterator[SessionFacts]:
        """Yield the facts of the session when they changed."""
        given = {name: value for name, value in new.items() if value is not None}
        facts = replace(self._facts or SessionFacts(self._session), **given)
        if self._session and facts != self._facts:
            self._facts = facts
            yield facts

    def _read_item(self, item: Mapping[str, Any]) -> Record | None:
        kind = get_text(item, "type") or ""
        if kind == "message":
            return self._read_message(item)
        if kind == "reasoning":
            thought = join_texts(item.get("summary")) or join_texts(item.get("content"))
            return self._say("assistant", kind, reasoning=thought) if thought else None
        if kind in _CALLS:
            call = _read_call(kind, item)
            return self._say("assistant", call.id, calls=(call,))
        if kind in _OUTPUTS:
            result = _add_end(read_output(item), self._ends)
            return self._say(None, result.call_id, results=(result,))
        if kind not in ("agent_message", "compaction"):
            self.unknown[f"item {kind or 'without a type'}"] += 1
        return None

    def _read_message(self, item: Mapping[str, Any]) -> Record | None:
        text = join_texts(item.get("content"))
        role = get_text(item, "role")
        if role == "assistant":
            return self._say("assistant", role, text=text) if text.strip() else None
        words = find_users_words(text) if role == "user" else ""
        return self._say("user", "user", text=words) if words else None

    def _say(self, speaker: Any, key: str, **said: Any) -> Record:
        """Return a record whose id follows from what was said before it."""
        texts = (str(said.get(name) or "") for name in ("text", "reasoning"))
        self._chain = hash_texts((self._chain, speaker or "", key, *texts))
        return Record(self._session, self._chain, None, None, speaker, **said)


def _read_call(kind: str, item: Mapping[str, Any]) -> Call:
    """Return a call, whose arguments may be a text of JSON, or the words of a patch."""
    name = get_text(item, "name") or get_text(get_mapping(item, "function"), "name")
    name = name or kind.removesuffix("_call")
    given = item.get("arguments", item.get("input", item.get("action")))
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except ValueError:
            given = {"input": given}
    call_id = get_text(item, "call_id") or get_text(item, "id") or hash_texts((name, str(given)))
    return Call(call_id, name, given)


def _add_end(result: Result, ends: dict[str, Result]) -> Result:
    """Return the result with what the program noted about the end of its call."""
    if (end := ends.pop(result.call_id, None)) is None:
        return result
    return replace(
        result,
        success=end.success,
        error=end.error or result.error if not end.success else None,
        duration_ms=end.duration_ms,
        changes=end.changes,
    )


CODEX = LineSource("codex", "Codex CLI", list_files, fits, open_reader)

"""Codex CLI: `rollout-*.jsonl`, below `sessions` and `archived_sessions` of its home."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ragforge.transcripts.codex_results import Ends, read_call, read_output
from ragforge.transcripts.codex_tokens import Tokens
from ragforge.transcripts.fields import (
    get_mapping,
    get_number,
    get_text,
    get_time,
    join_texts,
)
from ragforge.transcripts.files import walk_files
from ragforge.transcripts.line_source import LineSource
from ragforge.transcripts.reader import SessionReader
from ragforge.transcripts.record import Entry, Record, Speaker
from ragforge.transcripts.user_text import find_user_text

_SILENT = frozenset(
    (
        *("compacted", "world_state", "item_completed", "inter_agent_communication_metadata"),
        *("ghost_snapshot", "session_state", "event_msg"),
    )
)
_OUTPUTS = frozenset(
    (
        *("function_call_output", "custom_tool_call_output", "local_shell_call_output"),
        *("tool_search_output", "tool_result", "function_result", "mcp_tool_call_output"),
    )
)
_CALLS = frozenset(
    (
        *("function_call", "custom_tool_call", "local_shell_call", "web_search_call"),
        *("tool_search_call", "tool_call", "image_generation_call"),
    )
)
_SILENT_ITEMS = frozenset(("agent_message", "compaction", "compaction_summary", "ghost_snapshot"))


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
        """`name` stands for the session's id in a file whose first line is lost."""
        super().__init__()
        self._name = name
        self._tokens = Tokens()
        self._ends = Ends()

    def read(self, content: Mapping[str, Any]) -> Iterator[Entry]:
        kind, payload = get_text(content, "type") or "", get_mapping(content, "payload")
        if "payload" not in content:  # the first versions wrote items alone
            kind, payload = _read_bare(content), content
        if kind == "session_meta":
            yield from self._read_meta(payload)
        elif kind == "turn_context":
            self._model = get_text(payload, "model") or self._model
            self._said = get_text(payload, "turn_id") or self._said
            yield from self._note(cwd=get_text(payload, "cwd"))
        elif kind == "response_item":
            self._facts = replace(self._facts, session=self._session or self._name)
            record = self._read_item(payload)
            if record is not None:
                yield replace(record, at=get_time(content, "timestamp"), model=self._model)
        elif kind == "event_msg" and self._session:
            yield from self._read_event(payload)
        elif kind not in _SILENT:
            self.unknown[kind or "without a type"] += 1

    def _read_meta(self, payload: Mapping[str, Any]) -> Iterator[Entry]:
        """Yield what is said of the session.

        A second one is the beginning of the parent's copy in a fork. Its items are those of the
        parent, and get its ids. Some forks have no second one.
        """
        session = get_text(payload, "id")
        if session is None:
            return
        forked, parent = get_text(payload, "forked_from_id"), get_text(payload, "parent_thread_id")
        if self._session:
            self._said = session
            return
        self._said = forked or session
        is_subagent = parent is not None or "subagent" in get_mapping(payload, "source")
        yield from self._note(
            session=session,
            cwd=get_text(payload, "cwd"),
            branch=get_text(get_mapping(payload, "git"), "branch"),
            remote=get_text(get_mapping(payload, "git"), "repository_url"),
            version=get_text(payload, "cli_version"),
            parent=parent or forked,
            is_subagent=is_subagent,
        )

    def _read_event(self, event: Mapping[str, Any]) -> Iterator[Entry]:
        """Yield what events alone say; most repeat what items say."""
        kind = get_text(event, "type")
        if kind == "thread_name_updated":
            yield from self._note(title=get_text(event, "thread_name"))
        elif kind == "token_count":
            for name, tokens in self._tokens.count(get_mapping(event, "info")):
                yield Record(self._session, name, tokens=tokens)
        elif kind == "thread_rolled_back":
            self._chain.rewind_turns(get_number(event, "num_turns") or 1)
        else:
            self._ends.note(event)

    def _read_item(self, item: Mapping[str, Any]) -> Record | None:
        kind = get_text(item, "type") or ("message" if "role" in item else "")
        if kind == "message":
            return self._read_message(item)
        if kind == "reasoning":
            thought = join_texts(item.get("summary")) or join_texts(item.get("content"))
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
        text = join_texts(item.get("content"))
        role = get_text(item, "role")
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
    """Return the kind of a line as the first versions wrote them."""
    if "record_type" in content:
        return "session_state"
    if "type" in content:
        return "response_item"
    return "session_meta" if "id" in content and "timestamp" in content else ""


CODEX = LineSource("codex", "Codex CLI", list_files, fits, open_reader)

"""Claude Code: `projects/**/*.jsonl` in its configuration folder, sub-agents beside them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ragforge.domain.text import Json
from ragforge.transcripts.claude_edits import find_changes
from ragforge.transcripts.fields import (
    get_blocks,
    get_mapping,
    get_number,
    get_text,
    get_time,
    hash_texts,
    join_texts,
)
from ragforge.transcripts.files import walk_files
from ragforge.transcripts.line_source import LineSource
from ragforge.transcripts.record import Call, Entry, Record, Result, SessionFacts
from ragforge.transcripts.users_words import find_users_words

# Records that say nothing about the conversation itself.
_SILENT = frozenset(
    (
        *("progress", "system", "attachment", "file-history-snapshot", "queue-operation"),
        *("relocated", "worktree-state", "pr-link", "summary", "last-prompt", "agent-name"),
        *("permission-mode", "mode", "saved_hook_context", "content-replacement"),
    )
)
_TITLES = {"custom-title": "customTitle", "ai-title": "aiTitle"}
_SYNTHETIC = "<synthetic>"  # the model of a message that the program wrote itself


def list_files(home: Path, environ: Mapping[str, str], projects: Sequence[Path] = ()) -> list[Path]:
    """Return the transcripts, those of sub-agents after their parents'."""
    folder = Path(environ.get("CLAUDE_CONFIG_DIR") or home / ".claude") / "projects"
    found = walk_files(folder, fits)
    return sorted(found, key=lambda path: ("subagents" in path.parts, str(path)))


def fits(path: Path) -> bool:
    return path.suffix == ".jsonl"


def open_reader(path: Path) -> ClaudeCodeReader:
    return ClaudeCodeReader(_name_subagent(path))


def _name_subagent(path: Path) -> str | None:
    """Return the id of the sub-agent whose transcript this is."""
    is_one = "subagents" in path.parts and path.stem.startswith("agent-")
    return path.stem.removeprefix("agent-") if is_one else None


class ClaudeCodeReader:
    """Reads the lines of one session."""

    def __init__(self, subagent: str | None = None) -> None:
        self.unknown: Counter[str] = Counter()
        self._subagent = subagent
        self._facts: dict[str, SessionFacts] = {}
        self._side: dict[str, str] = {}  # record of a sub-agent in the same file → its session
        self._streamed: tuple[str, set[str]] = ("", set())  # a message, and what it has said

    def read(self, content: Mapping[str, Any]) -> Iterator[Entry]:
        """Yield what one line says."""
        kind = get_text(content, "type") or ""
        if kind in _TITLES:
            session, title = get_text(content, "sessionId"), get_text(content, _TITLES[kind])
            if session and title:
                yield SessionFacts(session, title=title)
            return
        if kind not in _SILENT and kind not in ("user", "assistant"):
            self.unknown[kind or "without a type"] += 1
        record_id, owner = get_text(content, "uuid"), get_text(content, "sessionId")
        if record_id is None or owner is None:
            return
        session = self._find_session(content, record_id, owner)
        yield from self._note_facts(content, session, owner)
        link = Record(
            session,
            record_id,
            get_text(content, "parentUuid") or get_text(content, "logicalParentUuid"),
            get_time(content, "timestamp"),
        )
        message = get_mapping(content, "message")
        if kind == "user":
            yield _read_user(content, message, link)
        elif kind == "assistant" and not _is_synthetic(content, message):
            yield self._read_assistant(message, link)
        else:
            yield link

    def save(self) -> Json:
        facts = [
            [one.session, one.cwd, one.branch, one.version, one.parent, one.is_subagent]
            for one in self._facts.values()
        ]
        message, said = self._streamed
        recent = list(self._side.items())[-64:]
        return {"facts": facts, "streamed": [message, sorted(said)], "side": dict(recent)}

    def load(self, state: Json) -> None:
        if not isinstance(state, dict):
            return
        for session, cwd, branch, version, parent, is_one in state.get("facts", ()):
            facts = SessionFacts(session, cwd, branch, version, None, parent, is_one)
            self._facts[session] = facts
        message, said = state.get("streamed", ("", ()))
        self._streamed = message, set(said)
        self._side = dict(state.get("side", {}))

    def _find_session(self, content: Mapping[str, Any], record_id: str, owner: str) -> str:
        """Return the session that a line belongs to: a sub-agent's carries its parent's id."""
        if self._subagent is not None:
            return f"{owner}/{get_text(content, 'agentId') or self._subagent}"
        if not content.get("isSidechain"):
            return owner
        parent = get_text(content, "parentUuid")
        root = get_text(content, "agentId") or record_id
        session = self._side.get(parent or "", f"{owner}/{root}")
        self._side[record_id] = session
        return session

    def _note_facts(
        self, content: Mapping[str, Any], session: str, owner: str
    ) -> Iterator[SessionFacts]:
        """Yield the facts of a session when they are new."""
        facts = SessionFacts(
            session,
            get_text(content, "cwd"),
            get_text(content, "gitBranch"),
            get_text(content, "version"),
            None,
            owner if session != owner else None,
            session != owner,
        )
        if self._facts.get(session) != facts:
            self._facts[session] = facts
            yield facts

    def _read_assistant(self, message: Mapping[str, Any], link: Record) -> Record:
        """Return what a line of an answer says; a block that was streamed before is left out."""
        message_id = get_text(message, "id") or link.id
        if self._streamed[0] != message_id:
            self._streamed = message_id, set()
        texts: list[str] = []
        thoughts: list[str] = []
        calls: list[Call] = []
        for block in get_blocks(message.get("content")):
            key = get_text(block, "id") or hash_texts(
                str(block.get(name, "")) for name in ("type", "text", "thinking")
            )
            if key in self._streamed[1]:
                continue
            self._streamed[1].add(key)
            match block.get("type"):
                case "text":
                    texts.append(get_text(block, "text") or "")
                case "thinking":
                    thoughts.append(get_text(block, "thinking") or "")
                case "tool_use" | "server_tool_use":
                    name = get_text(block, "name") or "tool"
                    calls.append(Call(str(block.get("id")), name, block.get("input")))
                case "redacted_thinking" | "image":
                    pass
                case other:
                    self.unknown[f"assistant block {other}"] += 1
        if not (any(texts) or any(thoughts) or calls):
            return link
        usage = get_mapping(message, "usage")
        return Record(
            *(link.session, link.id, link.parent, link.at, "assistant"),
            text="\n".join(filter(None, texts)),
            reasoning="\n".join(filter(None, thoughts)) or None,
            calls=tuple(calls),
            model=get_text(message, "model"),
            tokens=get_number(usage, "output_tokens"),
        )


def _read_user(content: Mapping[str, Any], message: Mapping[str, Any], link: Record) -> Record:
    """Return a user's words and the results of tools, which stand on users' lines."""
    blocks = get_blocks(message.get("content"))
    results = tuple(
        Result(
            str(block.get("tool_use_id")),
            not block.get("is_error"),
            join_texts(block.get("content")),
            error=join_texts(block.get("content")) if block.get("is_error") else None,
            changes=find_changes(content.get("toolUseResult")),
        )
        for block in blocks
        if block.get("type") == "tool_result"
    )
    is_written = any(content.get(name) for name in ("isMeta", "isCompactSummary"))
    is_written = is_written or bool(content.get("isVisibleInTranscriptOnly"))
    words = [str(block.get("text", "")) for block in blocks if block.get("type") == "text"]
    text = "" if is_written else find_users_words("\n".join(words))
    return replace(link, speaker="user" if text else None, text=text, results=results)


def _is_synthetic(content: Mapping[str, Any], message: Mapping[str, Any]) -> bool:
    return bool(content.get("isApiErrorMessage")) or message.get("model") == _SYNTHETIC


CLAUDE_CODE = LineSource("claude-code", "Claude Code", list_files, fits, open_reader)

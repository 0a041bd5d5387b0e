"""Claude Code: `projects/**/*.jsonl` in its configuration folder, with those of sub-agents."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from ragforge.domain.text import Json, split_words
from ragforge.transcripts import fields, record
from ragforge.transcripts.edits import hash_text
from ragforge.transcripts.files import read_object, sort_files, walk_files
from ragforge.transcripts.reader import Recent, SessionReader
from ragforge.transcripts.source import LineSource
from ragforge.transcripts.user_text import find_user_text

# Records that say nothing about the conversation itself.
_SILENT = split_words(
    """
    progress system attachment file-history-snapshot queue-operation relocated worktree-state
    pr-link summary last-prompt agent-name permission-mode mode saved_hook_context
    content-replacement agent-setting agent-color file-history-delta ai-title custom-title
    frame-link bridge-session atis-latch
    """
)
_TITLES = {"custom-title": "customTitle", "ai-title": "aiTitle"}
_SYNTHETIC = "<synthetic>"  # the model of a message that the program wrote itself
# Marks of lines that look like a user's, and that no user wrote.
_WRITTEN = ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly")
_RETRACTED = ("supersedesUuids", "retractedMessageUuids")
_USER_BLOCKS = frozenset(("text", "tool_result", "image", "document"))
_SILENT_BLOCKS = frozenset(("redacted_thinking", "image", "fallback"))
MAX_SIDE_RECORDS = 256


K = TypeVar("K")
MAX_ANSWERS = 16
"""How many answers are remembered: sub-agents of older versions write in turns."""
MAX_PARTS = 1_000
"""How many calls and texts of an answer are remembered."""
MAX_GROWING = 16
"""How many texts of an answer may still grow."""


def list_files(home: Path, environ: Mapping[str, str], projects: Sequence[Path] = ()) -> list[Path]:
    """Return the transcripts, those of sub-agents after their parents'."""
    folder = Path(environ.get("CLAUDE_CONFIG_DIR") or home / ".claude") / "projects"
    found = walk_files(folder, fits, (".jsonl",))
    return sort_files(found, lambda name: f"{os.sep}subagents{os.sep}" in name)


def fits(path: Path) -> bool:
    return path.suffix == ".jsonl"


def open_reader(path: Path) -> ClaudeCodeReader:
    is_one = "subagents" in path.parts and path.stem.startswith("agent-")
    if not is_one:
        return ClaudeCodeReader()
    task = fields.text(read_object(path.with_suffix(".meta.json")), "description")
    return ClaudeCodeReader(path.stem.removeprefix("agent-"), task)


class ClaudeCodeReader(SessionReader):
    """Reads the lines of one session."""

    remembered = ("_known", "_side", "_streams")

    def __init__(self, subagent: str | None = None, title: str | None = None) -> None:
        super().__init__()
        self._subagent = subagent
        self._title = title
        self._known: Recent[list[Json]] = Recent(MAX_SIDE_RECORDS)  # session → its facts
        # A sub-agent's records in the file of its parent, as older versions wrote them.
        self._side: Recent[str] = Recent(MAX_SIDE_RECORDS)
        self._streams = Streams()

    def read(self, content: Mapping[str, Any]) -> Iterator[record.Entry]:
        kind, owner = fields.text(content, "type") or "", fields.text(content, "sessionId")
        if kind not in _SILENT and kind not in ("user", "assistant"):
            self.unknown[kind or "without a type"] += 1
        if owner is None:
            self._note_lost(kind, "session")
            return
        if kind in _TITLES and (title := fields.text(content, _TITLES[kind])):
            yield record.SessionFacts(owner, title=title)
        words = _find_queued_words(content) if kind == "attachment" else ""
        record_id = fields.text(content, "uuid")
        if record_id is None and words:  # lines of this kind have none
            record_id = fields.hash_texts((owner, str(content.get("timestamp")), words))
        if record_id is None:
            self._note_lost(kind, "id")
            return
        session = self._find_session(content, record_id, owner)
        yield from self._note_facts(content, session, owner)
        parent = fields.text(content, "parentUuid") or fields.text(content, "logicalParentUuid")
        link = record.Record(session, record_id, parent, fields.time(content, "timestamp"))
        if retracted := [name for key in _RETRACTED for name in fields.texts(content, key)]:
            link = replace(link, retracts=tuple(retracted))
        if kind == "user":
            yield self._read_user(content, link)
        elif kind == "assistant" and not _is_synthetic(content):
            yield self._read_assistant(content, link)
            yield from _read_usage(content, link)
        else:
            yield replace(link, speaker="user", text=words) if words else link

    def _note_lost(self, kind: str, what: str) -> None:
        """Count the words of a line that does not name its session."""
        if kind in ("user", "assistant"):
            self.unknown[f"{kind} without a {what}"] += 1

    def _find_session(self, content: Mapping[str, Any], record_id: str, owner: str) -> str:
        """Return the session that a line belongs to: a sub-agent's carries its parent's id."""
        agent = fields.text(content, "agentId")
        if self._subagent is not None:
            return f"{owner}/{agent or self._subagent}"
        if not content.get("isSidechain"):
            return owner
        around = self._side.get(fields.text(content, "parentUuid") or "")
        session = f"{owner}/{agent}" if agent else around or f"{owner}/{record_id}"
        self._side.put(record_id, session)
        return session

    def _note_facts(
        self, content: Mapping[str, Any], session: str, owner: str
    ) -> Iterator[record.SessionFacts]:
        """Yield the facts of a session when they are new."""
        is_subagent = session != owner
        facts: list[Json] = [fields.text(content, name) for name in ("cwd", "gitBranch", "version")]
        facts += [self._title, owner, True] if is_subagent else [None, None, False]
        if self._known.get(session) != facts:
            self._known.put(session, facts)
            yield record.SessionFacts(session, *facts)

    def _read_user(self, content: Mapping[str, Any], link: record.Record) -> record.Record:
        """Return a user's words and the results of tools, which are also on users' lines."""
        blocks = fields.blocks(fields.mapping(content, "message").get("content"))
        for block in blocks:
            if (kind := fields.text(block, "type") or "without a type") not in _USER_BLOCKS:
                self.unknown[f"user block {kind}"] += 1
        results = [block for block in blocks if block.get("type") == "tool_result"]
        changes = find_changes(content.get("toolUseResult")) if len(results) == 1 else ()
        if results:
            found = map(_read_result, results)
            read = tuple(replace(one, changes=changes) if changes else one for one in found)
            link = replace(link, results=read)
        if any(content.get(name) for name in _WRITTEN) or content.get("promptSource") == "system":
            return link
        words = (fields.text(block, "text") for block in blocks if block.get("type") == "text")
        text = find_user_text("\n".join(filter(None, words)))
        if not text:
            return link
        # Without a parent it starts again; where the field is missing, it follows what is above.
        parent = record.ROOT if link.parent is None and "parentUuid" in content else link.parent
        return replace(link, parent=parent, speaker="user", text=text)

    def _read_assistant(self, content: Mapping[str, Any], link: record.Record) -> record.Record:
        """Return what a line of an answer adds to the lines of it before."""
        message = fields.mapping(content, "message")
        answer = _name_answer(content, link)
        texts: list[str] = []
        thoughts: list[str] = []
        calls: list[record.Call] = []
        results: list[record.RecordedResult] = []
        for number, block in enumerate(fields.blocks(message.get("content"))):
            kind = fields.text(block, "type") or "without a type"
            if kind == "text":
                texts.append(
                    self._streams.take_text(answer, kind, fields.text(block, "text") or "")
                )
            elif kind == "thinking":
                thought = fields.text(block, "thinking") or ""
                thoughts.append(self._streams.take_text(answer, kind, thought))
            elif kind in ("tool_use", "server_tool_use", "mcp_tool_use"):
                call_id = fields.text(block, "id") or f"{link.id}/{number}"
                if self._streams.take_call(answer, call_id):
                    name = fields.text(block, "name") or "tool"
                    calls.append(record.Call(call_id, name, block.get("input")))
            elif kind.endswith("_tool_result"):
                results.append(_read_result(block))
            elif kind not in _SILENT_BLOCKS:
                self.unknown[f"assistant block {kind}"] += 1
        tokens = fields.number(fields.mapping(message, "usage"), "output_tokens")
        if results:
            link = replace(link, results=tuple(results))
        if not (any(texts) or any(thoughts) or calls):
            return link
        text, reasoning = ("\n".join(filter(None, said)) for said in (texts, thoughts))
        tokens = self._streams.take_tokens(answer, tokens)
        model = fields.text(message, "model")
        return record.add_answer(
            link, text, reasoning or None, tuple(calls), model=model, tokens=tokens
        )


def _name_answer(content: Mapping[str, Any], link: record.Record) -> str:
    """Return the id that all lines of an answer share, also in a fork."""
    message_id = fields.text(fields.mapping(content, "message"), "id") or link.id
    return f"{message_id} {fields.text(content, 'requestId') or ''}"


def _read_usage(content: Mapping[str, Any], link: record.Record) -> Iterator[record.RecordedUsage]:
    """Yield what the request of an answer took. Its input is counted without the cache."""
    message = fields.mapping(content, "message")
    usage = fields.mapping(message, "usage")
    cached = fields.tokens(usage, "cache_read_input_tokens")
    written = fields.tokens(usage, "cache_creation_input_tokens")
    if usage:
        yield record.RecordedUsage(
            link.session,
            _name_answer(content, link),
            link.id,
            fields.tokens(usage, "input_tokens") + cached + written,
            fields.tokens(usage, "output_tokens"),
            cached,
            written,
            usd=fields.price(content, "costUSD"),
            model=fields.text(message, "model"),
            at=link.at,
        )


def _read_result(block: Mapping[str, Any]) -> record.RecordedResult:
    failed = bool(block.get("is_error"))
    output = fields.join_texts(block.get("content"))
    call_id = fields.text(block, "tool_use_id") or ""
    return record.RecordedResult(call_id, not failed, output, error=output if failed else None)


def _find_queued_words(content: Mapping[str, Any]) -> str:
    """Return what the user typed while the agent was working."""
    attachment = fields.mapping(content, "attachment")
    if attachment.get("type") != "queued_command" or content.get("isMeta"):
        return ""
    return find_user_text(fields.join_texts(attachment.get("prompt")))


def _is_synthetic(content: Mapping[str, Any]) -> bool:
    """Tell whether the program wrote an answer itself, to report an error for example."""
    model = fields.mapping(content, "message").get("model")
    return bool(content.get("isApiErrorMessage")) or model == _SYNTHETIC


CLAUDE_CODE = LineSource("claude-code", "Claude Code", list_files, fits, open_reader)


def find_changes(result: Json) -> tuple[record.RecordedChange, ...]:
    """Return the files that a result says were written."""
    if not isinstance(result, dict):
        return ()
    path = fields.text(result, "filePath")
    wrote = "oldString" in result or "edits" in result or result.get("type") in ("create", "update")
    if path is None or not wrote:
        return ()
    before, after = _find_contents(result)
    diff = _join_patch(result.get("structuredPatch"))
    return (record.RecordedChange(path, hash_text(before), hash_text(after), diff),)


def _find_contents(result: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """Return the file before and after; None where the transcript does not have it."""
    before = result.get("originalFile", result.get("originalFileContents"))
    before = before if isinstance(before, str) else None
    if isinstance(content := result.get("content"), str):
        return before, content
    if before is None:
        return None, None
    after = before
    steps = result.get("edits")
    for step in steps if isinstance(steps, list) else [result]:
        old, new = _read_step(step)
        if old is None or new is None or old not in after:
            return before, None
        times = -1 if step.get("replaceAll") or step.get("replace_all") else 1
        after = after.replace(old, new, times)
    # What the user changed by hand before accepting it is only in the patch.
    return before, None if result.get("userModified") else after


def _read_step(step: object) -> tuple[str | None, str | None]:
    if not isinstance(step, dict):
        return None, None
    old = step.get("oldString", step.get("old_string"))
    new = step.get("newString", step.get("new_string"))
    return (old, new) if isinstance(old, str) and isinstance(new, str) else (None, None)


def _join_patch(hunks: Json) -> str | None:
    """Return hunks as the text of a unified diff."""
    if not isinstance(hunks, list):
        return None
    texts: list[str] = []
    for hunk in hunks:
        if not isinstance(hunk, dict) or not isinstance(lines := hunk.get("lines"), list):
            return None
        names = ("oldStart", "oldLines", "newStart", "newLines")
        old, old_count, new, new_count = (fields.number(hunk, name) or 0 for name in names)
        texts.append(f"@@ -{old},{old_count} +{new},{new_count} @@")
        texts += [line for line in lines if isinstance(line, str)]
    return "\n".join(texts) or None


@dataclass(slots=True)
class _Answer:
    """What was read of an answer: its tokens, its calls, and the length and hash of its texts."""

    tokens: int = 0
    calls: dict[str, None] = field(default_factory=dict)
    texts: dict[tuple[str, int, str], None] = field(default_factory=dict)


class Streams:
    """The newest answers, by the ids of their messages and requests."""

    def __init__(self) -> None:
        self._answers: Recent[_Answer] = Recent(MAX_ANSWERS)

    def take_text(self, answer_id: str, kind: str, text: str) -> str:
        """Return what a text adds to those that were read of this answer."""
        texts = self._get(answer_id).texts
        whole = (kind, len(text), fields.hash_texts((text,)))
        if whole in texts:
            return ""
        begun = 0
        for old in islice(reversed(texts), MAX_GROWING):
            old_kind, size, old_hash = old
            if (
                old_kind == kind
                and size < len(text)
                and fields.hash_texts((text[:size],)) == old_hash
            ):
                begun = size
                del texts[old]
                break
        _put(texts, whole)
        return text[begun:]

    def take_call(self, answer_id: str, call_id: str) -> bool:
        """Tell whether a call is new in this answer."""
        calls = self._get(answer_id).calls
        is_new = call_id not in calls
        if is_new:
            _put(calls, call_id)
        return is_new

    def take_tokens(self, answer_id: str, tokens: int | None) -> int | None:
        """Return the tokens that were not counted yet: each line has those of all before it."""
        if tokens is None:
            return None
        answer = self._get(answer_id)
        grown = max(0, tokens - answer.tokens)
        answer.tokens += grown
        return grown

    def save(self) -> Json:
        return [
            [name, answer.tokens, list(answer.calls), list(answer.texts)]
            for name, answer in self._answers.items()
        ]

    def load(self, state: Json) -> None:
        for name, tokens, calls, texts in state:
            kept = dict.fromkeys((kind, size, old_hash) for kind, size, old_hash in texts)
            self._answers.put(name, _Answer(tokens, dict.fromkeys(calls), kept))

    def _get(self, answer_id: str) -> _Answer:
        if (answer := self._answers.get(answer_id)) is None:
            answer = _Answer()
            self._answers.put(answer_id, answer)
        return answer


def _put(parts: dict[K, None], part: K) -> None:
    """Remember a part as the newest, and forget the oldest where there are too many."""
    parts[part] = None
    if len(parts) > MAX_PARTS:
        del parts[next(iter(parts))]

"""Gemini CLI: `tmp/<project>/chats/session-*` in its folder, lines since 0.40, JSON before."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from ragforge.domain.text import Json
from ragforge.transcripts import fields
from ragforge.transcripts.files import read_object, read_regular, walk_files
from ragforge.transcripts.reader import Recent, SessionReader
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

_SILENT = frozenset(("info", "error", "warning"))
_ENDED = {"success": True, "error": False, "cancelled": False}
MAX_TEXTS = 64


def list_files(home: Path, environ: Mapping[str, str], projects: Sequence[Path] = ()) -> list[Path]:
    """Return the transcripts, those of sub-agents after their parents'."""
    folder = Path(environ.get("GEMINI_CLI_HOME") or home) / ".gemini" / "tmp"
    found = walk_files(folder, fits)
    return sorted(found, key=lambda path: (path.parent.name != "chats", str(path)))


def fits(path: Path) -> bool:
    """Tell whether a file lies where sessions do; sub-agents' are named otherwise."""
    if path.suffix not in (".json", ".jsonl"):
        return False
    is_session = path.name.startswith("session-")
    return (is_session and path.parent.name == "chats") or path.parent.parent.name == "chats"


def open_reader(path: Path) -> GeminiReader:
    parent = path.parent
    if parent.parent.name == "chats":
        return GeminiReader(_find_root(parent.parent.parent), parent.name)
    return GeminiReader(_find_root(parent.parent))


def unpack(value: Json) -> Iterable[Mapping[str, Any]]:
    """Return a file of older versions as lines: the session, then its messages."""
    if not isinstance(value, dict):
        return ()
    messages = value.get("messages")
    return ({**value, "messages": None}, *(messages if isinstance(messages, list) else ()))


def _find_root(folder: Path) -> str | None:
    """Return the project that a folder of sessions belongs to, as Gemini wrote it down."""
    try:
        return read_regular(folder / ".project_root").decode("utf-8", "replace").strip() or None
    except OSError:
        pass
    table = read_object(folder.parent.parent / "projects.json")
    for root, name in fields.mapping(table, "projects").items():
        if folder.name in (name, sha256(root.encode()).hexdigest()):
            return str(root)
    return None


class GeminiReader(SessionReader):
    """Reads the lines of one session.

    A message is written again whenever it changes: its text comes once, its calls each once.
    """

    remembered = ("_facts", "_is_noted", "_chain", "_texts")

    def __init__(self, root: str | None = None, parent: str | None = None) -> None:
        super().__init__(SessionFacts("", root, parent=parent, is_subagent=parent is not None))
        self._texts: Recent[list[str]] = Recent(MAX_TEXTS)  # message → its record, its hash

    def read(self, content: Mapping[str, Any]) -> Iterator[Entry]:
        if "$rewindTo" in content:
            self._chain.rewind(fields.text(content, "$rewindTo") or "")
        elif "$set" in content:
            yield from self._read_session(fields.mapping(content, "$set"))
        elif "type" in content and self._session:
            yield from self._read_message(content)
        elif "sessionId" in content or "messages" in content:
            yield from self._read_session(content)
        else:
            self.unknown["without a type"] += 1

    def _read_session(self, content: Mapping[str, Any]) -> Iterator[Entry]:
        """Yield what is said of the session, and the messages that stand with it."""
        yield from self._note(
            session=self._session or fields.text(content, "sessionId"),
            cwd=self._facts.cwd or next(iter(fields.texts(content, "directories")), None),
            title=fields.text(content, "summary"),
        )
        messages = content.get("messages") if self._session else None
        for message in messages if isinstance(messages, list) else ():
            if isinstance(message, dict):
                yield from self._read_message(message)

    def _read_message(self, content: Mapping[str, Any]) -> Iterator[Entry]:
        kind, name = fields.text(content, "type") or "without a type", fields.text(content, "id")
        if kind in _SILENT:
            return
        if kind not in ("user", "gemini", "model") or name is None:
            self.unknown[kind] += 1
            return
        record = Record(self._session, name, None, fields.time(content, "timestamp"))
        if kind == "user":
            words = fields.join_texts(content.get("displayContent")) or fields.join_texts(
                content.get("content")
            )
            if text := find_user_text(words):
                yield self._chain.link(replace(record, speaker="user", text=text))
            return
        tokens = fields.mapping(content, "tokens")
        said = replace(
            record,
            speaker="assistant",
            text=fields.join_texts(content.get("content"))
            or fields.join_texts(content.get("parts")),
            reasoning=_join_thoughts(content.get("thoughts")),
            model=fields.text(content, "model"),
            tokens=fields.number(tokens, "output"),
        )
        if said.text or said.reasoning:
            is_again = self._texts.get(name) is not None
            said = self._replace_older(said)
            yield self._chain.link(said)
            if is_again and said.tokens is not None:  # they are known when the answer has ended
                yield Record(self._session, said.id, tokens=said.tokens)
        yield from self._read_calls(content, replace(record, model=said.model))
        if tokens:
            yield RecordedUsage(
                self._session,
                name,
                said.id,
                fields.tokens(tokens, "input") + fields.tokens(tokens, "tool"),
                fields.tokens(tokens, "output") + fields.tokens(tokens, "thoughts"),
                fields.tokens(tokens, "cached"),
                model=said.model,
                at=record.at,
            )

    def _replace_older(self, record: Record) -> Record:
        """Return a message; with other words than before it takes back the older one."""
        older = self._texts.get(record.id)
        said = fields.hash_texts((record.text, record.reasoning or ""))
        if older is None or older[1] == said:
            name = record.id if older is None else older[0]
            self._texts.put(record.id, [name, said])
            return replace(record, id=name)
        newer = f"{record.id}/{said}"
        self._texts.put(record.id, [newer, said])
        return replace(record, id=newer, retracts=(older[0],))

    def _read_calls(self, content: Mapping[str, Any], record: Record) -> Iterator[Entry]:
        """Yield each call as a separate message: they are added while the answer continues."""
        for number, call in enumerate(fields.blocks(content.get("toolCalls"))):
            call_id = fields.text(call, "id") or f"{record.id}/{number}"
            made = Call(call_id, fields.text(call, "name") or "tool", call.get("args"))
            at = fields.time(call, "timestamp") or record.at
            success = _ENDED.get(fields.text(call, "status") or "")
            results = () if success is None else (_read_result(call, call_id, success),)
            name = f"{record.id}/{call_id}"
            one = replace(record, id=name, at=at, speaker="assistant", calls=(made,))
            yield self._chain.link(replace(one, results=results))


def _read_result(call: Mapping[str, Any], call_id: str, success: bool) -> RecordedResult:
    """Return what came of a call: what the model received, or what the user saw."""
    outputs: list[str] = []
    for block in fields.blocks(call.get("result")):
        response = fields.mapping(fields.mapping(block, "functionResponse"), "response")
        outputs += [text for key in ("output", "error") if (text := fields.text(response, key))]
        outputs += filter(None, (fields.text(block, "text"),))
    output = "\n".join(outputs) or fields.text(call, "resultDisplay") or ""
    return RecordedResult(
        call_id, success, output, error=None if success else output or "it failed"
    )


def _join_thoughts(value: Json) -> str | None:
    """Return thoughts, each with its heading."""
    thoughts = [
        ": ".join(filter(None, (fields.text(one, "subject"), fields.text(one, "description"))))
        for one in fields.blocks(value)
    ]
    return "\n".join(filter(None, thoughts)) or None


GEMINI = LineSource("gemini", "Gemini CLI", list_files, fits, open_reader, unpack)

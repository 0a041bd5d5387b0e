"""Qwen Code: `<project>/chats/<id>.jsonl` in its folder; Claude's envelope, Gemini's parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ragforge.transcripts import fields
from ragforge.transcripts.files import walk_files
from ragforge.transcripts.reader import Recent, SessionReader
from ragforge.transcripts.record import (
    ROOT,
    Call,
    Entry,
    Record,
    RecordedResult,
    RecordedUsage,
    add_answer,
)
from ragforge.transcripts.source import LineSource
from ragforge.transcripts.user_text import find_user_text

_SPOKEN = (None, "mid_turn_user_message")  # subtypes of lines that a user wrote
MAX_RECORDS = 64


def list_files(home: Path, environ: Mapping[str, str], projects: Sequence[Path] = ()) -> list[Path]:
    folder = Path(environ.get("QWEN_HOME") or home / ".qwen")
    return sorted(walk_files(folder, fits))


def fits(path: Path) -> bool:
    return path.suffix == ".jsonl" and path.parent.name == "chats"


class QwenReader(SessionReader):
    """Reads the lines of one session; lines of one answer share its id."""

    remembered = ("_facts", "_is_noted", "_seen")

    def __init__(self) -> None:
        super().__init__()
        self._seen: Recent[int] = Recent(MAX_RECORDS)  # answer → tokens that were counted

    def read(self, content: Mapping[str, Any]) -> Iterator[Entry]:
        name, session = fields.text(content, "uuid"), fields.text(content, "sessionId")
        kind = fields.text(content, "type") or "without a type"
        if kind not in ("user", "assistant", "tool_result", "system"):
            self.unknown[kind] += 1
        if name is None or session is None:
            self.unknown[f"{kind} without an id"] += 1
            return
        payload = fields.mapping(content, "systemPayload")
        subtype = fields.text(content, "subtype")
        yield from self._note(
            session=session,
            cwd=fields.text(content, "cwd"),
            branch=fields.text(content, "gitBranch"),
            version=fields.text(content, "version"),
            title=fields.text(payload, "customTitle"),
        )
        parent = fields.text(content, "parentUuid")
        if subtype == "rewind":
            parent = fields.text(payload, "targetUuid") or parent
        link = Record(session, name, parent, fields.time(content, "timestamp"))
        parts = fields.blocks(fields.mapping(content, "message").get("parts"))
        if kind == "user" and subtype in _SPOKEN:
            words = fields.text(payload, "displayText") or _join(parts)
            if text := find_user_text(words):
                is_first = parent is None and "parentUuid" in content
                link = replace(link, parent=ROOT if is_first else parent, speaker="user", text=text)
        elif kind == "assistant":
            link = self._read_answer(content, parts, link)
        elif kind == "tool_result":
            link = replace(link, results=tuple(_read_results(content, parts)))
        yield link
        if kind == "assistant" and (usage := fields.mapping(content, "usageMetadata")):
            yield _read_usage(session, name, usage, link)

    def _read_answer(
        self, content: Mapping[str, Any], parts: Sequence[Mapping[str, Any]], link: Record
    ) -> Record:
        thoughts = [fields.text(part, "text") for part in parts if part.get("thought") is True]
        made = [fields.mapping(part, "functionCall") for part in parts]
        calls = tuple(
            Call(
                fields.text(one, "id") or f"{link.id}/{number}",
                fields.text(one, "name") or "tool",
                one.get("args"),
            )
            for number, one in enumerate(made)
            if one
        )
        text, reasoning = _join(parts), "\n".join(filter(None, thoughts)) or None
        if not (text or reasoning or calls):
            return link
        name, parent = link.id, link.parent
        tokens = fields.number(fields.mapping(content, "usageMetadata"), "candidatesTokenCount")
        counted = self._seen.get(name)
        if counted is not None:  # another line of the same answer, with the tokens of all of it
            said = (text, reasoning or "", *(call.id for call in calls))
            name, parent = f"{name}/{fields.hash_texts(said)}", name
            tokens = None if tokens is None else max(0, tokens - counted)
        self._seen.put(link.id, (counted or 0) + (tokens or 0))
        link = replace(link, id=name, parent=parent, model=fields.text(content, "model"))
        return add_answer(link, text, reasoning, calls, tokens=tokens)


def _read_usage(session: str, name: str, usage: Mapping[str, Any], said: Record) -> RecordedUsage:
    """Return what a request took. Some servers count reasoning with the answer, some do not."""
    sent = fields.tokens(usage, "promptTokenCount")
    answered = fields.tokens(usage, "candidatesTokenCount")
    rest = fields.tokens(usage, "totalTokenCount") - sent
    cached = fields.tokens(usage, "cachedContentTokenCount")
    taken = max(answered, rest)
    return RecordedUsage(session, name, said.id, sent, taken, cached, model=said.model, at=said.at)


def _join(parts: Sequence[Mapping[str, Any]]) -> str:
    texts = [fields.text(part, "text") for part in parts if part.get("thought") is not True]
    return "\n".join(filter(None, texts))


def _read_results(
    content: Mapping[str, Any], parts: Sequence[Mapping[str, Any]]
) -> Iterator[RecordedResult]:
    """Yield the results of calls; the line also says how the last one ended."""
    end = fields.mapping(content, "toolCallResult")
    failed = fields.text(end, "status") in ("error", "cancelled")
    for part in parts:
        given = fields.mapping(part, "functionResponse")
        if not given:
            continue
        response = fields.mapping(given, "response")
        output = fields.text(response, "output") or fields.text(response, "error")
        output = output or fields.text(end, "resultDisplay") or ""
        has_failed = failed or "error" in response
        call_id = fields.text(given, "id") or fields.text(end, "callId") or ""
        error = output or "it failed"
        yield RecordedResult(call_id, not has_failed, output, error=error if has_failed else None)


QWEN = LineSource("qwen", "Qwen Code", list_files, fits, lambda path: QwenReader())

"""Live session: what another agent's session has said and touched last, from its transcript.

An agent hands its transcript to the hook. Only the end of the file is read, however long it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from ragforge.memory.last_turns import find_file, name_files
from ragforge.search.turn_rank import FILE_TURNS, LastTurn, SessionSoFar

END_BYTES = 250_000
"""How much of the end of a transcript is read; a turn of an agent may have 100 kB."""
MAX_LINE = 200_000
"""Longer lines hold whole files or pictures, and cost more than they tell."""
_READERS = {
    "claude-code": ("claude_code", "ClaudeCodeReader"),
    "codex": ("codex", "CodexReader"),
    "gemini": ("gemini", "GeminiReader"),
    "qwen": ("qwen", "QwenReader"),
    "kimi": ("kimi", "KimiReader"),
}


def read_session(agent: str, transcript: str, prompt: str, root: str, cwd: str) -> SessionSoFar:
    """Return the end of a session; nothing if its transcript cannot be read.

    The prompt itself, which may be in the transcript already, is left out.
    """
    if agent not in _READERS or not transcript:
        return SessionSoFar()
    turns: list[LastTurn] = []
    with suppress(Exception):  # transcripts are other programs' files, and change
        turns = _list_turns(_read_records(agent, Path(transcript)), root, cwd)
    if turns and turns[-1].said.strip() == prompt.strip():
        turns.pop()
    return SessionSoFar.of(turns[-FILE_TURNS:])


def _read_records(agent: str, path: Path) -> Iterator[Any]:
    """Yield what the last lines of a transcript say."""
    from ragforge.transcripts.fields import parse_line
    from ragforge.transcripts.record import Record

    module, name = _READERS[agent]
    reader = getattr(import_module(f"ragforge.transcripts.{module}"), name)()
    for line in _read_end(path):
        for content in parse_line(line) or ():
            for entry in reader.read(content):
                if isinstance(entry, Record):
                    yield entry


def _read_end(path: Path) -> list[bytes]:
    """Return the last complete lines of a file."""
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(size - END_BYTES, 0))
        lines = file.read().split(b"\n")
    if size > END_BYTES:
        lines = lines[1:]
    return [line for line in lines if line and len(line) <= MAX_LINE]


def _list_turns(records: Iterator[Any], root: str, cwd: str) -> list[LastTurn]:
    """Return the turns that records tell, oldest first."""
    turns: list[LastTurn] = []
    said: list[str] = []
    edited: list[str] = []
    read: list[str] = []

    def end_turn() -> None:
        if said or edited or read:
            files = (name_files(paths, root, cwd) for paths in (edited, read))
            turns.append(LastTurn("\n".join(said), *files))

    for record in records:
        if record.speaker == "user" and record.text.strip():
            end_turn()
            said, edited, read = [], [], []
        if record.text.strip():
            said.append(record.text)
        edited += (change.path for result in record.results for change in result.changes)
        for call in record.calls:
            edited += filter(None, [find_file(call.name, call.arguments, "edited")])
            read += filter(None, [find_file(call.name, call.arguments, "read")])
    end_turn()
    return turns

"""Deeds: what the agent did for each prompt, read from the transcript itself.

Rules:

- A prompt is what the user typed. Slash commands, notices of the agent and summaries of a compacted
  session are turns of the history, but nothing is asked for them.
- What a sub-agent edits or reads belongs to the turn that started it: older versions of the agent
  write it into the transcript as progress.
- An edit that failed or was refused does not count. One with `sed -i` or the like counts for the
  files that the command names, without lines; with a pattern, or more files than MAX_IN_PLACE, it
  is a change in bulk and says nothing about the prompt.
- A turn that edited more than MAX_EDITED files is a change in bulk as well: it is not asked.
- Paths are those of the repository, whichever folder or work tree the session ran in.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from benchmarks.desk.sessions import Log
from ragforge.transcripts.user_text import find_user_text

MAX_IN_PLACE = 5
MAX_EDITED = 20
MIN_LINE = 12
EDITS = frozenset(("Edit", "MultiEdit", "Write", "NotebookEdit"))
NOT_TYPED = ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly")
_IN_PLACE = re.compile(r"\b(?:sed\s+(?:-\w+\s+)*-i|perl\s+-\w*i|gofmt\s+-w|goimports\s+-w)")
_PATTERN = re.compile(r"[*?{]|\bxargs\b|\bfind\b|\bfor\b|\$\(|\./\.\.\.")
_FILE = re.compile(r"[\w./~-]*[\w-]+\.[A-Za-z]\w{0,7}\b")
_WORD = re.compile(r"[A-Za-z]{3,}")


@dataclass(frozen=True, slots=True)
class Edit:
    """Lines of a file that were changed, with those the agent gave to find the place."""

    at: str
    file: str
    lines: frozenset[str]


@dataclass(slots=True)
class Turn:
    """A prompt and what followed it."""

    id: str  # of the prompt's line
    session: str
    at: str
    end: str
    prompt: str
    offset: int  # where the prompt's line begins in the transcript
    said: list[str] = field(default_factory=list)
    edits: list[Edit] = field(default_factory=list)
    reads: list[tuple[str, str]] = field(default_factory=list)  # moment and file

    @property
    def is_command(self) -> bool:
        return self.prompt.startswith("/")

    @property
    def edited(self) -> frozenset[str]:
        return frozenset(edit.file for edit in self.edits)


@dataclass(frozen=True, slots=True)
class Paths:
    """Says what a path is called in the repository."""

    files: frozenset[str]  # that the repository ever had
    roots: tuple[str, ...]  # of its clones and work trees, the longest first

    @classmethod
    def of(cls, files: Iterable[str], folders: Iterable[str]) -> Paths:
        """Learn where the clones were from the folders in which sessions ran."""
        known = frozenset(files)
        inside = {str(parent) for file in known for parent in PurePosixPath(file).parents}
        given = frozenset(folders)
        roots = {_strip(folder, inside - {"."}, given) for folder in given}
        return cls(known, tuple(sorted(roots, key=lambda root: -len(root))))

    def find(self, path: str, cwd: str = "") -> str | None:
        """Return a path as the repository has it; None for what lies outside."""
        if not path.startswith("/"):
            path = f"{cwd}/{path}" if cwd else path
        path = str(PurePosixPath(path))
        root = next((root for root in self.roots if path.startswith(f"{root}/")), None)
        if root is None:
            return None
        inside = path[len(root) + 1 :]
        if inside in self.files or not inside.startswith("."):
            return inside
        parts = inside.split("/")  # of a work tree below the clone, in which no session ran
        ends = ("/".join(parts[start:]) for start in range(1, len(parts)))
        return next((end for end in ends if end in self.files), None)


def _strip(folder: str, inside: set[str], given: frozenset[str]) -> str:
    """Return the clone that a folder lies in.

    A folder inside that has one name only may be called like the clone itself: then it counts if
    sessions ran in the clone, too.
    """
    ends = sorted((end for end in inside if folder.endswith(f"/{end}")), key=len, reverse=True)
    for end in ends:
        root = folder.removesuffix(f"/{end}")
        if "/" in end or root in given:
            return root
    return folder


def list_folders(logs: Iterable[Log]) -> set[str]:
    """Return the folders in which sessions ran."""
    return {cwd for log in logs for line in log.lines if (cwd := line.record.get("cwd"))}


def read_turns(log: Log, paths: Paths) -> list[Turn]:
    """Return the turns of a session, in order."""
    turns: list[Turn] = []
    failed = {one for line in log.lines for one in _list_failed(line.record)}
    before = 0
    for line in log.lines:
        record = line.record
        prompt = _find_prompt(record)
        if prompt:
            session = record.get("sessionId") or log.name
            turns.append(Turn(record["uuid"], session, line.at, line.at, prompt, before))
        elif turns:
            turn = turns[-1]
            turn.end = line.at
            turn.said += _list_said(record)
            for name, given in _list_calls(record, failed):
                _note_call(turn, line.at, name, given, record.get("cwd") or "", paths)
        before = line.end
    return turns


def _find_prompt(record: Mapping[str, Any]) -> str:
    """Return what the user typed; nothing for any other line."""
    if record.get("type") != "user" or any(record.get(mark) for mark in NOT_TYPED):
        return ""
    content = (record.get("message") or {}).get("content")
    if isinstance(content, list):
        if any(block.get("type") == "tool_result" for block in content):
            return ""
        texts = (block.get("text", "") for block in content if block.get("type") == "text")
        content = "\n".join(texts)
    return find_user_text(content) if isinstance(content, str) and record.get("uuid") else ""


def _get_blocks(record: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the blocks of a message, or of a sub-agent's message that is told as progress."""
    data = record.get("data") or {}
    if record.get("type") == "progress" and data.get("type") == "agent_progress":
        record = data.get("message") or {}
    content = (record.get("message") or {}).get("content")
    return [one for one in content if isinstance(one, dict)] if isinstance(content, list) else []


def _list_failed(record: Mapping[str, Any]) -> Iterator[str]:
    for block in _get_blocks(record):
        if block.get("type") == "tool_result" and block.get("is_error"):
            yield block.get("tool_use_id", "")


def _list_said(record: Mapping[str, Any]) -> list[str]:
    if record.get("type") != "assistant":
        return []
    return [one["text"] for one in _get_blocks(record) if one.get("type") == "text"]


def _list_calls(
    record: Mapping[str, Any], failed: set[str]
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for block in _get_blocks(record):
        given = block.get("input")
        is_call = block.get("type") == "tool_use" and block.get("id") not in failed
        if is_call and isinstance(given, dict):
            yield block.get("name", ""), given


def _note_call(
    turn: Turn, at: str, name: str, given: Mapping[str, Any], cwd: str, paths: Paths
) -> None:
    if name == "Bash" and isinstance(command := given.get("command"), str):
        turn.edits += (Edit(at, file, frozenset()) for file in _list_in_place(command, cwd, paths))
    path = given.get("file_path") or given.get("notebook_path")
    file = paths.find(path, cwd) if isinstance(path, str) else None
    if file is None:
        return
    if name in EDITS:
        turn.edits.append(Edit(at, file, frozenset(list_lines(given))))
    elif name == "Read":
        turn.reads.append((at, file))


def _list_in_place(command: str, cwd: str, paths: Paths) -> list[str]:
    """Return the files that a command names and rewrites; none for a change in bulk."""
    if not _IN_PLACE.search(command) or _PATTERN.search(command):
        return []
    named = {file for path in _FILE.findall(command) if (file := paths.find(path, cwd))}
    known = sorted(named & paths.files)
    return known if len(known) <= MAX_IN_PLACE else []


def list_lines(given: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines that an edit names, without those that are too short to tell places apart."""
    some = given.get("edits") if isinstance(given.get("edits"), list) else [given]
    for edit in some or ():
        for key in ("old_string", "new_string", "content", "new_source"):
            if isinstance(edit, dict) and isinstance(text := edit.get(key), str):
                yield from filter(is_telling, map(str.strip, text.splitlines()))


def is_telling(line: str) -> bool:
    return len(line) >= MIN_LINE and len(_WORD.findall(line)) >= 2


def count_lines(turns: Sequence[Turn]) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """Return in which files and in which turns each line was edited."""
    files: dict[str, set[str]] = {}
    owners: dict[str, set[str]] = {}
    for turn in turns:
        for edit in turn.edits:
            for line in edit.lines:
                files.setdefault(line, set()).add(edit.file)
                owners.setdefault(line, set()).add(turn.id)
    return files, owners

"""read_file: lines of one file, as text."""

from __future__ import annotations

import io
import os
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator
from functools import partial
from itertools import islice

from pydantic import Field

from ragforge.brain.files.exclusions import HEAD_BYTES, decode, has_secret_content, is_binary
from ragforge.domain.text import Json
from ragforge.errors import InputError
from ragforge.llm.calls import Tool
from ragforge.ports.open_files import OpenFiles
from ragforge.records import dataclass
from ragforge.tools.excerpt import GAP, split_lines
from ragforge.tools.tool import Arguments, as_tool
from ragforge.tools.workspace import LIMITS, OWN, SECONDS, Deadline, ListedDirectory, Workspace

MAX_LINES = 2_000
MAX_CHARS = 100_000
LINE_CHARS = 2_000


class ReadArguments(Arguments):
    """What read_file is called with."""

    path: str = Field(min_length=1, description="File, relative to the project")
    start_line: int = Field(1, ge=1, description="First line, counted from 1")
    end_line: int | None = Field(None, ge=1, description="Last line; without it, as many as fit")
    line_numbers: bool = Field(False, description="Whether to begin each line with its number")


@dataclass(frozen=True, slots=True)
class FileText:
    """Lines of a file; `truncated` if requested lines, or parts of them, are missing."""

    file: str
    content: str
    start_line: int
    end_line: int  # one less than the start if there is nothing
    total_lines: int | None  # where the end of the file was seen
    truncated: bool

    def to_json(self) -> Json:
        return {
            "file": self.file,
            "content": self.content,
            "startLine": self.start_line,
            "endLine": self.end_line,
            "total_lines": self.total_lines,
            "truncated": self.truncated,
        }


def make_read_tool(workspace: Workspace, files: OpenFiles | None = None) -> Tool:
    """Return read_file for a model; with the files of an editor it sees what is not saved."""
    return as_tool("read_file", ReadArguments, partial(read_file, workspace, files=files))


async def read_file(
    workspace: Workspace,
    given: ReadArguments,
    seconds: float = SECONDS,
    files: OpenFiles | None = None,
) -> FileText:
    """Return lines of a file. Raises OutsideProject, or InputError that says why not."""
    deadline = Deadline(seconds)
    found = await deadline.run_in_thread(lambda: _read(workspace, given, deadline))
    # The editor is asked after the disk: a file that may not be read is not requested.
    text = None if files is None else await files.read(f"{workspace.root.path}/{found.file}")
    if text is None or len(text) > LIMITS.max_bytes:
        return found
    if has_secret_content(found.file, text[:HEAD_BYTES].encode("utf-8", "replace")):
        raise InputError(f"{given.path!r} cannot be read: it is left out: secret.")
    lines = split_lines(text)
    return _take_page(found.file, given, iter(lines[given.start_line - 1 :]), len(lines))


def _read(workspace: Workspace, given: ReadArguments, deadline: Deadline) -> FileText:
    path = workspace.root.inside(given.path)
    if given.end_line is not None and given.end_line < given.start_line:
        raise InputError(f"end_line {given.end_line} is before start_line {given.start_line}.")
    if why := _find_reason(workspace, path):
        raise InputError(f"{given.path!r} cannot be read: {why}.")
    try:
        with workspace.root.open(path) as file:
            head = file.peek(HEAD_BYTES)
            if is_binary(head):
                raise InputError(f"{given.path!r} cannot be read: it is binary.")
            if has_secret_content(path, head):
                raise InputError(f"{given.path!r} cannot be read: it is left out: secret.")
            if os.fstat(file.fileno()).st_size <= LIMITS.max_bytes:
                lines = split_lines(decode(file.read(LIMITS.max_bytes)))
                return _take_page(path, given, iter(lines[given.start_line - 1 :]), len(lines))
            return _take_page(path, given, _read_far(file, head, given.start_line, deadline), None)
    except OSError as error:
        raise InputError(f"{given.path!r} cannot be read: {error.strerror}.") from error


def _find_reason(workspace: Workspace, path: str) -> str | None:
    """Return why a file may not be read, or None."""
    parent, _, name = path.rpartition("/")
    node = workspace.listing.find_directory(parent)
    if not isinstance(node, ListedDirectory):
        return f"it is left out: {node}" if node else "there is no such file"
    if path in node.files or path in node.others:
        return None
    if any(path == inner for _, inner in node.directories) or not path:
        return "it is a directory"
    reason = node.skipped.get(name) or node.skipped.get(f"{name}/")
    return f"it is left out: {reason}" if reason and reason not in OWN else "there is no such file"


def _read_far(
    file: io.BufferedReader, head: bytes, start: int, deadline: Deadline
) -> Iterator[str]:
    """Yield the lines of a large file from `start` on, with little memory."""
    wide = head.startswith((BOM_UTF16_LE, BOM_UTF16_BE))
    text = io.TextIOWrapper(file, "utf-16" if wide else "utf-8-sig", "replace", newline="\n")
    number = 1
    is_new = True
    with text:
        while piece := text.readline(MAX_CHARS):
            if deadline.has_passed:
                raise InputError(f"Line {start} was not reached in time: the file is very large.")
            if number >= start and is_new:
                yield piece.removesuffix("\n").removesuffix("\r")
            is_new = piece.endswith("\n")
            number += is_new


def _take_page(
    path: str, given: ReadArguments, lines: Iterator[str], total: int | None
) -> FileText:
    """Return as many lines as fit."""
    start = given.start_line
    wanted = MAX_LINES if given.end_line is None else given.end_line - start + 1
    taken: list[str] = []
    size = 0
    truncated = ended = False
    for line in islice(lines, min(wanted, MAX_LINES)):
        shown = line if len(line) <= LINE_CHARS else line[:LINE_CHARS] + GAP
        text = f"{start + len(taken)}\t{shown}" if given.line_numbers else shown
        size += len(text) + 1
        if size > MAX_CHARS:
            truncated = True
            break
        truncated = truncated or shown is not line
        taken.append(text)
    else:
        ended = len(taken) < min(wanted, MAX_LINES)
    last = start + len(taken) - 1
    if total is None and ended:
        total = last
    asked = given.end_line if given.end_line is not None else total
    more = not ended and (asked is None or last < asked) and (total is None or last < total)
    return FileText(path, "\n".join(taken), start, last, total, truncated or more)

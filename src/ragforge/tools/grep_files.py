"""grep_files: a regular expression in the files that a glob selects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import partial

from pydantic import Field

from ragforge.domain.text import Json
from ragforge.llm.calls import Tool
from ragforge.records import dataclass
from ragforge.tools.confine import Root
from ragforge.tools.excerpt import (
    CONTEXT_CHARS,
    LINE_CHARS,
    FileExcerpt,
    read_lines,
    shorten_around,
    take_context,
)
from ragforge.tools.scan import FoundLines, MatchingLine, find_lines, run_in_background
from ragforge.tools.tool import Arguments, as_tool
from ragforge.tools.workspace import SECONDS, Deadline, Selection, Workspace


@dataclass(frozen=True, slots=True)
class FileMatch:
    """A place in a file; lines count from 1, and `file` is relative to the project."""

    file: str
    line: int
    content: str
    match: str
    start_line: int
    end_line: int
    similarity: float | None = None
    in_name: bool = False  # it is the file's name that matches

    def to_json(self) -> Json:
        facts: dict[str, Json] = {
            "file": self.file,
            "line": self.line,
            "content": self.content,
            "match": self.match,
            "startLine": self.start_line,
            "endLine": self.end_line,
        }
        if self.similarity is not None:
            facts["similarity"] = self.similarity
        if self.in_name:
            facts["in_name"] = True
        return facts


@dataclass(frozen=True, slots=True)
class Matches:
    """What was found; if `truncated`, the search stopped early and there are more matches."""

    matches: tuple[FileMatch, ...]
    files_searched: int
    total_matches: int
    truncated: bool = False
    timed_out: bool = False
    notes: tuple[str, ...] = field(default=())  # what a reader should know about the search

    def to_json(self) -> Json:
        facts: dict[str, Json] = {
            "matches": [match.to_json() for match in self.matches],
            "files_searched": self.files_searched,
            "total_matches": self.total_matches,
            "truncated": self.truncated,
        }
        if self.timed_out:
            facts["timed_out"] = True
        if self.notes:
            facts["notes"] = list(self.notes)
        return facts


async def add_context(
    root: Root, lines: Sequence[MatchingLine], context: int, deadline: Deadline
) -> tuple[FileMatch, ...]:
    """Return matches with `context` lines around each; without, if its file cannot be read."""
    if not context:
        return tuple([_build_match(line, None, LINE_CHARS) for line in lines])
    return await deadline.run_in_thread(lambda: tuple(_read(root, lines, context, deadline)))


def _read(
    root: Root, matching: Sequence[MatchingLine], context: int, deadline: Deadline
) -> list[FileMatch]:
    found: list[FileMatch] = []
    file, lines = "", list[str]()
    for line in matching:
        if line.file != file:
            file = line.file
            lines = [] if deadline.has_passed else read_lines(root, file)
        excerpt = take_context(lines, line.number, context)
        changed = excerpt is None or (not line.in_name and line.text not in lines[line.number - 1])
        found.append(_build_match(line, None if changed else excerpt, CONTEXT_CHARS))
    return found


def _build_match(line: MatchingLine, excerpt: FileExcerpt | None, limit: int) -> FileMatch:
    if excerpt is None:
        content = shorten_around(line.text, line.start, line.end, limit)
        excerpt = FileExcerpt(content, line.number, line.number)
    return FileMatch(
        file=line.file,
        line=line.number,
        content=excerpt.content,
        match=line.match[:LINE_CHARS],
        start_line=excerpt.start_line,
        end_line=excerpt.end_line,
        similarity=line.similarity,
        in_name=line.in_name,
    )


REGEX_CHARS = 2_000


class GrepArguments(Arguments):
    """What grep_files is called with."""

    pattern: str = Field(description="Glob of the files, such as **/*.py, src/ or *.{ts,tsx}")
    regex: str = Field(
        min_length=1,
        max_length=REGEX_CHARS,
        description="Regular expression, matched within a line",
    )
    ignore_case: bool = Field(False, description="Whether upper and lower case are the same")
    max_results: int = Field(100, ge=1, le=1_000, description="How many matches at most")
    context_lines: int = Field(
        0, ge=0, le=200, description="How many lines to show above and below each match"
    )


def make_grep_tool(
    workspace: Workspace, fixed: Mapping[str, Json] | None = None, seconds: float = SECONDS
) -> Tool:
    """Return grep_files for a model."""
    call = partial(grep_files, workspace, seconds=seconds)
    return as_tool("grep_files", GrepArguments, call, fixed=fixed)


async def grep_files(
    workspace: Workspace, given: GrepArguments, seconds: float = SECONDS
) -> Matches:
    """Return the lines that match, in the order of paths and lines.

    When the time is up, what was found by then. Raises BadPattern or OutsideProject.
    """
    deadline = Deadline(seconds)
    selected, scanned = await _scan(workspace, given, deadline)
    return Matches(
        matches=await add_context(workspace.root, scanned.lines, given.context_lines, deadline),
        files_searched=len(selected.files),
        total_matches=len(scanned.lines),
        truncated=not (scanned.complete and selected.complete),
        timed_out=scanned.timed_out,
        notes=_list_notes(scanned),
    )


async def _scan(
    workspace: Workspace, given: GrepArguments, deadline: Deadline
) -> tuple[Selection, FoundLines]:
    """Search the files of the last call while checking whether they are still the same."""

    async def scan(selected: Selection) -> FoundLines:
        return await find_lines(
            workspace.root,
            workspace.ripgrep,
            selected.files,
            given.regex,
            given.ignore_case,
            given.max_results,
            deadline,
        )

    remembered = workspace.listing.get_last(given.pattern)
    if remembered is not None:
        async with run_in_background([scan(remembered)]) as [early]:
            selected = await workspace.select(given.pattern, deadline)
            if selected is remembered:
                return selected, await early
    else:
        selected = await workspace.select(given.pattern, deadline)
    return selected, await scan(selected)


def _list_notes(scanned: FoundLines) -> tuple[str, ...]:
    left_out = {
        "the regex takes too long in them": scanned.costly_files,
        "they cannot be read": scanned.unreadable_files,
    }
    return tuple(f"Files left out: {count} ({why})." for why, count in left_out.items() if count)

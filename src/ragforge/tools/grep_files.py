"""grep_files: a regular expression in the files that a glob selects."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from ragforge.domain.text import Json
from ragforge.llm.calls import Tool
from ragforge.tools.deadline import SECONDS, Deadline
from ragforge.tools.listing import Selection
from ragforge.tools.matches import Matches, ScoredLine, add_context
from ragforge.tools.scan import FoundLines, find_lines, run_in_background
from ragforge.tools.tool import Arguments, as_tool
from ragforge.tools.workspace import Workspace

NAME = "grep_files"
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

    async def call(given: GrepArguments) -> Matches:
        return await grep_files(workspace, given, seconds)

    return as_tool(NAME, GrepArguments, call, fixed=fixed)


async def grep_files(
    workspace: Workspace, given: GrepArguments, seconds: float = SECONDS
) -> Matches:
    """Return the lines that match, in the order of paths and lines.

    When the time is up, what was found by then. Raises BadPattern or OutsideProject.
    """
    deadline = Deadline(seconds)
    selected, scanned = await _scan(workspace, given, deadline)
    places = [ScoredLine(line) for line in scanned.lines]
    return Matches(
        matches=await add_context(workspace.root, places, given.context_lines, deadline),
        files_searched=len(selected.files),
        total_matches=len(places),
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

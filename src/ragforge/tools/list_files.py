"""list_files and glob_files: what is in a directory, and the files that a glob selects."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from pydantic import Field

from ragforge.domain.text import Json, list_fields
from ragforge.errors import InputError
from ragforge.llm.calls import Tool
from ragforge.records import dataclass
from ragforge.tools.tool import Arguments, as_tool
from ragforge.tools.workspace import SECONDS, Deadline, ListedDirectory, Workspace


class ListArguments(Arguments):
    """What list_files is called with."""

    path: str = Field("", description="Directory, relative to the project; empty for all of it")
    depth: int = Field(1, ge=1, le=20, description="How many levels to show")
    max_results: int = Field(300, ge=1, le=5_000, description="How many entries at most")


@dataclass(frozen=True, slots=True)
class Entries:
    """Files and directories by level, then path; a directory has a `/` at its end."""

    path: str
    entries: tuple[str, ...]
    truncated: bool
    left_out: Mapping[str, int]  # how many entries, by reason

    def to_json(self) -> Json:
        return list_fields(self)


def make_list_tool(workspace: Workspace) -> Tool:
    """Return list_files for a model."""
    return as_tool("list_files", ListArguments, partial(list_files, workspace))


async def list_files(
    workspace: Workspace, given: ListArguments, seconds: float = SECONDS
) -> Entries:
    """Return what is in a directory. Raises OutsideProject, or InputError if it is not one."""
    deadline = Deadline(seconds)
    return await deadline.run_in_thread(lambda: _list(workspace, given, deadline))


def _list(workspace: Workspace, given: ListArguments, deadline: Deadline) -> Entries:
    path = workspace.root.inside(given.path)
    entries: list[str] = []
    left_out: dict[str, int] = {}
    level = [path]
    truncated = False
    for _ in range(given.depth):
        below: list[str] = []
        for directory in level:
            if len(entries) > given.max_results or deadline.has_passed:
                truncated = True
                break
            node = workspace.listing.find_directory(directory)
            if isinstance(node, ListedDirectory):
                inner = [name for _, name in node.directories]
                below += inner
                entries += sorted([*(f"{name}/" for name in inner), *node.files, *node.others])
                for reason in node.skipped.values():
                    left_out[reason] = left_out.get(reason, 0) + 1
            elif directory == path:
                why = f"it is left out: {node}" if node else "there is no such directory"
                raise InputError(f"{given.path!r} cannot be listed: {why}.")
        level = sorted(below)
    kept = tuple(entries[: given.max_results])
    return Entries(path, kept, truncated or len(kept) < len(entries), left_out)


class GlobArguments(Arguments):
    """What glob_files is called with."""

    pattern: str = Field(description="Glob, such as **/*.py, src/ or *.{ts,tsx}")
    max_results: int = Field(200, ge=1, le=5_000, description="How many paths at most")


@dataclass(frozen=True, slots=True)
class GlobResult:
    """Files, sorted by path."""

    files: tuple[str, ...]
    total_files: int
    truncated: bool

    def to_json(self) -> Json:
        return list_fields(self)


def make_glob_tool(workspace: Workspace) -> Tool:
    """Return glob_files for a model."""
    return as_tool("glob_files", GlobArguments, partial(glob_files, workspace))


async def glob_files(
    workspace: Workspace, given: GlobArguments, seconds: float = SECONDS
) -> GlobResult:
    """Return the files that a glob selects. Raises BadPattern or OutsideProject."""
    found = await workspace.select(given.pattern, Deadline(seconds), searched=False)
    kept = tuple(found.files[: given.max_results])
    cut = len(kept) < len(found.files) or not found.complete
    return GlobResult(kept, len(found.files), cut)

"""glob_files: the files of the project that a glob selects."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from ragforge.domain.text import Json
from ragforge.llm.calls import Tool
from ragforge.records import dataclass
from ragforge.tools.deadline import SECONDS, Deadline
from ragforge.tools.tool import Arguments, as_tool
from ragforge.tools.workspace import Workspace

NAME = "glob_files"


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
        return {
            "files": list(self.files),
            "total_files": self.total_files,
            "truncated": self.truncated,
        }


def make_glob_tool(workspace: Workspace, fixed: Mapping[str, Json] | None = None) -> Tool:
    """Return glob_files for a model."""

    async def call(given: GlobArguments) -> GlobResult:
        return await glob_files(workspace, given)

    return as_tool(NAME, GlobArguments, call, fixed=fixed)


async def glob_files(
    workspace: Workspace, given: GlobArguments, seconds: float = SECONDS
) -> GlobResult:
    """Return the files that a glob selects. Raises BadPattern or OutsideProject."""
    found = await workspace.select(given.pattern, Deadline(seconds), searched=False)
    kept = tuple(found.files[: given.max_results])
    cut = len(kept) < len(found.files) or not found.complete
    return GlobResult(kept, len(found.files), cut)

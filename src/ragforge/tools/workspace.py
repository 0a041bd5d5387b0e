"""Workspace: one project as all tools see it."""

from __future__ import annotations

from pathlib import Path

from ragforge.records import dataclass
from ragforge.tools.confine import Root
from ragforge.tools.deadline import Deadline
from ragforge.tools.listing import Listing, Selection
from ragforge.tools.ripgrep import find_ripgrep


@dataclass(frozen=True, slots=True)
class Workspace:
    """A root that no tool leaves, its files, and the program that searches them."""

    root: Root
    listing: Listing
    ripgrep: str

    @classmethod
    def at(cls, directory: Path | str, ripgrep: str | None = None) -> Workspace:
        """Return the workspace of a directory. Raises InputError if it is not a directory."""
        root = Root.at(directory)
        return cls(root, Listing(root), ripgrep or find_ripgrep() or "rg")

    async def select(self, pattern: str, deadline: Deadline, searched: bool = True) -> Selection:
        """Return the files that a glob selects. Raises BadPattern or OutsideProject."""
        return await deadline.run_in_thread(
            lambda: self.listing.select(pattern, deadline, searched)
        )

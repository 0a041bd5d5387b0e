"""Reading: how far the first reading of a project has come."""

from __future__ import annotations

from ragforge.domain.text import Json
from ragforge.records import dataclass


@dataclass(frozen=True, slots=True)
class Reading:
    """How many files of a project have been read, while its first reading is not finished."""

    done: int
    total: int

    @property
    def left(self) -> int:
        return self.total - self.done

    def __str__(self) -> str:
        return f"still reading: {self.done:,} of {self.total:,} files"

    @property
    def notice(self) -> str:
        """The sentence that every answer carries meanwhile."""
        return f"S{str(self)[1:]}. The others were searched by words; ask again for more."

    def to_json(self) -> Json:
        return {"done": self.done, "total": self.total}

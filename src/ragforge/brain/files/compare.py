"""Compare: the difference between the files on the disk and those in the store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ragforge.brain.files.beneath import read_bytes
from ragforge.brain.files.directory import FoundFile
from ragforge.brain.files.names import SkipReason
from ragforge.brain.ids import hash_content
from ragforge.domain.code import File, FileMark
from ragforge.domain.instants import to_epoch_ms
from ragforge.records import dataclass

PARSED = "parsed"
"""The state of a file that is stored, but whose relations may be wrong."""
RELATED = "related"
SKIPPED = "skipped"
"""The state of a file that is not worth parsing begins so; the reason follows."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Files to read, files that are gone, and files that an earlier run did not complete."""

    suspects: tuple[FoundFile, ...]  # new, or with another time or size
    gone: tuple[str, ...]
    half_done: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.suspects or self.gone or self.half_done)


def compare(found: Sequence[FoundFile], known: Mapping[str, File]) -> Difference:
    """Return what may have changed, without reading any file."""
    suspects = tuple(file for file in found if not _is_same(file, known.get(file.path)))
    present = {file.path for file in found}
    gone = tuple(path for path in known if path not in present)
    half_done = tuple(path for path, file in known.items() if file.state == PARSED)
    return Difference(suspects, gone, half_done)


def count_changed(root: Path, suspects: Sequence[FoundFile], known: Mapping[str, File]) -> int:
    """Return how many suspects really have another content."""
    changed = 0
    for file in suspects:
        before = known.get(file.path)
        if before is None or _hash_content(root, file.path) != before.hash:
            changed += 1
    return changed


def mark_skipped(reason: SkipReason) -> str:
    """Return the state of a file that is left out for a reason."""
    return f"{SKIPPED}: {reason}"


def is_skipped(file: File | FileMark) -> bool:
    """Tell whether a file is not worth parsing."""
    return file.state.startswith(SKIPPED)


def _hash_content(root: Path, path: str) -> str | None:
    """Return the hash of a file's content, or None if it cannot be read."""
    try:
        return hash_content(read_bytes(str(root), path))
    except OSError:
        return None


def _is_same(found: FoundFile, known: File | None) -> bool:
    return (
        known is not None
        and known.mtime is not None
        and known.state != SKIPPED  # an older version did not store the reason
        and known.size == found.size
        and to_epoch_ms(known.mtime) == found.mtime_ns // 1_000_000
    )

"""Session changes: what all edits of a conversation did together, file by file."""

from __future__ import annotations

from collections.abc import Sequence

from ragforge.errors import InputError
from ragforge.records import dataclass
from ragforge.tools.confine import Root
from ragforge.tools.edits.change import Change, hash_content, read_bytes
from ragforge.tools.edits.journal import Entry, Journal


@dataclass(frozen=True, slots=True)
class SessionChange:
    """A file before the first of some edits, and as it is now."""

    change: Change
    is_mixed: bool  # somebody else has changed the file too, between the edits or after them


def list_session_changes(journal: Journal, root: Root, since: int = 0) -> list[SessionChange]:
    """Return the files that the edits of a journal changed, sorted by path.

    `since` is a time in nanoseconds: earlier edits are left aside. A file that is again as it
    was before is left out.
    """
    by_path: dict[str, list[Entry]] = {}
    for entry in journal.read_entries(root.path):  # the last first
        if entry.made_at >= since:
            by_path.setdefault(entry.path, []).insert(0, entry)
    found = (_sum_up(root, path, entries) for path, entries in sorted(by_path.items()))
    return [one for one in found if one.change.before != one.change.after]


def rewind_files(journal: Journal, root: Root, since: int) -> list[Change]:
    """Give files back the content they had before the edits since a moment; return the changes.

    They are edits of the journal themselves, so that they can be undone. Raises InputError if
    somebody else has changed one of the files: then none is changed.
    """
    found = list_session_changes(journal, root, since)
    mixed = [repr(one.change.path) for one in found if one.is_mixed]
    if mixed:
        raise InputError(
            f"Somebody else has changed {', '.join(mixed)} since RagForge edited it; "
            "no file is rewound."
        )
    back = [Change(c.path, c.after, c.before) for c in (one.change for one in found)]
    for change in back:
        journal.make(root, change)
    return back


def _sum_up(root: Root, path: str, entries: Sequence[Entry]) -> SessionChange:
    """Return what edits did to a file, the oldest edit first."""
    try:
        now = read_bytes(root, path)
    except InputError:  # it is no file any more, or a huge one: not what an edit left
        return SessionChange(Change(path, entries[0].before, None), is_mixed=True)
    contents = [*(entry.before for entry in entries[1:]), now]
    # An edit whose process was killed may not have been made: the file is what it was before.
    is_mixed = any(
        hash_content(following) != entry.after_hash and following != entry.before
        for entry, following in zip(entries, contents, strict=True)
    )
    return SessionChange(Change(path, entries[0].before, now), is_mixed)

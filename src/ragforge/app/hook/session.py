"""Hook session: the answer to a call, and what the session has received already.

Each session has a file of ids in the state folder. An agent that loses its context (it was
compacted or cleared) starts again with none.
"""

from __future__ import annotations

import os
import time
from binascii import crc32
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ragforge.private_files import make_private_folder

FOLDER = "hook-sessions"
MAX_IDS = 2_000
MAX_ID_CHARS = 500
MAX_FILES = 500
MAX_DAYS = 14
"""A session that has received nothing for this number of days is forgotten."""
_DAY = 24 * 60 * 60


class ReceivedEntries:
    """The ids of the entries that a session has received: turns, summaries, notes and files.

    Nothing is stored for a session without an id. Errors of the file are ignored: the session may
    then receive an entry twice.
    """

    def __init__(self, state_dir: Path, agent: str, session: str) -> None:
        self._path = state_dir / FOLDER / _make_name(agent, session) if session else None
        self._ids: dict[str, None] | None = None  # in the order in which they were given

    def was_given(self, entry_id: str) -> bool:
        """Tell whether the session has received an entry."""
        return _to_line(entry_id) in self._read()

    def note_given(self, ids: Iterable[str]) -> None:
        """Remember that the session has received these entries."""
        known = self._read()
        new = [line for line in map(_to_line, dict.fromkeys(ids)) if line not in known]
        known.update(dict.fromkeys(new))
        if self._path is None or not new:
            return
        with suppress(OSError):
            if len(known) > MAX_IDS:
                self._shorten(list(known))
            else:
                _append(self._path, new)

    def reset(self) -> None:
        """Forget what the session has received: its agent has lost it."""
        self._ids = {}
        if self._path is not None:
            with suppress(OSError):
                self._path.unlink()

    def _read(self) -> dict[str, None]:
        if self._ids is None:
            text = ""
            if self._path is not None:
                with suppress(OSError):
                    text = self._path.read_text("utf-8", "replace")
            self._ids = dict.fromkeys(text.splitlines())
        return self._ids

    def _shorten(self, lines: list[str]) -> None:
        """Keep the newer half."""
        from ragforge.private_files import replace_file

        kept = lines[len(lines) // 2 :]
        self._ids = dict.fromkeys(kept)
        replace_file(str(self._path), "".join(f"{line}\n" for line in kept).encode())


def remove_old_sessions(state_dir: Path) -> None:
    """Remove the files of sessions that ended long ago; if there are many, the oldest."""
    with suppress(OSError):
        with os.scandir(state_dir / FOLDER) as found:
            files = sorted(((one.stat().st_mtime, one.path) for one in found), reverse=True)
        oldest = time.time() - MAX_DAYS * _DAY
        for number, (changed, path) in enumerate(files):
            if number >= MAX_FILES or changed < oldest:
                os.unlink(path)


def _make_name(agent: str, session: str) -> str:
    """Return a file name for a session, whatever its id consists of."""
    whole = f"{agent}-{session}"
    safe = "".join(sign if sign.isalnum() or sign == "-" else "_" for sign in whole[:80])
    return f"{safe}-{crc32(whole.encode(errors='replace')):08x}"


def _to_line(entry_id: str) -> str:
    """Return an id as one line."""
    line = entry_id.encode("unicode_escape").decode("ascii")
    return line if len(line) <= MAX_ID_CHARS else f"{line[:MAX_ID_CHARS]}{crc32(line.encode()):08x}"


def _append(path: Path, lines: Iterable[str]) -> None:
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
    try:
        file = os.open(path, flags, 0o600)
    except FileNotFoundError:
        make_private_folder(path.parent)
        file = os.open(path, flags, 0o600)
    try:
        os.write(file, "".join(f"{line}\n" for line in lines).encode())
    finally:
        os.close(file)


class ContextEntry(NamedTuple):
    """A part of a context, and the ids of what a session has received with it."""

    text: str
    ids: tuple[str, ...] = ()
    has_own_room: bool = False  # it takes nothing from the budget of the others


class HookAnswer:
    """The answer to a call as far as it is known: at the deadline it is given as it is."""

    def __init__(self) -> None:
        self.received: ReceivedEntries | None = None  # once the session is known
        self.doing = "starting"  # what a late answer was late with
        self.why = ""  # the reason why it is empty
        self._offered = ContextEntry("")

    def was_given(self, entry_id: str) -> bool:
        """Tell whether the session has already received an entry."""
        return self.received is not None and self.received.was_given(entry_id)

    def offer(self, text: str, ids: Iterable[str] = ()) -> None:
        """Set the text to give if nothing better is found, and the ids in it."""
        self._offered = ContextEntry(text, tuple(ids))  # in one step: another thread may read it

    @property
    def offered(self) -> ContextEntry:
        """The last text that was offered."""
        return self._offered

    def note_given(self, ids: Sequence[str]) -> None:
        """Remember what the session has received now."""
        if self.received is not None:
            self.received.note_given(ids)

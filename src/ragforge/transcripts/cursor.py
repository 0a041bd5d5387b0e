"""Cursor: `agent-transcripts` of its projects, and the `store.db` of its command line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from ragforge.domain.text import Json
from ragforge.transcripts import fields
from ragforge.transcripts.database import AgentDatabase, open_database, stamp_database
from ragforge.transcripts.files import read_written_at, walk_files
from ragforge.transcripts.reader import RoleReader
from ragforge.transcripts.record import Entry, SessionFacts
from ragforge.transcripts.source import FileSource, LineSource, Piece

_FOLDER = "agent-transcripts"


def list_lines(home: Path, environ: Mapping[str, str], projects: Sequence[Path] = ()) -> list[Path]:
    """Return the transcripts, those of sub-agents after their parents'."""
    found = walk_files(home / ".cursor" / "projects", fits_lines)
    return sorted(found, key=lambda path: ("subagents" in path.parts, str(path)))


def fits_lines(path: Path) -> bool:
    return path.suffix == ".jsonl" and _FOLDER in path.parts


def open_reader(path: Path) -> RoleReader:
    """Return a reader for the session that the path names."""
    is_one = path.parent.name == "subagents"
    parent = path.parent.parent.name if is_one else None
    if parent == _FOLDER:
        parent = None
    session = f"{parent}/{path.stem}" if parent else path.stem
    cwd = _guess_folder(path)
    facts = SessionFacts(session, cwd, parent=parent, is_subagent=is_one)
    return RoleReader(facts, read_written_at(path))


def _guess_folder(path: Path) -> str | None:
    """Return the project's folder if its name, in which `/` became `-`, leads to only one."""
    if _FOLDER not in path.parts:
        return None
    name = path.parts[path.parts.index(_FOLDER) - 1]
    found = list(islice(_find_folders(Path("/"), name.split("-")), 2))
    return str(found[0]) if len(found) == 1 else None


def _find_folders(folder: Path, parts: Sequence[str]) -> Iterator[Path]:
    """Yield the folders with such a path; a `-` may be part of a folder's name."""
    if not parts:
        yield folder
    for count in range(1, len(parts) + 1):
        below = folder / "-".join(parts[:count])
        if below.is_dir():
            yield from _find_folders(below, parts[count:])


_LINES = LineSource("cursor", "Cursor", list_lines, fits_lines, open_reader)


def list_all(home: Path, environ: Mapping[str, str], projects: Sequence[Path] = ()) -> list[Path]:
    """Return lines where there are some, else the database that holds the same session."""
    lines = list_lines(home, environ)
    named = {path.stem for path in lines}
    stores = walk_files(home / ".cursor" / "chats", _is_store)
    return lines + sorted(path for path in stores if path.parent.name not in named)


def fits(path: Path) -> bool:
    return fits_lines(path) or _is_store(path)


def stamp(path: Path) -> str:
    return stamp_database(path) if _is_store(path) else _LINES.stamp(path)


def read(path: Path, cursor: Json = None) -> Iterator[Piece]:
    if not _is_store(path):
        yield from _LINES.read(path, cursor)
        return
    with open_database(path) as database:
        yield _read_store(path, database)


def _is_store(path: Path) -> bool:
    return path.name == "store.db"


def _read_store(path: Path, database: AgentDatabase) -> Piece:
    """Return the messages of a database, which are stored in order among other blobs."""
    database.require("blobs")
    facts = SessionFacts(path.parent.name, title=_read_title(database))
    reader = RoleReader(facts, read_written_at(path))
    entries: list[Entry] = []
    size = count = 0
    for row in database.query("SELECT data FROM blobs ORDER BY rowid"):
        data = row["data"]
        data = data.encode() if isinstance(data, str) else data
        if not isinstance(data, bytes) or not data.startswith(b"{"):
            continue  # a tree of others, not a message
        content = fields.parse_json(data)
        if isinstance(content, dict) and "role" in content:
            entries += reader.read(content)
            size, count = size + len(data), count + 1
    return Piece(tuple(entries), None, size, count, Counter(reader.unknown))


def _read_title(database: AgentDatabase) -> str | None:
    """Return the name of a chat, which is written as JSON in hexadecimal digits."""
    if "meta" not in database.tables:
        return None
    for row in database.query("SELECT value FROM meta"):
        try:
            value = fields.parse_json(bytes.fromhex(str(row["value"])))
        except ValueError:
            continue
        if isinstance(value, dict) and (name := fields.text(value, "name")):
            return name
    return None


CURSOR = FileSource("cursor", "Cursor", list_all, fits, read, stamp)

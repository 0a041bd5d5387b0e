"""opencode: its database, read-only, and the tree of JSON files that older versions wrote."""

from __future__ import annotations

import re
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

from ragforge.domain.text import Json
from ragforge.errors import TranscriptUnreadable
from ragforge.records import dataclass
from ragforge.transcripts import fields
from ragforge.transcripts.database import AgentDatabase, open_database, stamp_database
from ragforge.transcripts.files import is_there, read_regular, walk_files
from ragforge.transcripts.opencode_messages import is_finished, read_entry, read_message, read_usage
from ragforge.transcripts.reader import Chain
from ragforge.transcripts.record import Entry, SessionFacts
from ragforge.transcripts.source import FORMAT, FileSource, Piece, stamp_files

PIECE_BYTES = 1024 * 1024
SLACK_MS = 10 * 60 * 1000
"""Sessions that changed this shortly before the newest are read again: clocks are not exact."""
_DEFAULT_TITLE = re.compile(r"(New|Child) session - \d{4}-\d\d-\d\d")


def list_files(home: Path, environ: Mapping[str, str], projects: Sequence[Path] = ()) -> list[Path]:
    """Return the databases, and sessions of older versions that may not be in them."""
    folder = Path(environ.get("XDG_DATA_HOME") or home / ".local" / "share") / "opencode"
    named = environ.get("OPENCODE_DB")
    found = [folder / named] if named else []
    found += sorted(folder.glob("opencode*.db"))
    tree = sorted(walk_files(folder / "storage" / "session", fits))
    return [path for path in dict.fromkeys((*found, *tree)) if is_there(path)]


def fits(path: Path) -> bool:
    is_database = path.name.startswith("opencode") and path.suffix == ".db"
    return is_database or (path.name.startswith("ses_") and path.suffix == ".json")


def stamp(path: Path) -> str:
    return stamp_tree(path) if path.suffix == ".json" else stamp_database(path)


def read(path: Path, cursor: Json = None) -> Iterator[Piece]:
    if path.suffix == ".json":
        yield read_tree(path)
        return
    cursor = cursor if isinstance(cursor, dict) and cursor.get("format") == FORMAT else {}
    with open_database(path) as database:
        yield from _read_sessions(database, cursor)


def _read_sessions(database: AgentDatabase, cursor: Mapping[str, Any]) -> Iterator[Piece]:
    """Yield what is new, the least recently changed session first.

    The cursor is the moment up to which sessions were read, and the sessions whose newest answer
    was not written to its end.
    """
    table = "session" if "session" in database.tables else "session_v2"
    database.require(table)
    rows = {str(row["id"]): row for row in database.query(f"SELECT * FROM {table}")}
    touched = _find_touched(database, rows)
    since = fields.number(cursor, "since") or 0
    if max(touched.values(), default=0) < since:
        since = 0  # the clock was set back, or it is another database
    waiting = cursor.get("waiting")
    unfinished = {name for name in waiting if name in rows} if isinstance(waiting, list) else set()
    roots = _find_roots(database)
    origins = _find_origins(database)
    batch = _MessageBatch()
    for session in sorted(rows, key=lambda name: (touched[name], name)):
        if touched[session] < since - SLACK_MS and session not in unfinished:
            continue
        unfinished.discard(session)
        batch.entries.append(_read_facts(rows[session], roots))
        for is_waiting in _read_session(database, session, origins.get(session), batch):
            if is_waiting:
                unfinished.add(session)
            elif batch.size > PIECE_BYTES:
                yield batch.take(_make_cursor(since, unfinished))
        since = max(since, touched[session])
    if since != cursor.get("since") or batch.entries:
        yield batch.take(_make_cursor(since, unfinished))


def _make_cursor(since: int, unfinished: Iterable[str]) -> Json:
    return {"format": FORMAT, "since": since, "waiting": sorted(unfinished)}


@dataclass(slots=True)
class _MessageBatch:
    """What was read since the last piece."""

    entries: list[Entry] = field(default_factory=list)
    size: int = 0
    count: int = 0
    unknown: Counter[str] = field(default_factory=Counter)

    def take(self, cursor: Json) -> Piece:
        """Return it as a piece, and clear it."""
        piece = Piece(tuple(self.entries), cursor, self.size, self.count, self.unknown)
        self.entries, self.size, self.count, self.unknown = [], 0, 0, Counter()
        return piece


def _find_touched(database: AgentDatabase, rows: Mapping[str, Mapping[str, Any]]) -> dict[str, int]:
    """Return when each session was changed; its messages may be newer than its row."""
    touched = {name: fields.number(row, "time_updated") or 0 for name, row in rows.items()}
    for table in ("message", "part", "session_message"):
        if table in database.tables and database.has_column(table, "time_updated"):
            newest = f"SELECT session_id, MAX(time_updated) AS at FROM {table} GROUP BY session_id"
            for row in database.query(newest):
                if (name := str(row["session_id"])) in touched:
                    touched[name] = max(touched[name], fields.number(row, "at") or 0)
    return touched


def _find_roots(database: AgentDatabase) -> dict[str, str]:
    if "project" not in database.tables:
        return {}
    rows = database.query("SELECT * FROM project")
    return {str(row["id"]): root for row in rows if (root := fields.text(row, "worktree"))}


def _read_facts(row: Mapping[str, Any], roots: Mapping[str, str]) -> SessionFacts:
    """Return what a session's row says; the project of no repository has the root `/`."""
    root = roots.get(str(row.get("project_id")))
    title = fields.text(row, "title")
    parent = fields.text(row, "parent_id")
    return SessionFacts(
        str(row["id"]),
        cwd=fields.text(row, "directory") or (root if root != "/" else None),
        version=fields.text(row, "version"),
        title=None if title is None or _DEFAULT_TITLE.match(title) else title,
        parent=parent,
        is_subagent=parent is not None,
    )


def _find_origins(database: AgentDatabase) -> dict[str, str]:
    """Return the sessions that may be forks, with their origins.

    A fork is not marked. It repeats the messages with other ids, and the times they had.
    """
    if "message" not in database.tables:
        return {}
    rows = database.query(
        """SELECT session_id, MIN(time_created) AS at FROM message
           GROUP BY session_id ORDER BY MIN(id)"""
    )
    first: dict[Json, str] = {}
    for row in rows:
        first.setdefault(row["at"], str(row["session_id"]))
    found = {str(row["session_id"]): first[row["at"]] for row in rows}
    return {session: origin for session, origin in found.items() if session != origin}


def _match_origin(
    database: AgentDatabase, messages: Sequence[Mapping[str, Any]], origin: str
) -> dict[str, str]:
    """Return the ids of messages that a session repeats of its origin → the ids they had there."""
    names: dict[str, str] = {}
    theirs = (info for info, _, _ in _list_messages(database, origin))
    for info, other in zip(messages, theirs, strict=False):
        if _tell(database, info) != _tell(database, other):
            break
        names[str(info["id"])] = str(other["id"])
    return names


def _tell(database: AgentDatabase, info: Mapping[str, Any]) -> tuple[Json, ...]:
    """Return the parts that are equal in a message and its copy."""
    parts = _load_parts(database, str(info["id"]))
    said = [(part.get("type"), part.get("text"), part.get("callID")) for part in parts]
    return info.get("role"), fields.number(fields.mapping(info, "time"), "created"), said


def _read_session(
    database: AgentDatabase, session: str, origin: str | None, batch: _MessageBatch
) -> Iterator[bool]:
    """Read a session's messages, and yield after each whether it is not complete yet."""
    chain = Chain()
    messages = list(_list_messages(database, session))
    said = [info for info, kind, _ in messages if kind is None]
    names = {} if origin is None else _match_origin(database, said, origin)
    for number, (info, kind, updated) in enumerate(messages):
        is_last = number == len(messages) - 1
        if is_last and not is_finished(info) and _is_recent(updated):
            yield True
            return
        name = str(info.get("id"))
        if kind is None:
            parts = _load_parts(database, name)
            batch.size += sum(len(str(part)) for part in parts)
            info["id"] = names.get(name, name)
            record = read_message(session, info, parts, batch.unknown)
        else:
            batch.size += len(str(info))
            record = read_entry(session, kind, name, info, batch.unknown)
        batch.count += 1
        if record is not None:
            batch.entries.append(chain.link(record))
        batch.entries += read_usage(session, str(info.get("id", name)), info)
        yield False


def _is_recent(updated: int) -> bool:
    """Tell whether an answer may still continue; one that stopped long ago does not."""
    return time.time() * 1000 - updated < SLACK_MS


def _list_messages(
    database: AgentDatabase, session: str
) -> Iterator[tuple[dict[str, Any], str | None, int]]:
    """Yield messages, the kind of those of the newer form, and when they were written."""
    if "message" in database.tables:
        rows = database.query(
            "SELECT * FROM message WHERE session_id = ? ORDER BY time_created, id", session
        )
        for row in rows:
            yield _load(row), None, fields.number(row, "time_updated") or 0
        if rows:
            return  # the newer form repeats them
    if "session_message" in database.tables:
        order = "seq" if database.has_column("session_message", "seq") else "time_created"
        for row in database.query(
            f"SELECT * FROM session_message WHERE session_id = ? ORDER BY {order}, id", session
        ):
            kind = fields.text(row, "type") or "without a type"
            yield {"type": kind, **_load(row)}, kind, fields.number(row, "time_updated") or 0


def _load_parts(database: AgentDatabase, message: str) -> list[dict[str, Any]]:
    if "part" not in database.tables:
        return []
    rows = database.query("SELECT * FROM part WHERE message_id = ? ORDER BY id", message)
    return [_load(row) for row in rows]


def _load(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON of a row, with the row's id and time if it lacks them."""
    data = fields.parse_text(str(row.get("data") or "{}"))
    found = data if isinstance(data, dict) else {}
    created = {"created": row.get("time_created")}
    moment = found.get("time")
    times = moment if isinstance(moment, dict) else {}
    return {**found, "id": str(row.get("id")), "time": {**created, **times}}


OPENCODE = FileSource("opencode", "opencode", list_files, fits, read, stamp)


def stamp_tree(path: Path) -> str:
    """Return what changes when a session or the list of its messages does. Raises OSError."""
    return stamp_files(path, _find_storage(path) / "message" / path.stem)


def read_tree(path: Path) -> Piece:
    """Return all of a session. Raises OSError and TranscriptUnreadable."""
    head = fields.parse_json(read_regular(path))
    if not isinstance(head, dict) or (session := fields.text(head, "id")) is None:
        raise TranscriptUnreadable(path, "it is not a session of opencode")
    parent = fields.text(head, "parentID")
    facts = SessionFacts(
        session,
        cwd=fields.text(head, "directory"),
        version=fields.text(head, "version"),
        title=fields.text(head, "title"),
        parent=parent,
        is_subagent=parent is not None,
    )
    storage = _find_storage(path)
    chain, unknown = Chain(), Counter[str]()
    entries: list[Entry] = [facts]
    messages = sorted(_load_all(storage / "message" / session), key=_order)
    together: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for part in _load_all(storage / "part"):  # as the first versions kept them
        together[str(part.get("messageID"))].append(part)
    for info in messages:
        parts = list(_load_all(storage / "part" / str(info.get("id"))))
        parts += together[str(info.get("id"))]
        record = read_message(session, info, parts, unknown)
        if record is not None:
            entries.append(chain.link(record))
        entries += read_usage(session, str(info.get("id")), info)
    return Piece(tuple(entries), None, path.stat().st_size, len(messages), unknown)


def _find_storage(path: Path) -> Path:
    """Return the folder that holds sessions, messages and parts."""
    return path.parent.parent.parent


def _load_all(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects in a folder's files by their names, which are in order of time."""
    for path in sorted(folder.glob("*.json")):
        try:
            value = fields.parse_json(read_regular(path))
        except OSError:
            continue
        if isinstance(value, dict):
            yield value


def _order(info: Mapping[str, Any]) -> tuple[float, str]:
    at = fields.time(fields.mapping(info, "time"), "created")
    return (at.timestamp() if at else 0.0, str(info.get("id")))

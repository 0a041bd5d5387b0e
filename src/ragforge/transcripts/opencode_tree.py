"""opencode's tree: a file a session, a message and a part, as versions before the database."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ragforge.errors import TranscriptUnreadable
from ragforge.transcripts.chain import Chain
from ragforge.transcripts.fields import get_mapping, get_text, get_time, parse_json
from ragforge.transcripts.files import read_regular
from ragforge.transcripts.opencode_messages import read_message
from ragforge.transcripts.record import Entry, SessionFacts
from ragforge.transcripts.source import Piece, stamp_files


def stamp_tree(path: Path) -> str:
    """Return what changes when a session or the list of its messages does. Raises OSError."""
    return stamp_files(path, _find_storage(path) / "message" / path.stem)


def read_tree(path: Path) -> Piece:
    """Return all of a session. Raises OSError and TranscriptUnreadable."""
    head = parse_json(read_regular(path))
    if not isinstance(head, dict) or (session := get_text(head, "id")) is None:
        raise TranscriptUnreadable(path, "it is not a session of opencode")
    parent = get_text(head, "parentID")
    facts = SessionFacts(
        session,
        cwd=get_text(head, "directory"),
        version=get_text(head, "version"),
        title=get_text(head, "title"),
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
    return Piece(tuple(entries), None, path.stat().st_size, len(messages), unknown)


def _find_storage(path: Path) -> Path:
    """Return the folder that holds sessions, messages and parts."""
    return path.parent.parent.parent


def _load_all(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects in a folder's files by their names, which are in order of time."""
    for path in sorted(folder.glob("*.json")):
        try:
            value = parse_json(read_regular(path))
        except OSError:
            continue
        if isinstance(value, dict):
            yield value


def _order(info: Mapping[str, Any]) -> tuple[float, str]:
    at = get_time(get_mapping(info, "time"), "created")
    return (at.timestamp() if at else 0.0, str(info.get("id")))

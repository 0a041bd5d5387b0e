"""File texts: what the scopes of a file say, compressed once for each file.

The text of a method is also in those of its class and of its module. A file's texts are therefore
one text in which each scope has its places.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from operator import itemgetter

import apsw

from ragforge.domain.kinds import Row

PLACES = ("source_from", "source_to", "search_from", "search_to")
"""The columns of a scope that say where its texts are."""
READ, PACK = "text_within", "pack_text"
FUNCTIONS = (READ, PACK)
"""What statements call."""
_LEVEL = 3
_KEPT_CHARS = 4_000_000
_IN_VIEWS = apsw.SQLITE_INNOCUOUS
_of_file = itemgetter("file_id")


def place_texts(scopes: Iterable[Row]) -> list[tuple[str, bytes]]:
    """Note in the rows of scopes where their texts are; return the text of each file.

    These must be all scopes of these files.
    """
    files = groupby(sorted(scopes, key=_of_file), _of_file)
    return [(file_id, _place_in_file(list(rows))) for file_id, rows in files]


def _place_in_file(rows: Sequence[Row]) -> bytes:
    rows = sorted(rows, key=lambda row: (row["startLine"], -row["endLine"], row["uuid"]))
    text, near = "", 0
    for row in rows:
        for name in ("source", "search"):
            part = row["source" if name == "source" else "search_text"]
            start = end = None
            if part is not None:
                # An inner scope is after the beginning of the one before it.
                start = text.find(part, near)
                if start < 0 and (start := text.find(part)) < 0:
                    start = len(text)
                    text += part
                end = start + len(part)
            row[f"{name}_from"], row[f"{name}_to"] = start, end
        near = row["source_from"]
    return pack_text(text)


def pack_text(text: str) -> bytes:
    return zlib.compress(text.encode(), _LEVEL)


def read_texts(db: apsw.Connection, file_ids: Iterable[str]) -> dict[str, str]:
    """Return the texts of files by their ids."""
    statement = """SELECT file_id, data FROM file_text
                   WHERE file_id IN (SELECT value FROM json_each(?))"""
    found = db.execute(statement, (json.dumps(list(file_ids)),))
    return {file_id: _unpack(data) for file_id, data in found}


def _unpack(data: bytes) -> str:
    return zlib.decompress(data).decode()


def add_functions(db: apsw.Connection) -> None:
    """Let statements on this connection read what is compressed, and compress it."""
    db.create_scalar_function(READ, _make_reader(), 3, deterministic=True, flags=_IN_VIEWS)
    pack: Callable[..., bytes] = pack_text
    db.create_scalar_function(PACK, pack, 1, deterministic=True)


def _make_reader() -> Callable[..., str | None]:
    """Return a function that reads a part of a compressed text.

    Texts are kept, since rows come in any order; few enough that they take little memory.
    """
    texts: dict[bytes, str] = {}
    kept = 0

    def read(data: bytes, start: int | None, end: int | None) -> str | None:
        nonlocal kept
        if start is None:
            return None
        text = texts.get(data)
        if text is None:
            text = _unpack(data)
            kept += len(text)
            if kept > _KEPT_CHARS:
                texts.clear()
                kept = len(text)
            texts[data] = text
        return text[start:end]

    return read

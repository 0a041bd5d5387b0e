"""Words: full-text search over what RagForge's tokeniser made of texts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import apsw

from ragforge.adapters.stores.sqlite.sql import Where, select_value
from ragforge.domain.passages import PassageKind
from ragforge.ports.words import Tokeniser

DELETED_PERCENT = 10
"""What SQLite does unless it is set."""


def index(connection: apsw.Connection, table: str, rowid: int, *texts: str) -> None:
    """Set the indexed words of a row; one text for each column of the index."""
    connection.execute(f"INSERT OR REPLACE {_format_insert(table)}", (rowid, *texts))


def index_many(
    connection: apsw.Connection, table: str, rows: Iterable[tuple[int | str, ...]]
) -> None:
    """Set the indexed words of rows that have none yet; each row starts with its id.

    Replacing would look for what is there, which takes a while.
    """
    connection.executemany(f"INSERT {_format_insert(table)}", rows)


def _format_insert(table: str) -> str:
    names = _COLUMNS.get(table, _ONE)
    marks = ", ".join("?" * (len(names) + 1))
    return f"INTO {table} (rowid, {', '.join(names)}) VALUES ({marks})"


@lru_cache(64)
def make_key(kind: str, name: str) -> str:
    """Return a word that stands for a conversation or a project, whatever its name."""
    return f"{kind}{blake2b(name.encode(errors='replace'), digest_size=8).hexdigest()}"


def search(
    connection: apsw.Connection,
    table: str,
    owner: str,
    columns: str,
    words: Sequence[str],
    where: Where,
    limit: int,
    telling: Sequence[str] = (),
) -> Iterable[tuple[Any, ...]]:
    """Return the owners whose indexed text holds any of the words, best first.

    Each is a row of these columns of its table, of which it is `o`, and its score. With
    `telling` words only those that hold one of these are looked at.
    """
    if not words:
        return []
    expression = format_any_of(words)
    if telling:
        expression = f"({format_any_of(telling)}) AND ({expression})"
    for wanted in where.keys:
        expression = f"keys : ({format_any_of(wanted)}) AND ({expression})"
    score = f"-bm25({table}, {_WEIGHTS.get(table, '1.0')}) AS score"
    if where.keys_say_all:
        # The index alone decides: only the best are looked up in the table.
        statement = f"""
            SELECT {columns}, f.score FROM (
              SELECT rowid AS id, {score} FROM {table} WHERE {table} MATCH ?
              ORDER BY score DESC, rowid LIMIT ?) f
            JOIN {owner} o ON o.id = f.id ORDER BY f.score DESC, f.id"""
        bindings: tuple[Any, ...] = (expression, limit)
    else:
        statement = f"""
            SELECT {columns}, {score}
            FROM {table} CROSS JOIN {owner} o ON o.id = {table}.rowid
            WHERE {table} MATCH ? AND {where}
            ORDER BY score DESC, o.id LIMIT ?"""
        bindings = (expression, *where.bindings, limit)
    return connection.execute(statement, bindings)


def count(
    connection: apsw.Connection, table: str, words: Collection[str], key: str, most: int
) -> int:
    """Return how many texts under a key hold any of the words; no more than `most` are counted."""
    if not words:
        return 0
    either = format_any_of(words)
    statement = f"SELECT count(*) FROM (SELECT 1 FROM {table} WHERE {table} MATCH ? LIMIT ?)"
    return int(
        select_value(connection, statement, (f'keys : "{key}" AND ({either})', max(most, 0)))
    )


def format_any_of(words: Collection[str]) -> str:
    return " OR ".join(f'"{word}"' for word in words)


def merge_deleted(connection: apsw.Connection, percent: int = DELETED_PERCENT) -> None:
    """Have parts of the indexes written anew once so much of them is deleted; 0: never."""
    for table in _COLUMNS:
        statement = f"INSERT INTO {table} ({table}, rank) VALUES ('deletemerge', ?)"
        connection.execute(statement, (percent,))


def read_tokeniser(connection: apsw.Connection) -> str:
    """Return the version of the tokeniser that made the words in the store."""
    return str(connection.execute("SELECT value FROM meta WHERE name = 'tokeniser'").get)


def note(connection: apsw.Connection, tokeniser: Tokeniser) -> None:
    """Note which tokeniser made the words in the store."""
    connection.execute("UPDATE meta SET value = ? WHERE name = 'tokeniser'", (tokeniser.version,))


PASSAGES: Mapping[PassageKind, str] = {"said": "passage_words", "done": "deed_words"}
"""What was done has an index of its own: its texts have other lengths and other words."""
_ONE = ("words",)
_COLUMNS = {
    "turn_words": ("words", "often", "keys"),
    "passage_words": ("words", "keys"),
    "deed_words": ("words", "keys"),
    "summary_words": _ONE,
    "note_words": _ONE,
    "scope_words": ("name", "path", "signature", "docstring", "source", "keys"),
    "section_words": ("name", "path", "signature", "docstring", "source", "keys"),
}
_WEIGHTS = {
    "passage_words": "1.0, 0.0",
    "deed_words": "1.0, 0.0",
    "scope_words": "4.0, 2.0, 2.0, 1.5, 1.0, 0.0",
    "section_words": "4.0, 2.0, 2.0, 1.5, 1.0, 0.0",
}

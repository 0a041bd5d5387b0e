"""Words: full-text search over the tokeniser's words, without those that are too common."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import accumulate
from typing import Any

from ragforge.adapters.stores.sqlite.sql import Connection, SqlFilter, as_json
from ragforge.domain.passages import PassageKind
from ragforge.ports.search_index import Tokeniser

DELETED_PERCENT = 10
"""What SQLite does unless it is set."""


SHARE, ROWS = 10, 1_000
"""A word in more texts than both one in SHARE and ROWS is common: rarer words say more."""
RARER = 2
"""Next to this many rarer words a common one adds nothing."""
MANY_WORDS, MANY_ROWS = 12, 4_000
"""Of more words than MANY_WORDS, the rarest ones in MANY_ROWS rows find nearly as much as all."""

HALF, FEW_ROWS = 2, 50
"""A word that half of the texts hold has no weight at all in the ranking of SQLite."""


def index(db: Connection, table: str, rowid: int, *texts: str) -> None:
    """Set the indexed words of a row; one text for each column of the index."""
    db.execute(f"INSERT OR REPLACE {_format_insert(table)}", (rowid, *texts))


def index_many(db: Connection, table: str, rows: Iterable[tuple[int | str, ...]]) -> None:
    """Set the indexed words of rows that have none yet; each row starts with its id.

    Replacing would look for what is there, which takes a while.
    """
    db.executemany(f"INSERT {_format_insert(table)}", rows)


def _format_insert(table: str) -> str:
    names = _COLUMNS.get(table, _ONE)
    marks = ", ".join("?" * (len(names) + 1))
    return f"INTO {table} (rowid, {', '.join(names)}) VALUES ({marks})"


@lru_cache(64)
def make_key(kind: str, name: str) -> str:
    """Return the indexed word for a conversation or a project, whatever its name."""
    return f"{kind}{blake2b(name.encode(errors='replace'), digest_size=8).hexdigest()}"


def search(
    db: Connection,
    table: str,
    owner: str,
    columns: str,
    words: Sequence[str],
    where: SqlFilter,
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
        # The index decides: only the best are looked up in the table.
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
    return db.execute(statement, bindings)


def count(db: Connection, table: str, words: Collection[str], key: str, limit: int) -> int:
    """Return how many texts under a key hold any of the words; no more than `most` are counted."""
    if not words:
        return 0
    either = format_any_of(words)
    statement = f"SELECT count(*) FROM (SELECT 1 FROM {table} WHERE {table} MATCH ? LIMIT ?)"
    return int(db.value(statement, (f'keys : "{key}" AND ({either})', max(limit, 0))))


def format_any_of(words: Collection[str]) -> str:
    return " OR ".join(f'"{word}"' for word in words)


def merge_deleted(db: Connection, percent: int = DELETED_PERCENT) -> None:
    """Let FTS5 rewrite parts of the indexes once this percentage of them is deleted; 0: never."""
    for table in _COLUMNS:
        statement = f"INSERT INTO {table} ({table}, rank) VALUES ('deletemerge', ?)"
        db.execute(statement, (percent,))


def read_tokeniser(db: Connection) -> str:
    """Return the version of the tokeniser that made the words in the store."""
    return str(db.execute("SELECT value FROM meta WHERE name = 'tokeniser'").get)


def note(db: Connection, tokeniser: Tokeniser) -> None:
    """Note which tokeniser made the words in the store."""
    db.execute("UPDATE meta SET value = ? WHERE name = 'tokeniser'", (tokeniser.version,))


PASSAGES: Mapping[PassageKind, str] = {"said": "passage_words", "done": "deed_words"}
"""Actions have a separate index: their texts have other lengths and other words."""
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


def is_common(count: int, texts: int, share: int | None = None, rows: int | None = None) -> bool:
    """Tell whether a word that `count` of the texts hold is common."""
    return count > max(rows or ROWS, texts // (share or SHARE))


def pick_telling(counts: Mapping[str, int], texts: int) -> list[str]:
    """Return the words worth a search, the rarest first; common ones where there are few others."""
    words = sorted(counts, key=counts.__getitem__)
    return [
        word
        for place, word in enumerate(words)
        if place < RARER or not is_common(counts[word], texts)
    ]


def pick_rarest(counts: Mapping[str, int], rows: int = MANY_ROWS) -> list[str]:
    """Return the rarest words that together are in up to `rows` rows; at least two."""
    words = sorted(counts, key=counts.__getitem__)
    held = list(accumulate(counts[word] for word in words))
    return words[: max(bisect_right(held, rows), RARER)]


class CommonWords:
    """How many texts hold each word; common ones as it was when they were counted."""

    def __init__(self, vocabulary: str, share: int | None = None, rows: int | None = None) -> None:
        """`vocabulary` is the table that counts the words of an index.

        Common is a word that one text in `share` holds, and more than `rows`.
        """
        self._vocabulary = vocabulary
        self._share = share
        self._rows = rows
        self._common: dict[str, int] = {}
        self._texts = 0

    def counts(self, db: Connection, words: Sequence[str], texts: int) -> dict[str, int]:
        """Return how many of the texts hold each word; words in none are left out."""
        if texts < self._texts:  # some are gone: their words may be rare now
            self._common = {}
        self._texts = texts
        known = {word: self._common[word] for word in words if self._is_known(word)}
        new: dict[str, int] = dict(
            db.execute(
                f"""SELECT w.value, v.doc FROM json_each(?) w
                    CROSS JOIN {self._vocabulary} v ON v.term = w.value""",
                (as_json(word for word in words if word not in known),),
            )
        )
        common = {word: count for word, count in new.items() if self.is_common(count)}
        self._common = self._common | common
        return known | new

    def is_common(self, count: int) -> bool:
        """Tell whether a word that `count` of the texts hold is common among them."""
        return is_common(count, self._texts, self._share, self._rows)

    def _is_known(self, word: str) -> bool:
        return self.is_common(self._common.get(word, 0))

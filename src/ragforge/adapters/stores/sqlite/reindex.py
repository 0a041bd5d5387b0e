"""Reindex: index the words of a store again after the tokeniser changed, in small batches.

Each step is a transaction that ends with a note of how far it is: a killed process loses one step,
and any other continues. Texts that are not reached yet are found by the words of the old tokeniser;
new ones get those of the new.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from ragforge.adapters.stores.sqlite import messages, records, scope_rows, words
from ragforge.adapters.stores.sqlite.sql import Connection, as_json
from ragforge.domain.kinds import Kind
from ragforge.domain.schema import NOTE, SUMMARY
from ragforge.ports.search_index import Tokeniser
from ragforge.ports.store import ReindexProgress

_Index: TypeAlias = Callable[[Connection, Sequence[int], Tokeniser], None]

STEP_SECONDS = 0.1
"""The duration of a step, during which other writers wait."""
_AMONG = "id IN (SELECT value FROM json_each(?))"
TOGETHER = 20
"""How many texts are indexed between two checks of the time."""


def begin(db: Connection, tokeniser: Tokeniser) -> None:
    """Record that the words must become those of this tokeniser, unless they are or it is recorded.

    Of two programs with different tokenisers, the one that opened the store last has it its way:
    else each would undo what the other did.
    """
    if words.read_tokeniser(db) == tokeniser.version:
        db.execute("DELETE FROM meta WHERE name = 'reindexing'")
    elif _read_place(db)[0] != tokeniser.version:
        _note_place(db, tokeniser.version, 0, 0)
        # All is replaced: to clear away what is old again and again would take twice as long, and
        # seconds at a time.
        words.merge_deleted(db, 0)


def is_due(db: Connection, tokeniser: Tokeniser) -> bool:
    """Tell whether texts are left to be indexed with this tokeniser."""
    return _read_place(db)[0] == tokeniser.version


def take_step(db: Connection, tokeniser: Tokeniser) -> None:
    """Index some more texts and note how far it is."""
    version, kind, last = _read_place(db)
    if version != tokeniser.version:
        return
    ends = time.monotonic() + STEP_SECONDS
    while kind < len(_KINDS):
        table, index = _KINDS[kind]
        statement = f"SELECT id FROM {table} WHERE id > ? ORDER BY id LIMIT ?"
        if ids := db.column(statement, (last, TOGETHER)):
            index(db, ids, tokeniser)
            last = ids[-1]
        else:
            kind, last = kind + 1, 0
        if time.monotonic() >= ends:
            break
    if kind < len(_KINDS):
        _note_place(db, version, kind, last)
    else:
        words.note(db, tokeniser)
        words.merge_deleted(db)
        db.execute("DELETE FROM meta WHERE name = 'reindexing'")


def read_progress(db: Connection) -> ReindexProgress | None:
    """Return how many texts of all are reindexed; None if no reindexing is under way."""
    version, kind, last = _read_place(db)
    if not version:
        return None
    counts = [int(db.value(f"SELECT count(*) FROM {table}")) for table, _ in _KINDS]
    here = f"SELECT count(*) FROM {_KINDS[kind][0]} WHERE id <= ?"
    done = sum(counts[:kind]) + int(db.value(here, (last,)))
    return ReindexProgress(done, sum(counts))


def _read_place(db: Connection) -> tuple[str, int, int]:
    """Return whose words are being made, and the kind and row that were reached."""
    noted = db.value("SELECT value FROM meta WHERE name = 'reindexing'")
    version, kind, last = ("", 0, 0) if noted is None else json.loads(noted)
    return version, kind, last


def _note_place(db: Connection, version: str, kind: int, last: int) -> None:
    place = json.dumps([version, kind, last])
    db.execute("INSERT OR REPLACE INTO meta VALUES ('reindexing', ?)", (place,))


def _index_turns(db: Connection, ids: Sequence[int], tokeniser: Tokeniser) -> None:
    statement = f"SELECT conversation_id, turn_index FROM turn WHERE {_AMONG}"
    for row in list(db.rows(statement, (as_json(ids),))):
        messages.index_turn(db, row["conversation_id"], row["turn_index"], tokeniser)


def _index_items(kind: Kind[Any, Any]) -> _Index:
    """Return how the words of a kind are made."""
    statement = f"SELECT * FROM {kind.name} WHERE {_AMONG}"

    def index(db: Connection, ids: Sequence[int], tokeniser: Tokeniser) -> None:
        for row in list(db.rows(statement, (as_json(ids),))):
            records.index(db, kind, row, tokeniser)

    return index


_KINDS: tuple[tuple[str, _Index], ...] = (
    ("turn", _index_turns),
    ("summary", _index_items(SUMMARY)),
    ("note", _index_items(NOTE)),
    ("scope", scope_rows.reindex_scopes),
)

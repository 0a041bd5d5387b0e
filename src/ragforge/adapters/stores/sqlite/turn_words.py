"""Turn words: which turns hold which words, and their neighbours.

The index gives the row ids of a word's turns in one piece; the rest is arithmetic on arrays.
That costs less than having SQLite score and sort every turn with a common word in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ragforge.adapters.arrays import Floats, Ints, NDArray, np, parse_numbers
from ragforge.adapters.stores.sqlite.sql import Connection, SqlFilter
from ragforge.adapters.stores.sqlite.turn_search import CANDIDATES
from ragforge.adapters.stores.sqlite.words import RARER, CommonWords, format_any_of, is_common
from ragforge.domain import bm25
from ragforge.domain.hits import TurnMatch, WordMatches
from ragforge.records import dataclass

MAX_WORDS = 24
"""Of a long query, the rarest words are looked for."""
MAX_ROWS = 50_000
"""Once the rarer words have given this many rows, commoner ones are not read."""
_TWICE_ADDS = bm25.weigh_times(2) - 1


@dataclass(frozen=True, slots=True)
class _Word:
    """The turns that hold a word, and those that hold it more than once; ascending."""

    text: str
    rows: Ints
    often: Ints


class TurnWords:
    """One search by words: their turns that pass the filter."""

    def __init__(
        self,
        db: Connection,
        words: Sequence[str],
        where: SqlFilter,
        passing: Ints | None,
        common: CommonWords,
        hides: bool = False,
    ) -> None:
        """`passing` are the turns that pass the filter; None if all do.

        With `hides`, some turns are private to another user.
        """
        self._db = db
        self._where = where
        # Conversations have a count of their turns; counting the rows is slow.
        every = "SELECT coalesce(sum(turn_count), 0) FROM conversation"
        self._every = int(db.value(every))
        self._passes = None if passing is None else _mask(passing)
        self._turns = self._every if passing is None else len(passing)
        counts = common.counts(db, words, self._every) if self._turns else {}
        self._aside: frozenset[str] = frozenset()
        self._hides = hides
        self._words = self._telling(counts)

    def match(self, limit: int, reach: int) -> WordMatches:
        """Return the best turns and their neighbours, up to `reach` away, that pass the filter."""
        ids = self._best(limit)
        rows: list[Any] = self._db.execute(
            f"""SELECT DISTINCT o.id, o.message_id, o.conversation_id, o.turn_index, o.length
                FROM turn t CROSS JOIN turn o ON o.conversation_id = t.conversation_id
                  AND o.turn_index BETWEEN t.turn_index - ? AND t.turn_index + ?
                WHERE t.id IN (SELECT value FROM json_each(?)) AND {self._where}
                ORDER BY o.started_ms DESC, o.id DESC""",
            (reach, reach, str(ids.tolist()), *self._where.bindings),
        ).fetchall()
        words = self._held([row[0] for row in rows])
        return WordMatches(
            tuple(
                TurnMatch(turn, conversation, place, length, held)
                for (_, turn, conversation, place, length), held in zip(rows, words, strict=True)
            ),
            {word.text: len(word.rows) for word in self._words},
            self._turns,
            self._aside,
        )

    def _telling(self, counts: dict[str, int]) -> list[_Word]:
        """Return the words that pass the filter somewhere, the rarest of the store first.

        Common ones are left aside once rarer ones were found.
        """
        found: list[_Word] = []
        read = 0
        for place, word in enumerate(order := sorted(counts, key=counts.__getitem__)):
            count = counts[word]
            enough = read > MAX_ROWS or len(found) == MAX_WORDS
            aside = len(found) >= RARER and is_common(count, self._every)
            if found and (enough or aside):
                self._aside = frozenset(filter(self._may_be_named, order[place:]))
                break
            read += count
            rows = self._rows("words", word, count)
            if len(rows):
                found.append(_Word(word, rows, self._rows("often", word, count)))
        return found

    def _may_be_named(self, word: str) -> bool:
        """Tell whether a word that is left aside may be listed: some turn that is seen holds it."""
        return not self._hides or bool(len(self._rows("words", word, 0)))

    def _rows(self, column: str, word: str, count: int) -> Ints:
        """Return the turns that hold a word and pass the filter, ascending."""
        # With the keys, the index skips the turns outside the filter that hold a frequent word.
        keys = self._where.keys if count > self._turns else []
        wanted = [*(f"keys : ({format_any_of(key)})" for key in keys), f'{column} : "{word}"']
        statement = "SELECT group_concat(rowid) FROM turn_words WHERE turn_words MATCH ?"
        rows = parse_numbers(self._db.value(statement, (" AND ".join(wanted),)))
        if self._passes is None:
            return rows
        rows = rows[: rows.searchsorted(len(self._passes))]
        return rows[self._passes[rows]]

    def _best(self, limit: int) -> Ints:
        """Return the ids of the best turns."""
        highest = max((int(word.rows[-1]) for word in self._words), default=0)
        scores = np.zeros(highest + 1, np.float32)
        for word in self._words:
            count = len(word.rows)
            worth = bm25.weigh_word(self._turns, count)
            scores[word.rows] += worth
            scores[word.often] += worth * _TWICE_ADDS
        limit = max(limit, 0)
        ids = _pick_highest(np.flatnonzero(scores), scores, limit * CANDIDATES)
        scores[ids] /= self._lengths(ids)
        return _pick_highest(ids, scores, limit)

    def _lengths(self, ids: Ints) -> Floats:
        """Return how long turns are, as their scores are divided by it: 1 is usual."""
        statement = "SELECT id, length FROM turn WHERE id IN (SELECT value FROM json_each(?))"
        found: dict[int, int] = dict(self._db.execute(statement, (str(ids.tolist()),)))
        lengths = np.array([found[turn] for turn in ids.tolist()], np.float32)
        usual = max(float(lengths.mean()), 1.0) if len(lengths) else 1.0
        ratio: Floats = (1 + bm25.saturate(lengths, usual)) / (1 + bm25.K1)
        return ratio

    def _held(self, ids: list[int]) -> list[dict[str, int]]:
        """Return which of the words each turn holds."""
        holds: list[dict[str, int]] = [{} for _ in ids]
        turns = np.array(ids, np.int64)
        for word in self._words:
            for times, rows in ((1, word.rows), (2, word.often)):
                for place in np.flatnonzero(_are_within(turns, rows)).tolist():
                    holds[place][word.text] = times
        return holds


def _mask(ids: Ints) -> NDArray[np.bool_]:
    """Return which rows these are, by their ids."""
    mask = np.zeros(int(ids.max(initial=0)) + 1, np.bool_)
    mask[ids] = True
    return mask


def _pick_highest(ids: Ints, scores: Floats, limit: int) -> Ints:
    """Return the ids with the highest scores, best first; among equals, the newest first."""
    if 0 < limit < len(ids):
        some = np.partition(scores[ids], len(ids) - limit)
        ids = ids[scores[ids] >= some[len(ids) - limit]]
    order: Ints = ids[np.lexsort((-ids, -scores[ids]))][:limit]
    return order


def _are_within(turns: Ints, rows: Ints) -> NDArray[np.bool_]:
    """Tell for each turn whether it is among ascending rows."""
    if not len(rows):
        return np.zeros(len(turns), np.bool_)
    within: NDArray[np.bool_] = rows[np.minimum(rows.searchsorted(turns), len(rows) - 1)] == turns
    return within

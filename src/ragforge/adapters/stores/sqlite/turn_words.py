"""Turn words: which turns hold which words, and what stands beside them.

The index gives the row ids of a word's turns in one piece; the rest is arithmetic on arrays.
That costs less than having SQLite score and sort every turn with a common word in it.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import apsw

from ragforge.adapters.stores.sqlite import words as index_of
from ragforge.adapters.stores.sqlite.sql import Where, as_json, value
from ragforge.domain.hits import Holder, Match, WordsFound

if TYPE_CHECKING:
    from ragforge.adapters.stores.sqlite.matrix import Floats, Ints

MOST_WORDS = 24
"""Of a long query, the rarest words are looked for."""
MOST_ROWS = 100_000
"""Once the rarer words have given so many rows, commoner ones are not read any more."""
COMMON_SHARE, COMMON_ROWS = 5, 1_000
"""A word that one turn in five holds, and so many, tells nothing beside a rarer one."""
CANDIDATES = 4
"""How many times the limit are compared by their length as well."""
_OFTEN, _LONG = 1.2, 0.4  # k1 and b of BM25


def index(connection: apsw.Connection, turn: int, document: str, keys: str) -> None:
    """Set the words of a turn and of the keys it is searched under."""
    found = document.split()
    often = " ".join(word for word, times in Counter(found).items() if times > 1)
    index_of.index(connection, "turn_words", turn, document, often, keys)
    connection.execute("UPDATE turn SET length = ? WHERE id = ?", (len(found), turn))


def best(connection: apsw.Connection, words: list[str], where: Where, limit: int) -> list[Match]:
    """Return the turns that hold any of the words and pass the filter, best first."""
    if limit <= 0:
        return []
    search = _Search(connection, words, where)
    ids, scores = search.best(limit)
    statement = "SELECT id, message_id FROM turn WHERE id IN (SELECT value FROM json_each(?))"
    names = dict(connection.execute(statement, (str(ids.tolist()),)))
    pairs = zip(ids.tolist(), scores.tolist(), strict=True)
    return [Match(names[turn], score) for turn, score in pairs]


def holders(
    connection: apsw.Connection, words: list[str], where: Where, limit: int, reach: int
) -> WordsFound:
    """Return the best turns and those up to `reach` beside them that pass the filter."""
    if limit <= 0:
        return WordsFound()
    search = _Search(connection, words, where)
    ids, _ = search.best(limit)
    rows: list[Any] = connection.execute(
        f"""SELECT DISTINCT o.id, o.message_id, o.conversation_id, o.turn_index, o.length
            FROM turn t CROSS JOIN turn o ON o.conversation_id = t.conversation_id
              AND o.turn_index BETWEEN t.turn_index - ? AND t.turn_index + ?
            WHERE t.id IN (SELECT value FROM json_each(?)) AND {where}
            ORDER BY o.started_ms DESC, o.id DESC""",
        (reach, reach, str(ids.tolist()), *where.bindings),
    ).fetchall()
    holds = search.held([row[0] for row in rows])
    return WordsFound(
        tuple(
            Holder(turn, conversation, place, length, held)
            for (_, turn, conversation, place, length), held in zip(rows, holds, strict=True)
        ),
        {word.text: len(word.rows) for word in search.words},
        search.turns,
    )


@dataclass(frozen=True, slots=True)
class _Word:
    """The turns that hold a word, and those that hold it more than once; ascending."""

    text: str
    rows: Ints
    often: Ints


class _Search:
    """One search: the words' turns, as far as they pass the filter."""

    def __init__(self, connection: apsw.Connection, words: list[str], where: Where) -> None:
        self._connection = connection
        self._keys = "".join(f'keys : "{key}" AND ' for key in where.keys)
        self._passing = None if where.keys_say_all else self._ids(where)
        # Conversations have counted their turns: to count the rows takes a while.
        every = "SELECT coalesce(sum(turn_count), 0) FROM conversation"
        self._every = int(value(connection, every))
        self.turns = self._count(where)
        self.words = [self._word(word) for word in self._telling(words)] if self.turns else []

    def _ids(self, where: Where) -> Ints:
        from ragforge.adapters.stores.sqlite.matrix import numbers

        ids = f"SELECT group_concat(o.id) FROM turn o WHERE {where}"
        return numbers(value(self._connection, ids, where.bindings))

    def _count(self, where: Where) -> int:
        if self._passing is not None:
            return len(self._passing)
        if not where:
            return self._every
        counting = f"SELECT count(*) FROM turn o WHERE {where}"
        return int(value(self._connection, counting, where.bindings))

    def _telling(self, words: list[str]) -> list[str]:
        """Return the words to look for, the rarest first; words that nobody holds are none."""
        counts = self._connection.execute(
            """SELECT w.value, v.doc FROM json_each(?) w
               CROSS JOIN turn_vocabulary v ON v.term = w.value ORDER BY v.doc""",
            (as_json(words),),
        )
        common = max(COMMON_ROWS, self._every // COMMON_SHARE)
        chosen: list[str] = []
        rows = 0
        for word, count in counts:
            rows += count
            if chosen and (count > common or rows > MOST_ROWS or len(chosen) == MOST_WORDS):
                break
            chosen.append(word)
        return chosen

    def _word(self, word: str) -> _Word:
        return _Word(word, self._rows("words", word), self._rows("often", word))

    def _rows(self, column: str, word: str) -> Ints:
        import numpy as np

        from ragforge.adapters.stores.sqlite.matrix import numbers

        statement = "SELECT group_concat(rowid) FROM turn_words WHERE turn_words MATCH ?"
        expression = f'{self._keys}{column} : "{word}"'
        rows = numbers(value(self._connection, statement, (expression,)))
        if self._passing is None:
            return rows
        return np.intersect1d(rows, self._passing, assume_unique=True)

    def best(self, limit: int) -> tuple[Ints, Floats]:
        """Return the ids of the best turns and their scores; among equals, the newest."""
        import numpy as np

        highest = max((int(word.rows[-1]) for word in self.words if len(word.rows)), default=0)
        scores = np.zeros(highest + 1, np.float32)
        for word in self.words:
            scores[word.rows] += self._worth(word)
            scores[word.often] += self._worth(word) * _OFTEN_ADDS
        ids = _highest(np.flatnonzero(scores), scores, limit * CANDIDATES)
        scores[ids] /= self._lengths(ids)
        ids = _highest(ids, scores, limit)
        return ids, scores[ids]

    def _worth(self, word: _Word) -> float:
        return math.log(1 + (self.turns - len(word.rows) + 0.5) / (len(word.rows) + 0.5))

    def _lengths(self, ids: Ints) -> Floats:
        """Return how long turns are, as their scores are divided by it: 1 is usual."""
        import numpy as np

        statement = "SELECT id, length FROM turn WHERE id IN (SELECT value FROM json_each(?))"
        found: dict[int, int] = dict(self._connection.execute(statement, (str(ids.tolist()),)))
        lengths = np.array([found[turn] for turn in ids.tolist()], np.float32)
        usual = max(float(lengths.mean()), 1.0) if len(lengths) else 1.0
        ratio: Floats = (1 + _OFTEN * (1 - _LONG + _LONG * lengths / usual)) / (1 + _OFTEN)
        return ratio

    def held(self, ids: list[int]) -> list[dict[str, int]]:
        """Return which of the words each turn holds."""
        import numpy as np

        holds: list[dict[str, int]] = [{} for _ in ids]
        turns = np.array(ids, np.int64)
        for word in self.words:
            for times, rows in ((1, word.rows), (2, word.often)):
                for place in np.flatnonzero(_within(turns, rows)).tolist():
                    holds[place][word.text] = times
        return holds


def _highest(ids: Ints, scores: Floats, limit: int) -> Ints:
    """Return the ids with the highest scores, best first; among equals, the newest first."""
    import numpy as np

    if limit < len(ids):
        some = np.partition(scores[ids], len(ids) - limit)
        ids = ids[scores[ids] >= some[len(ids) - limit]]
    order: Ints = ids[np.lexsort((-ids, -scores[ids]))][:limit]
    return order


def _within(turns: Ints, rows: Ints) -> Ints:
    """Tell for each turn whether it is among ascending rows."""
    import numpy as np

    places = np.minimum(rows.searchsorted(turns), len(rows) - 1)
    return rows[places] == turns if len(rows) else np.zeros(len(turns), np.bool_)


_OFTEN_ADDS = 2 * (_OFTEN + 1) / (2 + _OFTEN) - 1

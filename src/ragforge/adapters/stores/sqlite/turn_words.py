"""Turn words: which turns hold which words, and what stands beside them.

The index gives the row ids of a word's turns in one piece; the rest is arithmetic on arrays.
That costs less than having SQLite score and sort every turn with a common word in it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import apsw

from ragforge.adapters.arrays import Floats, Ints, NDArray, np, numbers
from ragforge.adapters.stores.sqlite.common_words import CommonWords, is_common
from ragforge.adapters.stores.sqlite.sql import Where, as_json, value
from ragforge.domain.hits import Holder, Match, WordsFound

MOST_WORDS = 24
"""Of a long query, the rarest words are looked for."""
MOST_ROWS = 50_000
"""Once the rarer words have given so many rows, commoner ones are not read any more."""
RARER = 2
"""Beside so many rarer words a common one tells nothing."""
CANDIDATES = 4
"""How many times the limit are compared by their length as well."""
_OFTEN, _LONG = 1.2, 0.4  # k1 and b of BM25


def best(
    connection: apsw.Connection, words: list[str], where: Where, limit: int, common: CommonWords
) -> list[Match]:
    """Return the turns that hold any of the words and pass the filter, best first."""
    if limit <= 0:
        return []
    search = _Search(connection, words, where, common)
    ids, scores = search.best(limit)
    statement = "SELECT id, message_id FROM turn WHERE id IN (SELECT value FROM json_each(?))"
    names = dict(connection.execute(statement, (str(ids.tolist()),)))
    pairs = zip(ids.tolist(), scores.tolist(), strict=True)
    return [Match(names[turn], score) for turn, score in pairs]


def holders(
    connection: apsw.Connection,
    words: list[str],
    where: Where,
    limit: int,
    reach: int,
    common: CommonWords,
) -> WordsFound:
    """Return the best turns and those up to `reach` beside them that pass the filter."""
    if limit <= 0:
        return WordsFound()
    search = _Search(connection, words, where, common)
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

    def __init__(
        self, connection: apsw.Connection, words: list[str], where: Where, common: CommonWords
    ) -> None:
        self._connection = connection
        self._where = where
        # Conversations have counted their turns: to count the rows takes a while.
        every = "SELECT coalesce(sum(turn_count), 0) FROM conversation"
        self._every = int(value(connection, every))
        self._passes = self._passing() if where else None
        self.turns = self._every if self._passes is None else int(self._passes.sum())
        self.words = self._telling(self._counts(words, common)) if self.turns else []

    def _passing(self) -> NDArray[np.bool_]:
        """Return which turns pass the filter, by their row ids."""
        where = self._where
        if where.keys_say_all:
            ids = self._matching(" AND ".join(f'keys : "{key}"' for key in where.keys))
        else:
            statement = f"SELECT group_concat(o.id) FROM turn o WHERE {where}"
            ids = numbers(value(self._connection, statement, where.bindings))
        passes = np.zeros(int(ids.max(initial=0)) + 1, np.bool_)
        passes[ids] = True
        return passes

    def _matching(self, expression: str) -> Ints:
        """Return the row ids of the turns that match, ascending."""
        statement = "SELECT group_concat(rowid) FROM turn_words WHERE turn_words MATCH ?"
        return numbers(value(self._connection, statement, (expression,)))

    def _counts(self, words: list[str], common: CommonWords) -> dict[str, int]:
        """Return how many turns of the whole store hold each word, as far as any do."""
        known = common.known(words, self._every)
        new: dict[str, int] = dict(
            self._connection.execute(
                """SELECT w.value, v.doc FROM json_each(?) w
                   CROSS JOIN turn_vocabulary v ON v.term = w.value""",
                (as_json(word for word in words if word not in known),),
            )
        )
        common.learn(new)
        return known | new

    def _telling(self, counts: dict[str, int]) -> list[_Word]:
        """Return the words that pass the filter somewhere, the rarest of the store first.

        Common ones are left aside once rarer ones were found.
        """

        def common(word: str) -> bool:
            return is_common(counts[word], self._every)

        found: list[_Word] = []
        rows = 0
        for word in sorted(counts, key=lambda word: counts[word]):
            enough = rows > MOST_ROWS or len(found) == MOST_WORDS
            if (enough and found) or (len(found) >= RARER and common(word)):
                break
            rows += counts[word]
            held = self._rows("words", word, counts[word])
            if len(held):
                found.append(_Word(word, held, self._rows("often", word, counts[word])))
        return found

    def _rows(self, column: str, word: str, count: int) -> Ints:
        """Return the turns that hold a word and pass the filter."""
        expression = f'{column} : "{word}"'
        # Of a word that is held by many elsewhere, the index finds those in here sooner.
        keys = self._where.keys if count > self.turns else []
        rows = self._matching(" AND ".join([*(f'keys : "{key}"' for key in keys), expression]))
        if self._passes is None:
            return rows
        rows = rows[: rows.searchsorted(len(self._passes))]
        return rows[self._passes[rows]]

    def best(self, limit: int) -> tuple[Ints, Floats]:
        """Return the ids of the best turns and their scores; among equals, the newest."""
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
        statement = "SELECT id, length FROM turn WHERE id IN (SELECT value FROM json_each(?))"
        found: dict[int, int] = dict(self._connection.execute(statement, (str(ids.tolist()),)))
        lengths = np.array([found[turn] for turn in ids.tolist()], np.float32)
        usual = max(float(lengths.mean()), 1.0) if len(lengths) else 1.0
        ratio: Floats = (1 + _OFTEN * (1 - _LONG + _LONG * lengths / usual)) / (1 + _OFTEN)
        return ratio

    def held(self, ids: list[int]) -> list[dict[str, int]]:
        """Return which of the words each turn holds."""
        holds: list[dict[str, int]] = [{} for _ in ids]
        turns = np.array(ids, np.int64)
        for word in self.words:
            for times, rows in ((1, word.rows), (2, word.often)):
                for place in np.flatnonzero(_within(turns, rows)).tolist():
                    holds[place][word.text] = times
        return holds


def _highest(ids: Ints, scores: Floats, limit: int) -> Ints:
    """Return the ids with the highest scores, best first; among equals, the newest first."""
    if limit < len(ids):
        some = np.partition(scores[ids], len(ids) - limit)
        ids = ids[scores[ids] >= some[len(ids) - limit]]
    order: Ints = ids[np.lexsort((-ids, -scores[ids]))][:limit]
    return order


def _within(turns: Ints, rows: Ints) -> NDArray[np.bool_]:
    """Tell for each turn whether it is among ascending rows."""
    places = np.minimum(rows.searchsorted(turns), len(rows) - 1)
    return rows[places] == turns if len(rows) else np.zeros(len(turns), np.bool_)


_OFTEN_ADDS = 2 * (_OFTEN + 1) / (2 + _OFTEN) - 1

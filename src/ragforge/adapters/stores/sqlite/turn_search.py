"""Turn search: the best turns by words, without arrays.

A hook runs one query and ends. Loading numpy would take longer than all else; for the few turns
with the rare words of a prompt, plain arithmetic is as fast.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from operator import attrgetter
from typing import Any

from ragforge.adapters.stores.sqlite.sql import Connection, SqlFilter, as_json
from ragforge.adapters.stores.sqlite.words import format_any_of
from ragforge.domain import bm25
from ragforge.domain.hits import Match, TurnMatch, WordMatches
from ragforge.records import dataclass

CANDIDATES = 4
"""How many times the limit are compared by their length as well."""
_TWICE_ADDS = bm25.weigh_times(2) - 1


@dataclass(frozen=True, slots=True)
class FoundTurn:
    """A turn that holds words, and its score."""

    row: int
    score: float
    match: TurnMatch


class PlainTurnWords:
    """One search by words: which turns hold which of them."""

    def __init__(
        self,
        db: Connection,
        words: Iterable[str],
        where: SqlFilter,
        every: int,
        hides: bool = False,
    ) -> None:
        """`every` is how many turns the words are rare or common among.

        With `hides`, some turns are private to another user.
        """
        self._db = db
        self._where = where
        self._every = every
        self._seen = " AND rowid IN (SELECT id FROM turn)" if hides else ""
        self._rows = {word: rows for word in words if (rows := self._list_rows(word))}

    def find(self, limit: int) -> list[Match]:
        """Return the best turns, best first; among equals, the newest."""
        return [Match(one.match.id, one.score) for one in self._find_best(limit)]

    def holds(self, word: str) -> bool:
        """Tell whether any turn that is seen holds a word."""
        return bool(self._list_turns("words", word))

    def match(self, limit: int) -> WordMatches:
        """Return the best turns with the words that each holds, the newest first."""
        best = sorted(self._find_best(limit), key=attrgetter("row"), reverse=True)
        counts = {word: len(rows) for word, rows in self._rows.items()}
        return WordMatches(tuple(one.match for one in best), counts, self._every)

    def _find_best(self, limit: int) -> list[FoundTurn]:
        scores = defaultdict[int, float](float)
        for rows in self._rows.values():
            worth = bm25.weigh_word(self._every, len(rows))
            for row, times in rows.items():
                scores[row] += worth * (1 + _TWICE_ADDS * (times - 1))
        passing: list[Any] = []
        for some in _in_steps(scores, max(limit, 0) * CANDIDATES):
            statement = f"""SELECT o.id, o.message_id, o.conversation_id, o.turn_index, o.length
                            FROM turn o
                            WHERE o.id IN (SELECT value FROM json_each(?)) AND {self._where}"""
            passing += self._db.execute(
                statement, (as_json(some), *self._where.bindings)
            ).fetchall()
            if len(passing) >= limit * CANDIDATES:
                break
        usual: float = max(sum(found[-1] for found in passing) / max(len(passing), 1), 1.0)

        def score(row: int, length: int) -> float:
            return scores[row] * (1 + bm25.K1) / float(1 + bm25.saturate(length, usual))

        def make(row: int, id_: str, conversation_id: str, place: int, length: int) -> FoundTurn:
            held = {word: rows[row] for word, rows in self._rows.items() if row in rows}
            match = TurnMatch(id_, conversation_id, place, length, held)
            return FoundTurn(row, score(row, length), match)

        best = sorted(passing, key=lambda one: (-score(one[0], one[-1]), -one[0]))
        return [make(*one) for one in best[: max(limit, 0)]]

    def _list_rows(self, word: str) -> dict[int, int]:
        """Return the turns that hold a word, each with 1, or 2 if it does more than once."""
        rows = dict.fromkeys(self._list_turns("words", word), 1)
        return rows | dict.fromkeys(self._list_turns("often", word), 2) if rows else rows

    def _list_turns(self, column: str, word: str) -> list[int]:
        keys = (f"keys : ({format_any_of(key)})" for key in self._where.keys)
        wanted = " AND ".join((*keys, f'{column} : "{word}"'))
        statement = f"SELECT rowid FROM turn_words WHERE turn_words MATCH ?{self._seen}"
        return self._db.column(statement, (wanted,))


def _in_steps(scores: Mapping[int, float], step: int) -> Iterator[list[int]]:
    """Yield the turns in steps, best scores first."""
    order = sorted(scores, key=lambda turn: (-scores[turn], -turn))
    for start in range(0, len(order), max(step, 1)):
        yield order[start : start + max(step, 1)]

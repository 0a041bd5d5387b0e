"""Turn search: the best turns by words, without arrays.

A hook asks one question and ends. Loading the library for arrays would take longer than all else;
over the few turns that hold the rare words of a prompt, plain arithmetic is as fast.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

import apsw

from ragforge.adapters.stores.sqlite.sql import Where, as_json, select_column
from ragforge.adapters.stores.sqlite.words import format_any_of
from ragforge.domain import bm25
from ragforge.domain.hits import Match

CANDIDATES = 4
"""How many times the limit are compared by their length as well."""
_TWICE_ADDS = bm25.weigh_times(2) - 1


def find_turns(
    connection: apsw.Connection, counts: Mapping[str, int], every: int, where: Where, limit: int
) -> list[Match]:
    """Return the turns that hold any of the words, best first; among equals, the newest.

    `counts` are the words, with how many of all turns hold each.
    """
    scores: dict[int, float] = defaultdict(float)
    for word, count in counts.items():
        worth = bm25.weigh_word(every, count)
        for column, adds in (("words", 1.0), ("often", _TWICE_ADDS)):
            for turn in _list_turns(connection, column, word, where):
                scores[turn] += worth * adds
    passing: list[tuple[int, str, int]] = []
    for some in _in_steps(scores, max(limit, 0) * CANDIDATES):
        statement = f"""SELECT o.id, o.message_id, o.length FROM turn o
                        WHERE o.id IN (SELECT value FROM json_each(?)) AND {where}"""
        passing += connection.execute(statement, (as_json(some), *where.bindings))
        if len(passing) >= limit * CANDIDATES:
            break
    usual = max(sum(length for _, _, length in passing) / max(len(passing), 1), 1.0)
    found = [
        (scores[turn] * (1 + bm25.K1) / (1 + bm25.saturate(length, usual)), turn, name)
        for turn, name, length in passing
    ]
    return [Match(name, score) for score, _, name in sorted(found, reverse=True)[:limit]]


def _list_turns(connection: apsw.Connection, column: str, word: str, where: Where) -> list[int]:
    """Return the turns that hold a word in a column of the index."""
    wanted = [*(f"keys : ({format_any_of(key)})" for key in where.keys), f'{column} : "{word}"']
    statement = "SELECT rowid FROM turn_words WHERE turn_words MATCH ?"
    return select_column(connection, statement, (" AND ".join(wanted),))


def _in_steps(scores: Mapping[int, float], step: int) -> Iterator[list[int]]:
    """Yield the turns with the highest scores, the next ones as long as they are asked for."""
    order = sorted(scores, key=lambda turn: (-scores[turn], -turn))
    for start in range(0, len(order), max(step, 1)):
        yield order[start : start + max(step, 1)]

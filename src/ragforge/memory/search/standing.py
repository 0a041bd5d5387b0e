"""Standing instructions: which of them apply to a question."""

from __future__ import annotations

from collections.abc import Iterable

from ragforge.domain.hits import TURN_CONFIDENCE, TurnHit
from ragforge.domain.standing_instructions import find_instructions, is_conditional
from ragforge.domain.turns import StoredTurn, group_into_turns
from ragforge.memory.recalled import recall_turn
from ragforge.memory.search.turns import STANDING
from ragforge.search.question.wording import expand_query
from ragforge.search.words.tokenise import WORDS


def choose_standing(query: str, standing: Iterable[StoredTurn], limit: int) -> list[TurnHit]:
    """Return those of the turns with instructions that apply to a question, the best first.

    One that names a case applies if it shares a word with the question; others always do. Among
    equals the newest come first, and of those that say the same the newest alone.
    """
    words = set(WORDS.query(expand_query(query, WORDS).text))
    hits: dict[str, TurnHit] = {}
    for stored in standing:
        turn = recall_turn(group_into_turns(stored.messages)[0])
        if turn is None:
            continue
        said = " ".join(find_instructions(turn.user.content))
        share = len(words.intersection(WORDS.prose(said).split())) / max(1, len(words))
        if not said or (is_conditional(said) and not share):
            continue
        older = hits.get(said)
        if older is None or older.timestamp < turn.user.timestamp:
            hits[said] = TurnHit(turn, stored.conversation_id, share, TURN_CONFIDENCE, STANDING)
    newest = sorted(hits.values(), key=lambda hit: hit.timestamp, reverse=True)
    return sorted(newest, key=lambda hit: -hit.score)[:limit]

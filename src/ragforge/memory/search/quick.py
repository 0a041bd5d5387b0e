"""Quick: rank turns for a process that asks once, by words and deeds, without vectors."""

from __future__ import annotations

from ragforge.domain.conversations import MemoryFilter
from ragforge.domain.schema import TURN
from ragforge.memory.search.signals import NO_SESSION, FoundSignals, find_signals
from ragforge.ports.store import Store
from ragforge.search.fuse import sort_scores
from ragforge.search.tokenise import WORDS
from ragforge.search.translate import expand_query
from ragforge.search.turn_rank import SessionSoFar, scale

TURNS = 100


async def rank_quickly(
    store: Store, query: str, where: MemoryFilter, session: SessionSoFar = NO_SESSION
) -> tuple[dict[str, float], FoundSignals]:
    """Return turns with their scores, the best first, and by what they were found."""
    text = expand_query(query, WORDS).text
    by_words = await store.index.search(TURN, text, None, where, TURNS, read=0)
    found = await find_signals(store, text, where, session=session)
    matches = {match.id: match.score for match in by_words.by_words}
    words = scale(matches, is_cut=len(matches) >= TURNS)
    return sort_scores(found.signals.add_to(found.signals.mix_pieces(words))), found

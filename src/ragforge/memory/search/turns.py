"""Turns: search past turns by words and by meaning."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import islice
from operator import attrgetter, itemgetter
from typing import NamedTuple

from ragforge.domain.conversations import MemoryFilter
from ragforge.domain.hits import TURN_CONFIDENCE, Match, TurnHit, WordMatches
from ragforge.domain.schema import TURN
from ragforge.domain.turns import (
    INSTRUCTION_MARK,
    StoredTurn,
    Turn,
    find_instructions,
    group_into_turns,
    is_conditional,
)
from ragforge.memory.embed import embed_query, to_turn_model
from ragforge.memory.past_turns import recall_turn
from ragforge.memory.search.signals import (
    NO_SESSION,
    FoundSignals,
    find_said_and_done,
    find_signals,
)
from ragforge.ports.models import Embedder
from ragforge.ports.store import Store
from ragforge.records import dataclass
from ragforge.search.question.wording import expand_query
from ragforge.search.turn_rank import (
    REACH,
    SessionSoFar,
    TurnSignals,
    list_signals,
    merge_groups,
    mix_scores,
    rank_turns,
    scale_above,
    sort_scores,
)
from ragforge.search.words.tokenise import WORDS

CANDIDATES = 40
"""The fewest turns that each search returns before the results are mixed."""
CANDIDATES_A_HIT = 3
MAX_CANDIDATES = 80
"""The limit for many hits: the neighbours of candidates become hits as well."""
NEAREST = 300
"""How many turns a search by meaning returns. Turns found by words should be among them."""
MEANING_OF_PIECES = 1.4
"""The factor for the weight of meaning where turns are long: most of their words are details."""
PIECE_NEARNESS = 0.6
"""The share of the best piece in how near a long turn is; the rest is that of the whole turn."""
STANDING_PLACES = 3
STANDING_BONUS = 0.2
"""This number of turns with standing instructions gets this share of the best score by words."""
MAX_STANDING = 200
MAX_READ = 60
"""How many turns with standing instructions are read to see which apply."""
TIME_BONUS = 0.4
"""Turns of the time that a question names count more by this share of the best score by words."""
STANDING = ("instruction",)
READ_TOGETHER = 50
SPARE = 1.15
"""The factor for the estimated number of turns: half of all estimates are too short, and a second
page takes longer than a few more turns."""
SPARE_TURNS = 10
"""How many more turns are found than wanted: some are not worth recalling."""
WORD_CHARS = 6
COUNTED_CHARS = 1_000
"""A longer turn counts as this number of characters towards the limit."""


_SIGNALS = {
    (has_words, is_near): list_signals(
        words=has_words is True, neighbours=has_words is False, meaning=is_near
    )
    for has_words in (True, False, None)
    for is_near in (True, False)
}
"""The searches that found a turn: whether it has words of the query, if its neighbours or it do,
and whether it is near in meaning. Written down once, since a search has hundreds of turns."""


class TurnCandidate(NamedTuple):
    """A turn that was found, before it is read."""

    id: str
    score: float  # 0..1
    found_by: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MemorySearch:
    """Searches the memory of one store with one embedding model, or only by words."""

    store: Store
    embedder: Embedder | None

    async def find_signals(
        self, query: str, where: MemoryFilter, session: SessionSoFar = NO_SESSION
    ) -> FoundSignals:
        """Return by which pieces and deeds turns are found, and by the session that asks."""
        text, vector = expand_query(query, WORDS).text, await embed_query(self.embedder, query)
        return await find_signals(self.store, text, where, vector, self.threshold, session)

    async def find_said_and_done(self, query: str, where: MemoryFilter) -> FoundSignals:
        """Return by which pieces and deeds turns are found; two requests."""
        text, vector = expand_query(query, WORDS).text, await embed_query(self.embedder, query)
        return await find_said_and_done(self.store, text, where, vector, self.threshold)

    async def match(
        self, query: str, where: MemoryFilter, limit: int, semantic: bool = True
    ) -> tuple[WordMatches, list[Match]]:
        """Return the turns with the query's words, with neighbours, and the nearest in meaning."""
        wording = expand_query(query, WORDS)
        wanted = count_candidates(limit)
        vector = await embed_query(self.embedder, query) if semantic else None
        near_to = None if vector is None else to_turn_model(vector)
        found, near = await self.store.index.match_turns(
            wording.text, where, wanted, REACH, near_to, max(NEAREST, wanted), self.threshold
        )
        return merge_groups(found, wording.groups) if wording.groups else found, near

    def scale_nearest(self, nearest: Sequence[Match], limit: int) -> dict[str, float]:
        """Return the scores of the nearest turns, scaled to 0..1."""
        return scale_above(nearest, self.threshold, max(NEAREST, count_candidates(limit)))

    @property
    def threshold(self) -> float:
        """The score below which a vector is not relevant to a query."""
        return 1.0 if self.embedder is None else self.embedder.history_threshold

    @property
    def meaning_weight(self) -> float:
        """The weight of meaning against words, 0..1."""
        return 0.0 if self.embedder is None else self.embedder.weights.memory

    async def list_standing(self, where: MemoryFilter) -> list[str]:
        """Return the turns that hold a standing instruction."""
        return (await self.read_standing(where, read=0))[0]

    async def read_standing(
        self, where: MemoryFilter, read: int = MAX_READ
    ) -> tuple[list[str], Mapping[str, StoredTurn]]:
        """Return the turns that hold a standing instruction, and the first of them whole."""
        found = await self.store.index.search(
            TURN, INSTRUCTION_MARK, None, where, MAX_STANDING, read=read
        )
        return [match.id for match in found.by_words], found.items

    async def read_turns(
        self,
        found: Sequence[TurnCandidate],
        limit: int,
        max_chars: int | None = None,
        usual_chars: float = COUNTED_CHARS,
    ) -> list[TurnHit]:
        """Return the turns that were found and still exist.

        Those not worth recalling are replaced by later ones. With `max_chars`, reading stops at
        that number of characters; `usual_chars` helps to read one page only.
        """
        hits, left_out = await self._read_hits(found[:limit], max_chars, usual_chars)
        if left_out and found[limit:]:
            more, _ = await self._read_hits(found[limit:], max_chars, usual_chars)
            hits += more[:left_out]
        return hits

    async def _read_hits(
        self, found: Sequence[TurnCandidate], max_chars: int | None, usual_chars: float
    ) -> tuple[list[TurnHit], int]:
        """Return the turns that are worth recalling, and how many are not."""
        turns = await self._read_until([item.id for item in found], max_chars, usual_chars)
        hits, left_out = [], 0
        for item in found:
            if (read := turns.get(item.id)) is None:
                continue
            owner, turn = read
            if (kept := recall_turn(turn)) is None:
                left_out += 1
            else:
                hits.append(TurnHit(kept, owner, item.score, TURN_CONFIDENCE, item.found_by))
        return hits, left_out

    async def _read_until(
        self, ids: Sequence[str], max_chars: int | None, usual: float
    ) -> dict[str, tuple[str, Turn]]:
        """Return turns by id with their conversations' ids, page by page until there are enough."""
        turns: dict[str, tuple[str, Turn]] = {}
        start = counted = 0
        while start < len(ids) and (max_chars is None or counted < max_chars or not start):
            page = len(ids)
            if max_chars is not None:
                page = max(READ_TOGETHER, math.ceil(SPARE * (max_chars - counted) / usual))
            read = await self.store.timeline.turns(ids[start : start + page])
            for found, stored in read.items():
                turn = group_into_turns(stored.messages)[0]
                turns[found] = stored.conversation_id, turn
                counted += min(turn.char_count, COUNTED_CHARS)
            start += page
            usual = max(counted / start, 1.0)
        return turns


def merge_nearest(turns: Sequence[Match], pieces: Sequence[Match], threshold: float) -> list[Match]:
    """Return the nearest turns, best first. Of a long one its best piece counts more than all.

    A turn or piece that was not found is taken to be at the threshold.
    """
    whole = {match.id: match.score for match in turns}
    mixed = {
        id_: PIECE_NEARNESS * score + (1 - PIECE_NEARNESS) * whole.get(id_, threshold)
        for id_, score in ((match.id, match.score) for match in pieces)
    }
    nearest = [Match(id_, score) for id_, score in {**whole, **mixed}.items()]
    return sorted(nearest, key=attrgetter("score"), reverse=True)


def mix_turns(
    by_words: WordMatches,
    near: Mapping[str, float],
    limit: int,
    meaning_weight: float,
    signals: TurnSignals | None = None,
    min_score: float = 0.0,
    standing: Collection[str] = (),
    in_time: Collection[str] = (),
) -> list[TurnCandidate]:
    """Return the turns found by words or by meaning, best first.

    The nearest turn counts as much as the best one by words: distances differ from question to
    question. The best turns with `standing` instructions, and all `in_time`, get a bonus.
    """
    scores: dict[str, float] = {}
    has_words: dict[str, bool] = {}
    signals = signals or TurnSignals()
    for id_, score, holds in rank_turns(by_words):
        scores[id_] = score
        has_words[id_] = holds
    scores = signals.mix_pieces(scores)
    if signals.pieces:
        meaning_weight = min(meaning_weight * MEANING_OF_PIECES, 1.0)
    if scores and (nearest := max(near.values(), default=0.0)):
        scale = max(scores.values()) / nearest
        near = {id_: score * scale for id_, score in near.items()}
    mixed = sort_scores(signals.add_to(mix_scores(scores, near, meaning_weight)))
    raised = set(islice((id_ for id_ in mixed if id_ in standing), STANDING_PLACES))
    if raised or in_time:
        best = max(scores.values(), default=1.0)
        for id_, score in mixed.items():
            share = STANDING_BONUS * (id_ in raised) + TIME_BONUS * (id_ in in_time)
            mixed[id_] = score + share * best
        mixed = dict(sorted(mixed.items(), key=itemgetter(1), reverse=True))

    def list_found_by(id_: str) -> tuple[str, ...]:
        further = list_signals(
            deeds=id_ in signals.deeds,
            session=id_ in signals.said_before or id_ in signals.done_before,
            instruction=id_ in raised,
            time=id_ in in_time,
        )
        holds = True if id_ in signals.pieces or id_ in signals.done else has_words.get(id_)
        return _SIGNALS[holds, id_ in near] + further

    return [
        TurnCandidate(id_, min(score, 1.0), list_found_by(id_))
        for id_, score in islice(mixed.items(), limit)
        if score >= min_score
    ]


def estimate_chars(found: WordMatches) -> float:
    """Return how many characters a turn like these usually counts, by its number of words."""
    if not found.matches:
        return COUNTED_CHARS
    words = sum(turn.length for turn in found.matches) / len(found.matches)
    return min(max(words, 1) * WORD_CHARS, COUNTED_CHARS)


def count_candidates(limit: int) -> int:
    """Return how many candidates each search should return for a number of hits."""
    return max(CANDIDATES, min(limit * CANDIDATES_A_HIT, MAX_CANDIDATES), limit // 3)


def choose_standing(query: str, standing: Iterable[StoredTurn], limit: int) -> list[TurnHit]:
    """Return the turns with instructions that apply to a question, the best and newest first.

    Conditional instructions apply if they share a word with the question, others always.
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

"""Similar: find conversations about the same subject."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from itertools import islice
from typing import TypeAlias

from ragforge.concurrency import gather_or_cancel
from ragforge.domain.conversations import Conversation, ConversationFilter, MemoryFilter
from ragforge.domain.hits import Match
from ragforge.domain.schema import CONVERSATION, MESSAGE_PLACE, SUMMARY, TURN
from ragforge.domain.summaries import SummaryFilter
from ragforge.domain.turns import Turn, group_into_turns
from ragforge.domain.vectors import Vector
from ragforge.errors import ConversationNotFound
from ragforge.memory.embed import embed_query, to_turn_model
from ragforge.memory.past_turns import recall_turn
from ragforge.memory.search.turns import MemorySearch
from ragforge.ports.store import Store
from ragforge.records import dataclass
from ragforge.search.question.wording import expand_query
from ragforge.search.turn_rank import list_signals, mix_scores, scale_above
from ragforge.search.words.tokenise import WORDS

FIRST_FETCH = 200
LARGEST_FETCH = 12_800
"""How many turns or summaries are fetched, at first and at most, to find enough conversations."""

Fetch: TypeAlias = Callable[[int], Awaitable[tuple[Sequence[Match], Mapping[str, str]]]]
"""Returns up to a number of matches, and the ids of their conversations by those of the matches."""
BestMatches: TypeAlias = dict[str, Match]  # the best match of each conversation, best first


@dataclass(frozen=True, slots=True)
class SimilarConversation:
    """A conversation that was found, by which searches, and its most relevant turn."""

    conversation: Conversation
    score: float  # 0..1
    found_by: tuple[str, ...]
    turn: Turn | None = None


async def find_similar_conversations(
    memory: MemorySearch, query: str, limit: int = 5, project_ids: Sequence[str] | None = None
) -> list[SimilarConversation]:
    """Return the conversations of a project, or of all, that are most about the query.

    The overview, the summaries and the turns of a conversation count, as far as they exist.
    """
    store, threshold = memory.store, memory.threshold
    of_turns = MemoryFilter(project_ids=project_ids)
    of_summaries = SummaryFilter(project_ids=project_ids)

    def search_turns(text: str, vector: Vector | None = None) -> Fetch:
        async def fetch(wanted: int) -> tuple[Sequence[Match], Mapping[str, str]]:
            found = await store.index.search(
                TURN, text, vector, of_turns, wanted, threshold, read=0
            )
            matches = found.by_words or found.by_vector
            places = await store.records.get_many(MESSAGE_PLACE, [match.id for match in matches])
            return matches, {uuid: place.conversation_id for uuid, place in places.items()}

        return fetch

    def search_summaries(text: str, vector: Vector | None = None) -> Fetch:
        async def fetch(wanted: int) -> tuple[Sequence[Match], Mapping[str, str]]:
            found = await store.index.search(SUMMARY, text, vector, of_summaries, wanted, threshold)
            owners = {uuid: summary.conversation_id for uuid, summary in found.items.items()}
            return found.by_words or found.by_vector, owners

        return fetch

    text = expand_query(query, WORDS).text
    turn_words, summary_words = await gather_or_cancel(
        _group_by_conversation(search_turns(text), limit),
        _group_by_conversation(search_summaries(text), limit),
    )
    turns_near: BestMatches = {}
    meaning: dict[str, float] = {}
    if (vector := await embed_query(memory.embedder, query)) is not None:
        turns_near, summaries_near, overviews_near = await gather_or_cancel(
            _group_by_conversation(search_turns("", to_turn_model(vector)), limit),
            _group_by_conversation(search_summaries("", vector), limit),
            store.index.search(
                CONVERSATION,
                "",
                vector,
                ConversationFilter(project_ids=project_ids),
                limit,
                threshold,
                read=0,
            ),
        )
        nearest = _take_highest(
            _get_scores(turns_near),
            _get_scores(summaries_near),
            {match.id: match.score for match in overviews_near.by_vector},
        )
        meaning = scale_above(_sort_matches(nearest), threshold, LARGEST_FETCH)
    words = _take_highest(_scale(turn_words), _scale(summary_words))
    found = []
    for owner, score in islice(mix_scores(words, meaning, memory.meaning_weight).items(), limit):
        best = turn_words.get(owner) or turns_near.get(owner)
        try:
            conversation = await store.records.get(CONVERSATION, owner)
        except ConversationNotFound:
            continue  # deleted since
        turn = None if best is None else await _read_turn(store, best.id)
        if best is not None and turn is None and not conversation.summary:
            continue  # nothing that was found in it is worth recalling
        found_by = list_signals(words=owner in words, meaning=owner in meaning)
        found.append(SimilarConversation(conversation, score, found_by, turn))
    return found


async def _read_turn(store: Store, turn_id: str) -> Turn | None:
    found = await store.timeline.turns([turn_id])
    turns = (recall_turn(group_into_turns(one.messages)[0]) for one in found.values())
    return next(turns, None)


async def _group_by_conversation(fetch: Fetch, limit: int) -> BestMatches:
    """Return the best match of each conversation, fetching more until there are enough of them."""
    wanted = max(FIRST_FETCH, limit)
    while True:
        matches, owners = await fetch(wanted)
        best: BestMatches = {}
        for match in matches:
            if (owner := owners.get(match.id)) is not None:
                best.setdefault(owner, match)
        if len(best) >= limit or len(matches) < wanted or wanted >= LARGEST_FETCH:
            return best
        wanted *= 8


def _scale(best: BestMatches) -> dict[str, float]:
    """Scale scores, which compare within one search only, to 0..1."""
    highest = max((match.score for match in best.values()), default=0.0)
    return {owner: match.score / highest if highest > 0 else 1.0 for owner, match in best.items()}


def _get_scores(best: BestMatches) -> dict[str, float]:
    return {owner: match.score for owner, match in best.items()}


def _take_highest(*scores: Mapping[str, float]) -> dict[str, float]:
    """Return the highest score of each conversation."""
    found: dict[str, float] = {}
    for some in scores:
        for owner, score in some.items():
            found[owner] = max(score, found.get(owner, score))
    return found


def _sort_matches(scores: Mapping[str, float]) -> list[Match]:
    """Return scores as matches, best first. Scores that differ only by rounding are equal."""
    found = [Match(owner, round(score, 6)) for owner, score in scores.items()]
    return sorted(found, key=lambda match: -match.score)

"""Similar: find conversations that were about the same thing."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import TypeAlias

from ragforge.domain.conversations import Conversation, ConversationFilter, MemoryFilter
from ragforge.domain.hits import Match
from ragforge.domain.summaries import SummaryFilter
from ragforge.domain.turns import Turn, group_into_turns
from ragforge.domain.vectors import Vector
from ragforge.errors import ConversationNotFound, ModelError
from ragforge.memory.recall import list_signals
from ragforge.ports.conversations import ConversationStore
from ragforge.ports.embedder import Embedder
from ragforge.ports.summaries import SummaryStore
from ragforge.search.fuse import mix_scores, scale_above
from ragforge.search.tokenise import WORDS
from ragforge.search.translate import expand_query

FIRST_FETCH = 200
LARGEST_FETCH = 12_800
"""How many turns or summaries are looked at, at first and at most, to find enough conversations."""

Search: TypeAlias = Callable[[int], Awaitable[list[Match]]]
Best: TypeAlias = dict[str, Match]  # the best match of each conversation, best first


@dataclass(frozen=True, slots=True)
class SimilarConversation:
    """A conversation that was found, how, and the turn that speaks of it most."""

    conversation: Conversation
    score: float  # 0..1
    found_by: tuple[str, ...]
    turn: Turn | None = None


@dataclass(frozen=True, slots=True)
class SimilaritySearch:
    """Compares conversations by the words and the meaning of their turns and summaries."""

    conversations: ConversationStore
    summaries: SummaryStore
    embedder: Embedder | None

    async def find_similar_conversations(
        self, query: str, limit: int = 5, project_path: str | None = None
    ) -> list[SimilarConversation]:
        """Return the conversations of a project, or of all, that are most about the query.

        The vector of a conversation's summary counts where there is one, and so do its
        turns and summaries: nothing has to be summarised or embedded yet.
        """
        vector = await self._vector(query)
        query = expand_query(query, WORDS).text
        turn_words, summary_words, turns_near, summaries_near, near = await asyncio.gather(
            self._turns_by_words(query, limit, project_path),
            self._summaries_by_words(query, limit, project_path),
            self._turns_by_vector(vector, limit, project_path),
            self._summaries_by_vector(vector, limit, project_path),
            self._by_own_vector(vector, limit, project_path),
        )
        words = _take_highest(_scale(turn_words), _scale(summary_words))
        nearest = _take_highest(_get_scores(turns_near), _get_scores(summaries_near), near)
        meaning = scale_above(_sort_matches(nearest), self._least, LARGEST_FETCH)
        weight = 0.0 if self.embedder is None else self.embedder.weights.memory
        found = []
        for owner, score in islice(mix_scores(words, meaning, weight).items(), limit):
            best = turn_words.get(owner) or turns_near.get(owner)
            try:
                conversation = await self.conversations.get(owner)
            except ConversationNotFound:
                continue  # deleted since
            turn = None if best is None else await self._turn(best.id)
            found_by = list_signals(words=owner in words, meaning=owner in meaning)
            found.append(SimilarConversation(conversation, score, found_by, turn))
        return found

    async def _vector(self, text: str) -> Vector | None:
        if self.embedder is None:
            return None
        try:
            return await self.embedder.embed_query(text)
        except ModelError:
            return None  # words alone are better than nothing

    async def _turns_by_words(self, text: str, limit: int, project: str | None) -> Best:
        where = MemoryFilter(project_path=project)
        return await _group_by_conversation(
            lambda wanted: self.conversations.turns_by_words(text, where, wanted),
            self.conversations.conversations_of,
            limit,
        )

    async def _summaries_by_words(self, text: str, limit: int, project: str | None) -> Best:
        where = SummaryFilter(project_path=project)
        return await _group_by_conversation(
            lambda wanted: self.summaries.by_words(text, where, wanted),
            self.summaries.conversations_of,
            limit,
        )

    async def _turns_by_vector(
        self, vector: Vector | None, limit: int, project: str | None
    ) -> Best:
        if vector is None:
            return {}
        where = MemoryFilter(project_path=project)
        return await _group_by_conversation(
            lambda wanted: self.conversations.turns_by_vector(vector, where, wanted, self._least),
            self.conversations.conversations_of,
            limit,
        )

    async def _summaries_by_vector(
        self, vector: Vector | None, limit: int, project: str | None
    ) -> Best:
        if vector is None:
            return {}
        where = SummaryFilter(project_path=project)
        return await _group_by_conversation(
            lambda wanted: self.summaries.by_vector(vector, where, wanted, self._least),
            self.summaries.conversations_of,
            limit,
        )

    async def _by_own_vector(
        self, vector: Vector | None, limit: int, project: str | None
    ) -> dict[str, float]:
        if vector is None:
            return {}
        where = ConversationFilter(project_path=project)
        found = await self.conversations.conversations_by_vector(vector, where, limit, self._least)
        return {match.id: match.score for match in found}

    @property
    def _least(self) -> float:
        return 0.0 if self.embedder is None else self.embedder.history_threshold

    async def _turn(self, turn_id: str) -> Turn | None:
        found = await self.conversations.turns([turn_id])
        return next((group_into_turns(messages)[0] for messages in found.values()), None)


async def _group_by_conversation(
    search: Search, owners_of: Callable[[list[str]], Awaitable[Mapping[str, str]]], limit: int
) -> Best:
    """Return the best match of each conversation, looking on until there are enough of them.

    One long conversation may fill the first answers alone.
    """
    wanted = max(FIRST_FETCH, limit)
    while True:
        matches = await search(wanted)
        owners = await owners_of([match.id for match in matches])
        best: Best = {}
        for match in matches:
            if (owner := owners.get(match.id)) is not None:
                best.setdefault(owner, match)
        if len(best) >= limit or len(matches) < wanted or wanted >= LARGEST_FETCH:
            return best
        wanted *= 8


def _scale(best: Best) -> dict[str, float]:
    """Bring scores that compare within one answer only to 0..1."""
    highest = max((match.score for match in best.values()), default=0.0)
    return {owner: match.score / highest if highest > 0 else 1.0 for owner, match in best.items()}


def _get_scores(best: Best) -> dict[str, float]:
    return {owner: match.score for owner, match in best.items()}


def _take_highest(*scores: Mapping[str, float]) -> dict[str, float]:
    """Return the highest score of each."""
    found: dict[str, float] = {}
    for some in scores:
        for owner, score in some.items():
            found[owner] = max(score, found.get(owner, score))
    return found


def _sort_matches(scores: Mapping[str, float]) -> list[Match]:
    """Return scores as matches, best first. What differs by rounding alone is the same."""
    found = [Match(owner, round(score, 6)) for owner, score in scores.items()]
    return sorted(found, key=lambda match: -match.score)

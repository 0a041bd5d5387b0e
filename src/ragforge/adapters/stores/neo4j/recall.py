"""Recall: finding turns and conversations by words and by meaning."""

from __future__ import annotations

from collections.abc import Mapping

from ragforge.adapters.stores.neo4j import conversation_nodes, turn_words, words
from ragforge.adapters.stores.neo4j import messages as message_nodes
from ragforge.adapters.stores.neo4j import vectors as vector_nodes
from ragforge.adapters.stores.neo4j.branching import find_parts
from ragforge.adapters.stores.neo4j.cypher import Where, is_own, is_seen
from ragforge.adapters.stores.neo4j.driver import Database, Transaction
from ragforge.domain.conversations import ConversationFilter, MemoryFilter
from ragforge.domain.hits import Match, WordMatches
from ragforge.domain.vectors import Vector
from ragforge.errors import ConversationNotFound, MessageNotFound
from ragforge.ports.conversations import OwnedTurns
from ragforge.ports.words import Tokeniser


class TurnSearch:
    """The part of `ConversationStore` that searches."""

    def __init__(self, database: Database, tokeniser: Tokeniser) -> None:
        self._database = database
        self._tokeniser = tokeniser

    async def embed_turns(self, vectors: Mapping[str, Vector]) -> None:
        async def work(tx: Transaction) -> None:
            own = is_own("n.conversation_id")
            for unknown in await vector_nodes.put(tx, vector_nodes.TURNS, vectors, where=own):
                raise MessageNotFound(unknown)

        await self._database.write(work)

    async def turns_to_embed(self, model: str, limit: int) -> list[str]:
        return await self._database.column(
            f"""MATCH (m:Message)
               WHERE m.role = 'user' AND m.timestamp_ms IS NOT NULL
                 AND {is_own("m.conversation_id")}
                 AND (m.embedding_model IS NULL OR m.embedding_model <> $model)
               RETURN m.uuid ORDER BY m.timestamp_ms, m.conversation_id, m.position
               LIMIT $limit""",
            model=model,
            limit=limit,
        )

    async def count_turns_to_embed(self, model: str) -> tuple[int, int]:
        [row] = await self._database.rows(
            f"""MATCH (m:Message) WHERE m.role = 'user' AND m.timestamp_ms IS NOT NULL
                 AND {is_own("m.conversation_id")}
               WITH m.embedding_model AS model
               RETURN count(CASE WHEN model = $model THEN 1 END) AS embedded, count(*) AS every""",
            model=model,
        )
        return row["every"] - row["embedded"], row["every"]

    async def embed_conversation(self, conversation_id: str, vector: Vector) -> None:
        async def work(tx: Transaction) -> None:
            new = {conversation_id: vector}
            await conversation_nodes.lock_own(tx, conversation_id)
            if await vector_nodes.put(tx, vector_nodes.CONVERSATIONS, new):
                raise ConversationNotFound(conversation_id)

        await self._database.write(work)

    async def turns_by_words(self, query: str, where: MemoryFilter, limit: int) -> list[Match]:
        wanted, conditions = self._tokeniser.query(query), await self._make_filter(where)
        return await words.search(self._database, turn_words.INDEX, wanted, conditions, limit)

    async def read_by_words(
        self, query: str, where: MemoryFilter, limit: int, read: int
    ) -> tuple[list[Match], OwnedTurns]:
        wanted, conditions = self._tokeniser.query(query), await self._make_filter(where)
        if not wanted or limit <= 0:
            return [], {}
        row = await self._database.read(
            lambda tx: tx.row(
                f"""CALL () {{ {words.format_search(conditions, "n")} }}
                    CALL (rows) {{
                      UNWIND rows[..$read] AS row WITH row.facts AS h
                      {message_nodes.WHOLE_TURNS}
                    }}
                    RETURN [row IN rows | [row.id, row.score]] AS found, turns""",
                read=max(read, 0),
                **words.make_parameters(turn_words.INDEX, wanted, conditions, limit),
            )
        )
        assert row is not None
        found = [Match(*pair) for pair in row["found"] if pair[0] is not None]
        return found, message_nodes.decode_turns(row["turns"])

    async def match_words(
        self, query: str, where: MemoryFilter, limit: int, reach: int
    ) -> WordMatches:
        return (await self.match_turns(query, where, limit, reach, None, 0))[0]

    async def match_turns(
        self,
        query: str,
        where: MemoryFilter,
        limit: int,
        reach: int,
        vector: Vector | None,
        nearest: int,
        min_score: float = 0.0,
    ) -> tuple[WordMatches, list[Match]]:
        wanted, conditions = self._tokeniser.query(query), await self._make_filter(where)
        search = None
        if vector is not None:
            shelf = vector_nodes.TURNS
            search = vector_nodes.NearestSearch(shelf, vector, conditions, nearest, min_score)
        found, near = await self._database.read(
            lambda tx: turn_words.match_words(tx, wanted, conditions, limit, reach, search)
        )
        return found, [Match(row["id"], row["score"]) for row in near]

    async def turns_by_vector(
        self, vector: Vector, where: MemoryFilter, limit: int, min_score: float = 0.0
    ) -> list[Match]:
        conditions = await self._make_filter(where)
        return await self._database.read(
            lambda tx: vector_nodes.find_nearest(
                tx, vector_nodes.TURNS, vector, conditions, limit, min_score
            )
        )

    async def conversations_by_vector(
        self, vector: Vector, where: ConversationFilter, limit: int, min_score: float = 0.0
    ) -> list[Match]:
        conditions = conversation_nodes.make_filter(where)
        return await self._database.read(
            lambda tx: vector_nodes.find_nearest(
                tx, vector_nodes.CONVERSATIONS, vector, conditions, limit, min_score
            )
        )

    async def _make_filter(self, where: MemoryFilter) -> Where:
        conditions = Where().add(is_seen("n"), words.filter_seen(self._database.viewer))
        if (inside := where.conversation_id) is not None:
            own = "n.conversation_id = $conversation"
            if parts := await self._database.read(lambda tx: find_parts(tx, inside)):
                shared = "n.conversation_id = part[0] AND n.turn_index < part[1]"
                own = f"({own} OR any(part IN $parts WHERE {shared}))"
                conditions.parameters["parts"] = parts
            conditions.add(own, conversation=inside)
        if where.project_ids is not None:
            ids = list(where.project_ids)
            in_index = words.filter_terms("project_id", ids)
            conditions.add("n.project_id IN $project_ids", in_index, project_ids=ids)
        return conditions.between("timestamp_ms", where.since, where.until)

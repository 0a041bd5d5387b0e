"""Links in Neo4j: what code messages and summaries touched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ragforge.adapters.stores.neo4j import conversation_nodes, cypher
from ragforge.adapters.stores.neo4j.driver import Neo4jDatabase, Transaction
from ragforge.domain.code import CodeLinks, CodeReference, FileMention, Touch
from ragforge.domain.conversations import Message
from ragforge.domain.kinds import CleanRow, Kind
from ragforge.domain.rows import encode_links, group_links, strengthen
from ragforge.domain.schema import SUMMARY, TOUCH
from ragforge.domain.summaries import Summary

MENTION = ("owner_id", "kind", "target_id", "path", "qualified_name", "hash", "how")
"""What is stored of a mention."""

_LINK_REFERENCES = f"""
    MATCH (m:Message {{uuid: f.owner_id}}) MATCH (s:{cypher.SCOPE_LABELS} {{uuid: f.scope_id}})
    MERGE (m)-[e:REFERENCES_CODE]->(s) SET e.hash = f.hash, e.how = f.how"""
_LINK_FILES = f"""
    MATCH (s:Summary {{uuid: f.owner_id}}) MATCH (n:{cypher.FILE_LABELS} {{uuid: f.target_id}})
    MERGE (s)-[e:MENTIONS_FILE]->(n) SET e.hash = f.hash, e.how = f.how"""
_LINK_SCOPES = f"""
    MATCH (s:Summary {{uuid: f.owner_id}}) MATCH (n:{cypher.SCOPE_LABELS} {{uuid: f.target_id}})
    MERGE (s)-[e:MENTIONS_SCOPE]->(n) SET e.hash = f.hash, e.how = f.how"""


async def put_references(tx: Transaction, rows: Sequence[CleanRow]) -> None:
    """Store what messages refer to, in place of what they referred to of the same scopes."""
    await tx.each(
        f"""MERGE (f:CodeReference {{owner_id: row.owner_id, scope_id: row.scope_id}})
            SET f += row WITH f {_LINK_REFERENCES}""",
        [row | {"file_key": cypher.index_key(row["file"])} for row in rows],
    )


async def put_mentions(tx: Transaction, rows: Sequence[CleanRow]) -> None:
    """Store what summaries mention."""
    for kind, link in (("file", _LINK_FILES), ("scope", _LINK_SCOPES)):
        await tx.each(
            f"""MERGE (f:CodeMention {{
                  owner_id: row.owner_id, kind: row.kind, target_id: row.target_id}})
                SET f += row WITH f {link}""",
            [row for row in rows if row["kind"] == kind],
        )


async def link_again(tx: Transaction, file_ids: Sequence[str], scope_ids: Sequence[str]) -> None:
    """Lead facts to code that is there again."""
    if not file_ids and not scope_ids:
        return
    mentions = "MATCH (f:CodeMention {{target_id: id, kind: '{}'}})"
    await tx.rows(
        f"""CALL () {{ UNWIND $scopes AS id MATCH (f:CodeReference {{scope_id: id}})
                       WITH f {_LINK_REFERENCES} }}
            CALL () {{ UNWIND $scopes AS id {mentions.format("scope")} WITH f {_LINK_SCOPES} }}
            CALL () {{ UNWIND $files AS id {mentions.format("file")} WITH f {_LINK_FILES} }}""",
        files=list(file_ids),
        scopes=list(scope_ids),
    )


async def forget_mentions(tx: Transaction, summary_id: str) -> None:
    """Remove all that a summary mentions."""
    await tx.rows(
        """MATCH (f:CodeMention {owner_id: $id}) DELETE f
           WITH count(f) AS gone
           MATCH (:Summary {uuid: $id})-[e:MENTIONS_FILE|MENTIONS_SCOPE]->() DELETE e""",
        id=summary_id,
    )


_LINKS = f"""
    CALL () {{
      MATCH (m:Message) WHERE m.uuid IN $ids AND {cypher.is_seen("m")}
      MATCH (f:CodeReference {{owner_id: m.uuid}})
      RETURN f.file AS path, f.scope_id AS target, f.qualified_name AS name, f {{
        .owner_id, .scope_id, .file, .qualified_name, .hash, .how}} AS row
      UNION ALL
      MATCH (s:Summary) WHERE s.uuid IN $ids AND {cypher.is_seen("s")}
      MATCH (f:CodeMention {{owner_id: s.uuid}})
      RETURN f.path AS path, f.target_id AS target, f.qualified_name AS name,
        {cypher.select_fields("f", MENTION)} AS row }}
    RETURN row ORDER BY path, name, target"""
_UNLINKED = """m.role = 'user' AND m.link_pending IS NULL AND NOT EXISTS {
    MATCH (o:Message {conversation_id: m.conversation_id})
    MATCH (f:CodeReference {owner_id: o.uuid})
    WHERE o.turn_index = m.turn_index AND NOT f.scope_id ENDS WITH ':' + f.file }"""
_NAMED = """any(name IN $names
    WHERE '.' + f.qualified_name + '.' CONTAINS '.' + name + '.')"""
_REFERRING = f"""MATCH (f:CodeReference) WHERE f.how <> 'found'
      AND (f.file_key IN $keys OR f.scope_id IN $scopes OR {_NAMED})
    MATCH (m:Message {{uuid: f.owner_id}})"""
_MENTIONING = f"""MATCH (f:CodeMention) WHERE f.how <> 'found'
      AND (f.path IN $files OR (f.kind = 'scope' AND f.target_id IN $scopes) OR {_NAMED})
    MATCH (s:Summary {{uuid: f.owner_id}})"""


class Neo4jLinks:
    """The part of `Timeline` that remembers code."""

    _database: Neo4jDatabase

    async def link(
        self,
        kind: Kind[Message, Any] | Kind[Summary, Any],
        owner_id: str,
        references: Sequence[CodeReference],
        files: Sequence[FileMention] = (),
    ) -> None:
        rows = encode_links(kind, owner_id, references, files, self._database.redactor)

        async def work(tx: Transaction) -> None:
            found = await tx.row(
                f"""MATCH (o:{cypher.get_label(kind)} {{uuid: $id}}) WHERE {cypher.is_seen("o")}
                    MATCH (n:Conversation {{uuid: o.conversation_id}}) {cypher.LOCK} WITH n
                    RETURN n {{.uuid, .author_key, .author}} AS conversation, COLLECT {{
                      MATCH (f:CodeReference {{owner_id: $id}})
                      RETURN [f.scope_id, f.how] }} AS known""",
                id=owner_id,
            )
            if found is None:
                raise kind.missing(owner_id)
            conversation_nodes.check_author(tx, found["conversation"])
            if kind is SUMMARY:
                await forget_mentions(tx, owner_id)
                await put_mentions(tx, rows)
            else:
                known = dict(found["known"])
                await put_references(tx, [strengthen(row, known) for row in rows])

        await self._database.write(work)

    async def links(self, owner_ids: Sequence[str]) -> dict[str, CodeLinks]:
        return group_links(await self._database.column(_LINKS, ids=list(owner_ids)))

    async def turns_to_link(
        self, project_ids: Sequence[str], limit: int, waiting: bool = True
    ) -> dict[str, str]:
        chosen = "m.link_pending = true" if waiting else _UNLINKED
        query = f"""MATCH (m:Message) WHERE m.project_id IN $projects AND {chosen}
                      AND {cypher.is_own("m.conversation_id")}
                    RETURN [m.uuid, m.conversation_id]
                    ORDER BY m.timestamp_ms, m.conversation_id, m.position LIMIT $limit"""
        return dict(await self._database.column(query, projects=list(project_ids), limit=limit))

    async def set_link_pending(self, turn_ids: Sequence[str], pending: bool) -> None:
        query = f"""MATCH (m:Message {{role: 'user'}}) WHERE m.uuid IN $ids
                      AND {cypher.is_own("m.conversation_id")}
                    SET m.link_pending = $pending"""
        await self._database.write(
            lambda tx: tx.rows(query, ids=list(turn_ids), pending=pending or None)
        )

    async def touches(
        self,
        *,
        files: Sequence[str] = (),
        scope_ids: Sequence[str] = (),
        names: Sequence[str] = (),
        project_ids: Sequence[str] | None = None,
        conversation_id: str | None = None,
        limit: int = 1000,
    ) -> list[Touch]:
        projects = None if project_ids is None else list(project_ids)
        where = cypher.CypherFilter().add(cypher.is_seen("c"))
        where.add("c.project_id IN $projects", projects=projects)
        where.add("c.uuid = $conversation", conversation=conversation_id)
        if conversation_id is not None and not (files or scope_ids or names):
            referring = "MATCH (m:Message {conversation_id: $conversation})"
            referring += " MATCH (f:CodeReference {owner_id: m.uuid}) WHERE f.how <> 'found'"
            mentioning = "MATCH (s:Summary {conversation_id: $conversation})"
            mentioning += " MATCH (f:CodeMention {owner_id: s.uuid}) WHERE f.how <> 'found'"
        else:
            referring, mentioning = _REFERRING, _MENTIONING
        query = f"""CALL () {{
                      {referring}
                      RETURN m.timestamp_ms AS moment, f {{.how, .hash, .file,
                        name: f.qualified_name, target_id: f.scope_id,
                        conversation_id: m.conversation_id, when: toString(m.timestamp),
                        first_turn: m.turn_index, last_turn: m.turn_index,
                        by_summary: false}} AS row
                      UNION ALL
                      {mentioning}
                      RETURN s.created_ms AS moment, f {{.how, .hash, .target_id,
                        file: f.path, name: f.qualified_name,
                        conversation_id: s.conversation_id, when: toString(s.created_at),
                        first_turn: s.start_turn_index, last_turn: s.end_turn_index,
                        by_summary: true}} AS row }}
                    MATCH (c:Conversation {{uuid: row.conversation_id}}) WHERE {where}
                    RETURN row ORDER BY moment DESC, row.conversation_id, row.first_turn,
                      row.last_turn, row.file, coalesce(row.name, ''), row.target_id LIMIT $limit"""
        rows = await self._database.column(
            query,
            files=list(files),
            keys=[cypher.index_key(file) for file in files],
            scopes=list(scope_ids),
            names=[name for name in names if name],
            limit=limit,
            **where.parameters,
        )
        return [TOUCH.decode(row) for row in rows]

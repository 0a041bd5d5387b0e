"""Items of every kind in Neo4j."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any

from ragforge.adapters.stores.neo4j import (
    conversation_nodes,
    file_nodes,
    messages,
    summary_nodes,
    vectors,
)
from ragforge.adapters.stores.neo4j.cypher import (
    CypherFilter,
    assign,
    filter_seen,
    format_match,
    get_label,
    select_values,
)
from ragforge.adapters.stores.neo4j.driver import Neo4jDatabase, Transaction
from ragforge.adapters.stores.neo4j.filters import make_filter
from ragforge.adapters.stores.neo4j.vectors import get_vector_index
from ragforge.domain import schema
from ragforge.domain.conversations import AGENT
from ragforge.domain.kinds import CleanRow, Data, Filter, Kind, Row
from ragforge.domain.notes import format_note_for_search
from ragforge.errors import DuplicateId, NotAuthor
from ragforge.ports.search_index import Tokeniser

IS_OWN_NOTE = "(n.owner IN ['', $viewer] OR $viewer IS NULL)"
"""The condition that the viewer, or an administrator, has deleted something."""


class Neo4jRecords:
    """Implements `Records`."""

    def __init__(self, database: Neo4jDatabase, tokeniser: Tokeniser) -> None:
        self._database = database
        self._tokeniser = tokeniser

    async def get(self, kind: Kind[Data, Any], item_id: str) -> Data:
        found = await self.get_many(kind, [item_id])
        if item_id not in found:
            raise kind.missing(item_id)
        return found[item_id]

    async def get_many(self, kind: Kind[Data, Any], ids: Sequence[str]) -> dict[str, Data]:
        where = CypherFilter().add(f"n.{kind.key} IN $ids AND {filter_seen(kind)}", ids=list(ids))
        return {getattr(item, kind.key): item for item in await self._read(kind, where)}

    async def find(
        self,
        kind: Kind[Data, Filter],
        where: Filter,
        limit: int | None = None,
        offset: int = 0,
        order: Sequence[str] = (),
    ) -> list[Data]:
        columns = ", ".join(map(_order_by, order or kind.order))
        page = f"ORDER BY {columns} SKIP $offset {'' if limit is None else 'LIMIT $limit'}"
        return await self._read(kind, make_filter(kind, where), page, limit=limit, offset=offset)

    async def _read(
        self, kind: Kind[Data, Any], where: CypherFilter, page: str = "", **parameters: Any
    ) -> list[Data]:
        query = f"{format_match(kind, where)} {_select(kind)} AS row {page}"
        rows = await self._database.column(query, **where.parameters, **parameters)
        return [_decode(kind, row) for row in rows]

    async def put(self, kind: Kind[Data, Any], *items: Data) -> None:
        schema.check_put(kind)
        rows = kind.encode_all(items, self._database.redactor)

        async def work(tx: Transaction) -> None:
            if kind is schema.NOTE:
                for row in rows:
                    if row["supersedes"] is not None:
                        await tx.read_item(schema.NOTE, row["supersedes"])
            if kind in schema.list_parts():
                for row in rows:
                    owner = await conversation_nodes.lock_own(tx, row["conversation_id"])
                    if "private_to" in kind:
                        row["private_to"] = owner["private_to"]
                    if kind.replaces:
                        await _check_not_elsewhere(tx, kind, row)
            if not kind.replaces and kind is not schema.CONVERSATION:
                await _check_free(tx, kind, [row[kind.key] for row in rows])
            await self._put_rows(tx, kind, rows)

        await self._database.write(work)

    async def _put_rows(
        self, tx: Transaction, kind: Kind[Any, Any], rows: Sequence[CleanRow]
    ) -> None:
        if kind is schema.CONVERSATION:
            for row in rows:
                await conversation_nodes.create(tx, row)
        elif kind is schema.NOTE:
            await put(tx, rows, self._tokeniser)
        elif kind is schema.PROJECT:
            await _put_projects(tx, rows)
        else:
            await put_rows(tx, kind, rows, self._tokeniser)

    async def update(
        self,
        kind: Kind[Data, Any],
        item_id: str,
        change: Callable[[Data], Data],
        force: bool = False,
    ) -> Data:
        async def work(tx: Transaction) -> Data:
            before = await check_own(tx, kind, item_id, force)
            row = kind.encode(change(kind.decode(before)), self._database.redactor)
            if kind is schema.NOTE:
                await put(tx, [row], self._tokeniser)
            else:
                await put_rows(tx, kind, [row], self._tokeniser)
            if kind.is_reworded(before, row):
                await vectors.remove(tx, get_vector_index(kind), item_id)
            if kind is schema.CONVERSATION and row["private_to"] != before["private_to"]:
                await conversation_nodes.set_visibility(tx, row)
            return kind.decode(row)

        return await self._database.write(work)

    async def delete(self, kind: Kind[Any, Any], item_id: str, force: bool = False) -> None:
        if kind is schema.PROJECT:
            await self._delete_project(item_id)
            return

        async def work(tx: Transaction) -> None:
            row = await check_own(tx, kind, item_id, force)
            if kind is schema.SUMMARY:
                await summary_nodes.remove(tx, [item_id])
            elif kind is schema.CONVERSATION:
                if row["agent"] != AGENT:
                    await forget(tx, item_id)
                await summary_nodes.remove_all(tx, item_id)
                await conversation_nodes.delete_parts(tx, item_id)
                await messages.delete_messages(tx, item_id)
            await tx.rows(f"MATCH (n:{get_label(kind)} {{uuid: $id}}) DETACH DELETE n", id=item_id)

        await self._database.write(work)

    async def _delete_project(self, project_id: str) -> None:
        """Delete a project in pieces: a server has no room for all of a large one at once."""
        await self._database.write(partial(file_nodes.begin_forgetting, project_id=project_id))
        while await self._database.write(partial(file_nodes.forget_some, project_id=project_id)):
            pass
        await self._database.write(partial(file_nodes.forget_project, project_id=project_id))


async def check_own(
    tx: Transaction, kind: Kind[Any, Any], item_id: str, force: bool = False
) -> Row:
    """Return the row of an item that is to be changed, after taking its lock.

    Raises a NotFound, and NotAuthor if it is another author's, unless forced.
    """
    if kind is schema.CONVERSATION:
        return await conversation_nodes.lock_own(tx, item_id, force)
    # An item without an author is locked with its conversation.
    locked_with_it = "conversation_id" in kind and "author_key" not in kind
    row = await tx.read_item(kind, item_id, lock=not locked_with_it)
    if "author_key" in kind:
        if not force and tx.viewer is not None and row["author_key"] not in (None, tx.viewer):
            raise NotAuthor(kind.name, item_id, row["author"])
    elif "conversation_id" in kind:
        await conversation_nodes.lock_own(tx, row["conversation_id"], force)
    return row


async def put_rows(
    tx: Transaction, kind: Kind[Any, Any], rows: Sequence[CleanRow], tokeniser: Tokeniser
) -> None:
    """Store items as they are, or change those that are there, with their words."""
    words = kind.words
    new: Sequence[Row] = rows
    if words is not None:
        new = [{**row, "words": tokeniser.prose(words(kind.decode(row)))} for row in rows]
    also = "n:ConversationSession, " if kind is schema.CONVERSATION else ""
    await tx.each(
        f"""MERGE (n:{get_label(kind)} {{{kind.key}: row.{kind.key}}})
            SET {also}{assign("n", kind)}""",
        new,
    )


async def _check_free(tx: Transaction, kind: Kind[Any, Any], ids: Sequence[str]) -> None:
    query = f"MATCH (n:{get_label(kind)}) WHERE n.uuid IN $ids RETURN n.uuid LIMIT 1"
    if (taken := await tx.value(query, ids=list(ids))) is not None:
        raise DuplicateId(kind.name, taken)


async def _check_not_elsewhere(tx: Transaction, kind: Kind[Any, Any], row: CleanRow) -> None:
    """Raise DuplicateId if an item of another conversation has the id."""
    query = f"""MATCH (n:{get_label(kind)} {{{kind.key}: $id}})
                WHERE n.conversation_id <> $place RETURN true"""
    if await tx.value(query, id=row[kind.key], place=row["conversation_id"]):
        raise DuplicateId(kind.name, row[kind.key])


async def _put_projects(tx: Transaction, rows: Sequence[CleanRow]) -> None:
    """Store checkouts, or change those that are there.

    Raises DuplicateId if another one of the same project has the path of one on its host.
    """
    saved = await tx.each(
        """WITH row WHERE NOT EXISTS {
             MATCH (n:Project {project_id: row.project_id, path: row.path, host: row.host})
             WHERE n.uuid <> row.uuid }
           MERGE (n:Project {uuid: row.uuid}) SET n += row RETURN row.uuid AS uuid""",
        rows,
    )
    known = {row["uuid"] for row in saved}
    for row in rows:
        if row["uuid"] not in known:
            raise DuplicateId("project", row["path"])


def _order_by(column: str) -> str:
    name = column.removeprefix("-")
    name = "sequence" if name == "id" else name  # rows of SQLite are numbered, jobs here
    return f"n.{name} DESC" if column[0] == "-" else f"n.{name}"


def _select(kind: Kind[Any, Any]) -> str:
    if kind is schema.MESSAGE:
        return f"WITH n AS m RETURN {messages.WITH_CALLS}"
    return f"RETURN {select_values('n', kind.read)}"


def _decode(kind: Kind[Data, Any], stored: Any) -> Data:
    if kind is schema.MESSAGE:
        return messages.decode_message(stored)  # type: ignore[return-value]
    return kind.decode_values(stored)


async def find_known(tx: Transaction, note_ids: Sequence[str]) -> set[str]:
    """Return those of some ids that are taken."""
    query = "MATCH (n:Note) WHERE n.uuid IN $ids RETURN n.uuid"
    return set(await tx.column(query, ids=list(note_ids)))


async def put(tx: Transaction, rows: Sequence[CleanRow], tokeniser: Tokeniser) -> None:
    """Store notes, or change those with their ids, and link them in both directions.

    Which of two notes is written first makes no difference.
    """
    words = {
        row["uuid"]: tokeniser.prose(format_note_for_search(schema.NOTE.decode(row)))
        for row in rows
    }
    await tx.each(
        f"MERGE (n:Note {{uuid: row.uuid}}) SET {assign('n', schema.NOTE)}",
        [{**row, "words": words[row["uuid"]]} for row in rows],
    )
    links = [
        {
            "uuid": row["uuid"],
            "project_id": row["project_id"],
            "older": [*filter(None, (row["supersedes"],)), *row["corrects"]],
        }
        for row in rows
    ]
    await tx.each(
        """MATCH (n:Note {uuid: row.uuid})-[link:SUPERSEDES]->(older)
           WHERE NOT older.uuid IN row.older DELETE link""",
        links,
    )
    await tx.each(
        """UNWIND row.older AS id
           MATCH (n:Note {uuid: row.uuid}) MATCH (older:Note {uuid: id})
           MERGE (n)-[:SUPERSEDES]->(older)""",
        links,
    )
    await tx.each(
        """MATCH (n:Note {uuid: row.uuid}) MATCH (newer:Note {supersedes: row.uuid})
           MERGE (newer)-[:SUPERSEDES]->(n)""",
        links,
    )
    await tx.each(
        """MATCH (n:Note {uuid: row.uuid}) MATCH (newer:Note {project_id: row.project_id})
           WHERE row.uuid IN newer.corrects
           MERGE (newer)-[:SUPERSEDES]->(n)""",
        links,
    )


async def forget(tx: Transaction, conversation_id: str) -> None:
    """Note the ids of a conversation and its messages."""
    await tx.rows(
        """OPTIONAL MATCH (m:Message {conversation_id: $id})
           WITH collect(m.uuid) + $id AS ids UNWIND ids AS id
           MERGE (n:RagForgeForgotten {uuid: id, owner: coalesce($viewer, '')})""",
        id=conversation_id,
    )


async def find_forgotten(tx: Transaction, ids: Collection[str]) -> list[str]:
    """Return which of the ids the viewer, or an administrator, has deleted."""
    query = f"""MATCH (n:RagForgeForgotten) WHERE n.uuid IN $ids AND {IS_OWN_NOTE}
                RETURN DISTINCT n.uuid"""
    return await tx.column(query, ids=list(ids))

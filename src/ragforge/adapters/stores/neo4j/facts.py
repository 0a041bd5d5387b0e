"""Facts about code: what messages refer to and summaries mention.

A fact is a node of its own, because it outlives the code; where the code exists, a
relationship that says the same leads to it.
"""

from __future__ import annotations

from collections.abc import Sequence

from ragforge.adapters.stores.neo4j.cypher import FILE_LABELS, SCOPE_LABELS, index_key
from ragforge.adapters.stores.neo4j.driver import Transaction
from ragforge.domain.kinds import CleanRow

MENTION = ("owner_id", "kind", "target_id", "path", "qualified_name", "hash", "how")
"""What is stored of a mention."""

_LINK_REFERENCES = f"""
    MATCH (m:Message {{uuid: f.owner_id}}) MATCH (s:{SCOPE_LABELS} {{uuid: f.scope_id}})
    MERGE (m)-[e:REFERENCES_CODE]->(s) SET e.hash = f.hash, e.how = f.how"""
_LINK_FILES = f"""
    MATCH (s:Summary {{uuid: f.owner_id}}) MATCH (n:{FILE_LABELS} {{uuid: f.target_id}})
    MERGE (s)-[e:MENTIONS_FILE]->(n) SET e.hash = f.hash, e.how = f.how"""
_LINK_SCOPES = f"""
    MATCH (s:Summary {{uuid: f.owner_id}}) MATCH (n:{SCOPE_LABELS} {{uuid: f.target_id}})
    MERGE (s)-[e:MENTIONS_SCOPE]->(n) SET e.hash = f.hash, e.how = f.how"""


async def put_references(tx: Transaction, rows: Sequence[CleanRow]) -> None:
    """Store what messages refer to, in place of what they referred to of the same scopes."""
    await tx.each(
        f"""MERGE (f:CodeReference {{owner_id: row.owner_id, scope_id: row.scope_id}})
            SET f += row WITH f {_LINK_REFERENCES}""",
        [row | {"file_key": index_key(row["file"])} for row in rows],
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

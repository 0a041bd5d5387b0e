"""Filters: the fields of a filter as conditions on the nodes of a kind, which are `n`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, TypeAlias

from ragforge.adapters.stores.neo4j import cypher, words
from ragforge.adapters.stores.neo4j.branching import find_parts
from ragforge.adapters.stores.neo4j.driver import Neo4jDatabase
from ragforge.domain.conversations import MemoryFilter
from ragforge.domain.kinds import Filter, Kind, Test
from ragforge.domain.passages import PassageFilter
from ragforge.domain.schema import TURN
from ragforge.domain.text import check_text

Special: TypeAlias = Callable[[cypher.CypherFilter, Any], object]


def make_filter(kind: Kind[Any, Filter], where: Filter) -> cypher.CypherFilter:
    """Return the conditions of a filter."""
    conditions = cypher.CypherFilter().add(cypher.filter_seen(kind))
    for field, (test, column) in kind.where.items():
        if (value := getattr(where, field)) is not None:
            _add(conditions, column, test, field, value)
    for field in kind.special:
        _SPECIAL[kind.name, field](conditions, getattr(where, field))
    return conditions


async def make_turn_filter(
    database: Neo4jDatabase, kind: Kind[Any, Any], where: MemoryFilter | PassageFilter
) -> cypher.CypherFilter:
    """Return the conditions of a filter of turns or their passages.

    Those of turns that a branch shares are among them.
    """
    conditions = cypher.CypherFilter().add(cypher.is_seen("n"), words.filter_seen(database.viewer))
    if (inside := where.conversation_id) is not None:
        own = "n.conversation_id = $conversation"
        if parts := await database.read(lambda tx: find_parts(tx, inside)):
            shared = "n.conversation_id = part[0] AND n.turn_index < part[1]"
            own = f"({own} OR any(part IN $parts WHERE {shared}))"
            conditions.parameters["parts"] = parts
        conditions.add(own, conversation=inside)
    if where.project_ids is not None:
        ids = list(where.project_ids)
        in_index = words.filter_terms("project_id", ids)
        conditions.add("n.project_id IN $project_ids", in_index, project_ids=ids)
    if isinstance(where, PassageFilter):
        # Each kind has a separate index.
        conditions.add("n.kind = $kind", "", kind=where.kind)
        conditions.any_of("turn_id", where.turn_ids)
    moment = "timestamp_ms" if kind is TURN else "started_ms"
    return conditions.between(moment, where.since, where.until)


def _add(where: cypher.CypherFilter, column: str, test: Test, field: str, value: Any) -> None:
    """Add what a field demands; its value is a parameter with the name of the field."""
    if isinstance(value, datetime):
        value = cypher.filter_ms(field, value)
    match test:
        case "is":
            where.add(f"n.{column} = ${field}", **{field: value})
        case "any":
            where.add(f"n.{column} IN ${field}", None, **{field: list(value)})
        case "from":
            where.add(f"n.{column} >= ${field}", **{field: value})
        case "until":
            where.add(f"n.{column} <= ${field}", **{field: value})
        case "starts":
            check_text(field, value)
            where.add(f"n.{column} STARTS WITH ${field}", **{field: value})
        case "shares" if value:
            where.add(f"any(one IN n.{column} WHERE one IN ${field})", None, **{field: list(value)})


def _add_superseded(where: cypher.CypherFilter, with_superseded: bool) -> None:
    if not with_superseded:
        newer = f"MATCH (newer:Note)-[:SUPERSEDES]->(n) WHERE {cypher.is_seen('newer')}"
        where.add(f"NOT EXISTS {{ {newer} }}")


def _add_related(where: cypher.CypherFilter, related_to: Any) -> None:
    if related_to is None:
        return
    path, identity = related_to
    check_text("path", path)
    check_text("remote", identity.remote)
    where.add(
        """n.project_id IN COLLECT {
             MATCH (k:Checkout {path: $path}) RETURN k.project_id
             UNION MATCH (k:Checkout {remote: $remote}) RETURN k.project_id
             UNION MATCH (k:Checkout) WHERE size($roots) > 0 AND k.roots = $roots
             RETURN k.project_id }""",
        path=path,
        roots=list(identity.roots),
    )
    where.parameters["remote"] = identity.remote


def _add_pages(where: cypher.CypherFilter, pages: bool | None) -> None:
    if pages is not None:
        where.match = f"MATCH (n:{'WebPage' if pages else 'File'})"


def _add_scope_place(where: cypher.CypherFilter, place: Any) -> None:
    project_id, files, names, inside = place
    where.parameters["project_id"] = project_id
    if names is not None:
        where.match = f"UNWIND $keys AS key CALL (key) {{ {_NAMED} }} WITH DISTINCT n"
        where.parameters["keys"] = [cypher.index_key(name) for name in names]
        where.any_of("file", files)
    elif inside is not None:
        where.match = f"CALL () {{ {_INSIDE} }} WITH n"
        where.parameters["inside"] = f"{inside}."
        where.any_of("file", files)
    elif files is not None:
        where.match = f"""UNWIND $files AS path
            MATCH (:{cypher.FILE_LABELS} {{project_id: $project_id, path: path}})
                  <-[:DEFINED_IN]-(n:{cypher.SCOPE_LABELS})"""
        where.parameters["files"] = list(dict.fromkeys(files))
    else:
        where.add("n.project_id = $project_id")


def _add_if(condition: str) -> Special:
    """Return a function that adds a condition where the field is set."""
    return lambda where, is_set: where.add(condition) if is_set else where


# A branch for each label and name uses its index; one condition with OR would read all scopes.
_NAMED = " UNION ".join(
    f"""MATCH (n:{label} {{project_id: $project_id, {key}: key}})
        USING INDEX n:{label}(project_id, {key}) RETURN n"""
    for label in cypher.SCOPE_LABELS.split("|")
    for key in ("name_key", "qualified_name_key")
)
_INSIDE = " UNION ".join(
    f"""MATCH (n:{label}) WHERE n.project_id = $project_id
          AND n.qualified_name_key STARTS WITH $inside RETURN n"""
    for label in cypher.SCOPE_LABELS.split("|")
)
_OUTSIDE = "n.level = 1 AND NOT EXISTS { (:Summary)-[:SUMMARIZES]->(n) }"
_SPECIAL: Mapping[tuple[str, str], Special] = {
    ("conversation", "own"): _add_if(cypher.is_own_node("n")),
    ("conversation", "branch_of"): lambda where, source: where.add(
        "EXISTS { (:Conversation {uuid: $branch_of})-[:HAS_BRANCH]->(n) }", branch_of=source
    ),
    ("conversation", "origin_of"): lambda where, target: where.add(
        "EXISTS { (n)-[:HAS_BRANCH]->(:Conversation {uuid: $origin_of}) }", origin_of=target
    ),
    ("passage", "conversation_id"): lambda where, owner: where.add(
        "n.conversation_id = $conversation_id", conversation_id=owner
    ),
    ("summary", "project_ids"): lambda where, ids: where.any_of("project_id", ids),
    ("summary", "file"): lambda where, path: where.add(
        "EXISTS { MATCH (f:CodeMention {owner_id: n.uuid}) WHERE f.path = $file }", file=path
    ),
    ("summary", "unread"): _add_if("n.read_at IS NULL AND size(n.key_findings) > 0"),
    ("summary", "outside_level_2"): _add_if(_OUTSIDE),
    ("summary", "waiting"): _add_if(f"{_OUTSIDE} AND NOT coalesce(n.summary_trimmed, false)"),
    ("note", "with_superseded"): _add_superseded,
    ("checkout", "related_to"): _add_related,
    ("file", "under"): lambda where, path: where.under("path", path),
    ("file", "pages"): _add_pages,
    ("scope", "place"): _add_scope_place,
}

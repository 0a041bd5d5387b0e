"""Filters: the fields of a filter as conditions on the rows of a kind, which are `o`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, TypeAlias

from ragforge.adapters.stores.sqlite import words
from ragforge.adapters.stores.sqlite.branching import add_parts, find_parts
from ragforge.adapters.stores.sqlite.sql import Connection, SqlFilter, add_any, add_under, as_json
from ragforge.adapters.stores.sqlite.visibility import is_own_row
from ragforge.domain.conversations import MemoryFilter
from ragforge.domain.instants import to_epoch_ms, to_millisecond
from ragforge.domain.kinds import Filter, Kind, Test
from ragforge.domain.text import MAX_ID_CHARS, check_text

Special: TypeAlias = Callable[[SqlFilter, Any, str | None], object]

_LAST = "\U0010ffff" * MAX_ID_CHARS
"""Sorts after every other end of an id."""


def make_filter(kind: Kind[Any, Filter], where: Filter, viewer: str | None) -> SqlFilter:
    """Return the conditions of a filter."""
    conditions = SqlFilter()
    for field, (test, column) in kind.where.items():
        if (value := getattr(where, field)) is not None:
            _add(conditions, f"o.{column}", test, field, value)
    for field in kind.special:
        _SPECIAL[kind.name, field](conditions, getattr(where, field), viewer)
    return conditions


def make_turn_filter(db: Connection, kind: Kind[Any, Any], where: MemoryFilter) -> SqlFilter:
    """Return the conditions of a filter of turns or their passages.

    Those of turns that a branch shares are among them.
    """
    conditions, inside = SqlFilter(), where.conversation_id
    parts = [] if inside is None else find_parts(db, inside)
    if parts:
        add_parts(conditions, "o", parts)
        conditions.keys.append([words.make_key("c", one) for one, _ in parts])
    elif where.project_ids is not None:
        conditions.keys.append([words.make_key("p", one) for one in where.project_ids])
    for field, (test, column) in kind.where.items():
        if (value := getattr(where, field)) is not None:
            _add(conditions, f"o.{column}", test, field, value)
    return conditions


def _add(where: SqlFilter, column: str, test: Test, field: str, value: Any) -> None:
    if isinstance(value, datetime):
        value = to_epoch_ms(to_millisecond(field, value))
    match test:
        case "is":
            where.add(f"{column} = ?", value)
        case "any":
            add_any(where, column, value)
        case "from":
            where.add(f"{column} >= ?", value)
        case "until":
            where.add(f"{column} <= ?", value)
        case "starts":
            check_text(field, value)
            # The bounds let the index find them; an id may hold any character after the prefix.
            where.add(f"{column} >= ? AND {column} < ?", value, value + _LAST)
            where.add(f"substr({column}, 1, ?) = ?", len(value), value)
        case "shares" if value:
            any_of = f"SELECT 1 FROM json_each({column}) t JOIN json_each(?) w ON w.value = t.value"
            where.add(f"EXISTS ({any_of})", as_json(value))


def _add_own(where: SqlFilter, own: bool, viewer: str | None) -> None:
    if own:
        where.add(is_own_row(viewer, "o"))


def _add_projects(where: SqlFilter, project_ids: Any, _: str | None) -> None:
    in_projects = """o.conversation_id IN (SELECT uuid FROM conversation
                     WHERE project_id IN (SELECT value FROM json_each(?)))"""
    where.add(in_projects, None if project_ids is None else as_json(project_ids))


def _add_related(where: SqlFilter, related_to: Any, _: str | None) -> None:
    if related_to is None:
        return
    path, identity = related_to
    check_text("path", path)
    check_text("remote", identity.remote)
    where.add(
        """o.project_id IN (
             SELECT project_id FROM checkout WHERE path = ? UNION
             SELECT project_id FROM checkout WHERE remote = ? UNION
             SELECT project_id FROM checkout WHERE roots = ? AND roots <> '[]')""",
        path,
        identity.remote,
        as_json(identity.roots),
    )


def _add_pages(where: SqlFilter, pages: bool | None, _: str | None) -> None:
    # Web pages by the path, which is in the index: no file has an empty segment in its path.
    if pages is not None:
        where.add(f"{'' if pages else 'NOT '}o.path GLOB 'http*://*'")


def _add_scope_place(where: SqlFilter, place: Any, _: str | None) -> None:
    project_id, files, names, inside = place
    if names is None:
        where.add("o.project_id = ?", project_id)
        if inside is not None:  # "/" follows "."
            where.add("o.qualified_name > ?", f"{inside}.")
            where.add("o.qualified_name < ?", f"{inside}/")
    else:
        # By both names in one condition, SQLite would read all scopes in the order of their files.
        where.add(
            """o.id IN (
              SELECT s.id FROM json_each(?) w
              CROSS JOIN scope s ON s.project_id = ? AND s.name = w.value UNION
              SELECT s.id FROM json_each(?) w
              CROSS JOIN scope s ON s.project_id = ? AND s.qualified_name = w.value)""",
            as_json(names),
            project_id,
            as_json(names),
            project_id,
        )
    add_any(where, "o.file", files)


def _add_if(condition: str) -> Special:
    """Return a function that adds a condition where the field is set."""
    return lambda where, is_set, _: where.add(condition) if is_set else where


_NOT_SUPERSEDED = """NOT EXISTS (SELECT 1 FROM note newer WHERE newer.supersedes = o.uuid)
    AND o.uuid NOT IN (SELECT c.value FROM note newer, json_each(newer.corrects) c
                       WHERE newer.corrects <> '[]')"""

_SPECIAL: Mapping[tuple[str, str], Special] = {
    ("conversation", "own"): _add_own,
    ("conversation", "branch_of"): lambda where, source, _: where.add(
        "o.uuid IN (SELECT target FROM branch WHERE source = ?)", source
    ),
    ("conversation", "origin_of"): lambda where, target, _: where.add(
        "o.uuid IN (SELECT source FROM branch WHERE target = ?)", target
    ),
    ("passage", "conversation_id"): lambda where, owner, _: where.add(
        "o.conversation_id = ?", owner
    ),
    ("summary", "project_ids"): _add_projects,
    ("summary", "file"): lambda where, path, _: where.add(
        "o.uuid IN (SELECT owner_id FROM mention WHERE path = ?)", path
    ),
    ("summary", "unread"): _add_if("o.read_at IS NULL AND o.key_findings <> '[]'"),
    # The + keeps SQLite from reading all short-term summaries to find the few of these.
    ("summary", "outside_level_2"): _add_if("+o.level = 1 AND o.covered_by IS NULL"),
    ("summary", "waiting"): _add_if(
        "+o.level = 1 AND o.covered_by IS NULL AND NOT o.summary_trimmed"
    ),
    ("note", "with_superseded"): lambda where, with_superseded, _: (
        where if with_superseded else where.add(_NOT_SUPERSEDED)
    ),
    ("checkout", "related_to"): _add_related,
    ("file", "under"): lambda where, path, _: add_under(where, "o.path", path),
    ("file", "pages"): _add_pages,
    ("scope", "place"): _add_scope_place,
}

"""docs/graph.md: its tables are what the stores write, and its queries answer alike on both."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ragforge.adapters.stores.sqlite.query import VIEWS
from ragforge.domain.queries import Query, Value
from ragforge.memory.store_copy import copy_store
from ragforge.ports.store import Store
from scripts.graph_page import render_page
from tests.fakes.engines import Engines
from tests.fakes.rich import fill

PAGE = (Path(__file__).parents[2] / "docs" / "graph.md").read_text("utf-8")
PARAMETERS: dict[str, Value] = {"name": "add"}
FOUND = {
    "Conversations that touched a function": ("Cart", 0, "edited", False),
    "Most discussed files": ("src/cart.py", 4, 2),
    "Stale mentions": ("gone.py", "gone", "Turns 0 to 0 were about the cart."),
    "Callers of a function": ("total", "src/cart.py", 32),
    "Tools that fail": ("read_file", 2, 2, "no such file"),
    "Summaries with the questions they cover": (
        *("Turns 0 to 0 were about the cart.", 0),
        "Where do zebras go?",
    ),
    "Branches": ("Cart", "Another way", 1),
    "Files that were never discussed": ("bank", "src/cart.py"),
    "Findings": ("Cart", "Zebras fit."),
    "Notes that hold": ("/work/bank", "Zebras pay cash."),
}
"""A row of each query over a rich store."""


def cells(section: str) -> list[list[list[str]]]:
    """Return the names in each cell of a section's table."""
    text = PAGE.partition(f"## {section}\n")[2].partition("\n## ")[0]
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    return [[re.findall(r"`(\w+)`", cell) for cell in row.split("|")[1:-1]] for row in rows]


def documented_labels() -> dict[str, tuple[set[str], set[str], set[str]]]:
    return {
        label: (set(properties), set(further), set(indexed))
        for labels, properties, further, indexed in cells("Labels")
        for label in labels
        if (label, labels[0]) not in (("File", "DocumentFile"), ("Scope", "WholeFile"))
    }


def documented_relationships() -> dict[str, tuple[set[str], set[str], set[str]]]:
    return {
        kind: (set(start), set(end), set(properties))
        for [kind], start, end, properties in cells("Relationships")
    }


def queries() -> list[tuple[str, str, str]]:
    """Return the title, the Cypher and the SQL of each query."""
    pattern = r"### (.*?)\n\n```cypher\n(.*?)```\n\n```sql\n(.*?)```"
    return re.findall(pattern, PAGE, re.DOTALL)


async def rows(store: Store, text: str) -> list[tuple[Value, ...]]:
    return list((await store.query(Query(text, PARAMETERS))).rows)


def test_the_tables_follow_from_the_declarations() -> None:
    assert render_page(PAGE) == PAGE, "run python -m scripts.graph_page"


async def test_the_views_are_the_labels_and_relationships_of_the_page(engines: Engines) -> None:
    store = await engines.empty("sqlite")
    labels, relationships = documented_labels(), documented_relationships()
    assert set(VIEWS) == set(labels) | set(relationships)
    for name in VIEWS:
        columns = set((await store.query(Query(f"SELECT * FROM {name}"))).columns)
        if name in labels:
            assert columns == labels[name][0], name
        else:
            assert columns == {"source", "target"} | relationships[name][2], name


async def test_the_sql_of_the_page_finds_what_it_asks_for(engines: Engines) -> None:
    store = await engines.empty("sqlite")
    await fill(store)
    assert len(queries()) == len(FOUND) == 10
    for (title, _, sql), (start, row) in zip(queries(), FOUND.items(), strict=True):
        assert title.startswith(start)
        assert row in await rows(store, sql), title


@pytest.mark.neo4j
async def test_both_engines_hold_what_the_page_says(engines: Engines) -> None:
    file, server = await engines.empty("sqlite"), await engines.empty("neo4j")
    await fill(file)
    await copy_store(file.archive, server.archive, "copy", lambda _: None)

    for title, cypher, sql in queries():
        assert await rows(server, cypher) == await rows(file, sql), title
    await check_labels(file, server)
    await check_relationships(file, server)


async def check_labels(file: Store, server: Store) -> None:
    labels = documented_labels()
    there = await rows(server, "MATCH (n) UNWIND labels(n) AS l RETURN DISTINCT l")
    assert {str(label) for [label] in there} - set(labels) <= {
        *("RagForgeJob", "RagForgeQueue", "RagForgeLock", "RagForgeBookmark", "RagForgeSchema"),
        *("RagForgeTranscript", "RagForgeForgotten"),
    }
    for label, (properties, further, indexed) in labels.items():
        written = await rows(server, f"MATCH (n:{label}) UNWIND keys(n) AS k RETURN DISTINCT k")
        assert {str(key) for [key] in written} <= properties | further, label
        key = next(name for name in ("uuid", "name", "scope_id", "target_id") if name in properties)
        there = await rows(server, f"MATCH (n:{label}) RETURN n.{key} ORDER BY n.{key}")
        assert there == await rows(file, f"SELECT {key} FROM {label} ORDER BY {key}"), label
        of_indexes = await rows(
            server,
            f"""SHOW INDEXES YIELD labelsOrTypes, properties WHERE '{label}' IN labelsOrTypes
                RETURN properties""",
        )
        names = {str(name) for [found] in of_indexes for name in found}
        session = label == "ConversationSession"  # indexed under its other name
        assert session or names == indexed, label


async def check_relationships(file: Store, server: Store) -> None:
    kinds = documented_relationships()
    found = await rows(server, "MATCH ()-[e]->() RETURN DISTINCT type(e)")
    assert {str(kind) for [kind] in found} == set(kinds)
    for kind, (starts, ends, properties) in kinds.items():
        # A library has no uuid: it is known by its name.
        there = await rows(
            server,
            f"""MATCH (a)-[e:{kind}]->(b) WITH a.uuid AS a, coalesce(b.uuid, b.name) AS b
                RETURN a, b ORDER BY a, b""",
        )
        here = await rows(file, f"SELECT source, target FROM {kind} ORDER BY source, target")
        assert there == here, kind
        facts = await rows(
            server, f"MATCH (a)-[e:{kind}]->(b) RETURN labels(a), labels(b), keys(e)"
        )
        for start, end, keys in facts:
            assert set(start) & starts, kind
            assert set(end) & ends, kind
            assert set(keys) == properties, kind

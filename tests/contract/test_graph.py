"""The graph on Neo4j: labels, properties and relationships that a user's own Cypher relies on."""

from __future__ import annotations

from collections.abc import AsyncIterator

import neo4j
import pytest

from tests.fakes.builders import at
from tests.fakes.engines import Engines
from tests.fakes.rich import fill

pytestmark = pytest.mark.neo4j

PROPERTIES = {
    "Conversation": """uuid title summary summary_embedding tags status cwd project_path project_id
        message_count turn_count total_chars created_at updated_at""",
    "Message": """uuid conversation_id role content reasoning timestamp char_count turn_index
        token_count embedding""",
    "ToolCall": "uuid message_id tool_name arguments timestamp duration_ms success iteration",
    "ToolResult": "uuid tool_call_id success result error timestamp result_size_bytes",
    "Summary": """uuid conversation_id level conversation_summary actions_summary
        files_mentioned key_findings tools_used topics start_turn_index end_turn_index
        char_range_start char_range_end summary_char_count parent_summaries created_at
        embedding""",
    "Note": """uuid project_path project_id conversation_id text tags supersedes created_at
        is_rule corrects keeps embedding""",
    "Checkout": "uuid host path project_id former_ids remote roots stamp seen_at",
    "Project": "uuid path name state host project_id",
    "Directory": "uuid path name",
    "File": "uuid path name hash language size mtime state",
    "Scope": """uuid name qualified_name type file language startLine endLine signature
        docstring source hash embedding embedding_hash""",
    "MarkdownSection": "uuid name file startLine endLine source",
    "ExternalLibrary": "name",
}

RELATIONSHIPS = {
    ("Conversation", "HAS_MESSAGE", "Message"),
    ("Message", "MADE_TOOL_CALL", "ToolCall"),
    ("ToolCall", "PRODUCED_RESULT", "ToolResult"),
    ("Conversation", "HAS_SUMMARY", "Summary"),
    ("Summary", "SUMMARIZES", "Message"),
    ("Summary", "SUMMARIZES", "Summary"),
    ("Summary", "MENTIONS_FILE", "File"),
    ("Summary", "MENTIONS_SCOPE", "Scope"),
    ("Note", "SUPERSEDES", "Note"),
    ("Message", "REFERENCES_CODE", "Scope"),
    ("Conversation", "HAS_BRANCH", "Conversation"),
    ("File", "IN_DIRECTORY", "Directory"),
    ("Scope", "DEFINED_IN", "File"),
    ("Scope", "HAS_PARENT", "Scope"),
    ("Scope", "CONSUMES", "Scope"),
    ("Scope", "INHERITS_FROM", "Scope"),
    ("File", "IMPORTS", "File"),
    ("File", "USES_LIBRARY", "ExternalLibrary"),
    ("File", "BELONGS_TO", "Project"),
}


@pytest.fixture
async def graph(engines: Engines, neo4j_url: str) -> AsyncIterator[neo4j.AsyncDriver]:
    """A driver next to a store that holds every kind of fact."""
    await fill(await engines.empty("neo4j"))
    async with neo4j.AsyncGraphDatabase.driver(neo4j_url) as driver:
        yield driver


async def test_every_label_has_its_properties(graph: neo4j.AsyncDriver) -> None:
    for label, names in PROPERTIES.items():
        answer = await graph.execute_query(
            f"MATCH (n:{label}) UNWIND keys(n) AS name RETURN collect(DISTINCT name) AS names"
        )
        assert set(names.split()) <= set(answer.records[0]["names"]), label


async def test_dates_are_date_times_with_their_offset_and_milliseconds(
    graph: neo4j.AsyncDriver,
) -> None:
    answer = await graph.execute_query(
        """MATCH (n) UNWIND ['created_at', 'updated_at', 'timestamp', 'mtime', 'run_after'] AS name
           WITH n, name WHERE n[name] IS NOT NULL
           RETURN DISTINCT labels(n)[0] AS label, valueType(n[name]) AS type"""
    )
    found = {(record["label"], record["type"]) for record in answer.records}
    labels = {"Conversation", "Message", "ToolCall", "ToolResult", "Summary", "File", "RagForgeJob"}
    assert found == {
        (label, "ZONED DATETIME NOT NULL") for label in labels | {"Note", "WebPage", "Usage"}
    }

    answer = await graph.execute_query(
        "MATCH (m:Message {uuid: 'turn-0'}) RETURN m.timestamp AS then, toString(m.timestamp) AS t"
    )
    record = answer.records[0]
    assert record["then"].to_native() == at(0, 9)
    assert record["t"].endswith("+09:00")


async def test_messages_are_found_by_date_through_an_index(graph: neo4j.AsyncDriver) -> None:
    query = """MATCH (m:Message) WHERE m.timestamp >= datetime('2026-01-05T12:01:00Z')
               RETURN m.uuid AS id ORDER BY m.position"""
    answer = await graph.execute_query(query)
    assert {record["id"] for record in answer.records} >= {"turn-1", "answer-1", "turn-2"}
    assert "turn-0" not in {record["id"] for record in answer.records}

    plan = (await graph.execute_query(f"EXPLAIN {query}")).summary.plan
    assert "NodeIndexSeekByRange" in str(plan)


async def test_every_relationship_leads_from_where_to_where(graph: neo4j.AsyncDriver) -> None:
    answer = await graph.execute_query(
        "MATCH (a)-[r]->(b) RETURN DISTINCT labels(a) AS a, type(r) AS r, labels(b) AS b"
    )
    found = {
        (source, record["r"], target)
        for record in answer.records
        for source in record["a"]
        for target in record["b"]
    }

    assert found >= RELATIONSHIPS


async def test_conversations_have_both_labels_and_documents_are_not_code(
    graph: neo4j.AsyncDriver,
) -> None:
    answer = await graph.execute_query(
        """RETURN COUNT { (c:Conversation) WHERE NOT c:ConversationSession } AS unlabelled,
                  COUNT { (s:MarkdownSection) WHERE s:Scope } AS confused,
                  COUNT { (d:DocumentFile) WHERE NOT d:File } AS lost,
                  COUNT { (d:DocumentFile) } AS documents"""
    )
    record = answer.records[0]

    assert (record["unlabelled"], record["confused"], record["lost"]) == (0, 0, 0)
    assert record["documents"] > 0


async def test_the_readmes_query_tells_a_conversation_in_order(graph: neo4j.AsyncDriver) -> None:
    answer = await graph.execute_query(
        """MATCH (c:Conversation)-[:HAS_MESSAGE]->(m:Message)
           RETURN c.uuid AS c, m.position AS p ORDER BY c.uuid, m.position"""
    )
    told: dict[str, list[int]] = {}
    for record in answer.records:
        told.setdefault(record["c"], []).append(record["p"])

    assert told
    assert all(positions == list(range(len(positions))) for positions in told.values())

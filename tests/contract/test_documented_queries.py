"""The Cypher of the plans for this product, against a store that RagForge filled.

Every query there that reads is here as it is written there, with `$parameters` in place of what
the programs around it put in. One is not valid Cypher and had to be changed; it says how.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import neo4j
import pytest

from ragforge.app.wiring.brain import open_brain
from ragforge.config.settings import Settings
from ragforge.domain.conversations import ConversationChanges, ToolCall, ToolResult
from ragforge.domain.instants import format_instant, now
from ragforge.domain.schema import CONVERSATION, SUMMARY
from ragforge.domain.summaries import SummaryFilter
from ragforge.memory.summaries.due import Thresholds
from tests.fakes.builders import assistant, at, conversation, user
from tests.fakes.engines import Engines
from tests.fakes.projects import ToyEmbedder
from tests.fakes.remembering import memory_of

pytestmark = pytest.mark.neo4j

ABOUT = "MATCH (c:Conversation {uuid: $conversationId})-[:HAS_SUMMARY]->(s:Summary)"
CALLS = """OPTIONAL MATCH (m)-[:MADE_TOOL_CALL]->(t:ToolCall)-[:PRODUCED_RESULT]->(r:ToolResult)
    WITH m, collect({
      tool_name: t.tool_name,
      arguments: t.arguments,
      result: r.result,
      success: r.success"""


@dataclass(frozen=True)
class Asked:
    """A query of the plans, and what it returns: a column of it, in order or as a set."""

    query: str
    column: str
    expected: Any
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Filled:
    """What RagForge made, as the queries need it."""

    talk: str
    questions: tuple[str, ...]  # oldest first
    first: str  # ids of an L1, and of the L2 over it
    second: str
    parameters: Mapping[str, Any]


@pytest.fixture
async def filled(engines: Engines, tmp_path: Path) -> Filled:
    """A conversation about a file, with tool calls, links, both levels of summaries and vectors."""
    store = await engines.empty("neo4j")
    root = tmp_path.resolve() / "shop"
    (root / "src").mkdir(parents=True)
    (root / "src" / "index.ts").write_text(
        "export class AuthService {\n  login(name: string) { return name; }\n}\n"
    )
    embedder = ToyEmbedder()
    await open_brain(Settings(), store, embedder, root).ingest()
    memory = memory_of(store, embedder=embedder, thresholds=Thresholds(2_000, 100))
    about = conversation(str(root), uuid="talk", title="Auth", tags=("auth", "refactoring"))
    await store.records.put(CONVERSATION, about)
    questions = [f"Question {n}: what does AuthService do?" for n in range(3)]
    for minute, question in enumerate(questions):
        call = ToolCall("grep_files", {"regex": "Auth"}, ToolResult(True, {"matches": []}))
        text = "The class `AuthService` in src/index.ts has the login. " * 40
        answer = assistant(text, call, reasoning="Let me see.", timestamp=at(minute + 0.5))
        asked = user(question, timestamp=at(minute))
        await memory.recorder.store_turn("talk", [asked, answer])
    await memory.worker.drain()
    [first, *_] = await store.records.find(SUMMARY, SummaryFilter("talk", level=1))
    [second] = await store.records.find(SUMMARY, SummaryFilter("talk", level=2))
    archived = conversation(str(root), uuid="archived", tags=("auth",))
    await store.records.put(CONVERSATION, archived)
    await store.records.update(CONVERSATION, "archived", ConversationChanges(status="archived"))
    meant = await embedder.embed_query("AuthService login")
    whole = (await store.records.get(CONVERSATION, "talk")).summary or ""
    same = await embedder.embed_query(whole)
    assert meant is not None
    assert same is not None
    then = now()
    return Filled(
        "talk",
        tuple(questions),
        first.uuid,
        second.uuid,
        {
            "uuid": "talk",
            "conversationId": "talk",
            "startDate": format_instant(then - timedelta(days=1)),
            "endDate": format_instant(then + timedelta(days=1)),
            "days": 7,
            "level": 2,
            "limit": 2,
            "minScore": 0.0,
            "queryEmbedding": meant.values(),
            "embedding": same.values(),
            "relativePath": "src/",
            "initialLimit": 100,
            "status": "active",
            "tags": ["auth"],
            "path": "index.ts",
        },
    )


def queries(made: Filled, summaries: list[str], file_id: str) -> list[Asked]:
    """Return the queries of the plans, in their order."""
    newest_first = summaries[::-1]
    return [
        # 001, code by meaning
        Asked(
            """MATCH (s:Scope)
               WHERE s.embedding IS NOT NULL
                 AND s.file STARTS WITH $relativePath
                 AND s.startLine IS NOT NULL
                 AND s.endLine IS NOT NULL
               WITH s, vector.similarity.cosine(s.embedding, $queryEmbedding) AS score
               WHERE score >= $minScore
               RETURN
                 s.uuid AS scopeId,
                 s.name AS name,
                 s.file AS file,
                 s.startLine AS startLine,
                 s.endLine AS endLine,
                 s.source AS content,
                 score
               ORDER BY score DESC
               LIMIT $initialLimit""",
            "name",
            {"AuthService", "login", "index"},
        ),
        # 003, conversations
        Asked("MATCH (c:Conversation {uuid: $uuid}) RETURN c", "c.uuid", ["talk"]),
        Asked(
            """MATCH (c:Conversation)
               WHERE c.status = $status AND ANY(tag IN $tags WHERE tag IN c.tags)
               RETURN c
               ORDER BY c.updated_at DESC
               LIMIT $limit""",
            "c.uuid",
            ["talk"],
        ),
        Asked(
            """MATCH (c:Conversation)
               WHERE c.summary IS NOT NULL AND c.summary_embedding IS NOT NULL
               WITH c, vector.similarity.cosine(c.summary_embedding, $embedding) AS score
               WHERE score > 0.7
               RETURN c, score
               ORDER BY score DESC
               LIMIT $limit""",
            "c.uuid",
            ["talk"],
        ),
        # 003, one conversation
        Asked(
            f"""MATCH (c:Conversation {{uuid: $uuid}})-[:HAS_MESSAGE]->(m:Message)
                {CALLS}
                }}) as tool_calls
                RETURN m, tool_calls
                ORDER BY m.timestamp DESC
                LIMIT $limit""",
            "m.role",
            ["assistant", "user"],
        ),
        Asked(
            """MATCH (c:Conversation {uuid: $uuid})
               RETURN c.message_count as count, c.summary as summary""",
            "count",
            [6],
        ),
        Asked(
            f"""MATCH (c:Conversation {{uuid: $uuid}})-[:HAS_MESSAGE]->(m:Message)
                {CALLS},
                  duration_ms: t.duration_ms
                }}) as tool_calls
                RETURN m, tool_calls
                ORDER BY m.timestamp ASC
                LIMIT $limit""",
            "m.role",
            ["user", "assistant"],
        ),
        Asked(
            """MATCH (c:Conversation {uuid: $uuid})-[:HAS_MESSAGE]->(m:Message)
               WITH m, [] as tool_calls
               RETURN m, tool_calls
               ORDER BY m.timestamp ASC
               LIMIT $limit""",
            "m.role",
            ["user", "assistant"],
        ),
        Asked(
            """MATCH (c:Conversation {uuid: $uuid})-[:HAS_MESSAGE]->(m:Message)
               WHERE m.embedding IS NOT NULL
               WITH m, vector.similarity.cosine(m.embedding, $queryEmbedding) AS score
               WHERE score > 0.7
               RETURN m
               ORDER BY score DESC
               LIMIT $limit""",
            "m.content",
            set(made.questions),
            {"limit": 10},
        ),
        Asked(
            """MATCH (s:Scope {name: "AuthService"})<-[:REFERENCES_CODE]-(m:Message)
               <-[:HAS_MESSAGE]-(c:Conversation)
               RETURN DISTINCT c""",
            "c.uuid",
            ["talk"],
        ),
        # 004, summaries by date
        Asked(
            f"""{ABOUT}
                WHERE s.created_at >= datetime($startDate)
                RETURN s
                ORDER BY s.created_at DESC""",
            "s.uuid",
            newest_first,
        ),
        Asked(
            f"""{ABOUT}
                WHERE s.created_at >= datetime($startDate)
                  AND s.created_at <= datetime($endDate)
                RETURN s
                ORDER BY s.created_at ASC""",
            "s.uuid",
            summaries,
        ),
        Asked(
            f"""{ABOUT}
                WHERE s.created_at >= datetime() - duration({{days: $days}})
                RETURN s
                ORDER BY s.created_at DESC""",
            "s.uuid",
            newest_first,
        ),
        Asked(
            f"""{ABOUT}
                WHERE s.created_at >= datetime() - duration({{hours: 24}})
                RETURN s
                ORDER BY s.created_at DESC""",
            "s.uuid",
            newest_first,
        ),
        Asked(
            f"""{ABOUT}
                WHERE s.level = $level
                  AND s.created_at >= datetime($startDate)
                RETURN s
                ORDER BY s.created_at DESC""",
            "s.uuid",
            [made.second],
        ),
        Asked(
            f"""{ABOUT}
                RETURN s
                ORDER BY s.created_at DESC
                LIMIT 10""",
            "s.uuid",
            newest_first,
        ),
        Asked(
            f"""{ABOUT}
                WHERE s.created_at >= datetime($startDate)
                RETURN
                  s.level AS level,
                  count(s) AS count,
                  min(s.created_at) AS oldest,
                  max(s.created_at) AS newest
                ORDER BY s.level ASC""",
            "count",
            [3, 1],
        ),
        Asked(
            f"""{ABOUT}
                WHERE s.embedding IS NOT NULL
                  AND s.created_at >= datetime($startDate)
                WITH s, vector.similarity.cosine(s.embedding, $queryEmbedding) AS score
                WHERE score > $minScore
                RETURN s, score
                ORDER BY score DESC
                LIMIT 5""",
            "s.uuid",
            set(summaries),
        ),
        Asked(
            f"""{ABOUT}
                WHERE s.created_at >= datetime($startDate)
                  AND s.created_at <= datetime($endDate)
                AND s.level = $level
                RETURN s
                ORDER BY s.created_at ASC""",
            "s.uuid",
            [made.second],
        ),
        Asked(
            f"""{ABOUT}
                WHERE s.created_at >= datetime() - duration({{days: $days}})
                AND s.level = $level
                RETURN s
                ORDER BY s.created_at DESC""",
            "s.uuid",
            [made.second],
        ),
        # 004, files and scopes
        Asked(
            """MATCH (f:File)
               WHERE f.path = $path OR f.path ENDS WITH $path
               RETURN f.uuid AS uuid, f.path AS path
               LIMIT 1""",
            "path",
            ["src/index.ts"],
        ),
        Asked(
            """MATCH (f:File {uuid: $fileUuid})<-[:DEFINED_IN]-(sc:Scope)
               WHERE sc.name IS NOT NULL
               RETURN sc.uuid AS uuid, sc.name AS name
               LIMIT 20""",
            "name",
            {"AuthService", "login", "index"},
            {"fileUuid": file_id},
        ),
        Asked(
            """MATCH (f:File {path: 'src/index.ts'})<-[:MENTIONS_FILE]-(s:Summary)
               RETURN s""",
            "s.uuid",
            set(summaries),
        ),
        Asked(
            f"""{ABOUT}-[:MENTIONS_FILE]->(f:File)
                RETURN DISTINCT f.path AS filePath, f.uuid AS fileUuid""",
            "filePath",
            ["src/index.ts"],
        ),
        Asked(
            f"""{ABOUT}-[:MENTIONS_SCOPE]->(sc:Scope)
                RETURN DISTINCT sc.name AS scopeName, sc.type AS scopeType, sc.file AS filePath""",
            "scopeName",
            {"AuthService", "login", "index"},
        ),
        Asked(
            f"""{ABOUT}
                WHERE vector.similarity.cosine(s.embedding, $queryEmbedding) > 0.7
                OPTIONAL MATCH (s)-[:MENTIONS_FILE]->(f:File)
                OPTIONAL MATCH (s)-[:MENTIONS_SCOPE]->(sc:Scope)
                RETURN s, collect(DISTINCT f.path) AS mentionedFiles,
                  collect(DISTINCT sc.name) AS mentionedScopes
                ORDER BY vector.similarity.cosine(s.embedding, $queryEmbedding) DESC
                LIMIT 5""",
            "mentionedFiles",
            [["src/index.ts"]] * len(summaries),
        ),
        # 004, all levels at once. All parts of a UNION must return the same columns, so `m` is
        # called `message` in the first part, as it is in the others.
        Asked(
            f"""MATCH (c:Conversation {{uuid: $conversationId}})-[:HAS_MESSAGE]->(m:Message)
                WHERE m.embedding IS NOT NULL
                WITH m, vector.similarity.cosine(m.embedding, $queryEmbedding) AS score
                WHERE score > $minScore
                RETURN 'L0' as level, m as message, null as summary, score
                ORDER BY score DESC
                LIMIT 3

                UNION

                {ABOUT}
                WHERE s.embedding IS NOT NULL
                  AND s.level = 1
                WITH s, vector.similarity.cosine(s.embedding, $queryEmbedding) AS score
                WHERE score > $minScore
                RETURN 'L1' as level, null as message, s as summary, score
                ORDER BY score DESC
                LIMIT 5

                UNION

                {ABOUT}
                WHERE s.embedding IS NOT NULL
                  AND s.level = 2
                WITH s, vector.similarity.cosine(s.embedding, $queryEmbedding) AS score
                WHERE score > $minScore
                RETURN 'L2' as level, null as message, s as summary, score
                ORDER BY score DESC
                LIMIT 3""",
            "level",
            ["L0", "L0", "L0", "L1", "L1", "L1", "L2"],
        ),
    ]


def values(rows: list[dict[str, Any]], column: str) -> list[Any]:
    name, _, inner = column.partition(".")
    return [row[name][inner] if inner else row[name] for row in rows]


async def test_every_query_of_the_plans_finds_what_it_asks_for(
    filled: Filled, neo4j_url: str
) -> None:
    async with neo4j.AsyncGraphDatabase.driver(neo4j_url) as driver:
        known = await driver.execute_query(
            """MATCH (s:Summary) WITH s ORDER BY s.created_at, s.level
               MATCH (f:File {path: 'src/index.ts'})
               RETURN collect(s.uuid) AS summaries, f.uuid AS file"""
        )
        summaries, file_id = known.records[0]["summaries"], known.records[0]["file"]
        assert {filled.first, filled.second} < set(summaries)
        for asked in queries(filled, summaries, file_id):
            given = {**filled.parameters, **asked.parameters}
            answer = await driver.execute_query(asked.query, given)
            found = values([dict(record) for record in answer.records], asked.column)
            expected = asked.expected
            assert (set(found) if isinstance(expected, set) else found) == expected, asked.query


async def test_the_queries_of_the_documentation_find_something(
    filled: Filled, engines: Engines, neo4j_url: str
) -> None:
    store = await engines.open("neo4j")
    known = await store.records.get(SUMMARY, filled.first)
    await store.timeline.save_summary(replace(known, key_findings=("The login is in one class.",)))
    text = (Path(__file__).parents[2] / "docs" / "library.md").read_text("utf-8")
    blocks = re.findall(r"```cypher\n(.*?)```", text, re.DOTALL)
    given = {"name": "AuthService", "path": "src/index.ts", "conversation": filled.talk}
    async with neo4j.AsyncGraphDatabase.driver(neo4j_url) as driver:
        answers = [(await driver.execute_query(block, given)).records for block in blocks]

    touched, mentions, files, findings, said = [[dict(r) for r in one] for one in answers]
    assert {(one["turn"], one["how"], one["changed"]) for one in touched} == {
        (turn, "named", False) for turn in range(3)
    }
    assert {one["how"] for one in mentions} == {"named"}
    assert [one["path"] for one in files] == ["src/index.ts"]
    assert "The login is in one class." in {one["finding"] for one in findings}
    assert [one["said"] for one in said][::2] == list(filled.questions)

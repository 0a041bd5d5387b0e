"""`ragforge store query` reads and does nothing else, whatever the query says."""

from __future__ import annotations

import hashlib
from pathlib import Path

import apsw
import pytest

from ragforge.adapters.stores.neo4j import store as cypher_module
from ragforge.adapters.stores.sqlite import query as query_module
from ragforge.adapters.stores.sqlite.query import VIEWS, run_query
from ragforge.adapters.stores.sqlite.store import open_sqlite
from ragforge.app import open_app
from ragforge.config import load_settings
from ragforge.domain import queries
from ragforge.domain.queries import Query
from ragforge.domain.schema import CONVERSATION
from ragforge.errors import InputError
from ragforge.memory.secrets.redactor import REDACTOR
from ragforge.ports.store import Store
from ragforge.search.words.tokenise import WORDS
from tests.fakes.builders import conversation, exchange

SQL = [
    "INSERT INTO Message (uuid) VALUES ('x')",
    "INSERT INTO main.message (uuid) VALUES ('x')",
    "UPDATE main.conversation SET title = 'x'",
    "DELETE FROM main.conversation",
    "DROP TABLE main.message",
    "DROP VIEW Message",
    "CREATE TABLE mine (x)",
    "CREATE TEMP TABLE mine (x)",
    "CREATE TEMP TRIGGER t INSTEAD OF INSERT ON Message BEGIN SELECT 1; END",
    "ATTACH 'other.db' AS other",
    "VACUUM",
    "VACUUM INTO 'other.db'",
    "PRAGMA user_version = 1",
    "PRAGMA query_only = 0",
    "PRAGMA writable_schema = 1",
    "SELECT * FROM pragma_table_info('message')",
    "SELECT load_extension('/tmp/x.so')",
    "BEGIN IMMEDIATE",
    "COMMIT",
    "SAVEPOINT s",
    "REINDEX",
    "ANALYZE",
    "EXPLAIN DELETE FROM main.conversation",
    "WITH x AS (SELECT 1) DELETE FROM main.conversation",
    "SELECT content FROM main.message",
    "SELECT value FROM meta",
    "SELECT * FROM sqlite_schema",
    "SELECT rowid FROM turn_words",
    "SELECT 1; DELETE FROM main.conversation",
]
CYPHER = [
    "CREATE (n:Message {uuid: 'x'})",
    "MATCH (n) SET n.title = 'x'",
    "MATCH (n) DETACH DELETE n",
    "MERGE (n:Message {uuid: 'x'})",
    "CREATE INDEX mine FOR (n:Message) ON (n.content)",
    "CALL db.createLabel('Mine')",
    "CALL db.clearQueryCaches()",
    "CREATE USER mallory SET PASSWORD 'abcdefgh'",
    "TERMINATE TRANSACTIONS 'neo4j-transaction-1'",
    "LOAD CSV FROM 'file:///etc/passwd' AS line RETURN line",
    "LOAD CSV FROM 'http://127.0.0.1:1/' AS line RETURN line",
    "UNWIND [1] AS x CALL (x) { CREATE (:Message) } IN TRANSACTIONS",
    "MATCH (n) RETURN n; MATCH (n) DETACH DELETE n",
]


async def make_file(folder: Path) -> Path:
    place = folder / "memory.db"
    store = await open_sqlite(place, WORDS, REDACTOR)
    await store.records.put(CONVERSATION, conversation(uuid="c", title="Zebras"))
    await store.timeline.append("c", exchange("what do zebras eat?", "grass"))
    await store.close()
    return place


def digest(folder: Path) -> dict[str, str]:
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in folder.glob("*.db")}


async def test_no_sql_does_more_than_read_the_views(tmp_path: Path) -> None:
    place = await make_file(tmp_path)
    before = digest(tmp_path)

    for text in SQL:
        with pytest.raises(InputError):
            print(text, run_query(place, Query(text)))

    assert digest(tmp_path) == before
    for name in VIEWS:
        run_query(place, Query(f"SELECT * FROM {name}"))
    titles = run_query(place, Query("SELECT title FROM Conversation"))
    assert titles.rows == (("Zebras",),)


async def test_a_query_that_never_ends_is_stopped(tmp_path: Path) -> None:
    place = await make_file(tmp_path)
    endless = (
        "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT max(x) FROM n"
    )

    with pytest.raises(InputError, match=r"stopped after 0\.1 seconds"):
        run_query(place, Query(endless, max_seconds=0.1))


NUMBERS = "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 1000) "
GREEDY = [
    "SELECT zeroblob(1000000000)",
    "SELECT randomblob(900000000)",
    "SELECT printf('%.*c', 1000000000, 'x')",
    "SELECT hex(zeroblob(400000000))",
    "SELECT replace(hex(zeroblob(20000)), '0', hex(zeroblob(20000)))",
    f"SELECT {', '.join(['zeroblob(20000000)'] * 200)}",
    f"{NUMBERS} SELECT zeroblob(1000000) FROM n",
    f"{NUMBERS} SELECT group_concat(hex(zeroblob(100000))) FROM n",
    f"{NUMBERS} SELECT json_group_array(hex(zeroblob(100000))) FROM n",
    f"{NUMBERS} SELECT length(b) FROM (SELECT x, zeroblob(1000000) AS b FROM n ORDER BY b, x)",
]


async def test_a_query_that_would_fill_the_memory_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(query_module, "MAX_MEMORY", 20_000_000)
    monkeypatch.setattr(queries, "MAX_RESULT", 10_000_000)
    place = await make_file(tmp_path)

    for text in GREEDY:
        with pytest.raises(InputError, match=r"more than (20|10) MB"):
            print(text, run_query(place, Query(text)))

    assert apsw.hard_heap_limit(-1) == 0, "the process is limited no longer"
    assert run_query(place, Query("SELECT length(zeroblob(1000000))")).rows == ((1_000_000,),)


@pytest.mark.neo4j
@pytest.mark.parametrize("engine", ["neo4j"])
async def test_no_cypher_does_more_than_read(store: Store) -> None:
    await store.records.put(CONVERSATION, conversation(uuid="c", title="Zebras"))

    for text in CYPHER:
        with pytest.raises(InputError):
            print(text, await store.query(Query(text)))
    with pytest.raises(InputError, match=r"stopped after 0\.5 seconds"):
        await store.query(Query("UNWIND range(1, 1000000000) AS x RETURN max(x)", max_seconds=0.5))

    found = await store.query(Query("MATCH (c:Conversation) RETURN c.title, c"))
    assert found.columns == ("c.title", "c")
    [(title, node)] = found.rows
    assert title == "Zebras"
    assert isinstance(node, dict)
    assert node["uuid"] == "c"
    assert str(node["created_at"])[10] == "T"


@pytest.mark.neo4j
@pytest.mark.parametrize("engine", ["neo4j"])
async def test_cypher_that_would_fill_the_memory_is_stopped(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queries, "MAX_RESULT", 1_000_000)
    monkeypatch.setattr(cypher_module, "GRACE", 0.1)
    long = "reduce(s = 'x', i IN range(1, 17) | s + s)"

    for text in (f"UNWIND range(1, 1000) AS x RETURN {long}", "RETURN range(1, 200000)"):
        with pytest.raises(InputError, match="more than 1 MB"):
            await store.query(Query(text))
    with pytest.raises(InputError, match=r"stopped after 0\.3 seconds"):
        await store.query(Query("RETURN range(1, 1000000000)", max_seconds=0.3))


async def test_a_programs_query_reads_while_the_store_is_open_and_does_nothing_else(
    tmp_path: Path,
) -> None:
    settings = load_settings(tmp_path, environ={"RAGFORGE_STORE": str(tmp_path / "s.db")}).settings
    async with open_app(settings, tmp_path, work=False) as app:
        await app.sessions.create("Talk")
        found = await app.query("SELECT title FROM Conversation WHERE title = $t", {"t": "Talk"})
        assert (found.columns, found.rows) == (("title",), (("Talk",),))
        for text in SQL:
            with pytest.raises(InputError):
                await app.query(text)
        assert len(await app.sessions.find()) == 1

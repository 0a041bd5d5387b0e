"""What only a server has: an index for large scopes, schemas of other versions, outages."""

from __future__ import annotations

import random
import re
from pathlib import Path

import neo4j
import pytest

from ragforge.adapters.stores.neo4j import file_nodes, migrate, vectors
from ragforge.adapters.stores.neo4j.driver import Neo4jDatabase
from ragforge.adapters.stores.neo4j.store import open_neo4j
from ragforge.domain.code import ProjectFilter
from ragforge.domain.conversations import ConversationFilter, MemoryFilter, Message
from ragforge.domain.passages import PassageFilter
from ragforge.domain.projects import CheckoutFilter, RepositoryIdentity
from ragforge.domain.schema import (
    CHECKOUT,
    CONVERSATION,
    MESSAGE,
    NOTE,
    PASSAGE,
    PROJECT,
    SCOPE,
    SUMMARY,
    TIMES,
    TURN,
)
from ragforge.errors import ProjectNotFound, SchemaTooNew, StoreUnavailable
from ragforge.memory.secrets.redactor import REDACTOR
from ragforge.ports.store import Store
from ragforge.search.words.tokenise import WORDS, Words
from tests.fakes.builders import (
    MODEL,
    assistant,
    conversation,
    exchange,
    note,
    parsed,
    project,
    reference,
    scope,
    summary,
    tool_call,
    tool_result,
    user,
    vector,
)
from tests.fakes.code import list_files, list_scopes
from tests.fakes.copying import everything
from tests.fakes.engines import Engines
from tests.fakes.projects import SHOP, ToyEmbedder, brain_of, write
from tests.fakes.rich import fill

pytestmark = pytest.mark.neo4j


@pytest.fixture
async def store(engines: Engines) -> Store:
    return await engines.empty("neo4j")


async def test_the_index_finds_in_a_large_scope_what_an_exact_scan_finds(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(5)
    for name in ("large", "small"):
        await store.records.put(CONVERSATION, conversation(uuid=name))
    for name, amount in (("large", 400), ("small", 30)):
        turns = [Message("user", "", uuid=f"{name}-{n}") for n in range(amount)]
        await store.timeline.append(name, turns)
        await store.index.embed(
            TURN, {turn.uuid: vector(*(chance.gauss(0, 1) for _ in range(8))) for turn in turns}
        )
    query = vector(*(chance.gauss(0, 1) for _ in range(8)))

    async def answers() -> list[list[str]]:
        scopes = (MemoryFilter(), MemoryFilter(conversation_id="small"))
        found = []
        for where in scopes:
            for least in (0.0, 0.8):
                matches = (
                    await store.index.search(TURN, "", query, where, 10, least, read=0)
                ).by_vector
                found.append([match.id for match in matches])
        return found

    exact = await answers()
    monkeypatch.setattr(vectors, "EXACT_UP_TO", 5)
    monkeypatch.setattr(vectors, "_FIRST_FETCH", 12)

    assert await answers() == exact
    assert len(exact[0]) == len(exact[2]) == 10


async def test_a_store_of_the_future_is_refused(store: Store, neo4j_url: str) -> None:
    async with neo4j.AsyncGraphDatabase.driver(neo4j_url) as driver:
        await driver.execute_query("MATCH (n:RagForgeSchema) SET n.version = n.version + 998")
        try:
            with pytest.raises(SchemaTooNew, match="Upgrade RagForge") as caught:
                await open_neo4j(neo4j_url, WORDS, REDACTOR)
        finally:
            await driver.execute_query("MATCH (n:RagForgeSchema) SET n.version = n.version - 998")

    assert caught.value.known == len(migrate.read_migrations())


async def test_a_new_tokeniser_reindexes_old_texts(store: Store, neo4j_url: str) -> None:
    class Backwards(Words):
        version = "backwards"

        def prose(self, text: str) -> str:
            return super().prose(text)[::-1]

    old = await open_neo4j(neo4j_url, Backwards(), REDACTOR)
    await old.records.put(CONVERSATION, conversation(uuid="c"))
    await old.timeline.append("c", exchange("parsing headers", "done"))
    assert (await old.index.search(TURN, "parsing", None, MemoryFilter(), 5, read=0)).by_words == []
    await old.close()

    new = await open_neo4j(neo4j_url, WORDS, REDACTOR)

    assert (
        len((await new.index.search(TURN, "parsing", None, MemoryFilter(), 5, read=0)).by_words)
        == 1
    )
    await new.close()


async def test_old_turns_get_passages_with_the_words_of_a_new_tokeniser(
    store: Store, neo4j_url: str
) -> None:
    long = "\n\n".join(f"{word} " * 120 for word in ("zebra", "giraffe", "okapi"))
    await store.records.put(CONVERSATION, conversation(uuid="c"))
    await store.timeline.append("c", [user("Which?", uuid="t"), assistant(long, tool_call())])
    before = await store.records.find(PASSAGE, PassageFilter())
    async with neo4j.AsyncGraphDatabase.driver(neo4j_url) as driver:
        await driver.execute_query(
            """MATCH (n:RagForgeSchema) SET n.version = 14, n.tokeniser = '3'
               WITH n MATCH (p:Passage) DETACH DELETE p"""
        )

    new = await open_neo4j(neo4j_url, WORDS, REDACTOR)

    assert await new.records.find(PASSAGE, PassageFilter()) == before
    found = await new.index.search(PASSAGE, "okapi", None, PassageFilter(kind="said"), 9)
    assert [match.id for match in found.by_words] == ["t:3"]
    await new.close()


async def test_summaries_of_an_older_schema_are_embedded_again(
    store: Store, neo4j_url: str
) -> None:
    steps = migrate.read_migrations()
    [place] = [n for n, step in enumerate(steps) if "MATCH (s:Summary) WHERE" in step[0]]
    await store.records.put(CONVERSATION, conversation(uuid="c"))
    await store.timeline.save_summary(summary("c", uuid="s"))
    await store.index.embed(SUMMARY, {"s": vector(1, 2)})
    assert await store.index.pending(SUMMARY, MODEL, 5) == []
    async with neo4j.AsyncGraphDatabase.driver(neo4j_url) as driver:
        await driver.execute_query("MATCH (n:RagForgeSchema) SET n.version = $place", place=place)

    new = await open_neo4j(neo4j_url, WORDS, REDACTOR)

    assert await new.index.pending(SUMMARY, MODEL, 5) == ["s"]
    await new.close()


async def test_calls_that_failed_in_an_older_store_are_not_successes(
    store: Store, neo4j_url: str
) -> None:
    steps = migrate.read_migrations()
    [place] = [n for n, step in enumerate(steps) if "PRODUCED_RESULT" in step[0]]
    await store.records.put(CONVERSATION, conversation(uuid="c"))
    failed = tool_call(uuid="bad", result=tool_result(None, success=False, error="no"))
    good = tool_call(uuid="good", result=tool_result("yes"))
    await store.timeline.append("c", [user("do it"), assistant("done", failed, good)])
    async with neo4j.AsyncGraphDatabase.driver(neo4j_url) as driver:
        await driver.execute_query(
            """MATCH (n:RagForgeSchema) SET n.version = $place
               WITH n MATCH (t:ToolCall) SET t.success = true""",
            place=place,
        )
        new = await open_neo4j(neo4j_url, WORDS, REDACTOR)
        found = await driver.execute_query("MATCH (t:ToolCall) RETURN t.uuid, t.success")

    assert {row[0]: row[1] for row in found.records} == {"bad": False, "good": True}
    await new.close()


async def test_classes_of_an_older_store_get_their_real_lines_and_keep_their_vectors(
    store: Store, neo4j_url: str, tmp_path: Path
) -> None:
    write(tmp_path, SHOP)
    report, _ = await brain_of(store, tmp_path, ToyEmbedder()).ingest()
    async with neo4j.AsyncGraphDatabase.driver(neo4j_url) as driver:
        await driver.execute_query(
            """MATCH (n:RagForgeSchema) SET n.version = 16
               WITH n MATCH (s:Scope|MarkdownSection) WHERE s.search_text IS NOT NULL
               SET s.source = s.search_text REMOVE s.search_text"""
        )

    new = await open_neo4j(neo4j_url, WORDS, REDACTOR)
    older = await list_scopes(new, report.project_id, "shop/cart.py")
    _, embedded = await brain_of(new, tmp_path, ToyEmbedder()).ingest()
    scopes = await list_scopes(new, report.project_id, "shop/cart.py")

    assert "self.items = []" not in next(s.source for s in older if s.name == "Cart")
    assert "self.items = []" in next(s.source for s in scopes if s.name == "Cart")
    assert [(s.uuid, s.hash) for s in scopes] == [(s.uuid, s.hash) for s in older]
    assert embedded == 0
    await new.close()


async def test_dates_of_an_older_store_become_date_times(
    store: Store, neo4j_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = migrate.read_migrations()[:4]  # a later one deletes vectors
    monkeypatch.setattr(migrate, "read_migrations", lambda: steps)
    await fill(store)
    turns = ["turn-0", "turn-1", "turn-2", "bill-0"]
    await store.timeline.set_link_pending(turns, True)  # as a later step does to some
    before = await everything(store)
    async with neo4j.AsyncGraphDatabase.driver(neo4j_url) as driver:
        await driver.execute_query(  # as the first schema held them
            """MATCH (n:RagForgeSchema) SET n.version = 2 WITH n
               MATCH (m) WHERE NOT (m:Note OR m:Checkout OR m:Usage) UNWIND $dates AS name
               WITH m, name WHERE m[name] IS NOT NULL AND coalesce(m.uuid, '') <> 'turn-1'
               SET m[name] = toString(m[name])""",
            dates=list(TIMES),
        )
        new = await open_neo4j(neo4j_url, WORDS, REDACTOR)
        left = await driver.execute_query(
            """MATCH (m) UNWIND keys(m) AS name
               WITH m, name WHERE m[name] IS :: STRING NOT NULL AND name IN $dates
               RETURN count(*) AS texts""",
            dates=list(TIMES),
        )
    assert left.records[0]["texts"] == 0
    await new.timeline.set_link_pending(turns, True)
    assert await everything(new) == before
    await new.close()


async def test_projects_of_an_older_store_are_brought_along_though_it_is_killed_on_the_way(
    store: Store, neo4j_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = migrate.read_migrations()
    [place] = [n for n, step in enumerate(steps) if "ragforge_checkout" in step[0]]
    paths = ("/work/shop", "/work/zoo")
    for path in paths:
        await store.records.put(CONVERSATION, conversation(path, uuid=path))
        messages = [m for n in range(3) for m in exchange(f"Zebra {n}?", "Yes.")]
        await store.timeline.append(path, messages)
        await store.timeline.save_summary(summary(path, uuid=f"summary of {path}"))
        await store.records.put(NOTE, note("Zebras sleep.", path, uuid=f"note of {path}"))
    await store.records.put(PROJECT, project(paths[0], uuid="index"))
    async with neo4j.AsyncGraphDatabase.driver(neo4j_url) as driver:
        for query in (  # as the former schema held them
            "MATCH (n:RagForgeSchema) SET n.version = $place",
            "MATCH (c:Conversation|Note) REMOVE c.project_id",
            "MATCH (p:Project) REMOVE p.project_id, p.host",
            """MATCH (m:Message|Summary) MATCH (c:Conversation {uuid: m.conversation_id})
               SET m.project_path = c.project_path REMOVE m.project_id""",
        ):
            await driver.execute_query(query, place=place)
        batched = [text for text in steps[place] if "IN TRANSACTIONS" in text]
        run = Neo4jDatabase.in_batches
        for last in batched:

            async def stop(database: Neo4jDatabase, query: str, last: str = last) -> None:
                if query != last:
                    return await run(database, query)
                one_row = re.sub(r"\nCALL \((\w+)\)", r"\nWITH \1 LIMIT 1 CALL (\1)", query)
                await run(database, one_row)
                raise StoreUnavailable("it was killed after one row")

            with monkeypatch.context() as killed:
                killed.setattr(Neo4jDatabase, "in_batches", stop)
                with pytest.raises(StoreUnavailable, match="killed after one row"):
                    await open_neo4j(neo4j_url, WORDS, REDACTOR)

        new = await open_neo4j(neo4j_url, WORDS, REDACTOR)

        left = await driver.execute_query(
            """MATCH (n:Conversation|Note|Project|Message|Summary)
               WHERE n.project_id IS NULL OR (n:Message AND n.project_path IS NOT NULL)
               RETURN count(n) AS left"""
        )
    assert len(batched) == 4
    assert left.records[0]["left"] == 0
    ids = set()
    for path in paths:
        [checkout] = await new.records.find(
            CHECKOUT, CheckoutFilter(related_to=(path, RepositoryIdentity()))
        )
        ids.add(checkout.project_id)
        own = [checkout.project_id]
        [found] = await new.records.find(CONVERSATION, ConversationFilter(project_ids=own))
        assert found.uuid == path
        turns = (
            await new.index.search(TURN, "zebra", None, MemoryFilter(project_ids=own), 9, read=0)
        ).by_words
        assert len(turns) == 3
        indexed = [one.uuid for one in await new.records.find(PROJECT, ProjectFilter(own))]
        assert indexed == (["index"] if path == paths[0] else [])
    assert len(ids) == 2
    await new.close()


async def test_older_references_are_kept_and_say_what_can_be_known(
    store: Store, neo4j_url: str
) -> None:
    calls = {
        "said": (),
        "edited": (tool_call("edit_file", arguments={"path": "./a.py", "old_text": "x"}),),
        "read": (tool_call("read_file", arguments={"path": "a.py"}),),
        "found": (tool_call("grep_files", arguments={"regex": "x"}),),
    }
    shop, f = project(), scope("f", "a.py", uuid="s")
    await store.records.put(PROJECT, shop)
    await store.code.replace_files(shop.uuid, [parsed("a.py", f)])
    await store.records.put(CONVERSATION, conversation(uuid="c"))
    await store.timeline.append("c", [assistant("", *c, uuid=m) for m, c in calls.items()])
    for message_id in calls:
        await store.timeline.link(MESSAGE, message_id, [reference("s", "a.py", "f")])
    async with neo4j.AsyncGraphDatabase.driver(neo4j_url) as driver:
        await driver.execute_query(
            """MATCH (n:RagForgeSchema) SET n.version = 1 WITH n
               MATCH (f:CodeReference) REMOVE f.how
               WITH n MATCH ()-[e:REFERENCES_CODE]->() REMOVE e.how"""
        )
        new = await open_neo4j(neo4j_url, WORDS, REDACTOR)
        found = await new.timeline.links(list(calls))
        answer = await driver.execute_query(
            "MATCH (m:Message)-[e:REFERENCES_CODE]->(:Scope) RETURN m.uuid AS m, e.how AS how"
        )

    hows = {uuid: links.references[0].how for uuid, links in found.items()}
    assert hows == {"said": "named", "edited": "edited", "read": "read", "found": "found"}
    assert {record["m"]: record["how"] for record in answer.records} == hows
    await new.close()


async def test_a_port_where_nothing_answers_is_named_without_the_password() -> None:
    with pytest.raises(StoreUnavailable, match=r"bolt://127\.0\.0\.1:9 does not answer") as caught:
        await open_neo4j("bolt://127.0.0.1:9", WORDS, REDACTOR, user="ann", password="hunter2")

    assert "hunter2" not in str(caught.value)


async def test_a_database_that_does_not_exist_is_named(store: Store, neo4j_url: str) -> None:
    with pytest.raises(StoreUnavailable, match="nowhere"):
        await open_neo4j(neo4j_url, WORDS, REDACTOR, database="nowhere")


async def test_a_project_whose_forgetting_was_interrupted_is_read_again_or_forgotten_in_the_end(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_nodes, "FORGOTTEN_SCOPES", 1)
    known = project(uuid="p")
    await store.records.put(PROJECT, known)
    files = [parsed(f"{name}.py", scope(name, f"{name}.py", uuid=name)) for name in "abc"]
    await store.code.replace_files("p", files)

    async def break_off(*_: object, **__: object) -> bool:
        monkeypatch.undo()
        monkeypatch.setattr(file_nodes, "FORGOTTEN_SCOPES", 1)
        raise StoreUnavailable("gone")

    monkeypatch.setattr(file_nodes, "forget_some", break_off)
    with pytest.raises(StoreUnavailable):
        await store.records.delete(PROJECT, "p")
    assert {file.mtime for file in await list_files(store, "p")} == {None}
    assert not {file.file.hash for file in files} & {f.hash for f in await list_files(store, "p")}

    await store.records.delete(PROJECT, "p")
    assert await list_files(store, "p") == []
    assert await store.records.get_many(SCOPE, ["a", "b", "c"]) == {}
    with pytest.raises(ProjectNotFound):
        await store.records.get(PROJECT, known.path)
